#include "redouble/core/threescale/model/application.h"

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/model/requests.h"

namespace redouble::inline v0_1::threescale {
namespace {

using store::Batch;
using store::CommandId;

constexpr std::string_view kExists = "Application.exists?";
constexpr std::string_view kLoadIdByKey = "Application.load_id_by_key";
constexpr std::string_view kMembers = "Application.smembers";
constexpr std::string_view kCount = "Application.scard";

// In the order of the reads and writes.
constexpr std::array kAttributes = {ApplicationAttribute::kState, ApplicationAttribute::kPlanId,
                                    ApplicationAttribute::kPlanName,
                                    ApplicationAttribute::kRedirectUrl};

std::vector<std::string> AttributeKeys(const Keys& keys, const ApplicationRef& application) {
  std::vector<std::string> attributes;
  for (const ApplicationAttribute attribute : kAttributes) {
    attributes.push_back(keys.Application(application, attribute));
  }
  return attributes;
}

std::string MemoizerKeyOf(std::string_view method, const ApplicationRef& application) {
  return MemoizerKey(method, application.service_id, application.id);
}

std::string RandomKey(base::Rng& rng) {
  const uint64_t first = rng.Next();
  const uint64_t second = rng.Next();
  return absl::StrCat(absl::Hex(first, absl::kZeroPad16), absl::Hex(second, absl::kZeroPad16));
}

}  // namespace

base::Task<absl::Status> ApplicationStore::Save(ApplicationSave save) {
  if (!save.id) co_return MakeError(ErrorCode::kApplicationHasNoID);
  if (!save.state) co_return MakeError(ErrorCode::kApplicationHasNoState, *save.id);
  const ApplicationRef application{save.service_id, *save.id};
  const std::optional<std::string_view> values[] = {save.state, save.plan_id, save.plan_name,
                                                    save.redirect_url};
  Batch batch(Batch::Atomicity::kPipeline);
  for (size_t i = 0; i < kAttributes.size(); ++i) {
    if (!values[i]) continue;
    batch.Add(CommandId::kSet)
        .AddOwned(process_.keys.Application(application, kAttributes[i]))
        .Add(*values[i]);
  }
  batch.Add(CommandId::kSAdd)
      .AddOwned(process_.keys.ServiceApplications(save.service_id))
      .Add(*save.id);
  absl::Status saved = co_await ExecuteAll(process_.store, batch);
  if (saved.ok() && process_.memoizer != nullptr) {
    Forget(application);
    process_.memoizer->Put(MemoizerKeyOf(kExists, application), true);
  }
  co_return saved;
}

base::Task<absl::StatusOr<std::optional<Application>>> ApplicationStore::Load(
    ApplicationRef application) {
  const auto read = [this, application] { return Read(application); };
  co_return co_await Memoized<std::optional<Application>>(
      process_.memoizer, MemoizerKeyOf("Application.load", application), read);
}

base::Task<absl::StatusOr<std::optional<Application>>> ApplicationStore::Read(
    ApplicationRef application) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      OptionalTexts values,
      co_await GetAll(process_.store, AttributeKeys(process_.keys, application)));
  if (!values.front()) co_return std::nullopt;
  Application loaded;
  loaded.service_id = application.service_id;
  loaded.id = application.id;
  loaded.state = *std::move(values[0]);
  loaded.plan_id = std::move(values[1]);
  loaded.plan_name = std::move(values[2]);
  loaded.redirect_url = std::move(values[3]);
  if (process_.memoizer != nullptr) loaded.kept_limits = std::make_shared<KeptLimits>();
  co_return loaded;
}

base::Task<absl::StatusOr<Application>> ApplicationStore::LoadOrFail(ApplicationRef application) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Application> loaded, co_await Load(application));
  if (!loaded.has_value()) co_return MakeError(ErrorCode::kApplicationNotFound, application.id);
  co_return *std::move(loaded);
}

base::Task<absl::StatusOr<bool>> ApplicationStore::Exists(ApplicationRef application) {
  const std::string key = process_.keys.Application(application, ApplicationAttribute::kState);
  const auto read = [&] { return store::Exists(process_.store, key); };
  co_return co_await Memoized<bool>(process_.memoizer, MemoizerKeyOf(kExists, application), read);
}

