// ServiceTokenStore: tokens that clients send instead of a provider key, each for one service.
//
// A token is a key with a hash that is not read; it is valid while the key exists.
//
//   ServiceTokenStore tokens(process);
//   absl::StatusOr<bool> valid = co_await tokens.Exists({"e63b", "2"});
//
// Errors of every operation: those that it names (errors.h), and those of Redis.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 4.3.
#ifndef REDOUBLE_CORE_THREESCALE_MODEL_SERVICE_TOKEN_H_
#define REDOUBLE_CORE_THREESCALE_MODEL_SERVICE_TOKEN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

struct ServiceTokenPair {
  std::optional<std::string_view> token;
  std::optional<std::string_view> service_id;
};

class ServiceTokenStore {
 public:
  explicit ServiceTokenStore(const Process& process) : process_(process) {}

  // Stores all pairs, one round trip each. Errors, before a command is sent: InvalidServiceToken
  // and InvalidServiceId for a missing or empty text.
  base::Task<absl::Status> SavePairs(std::span<const ServiceTokenPair> pairs);
  // Removes a token, and returns whether it existed. One round trip.
  base::Task<absl::StatusOr<bool>> Delete(ServiceTokenRef token);
  // Whether a token exists. One round trip. Memoized.
  base::Task<absl::StatusOr<bool>> Exists(ServiceTokenRef token);

 private:
  Process process_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MODEL_SERVICE_TOKEN_H_
