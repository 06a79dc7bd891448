// ServiceStore with change_services_atomically. Each operation reads what its decision needs, and a
// script writes everything if that is unchanged; otherwise another process has succeeded in between
// and the operation begins again.

#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/model/service.h"
#include "redouble/core/threescale/scripts/script_texts.h"
#include "redouble/core/threescale/text/integer.h"

namespace redouble::inline v0_1::threescale {
namespace {

using store::Batch;
using store::CommandId;
using store::Script;

using OptionalText = std::optional<std::string>;

// KEYS: the provider's default, the service's referrer flag, backend version, provider key and
// state, the provider's services, all services, all provider keys. ARGV: the default as it was read
// or "", the id, the provider key, the state, the referrer flag, "1" if the service becomes the
// default, and the backend version if it is given. Replies 0 if the default has changed.
const Script& SaveScript() {
  static const Script& script = *new Script(std::string(kSaveServiceText));
  return script;
}

// KEYS: the provider's default and services, all services, the service's state, referrer flag,
// backend version and provider key, its errors. ARGV: the id, the provider key as it was read.
// Replies 0 if the provider key has changed, and 2 for the default among other services.
const Script& DeleteScript() {
  static const Script& script = *new Script(std::string(kDeleteServiceText));
  return script;
}

// KEYS: the old and the new default, the old and the new services, and the provider key of each
// service. ARGV: the default as it was read, the new key, and the ids as they were read. Replies 0
// if the old provider has changed, or the new one has services.
const Script& ChangeScript() {
  static const Script& script = *new Script(std::string(kChangeProviderKeyText));
  return script;
}

std::vector<std::string_view> ViewsOf(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

base::Task<absl::StatusOr<bool>> ServiceStore::SaveByScript(const ServiceSave& save) {
  const Keys& keys = process_.keys;
  const std::vector<std::string> key_texts = {
      keys.ProviderDefaultService(save.provider_key),
      keys.Service(save.id, ServiceAttribute::kReferrerFiltersRequired),
      keys.Service(save.id, ServiceAttribute::kBackendVersion),
      keys.Service(save.id, ServiceAttribute::kProviderKey),
      keys.Service(save.id, ServiceAttribute::kState),
      keys.ProviderServiceIds(save.provider_key),
      std::string(keys.ServicesSet()),
      std::string(keys.ProviderKeysSet())};
  const std::vector<std::string_view> key_views = ViewsOf(key_texts);
  const std::string_view state = StoredState(save);
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText old_id,
                                 co_await store::Get(process_.store, key_texts.front()));
    const bool is_default = save.is_default.value_or(!old_id.has_value());
    const bool becomes = is_default && ToIntegerOrZero(old_id) != ToInteger(save.id);
    const std::string old_text = old_id.value_or("");
    std::vector<std::string_view> arguments = {old_text,
                                               save.id,
                                               save.provider_key,
                                               state,
                                               save.referrer_filters_required ? "1" : "0",
                                               becomes ? "1" : "0"};
    if (save.backend_version) arguments.push_back(*save.backend_version);
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool saved, store::DecodeBool(co_await SaveScript().Run(
                                                       process_.store, key_views, arguments)));
    if (!saved) continue;
    if (becomes) Forget(save.provider_key, old_text);
    co_return is_default;
  }
}

base::Task<absl::Status> ServiceStore::DeleteByScript(std::string_view id) {
  constexpr int64_t kChanged = 0;
  constexpr int64_t kIsDefault = 2;
  const Keys& keys = process_.keys;
  const std::string provider_key_key = keys.Service(id, ServiceAttribute::kProviderKey);
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText provider_key,
                                 co_await store::Get(process_.store, provider_key_key));
    if (!provider_key) co_return MakeError(ErrorCode::kServiceIdInvalid, id);
    const std::vector<std::string> key_texts = {
        keys.ProviderDefaultService(*provider_key),
        keys.ProviderServiceIds(*provider_key),
        std::string(keys.ServicesSet()),
        keys.Service(id, ServiceAttribute::kState),
        keys.Service(id, ServiceAttribute::kReferrerFiltersRequired),
        keys.Service(id, ServiceAttribute::kBackendVersion),
        provider_key_key,
        keys.Errors(id)};
    const std::vector<std::string_view> key_views = ViewsOf(key_texts);
    const std::string_view arguments[] = {id, *provider_key};
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        const int64_t reply,
        store::DecodeInteger(co_await DeleteScript().Run(process_.store, key_views, arguments)));
    if (reply == kChanged) continue;
    if (reply == kIsDefault) co_return MakeError(ErrorCode::kServiceIsDefaultService, id);
    Forget(*provider_key, id);
    co_return absl::OkStatus();
  }
}

base::Task<absl::Status> ServiceStore::ChangeByScript(std::string_view old_key,
                                                      std::string_view new_key) {
  bool changed = false;
  while (!changed) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(changed, co_await TryToChange(old_key, new_key));
  }
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<bool>> ServiceStore::TryToChange(std::string_view old_key,
                                                           std::string_view new_key) {
  const Keys& keys = process_.keys;
  std::vector<std::string> key_texts = {
      keys.ProviderDefaultService(old_key), keys.ProviderDefaultService(new_key),
      keys.ProviderServiceIds(old_key), keys.ProviderServiceIds(new_key)};
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kSMembers, {key_texts[3]});
  batch.Add(CommandId::kSMembers, {key_texts[2]});
  batch.Add(CommandId::kGet, {key_texts[0]});
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<store::Reply> replies,
                               co_await store::Execute(process_.store, batch));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> taken,
                               store::DecodeStrings(std::move(replies[0])));
  if (!taken.empty()) co_return MakeError(ErrorCode::kProviderKeyExists, new_key);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                               store::DecodeStrings(std::move(replies[1])));
  if (ids.empty()) co_return MakeError(ErrorCode::kProviderKeyNotFound, old_key);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText default_id,
                               store::DecodeStringOrNil(std::move(replies[2])));
  if (!default_id) co_return MissingDefaultError();

  std::vector<std::string_view> arguments = {*default_id, new_key};
  for (const std::string& id : ids) {
    key_texts.push_back(keys.Service(id, ServiceAttribute::kProviderKey));
    arguments.push_back(id);
  }
  const std::vector<std::string_view> key_views = ViewsOf(key_texts);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool changed, store::DecodeBool(co_await ChangeScript().Run(
                                                       process_.store, key_views, arguments)));
  if (!changed) co_return false;
  for (const std::string& id : ids) {
    Forget(old_key, id);
    Forget(new_key, id);
  }
  co_return true;
}

}  // namespace redouble::inline v0_1::threescale
