#include "redouble/core/threescale/model/service.h"

#include <array>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/model/requests.h"
#include "redouble/core/threescale/text/integer.h"

namespace redouble::inline v0_1::threescale {
namespace {

using OptionalText = std::optional<std::string>;

constexpr std::string_view kActive = "active";
constexpr std::string_view kSuspended = "suspended";

// In the order of the MGET that reads them.
constexpr std::array kAttributes = {
    ServiceAttribute::kState, ServiceAttribute::kReferrerFiltersRequired,
    ServiceAttribute::kBackendVersion, ServiceAttribute::kProviderKey};

std::vector<std::string> AttributeKeys(const Keys& keys, std::string_view id) {
  std::vector<std::string> attributes;
  for (const ServiceAttribute attribute : kAttributes)
    attributes.push_back(keys.Service(id, attribute));
  return attributes;
}

bool IsEmpty(const std::optional<std::string_view>& text) { return !text || text->empty(); }

}  // namespace

BackendVersion Service::authentication() const {
  if (!backend_version) return BackendVersion::kAppId;
  if (*backend_version == "oauth") return BackendVersion::kOauth;
  return ToInteger(*backend_version) == 1 ? BackendVersion::kUserKey : BackendVersion::kAppId;
}

std::string_view StoredState(const ServiceSave& save) {
  return !save.state || *save.state == kActive ? kActive : kSuspended;
}

absl::Status MissingDefaultError() {
  return absl::InvalidArgumentError("Unsupported command argument type: NilClass");
}

base::Task<absl::StatusOr<bool>> ServiceStore::SaveDefault(const ServiceSave& save) {
  if (save.is_default == false) co_return false;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText old_id, co_await DefaultId(save.provider_key));
  const bool is_default = save.is_default.value_or(!old_id.has_value());
  if (!is_default || ToIntegerOrZero(old_id) == ToInteger(save.id)) co_return is_default;
  const std::string key = process_.keys.ProviderDefaultService(save.provider_key);
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Set(process_.store, key, save.id)).status());
  Forget(save.provider_key, old_id.value_or(""));
  co_return true;
}

base::Task<absl::Status> ServiceStore::SaveAttributes(const ServiceSave& save) {
  const std::pair<ServiceAttribute, std::optional<std::string_view>> values[] = {
      {ServiceAttribute::kReferrerFiltersRequired, save.referrer_filters_required ? "1" : "0"},
      {ServiceAttribute::kBackendVersion, save.backend_version},
      {ServiceAttribute::kProviderKey, save.provider_key},
      {ServiceAttribute::kState, StoredState(save)}};
  for (const auto& [attribute, value] : values) {
    if (!value) continue;
    const std::string key = process_.keys.Service(save.id, attribute);
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Set(process_.store, key, *value)).status());
  }
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<bool>> ServiceStore::SaveInSteps(const ServiceSave& save) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool is_default, co_await SaveDefault(save));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await SaveAttributes(save));
  const std::pair<std::string, std::string_view> members[] = {
      {process_.keys.ProviderServiceIds(save.provider_key), save.id},
      {std::string(process_.keys.ServicesSet()), save.id},
      {std::string(process_.keys.ProviderKeysSet()), save.provider_key}};
  for (const auto& [key, member] : members) {
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::SAdd(process_.store, key, member)).status());
  }
  co_return is_default;
}

base::Task<absl::StatusOr<Service>> ServiceStore::Save(ServiceSave save) {
  absl::StatusOr<bool> is_default = false;
  if (changes_atomically()) {
    is_default = co_await SaveByScript(save);
  } else {
    is_default = co_await SaveInSteps(save);
  }
  REDOUBLE_CO_RETURN_IF_ERROR(is_default.status());
  Forget(save.provider_key, save.id);

  Service service;
  service.id = save.id;
  service.provider_key = save.provider_key;
  service.active = StoredState(save) == kActive;
  if (save.backend_version) service.backend_version = *save.backend_version;
  service.referrer_filters_required = save.referrer_filters_required;
  service.is_default = *is_default;
  co_return service;
}

base::Task<absl::StatusOr<std::optional<Service>>> ServiceStore::LoadById(std::string_view id) {
  const auto read = [this, id] { return ReadById(id); };
  co_return co_await Memoized<std::optional<Service>>(process_.memoizer,
                                                      MemoizerKey("Service.load_by_id", id), read);
}