base::Task<absl::Status> ApplicationStore::Delete(ApplicationRef application) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool exists, co_await Exists(application));
  if (!exists) co_return MakeError(ErrorCode::kApplicationNotFound, application.id);
  const std::vector<std::string> keys = AttributeKeys(process_.keys, application);
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kSRem)
      .AddOwned(process_.keys.ServiceApplications(application.service_id))
      .Add(application.id);
  batch.Add(CommandId::kDel).AddAll(keys);
  absl::Status deleted = co_await ExecuteAll(process_.store, batch);
  if (deleted.ok()) Forget(application);
  co_return deleted;
}

base::Task<absl::Status> ApplicationStore::SaveUserKey(UserKeyRef user_key,
                                                       std::string_view application_id) {
  for (const std::string_view text : {user_key.service_id, application_id, user_key.user_key}) {
    if (!IsBlank(text)) continue;
    co_return MakeError(ErrorCode::kApplicationHasInconsistentData, application_id,
                        user_key.user_key);
  }
  const std::string key = process_.keys.UserKey(user_key);
  const absl::StatusOr<bool> set = co_await store::Set(process_.store, key, application_id);
  if (set.ok() && process_.memoizer != nullptr) {
    process_.memoizer->Put(MemoizerKey(kLoadIdByKey, user_key.service_id, user_key.user_key),
                           std::optional<std::string>(application_id));
  }
  co_return set.status();
}

base::Task<absl::StatusOr<bool>> ApplicationStore::DeleteUserKey(UserKeyRef user_key) {
  const std::string key = process_.keys.UserKey(user_key);
  absl::StatusOr<bool> deleted = co_await store::Del(process_.store, key);
  if (deleted.ok() && process_.memoizer != nullptr) {
    process_.memoizer->Clear(MemoizerKey(kLoadIdByKey, user_key.service_id, user_key.user_key));
  }
  co_return deleted;
}

base::Task<absl::StatusOr<std::optional<std::string>>> ApplicationStore::LoadIdByUserKey(
    UserKeyRef user_key) {
  const std::string key = process_.keys.UserKey(user_key);
  const auto read = [&] { return store::Get(process_.store, key); };
  co_return co_await Memoized<std::optional<std::string>>(
      process_.memoizer, MemoizerKey(kLoadIdByKey, user_key.service_id, user_key.user_key), read);
}

base::Task<absl::StatusOr<std::string>> ApplicationStore::FindId(std::string_view service_id,
                                                                 ApplicationIdentity identity) {
  std::optional<std::string> id;
  if (identity.app_id) {
    if (identity.user_key) co_return MakeError(ErrorCode::kAuthenticationError);
    id = *identity.app_id;
  } else if (identity.user_key) {
    const UserKeyRef user_key{service_id, *identity.user_key};
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<std::string> found,
                                 co_await LoadIdByUserKey(user_key));
    if (!found.has_value()) co_return MakeError(ErrorCode::kUserKeyInvalid, *identity.user_key);
    id = std::move(found);
  } else {
    co_return MakeError(ErrorCode::kApplicationNotFound);
  }
  const ApplicationRef application{service_id, *id};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool exists, co_await Exists(application));
  if (!exists) co_return MakeError(ErrorCode::kApplicationNotFound, *id);
  co_return *std::move(id);
}

base::Task<absl::StatusOr<std::string>> ApplicationStore::CreateKey(
    ApplicationRef application, std::optional<std::string_view> value, base::Rng& rng) {
  REDOUBLE_CO_RETURN_IF_ERROR((co_await LoadOrFail(application)).status());
  std::string added = value ? std::string(*value) : RandomKey(rng);
  const std::string key = process_.keys.ApplicationKeys(application);
  ForgetMembers(key);
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::SAdd(process_.store, key, added)).status());
  co_return added;
}

base::Task<absl::StatusOr<bool>> ApplicationStore::DeleteKey(ApplicationRef application,
                                                             std::string_view value) {
  REDOUBLE_CO_RETURN_IF_ERROR((co_await LoadOrFail(application)).status());
  const std::string key = process_.keys.ApplicationKeys(application);
  ForgetMembers(key);
  co_return co_await store::SRem(process_.store, key, value);
}

