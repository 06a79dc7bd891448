#include "redouble/core/threescale/model/service_token.h"

#include <string>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/threescale/errors.h"

namespace redouble::inline v0_1::threescale {
namespace {

// The only field of a token's hash. Its value is empty and not read.
constexpr std::string_view kPermissions = "permissions";

std::string ExistsKey(const ServiceTokenRef& token) {
  return MemoizerKey("ServiceToken.exists?", token.token, token.service_id);
}

}  // namespace

base::Task<absl::Status> ServiceTokenStore::SavePairs(std::span<const ServiceTokenPair> pairs) {
  for (const ServiceTokenPair& pair : pairs) {
    if (!pair.token || pair.token->empty()) co_return MakeError(ErrorCode::kInvalidServiceToken);
    if (!pair.service_id || pair.service_id->empty()) {
      co_return MakeError(ErrorCode::kInvalidServiceId);
    }
  }
  for (const ServiceTokenPair& pair : pairs) {
    const ServiceTokenRef token{*pair.token, *pair.service_id};
    const std::string key = process_.keys.ServiceToken(token);
    REDOUBLE_CO_RETURN_IF_ERROR(
        (co_await store::HSet(process_.store, key, kPermissions, "")).status());
    if (process_.memoizer != nullptr) process_.memoizer->Clear(ExistsKey(token));
  }
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<bool>> ServiceTokenStore::Delete(ServiceTokenRef token) {
  const std::string key = process_.keys.ServiceToken(token);
  absl::StatusOr<bool> deleted = co_await store::Del(process_.store, key);
  if (deleted.ok() && process_.memoizer != nullptr) process_.memoizer->Clear(ExistsKey(token));
  co_return deleted;
}

base::Task<absl::StatusOr<bool>> ServiceTokenStore::Exists(ServiceTokenRef token) {
  const std::string key = process_.keys.ServiceToken(token);
  const auto read = [&] { return store::Exists(process_.store, key); };
  co_return co_await Memoized<bool>(process_.memoizer, ExistsKey(token), read);
}

}  // namespace redouble::inline v0_1::threescale