base::Task<absl::StatusOr<std::optional<Service>>> ServiceStore::ReadById(std::string_view id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(OptionalTexts values,
                               co_await GetAll(process_.store, AttributeKeys(process_.keys, id)));
  OptionalText& state = values[0];
  OptionalText& provider_key = values[3];
  if (!provider_key) co_return std::nullopt;

  Service service;
  service.id = id;
  service.active = !state || *state == kActive;
  service.referrer_filters_required = ToIntegerOrZero(values[1]) > 0;
  service.backend_version = std::move(values[2]);
  service.provider_key = *std::move(provider_key);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText default_id,
                               co_await DefaultId(service.provider_key));
  service.is_default = default_id == service.id;
  co_return service;
}

base::Task<absl::StatusOr<Service>> ServiceStore::LoadWithProviderKey(
    std::optional<std::string_view> id, std::string_view provider_key) {
  absl::StatusOr<OptionalText> default_id = OptionalText();
  if (IsEmpty(id)) {
    default_id = co_await DefaultId(provider_key);
    REDOUBLE_CO_RETURN_IF_ERROR(default_id.status());
    id = *default_id;
  }
  if (IsEmpty(id)) {
    co_return MakeError(ErrorCode::kProviderKeyInvalidOrServiceMissing, provider_key);
  }
  // The id is the last part that is not empty: "a-2" and "a-2-" both mean service 2.
  std::string_view last = *id;
  while (last.ends_with('-')) last.remove_suffix(1);
  if (const size_t dash = last.rfind('-'); dash != last.npos) last.remove_prefix(dash + 1);
  absl::StatusOr<std::optional<Service>> service = std::optional<Service>();
  if (!last.empty()) service = co_await LoadById(last);
  if (service.ok() && !service->has_value() && last != *id) service = co_await LoadById(*id);
  REDOUBLE_CO_RETURN_IF_ERROR(service.status());
  if (!service->has_value()) co_return MakeError(ErrorCode::kServiceIdInvalid, *id);
  if ((*service)->provider_key == provider_key) co_return **std::move(service);

  default_id = co_await DefaultId(provider_key);
  REDOUBLE_CO_RETURN_IF_ERROR(default_id.status());
  if (!default_id->has_value()) co_return MakeError(ErrorCode::kProviderKeyInvalid, provider_key);
  co_return MakeError(ErrorCode::kServiceIdInvalid, *id);
}

base::Task<absl::Status> ServiceStore::Delete(std::string_view id) {
  if (changes_atomically()) co_return co_await DeleteByScript(id);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<Service> service, co_await LoadById(id));
  if (!service.has_value()) co_return MakeError(ErrorCode::kServiceIdInvalid, id);
  if (service->is_default) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText provider_key, co_await ProviderKeyOf(id));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                                 co_await List(provider_key.value_or("")));
    if (ids.size() != 1 || ids.front() != id) {
      co_return MakeError(ErrorCode::kServiceIsDefaultService, id);
    }
  }
  absl::Status deleted = co_await DeleteData(*service);
  if (deleted.ok()) Forget(service->provider_key, id);
  co_return deleted;
}

base::Task<absl::Status> ServiceStore::DeleteData(const Service& service) {
  const std::string ids_key = process_.keys.ProviderServiceIds(service.provider_key);
  for (const std::string_view key : {std::string_view(ids_key), process_.keys.ServicesSet()}) {
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::SRem(process_.store, key, service.id)).status());
  }
  if (service.is_default) {
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Del(process_.store, ids_key)).status());
  }
  std::vector<std::string> keys = AttributeKeys(process_.keys, service.id);
  if (service.is_default) {
    const std::string default_key = process_.keys.ProviderDefaultService(service.provider_key);
    if (process_.keys.layout() == store::KeyLayout::kCluster) {
      // It is in another slot. The attributes go last: while they exist, the service can be found
      // and its deletion can be repeated.
      REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Del(process_.store, default_key)).status());
    } else {
      keys.push_back(default_key);
    }
  }
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Del(process_.store, views)).status());
  const std::string errors_key = process_.keys.Errors(service.id);
  const absl::StatusOr<bool> errors_deleted = co_await store::Del(process_.store, errors_key);
  co_return errors_deleted.status();
}

base::Task<absl::StatusOr<std::vector<std::string>>> ServiceStore::List(
    std::string_view provider_key) {
  const std::string key = process_.keys.ProviderServiceIds(provider_key);
  const auto read = [&] { return store::SMembers(process_.store, key); };
  co_return co_await Memoized<std::vector<std::string>>(
      process_.memoizer, MemoizerKey("Service.list", provider_key), read);
}