base::Task<absl::StatusOr<std::vector<std::string>>> ApplicationStore::Keys(
    ApplicationRef application) {
  co_return co_await Members(process_.keys.ApplicationKeys(application));
}

base::Task<absl::StatusOr<bool>> ApplicationStore::HasKeys(ApplicationRef application) {
  co_return co_await HasMembers(process_.keys.ApplicationKeys(application));
}

base::Task<absl::StatusOr<bool>> ApplicationStore::HasKey(ApplicationRef application,
                                                          std::string_view value) {
  const std::string key = process_.keys.ApplicationKeys(application);
  const auto read = [&] { return store::SIsMember(process_.store, key, value); };
  co_return co_await Memoized<bool>(process_.memoizer,
                                    MemoizerKey("Application.sismember", key, value), read);
}

base::Task<absl::StatusOr<std::string>> ApplicationStore::CreateReferrerFilter(
    ApplicationRef application, std::string_view value) {
  REDOUBLE_CO_RETURN_IF_ERROR((co_await LoadOrFail(application)).status());
  if (IsBlank(value)) co_return MakeError(ErrorCode::kReferrerFilterInvalid);
  const std::string key = process_.keys.ReferrerFilters(application);
  ForgetMembers(key);
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::SAdd(process_.store, key, value)).status());
  co_return std::string(value);
}

base::Task<absl::StatusOr<bool>> ApplicationStore::DeleteReferrerFilter(ApplicationRef application,
                                                                        std::string_view value) {
  REDOUBLE_CO_RETURN_IF_ERROR((co_await LoadOrFail(application)).status());
  const std::string key = process_.keys.ReferrerFilters(application);
  ForgetMembers(key);
  co_return co_await store::SRem(process_.store, key, value);
}

base::Task<absl::StatusOr<std::vector<std::string>>> ApplicationStore::ReferrerFilters(
    ApplicationRef application) {
  co_return co_await Members(process_.keys.ReferrerFilters(application));
}

base::Task<absl::StatusOr<bool>> ApplicationStore::HasReferrerFilters(ApplicationRef application) {
  co_return co_await HasMembers(process_.keys.ReferrerFilters(application));
}

base::Task<absl::Status> ApplicationStore::AddMembers(
    ApplicationRef application, std::span<const std::string> keys,
    std::span<const std::string> referrer_filters) {
  const std::pair<std::string, std::span<const std::string>> sets[] = {
      {process_.keys.ApplicationKeys(application), keys},
      {process_.keys.ReferrerFilters(application), referrer_filters}};
  Batch batch(Batch::Atomicity::kPipeline);
  for (const auto& [key, members] : sets) {
    if (members.empty()) continue;
    ForgetMembers(key);
    batch.Add(CommandId::kSAdd).Add(key).AddAll(members);
  }
  if (batch.commands().empty()) co_return absl::OkStatus();
  co_return co_await ExecuteAll(process_.store, batch);
}

base::Task<absl::StatusOr<std::vector<std::string>>> ApplicationStore::Members(std::string key) {
  const auto read = [&] { return store::SMembers(process_.store, key); };
  co_return co_await Memoized<std::vector<std::string>>(process_.memoizer,
                                                        MemoizerKey(kMembers, key), read);
}

base::Task<absl::StatusOr<bool>> ApplicationStore::HasMembers(std::string key) {
  const auto read = [&] { return store::SCard(process_.store, key); };
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const int64_t count,
      co_await Memoized<int64_t>(process_.memoizer, MemoizerKey(kCount, key), read));
  co_return count > 0;
}

void ApplicationStore::Forget(const ApplicationRef& application) {
  if (process_.memoizer == nullptr) return;
  process_.memoizer->Clear(MemoizerKeyOf("Application.load", application));
  process_.memoizer->Clear(MemoizerKeyOf(kExists, application));
}

void ApplicationStore::ForgetMembers(std::string_view key) {
  if (process_.memoizer == nullptr) return;
  process_.memoizer->Clear(MemoizerKey(kMembers, key));
  process_.memoizer->Clear(MemoizerKey(kCount, key));
}

}  // namespace redouble::inline v0_1::threescale
