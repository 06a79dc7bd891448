// ServiceTokenStore: the tokens that stand for a provider key at one service.
//
//   ServiceTokenStore tokens(process);
//   absl::StatusOr<bool> valid = co_await tokens.Exists({"e63b", "2"});
//
// Thread-safety: as Store.
// Source: seed 004 Services, reference/threescale.md 3.2.
#ifndef REDOUBLE_CORE_THREESCALE_SERVICE_TOKEN_H_
#define REDOUBLE_CORE_THREESCALE_SERVICE_TOKEN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/threescale/keys.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

struct ServiceTokenPair {
  std::optional<std::string_view> token;
  std::optional<std::string_view> service_id;
};

class ServiceTokenStore {
 public:
  explicit ServiceTokenStore(const Process& process) : process_(process) {}

  // Stores all pairs, one round trip each. Errors, before anything is sent: InvalidServiceToken,
  // InvalidServiceId for one that is none or empty.
  base::Task<absl::Status> SavePairs(std::span<const ServiceTokenPair> pairs);
  // True when there was such a token. One round trip.
  base::Task<absl::StatusOr<bool>> Delete(ServiceTokenRef token);
  // One round trip. Memoized.
  base::Task<absl::StatusOr<bool>> Exists(ServiceTokenRef token);

 private:
  Process process_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_SERVICE_TOKEN_H_