base::Task<absl::StatusOr<bool>> ServiceStore::Exists(std::string_view id) {
  const std::string key = process_.keys.Service(id, ServiceAttribute::kProviderKey);
  co_return co_await store::Exists(process_.store, key);
}

base::Task<absl::StatusOr<OptionalText>> ServiceStore::DefaultId(std::string_view provider_key) {
  const std::string key = process_.keys.ProviderDefaultService(provider_key);
  const auto read = [&] { return store::Get(process_.store, key); };
  co_return co_await Memoized<OptionalText>(process_.memoizer,
                                            MemoizerKey("Service.default_id", provider_key), read);
}

base::Task<absl::StatusOr<OptionalText>> ServiceStore::ProviderKeyOf(std::string_view id) {
  const std::string key = process_.keys.Service(id, ServiceAttribute::kProviderKey);
  const auto read = [&] { return store::Get(process_.store, key); };
  co_return co_await Memoized<OptionalText>(process_.memoizer,
                                            MemoizerKey("Service.provider_key_for", id), read);
}

base::Task<absl::StatusOr<bool>> ServiceStore::IsOwnedBy(
    std::string_view id, std::optional<std::string_view> provider_key) {
  const auto read = [&] { return ReadIsOwnedBy(id, provider_key); };
  co_return co_await Memoized<bool>(
      process_.memoizer,
      MemoizerKey("Service.authenticate_service_id", id, provider_key.value_or("")), read);
}

base::Task<absl::StatusOr<bool>> ServiceStore::ReadIsOwnedBy(
    std::string_view id, std::optional<std::string_view> provider_key) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText owner, co_await ProviderKeyOf(id));
  co_return owner == provider_key;
}

base::Task<absl::Status> ServiceStore::ChangeProviderKey(ProviderKeyChange change) {
  if (IsEmpty(change.old_key) || IsEmpty(change.new_key) || change.old_key == change.new_key) {
    co_return MakeError(ErrorCode::kInvalidProviderKeys);
  }
  if (changes_atomically()) co_return co_await ChangeByScript(*change.old_key, *change.new_key);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> taken,
                               co_await List(*change.new_key));
  if (!taken.empty()) co_return MakeError(ErrorCode::kProviderKeyExists, *change.new_key);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids, co_await List(*change.old_key));
  if (ids.empty()) co_return MakeError(ErrorCode::kProviderKeyNotFound, *change.old_key);
  co_return co_await MoveServices(*change.old_key, *change.new_key, ids);
}

base::Task<absl::Status> ServiceStore::MoveServices(std::string_view old_key,
                                                    std::string_view new_key,
                                                    const std::vector<std::string>& ids) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText default_id, co_await DefaultId(old_key));
  const std::string new_ids_key = process_.keys.ProviderServiceIds(new_key);
  for (const std::string& id : ids) {
    const std::string key = process_.keys.Service(id, ServiceAttribute::kProviderKey);
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Set(process_.store, key, new_key)).status());
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::SAdd(process_.store, new_ids_key, id)).status());
    Forget(old_key, id);
    Forget(new_key, id);
  }
  if (!default_id.has_value()) co_return MissingDefaultError();
  const std::string new_default_key = process_.keys.ProviderDefaultService(new_key);
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::Set(process_.store, new_default_key, *default_id)).status());
  for (const std::string& key :
       {process_.keys.ProviderDefaultService(old_key), process_.keys.ProviderServiceIds(old_key)}) {
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Del(process_.store, key)).status());
  }
  Forget(old_key, *default_id);
  Forget(new_key, *default_id);
  co_return absl::OkStatus();
}

void ServiceStore::Forget(std::string_view provider_key, std::string_view id) {
  if (process_.memoizer == nullptr) return;
  process_.memoizer->Clear(MemoizerKey("Service.authenticate_service_id", id, provider_key));
  process_.memoizer->Clear(MemoizerKey("Service.default_id", provider_key));
  process_.memoizer->Clear(MemoizerKey("Service.load_by_id", id));
  process_.memoizer->Clear(MemoizerKey("Service.list", provider_key));
  process_.memoizer->Clear(MemoizerKey("Service.provider_key_for", id));
}

}  // namespace redouble::inline v0_1::threescale
