// The gateway's key families, and the keys built from them.
//
// All keys carry the id of a virtual key (a UUID in lower case) and a bucket of UTC time. The two
// budget counters and the reservation of one request belong together; see budget.h.
//
//   absl::StatusOr<std::string> key = gateway::RequestRateKey(key_id, now);
//   // "rl:req:018f8d31-86a7-7c48-8f36-4d1fa4d99101:202605091403"
//
// Thread-safety: constant data and pure functions.
// Source: seed 002 "Redis Keys", reference/gateway.md section 1. The token rate family of later
// releases (`rl:tpm:`) is not part of the seed.
#ifndef REDOUBLE_CORE_GATEWAY_KEYS_H_
#define REDOUBLE_CORE_GATEWAY_KEYS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/store/key_family.h"

namespace redouble::gateway {

// The four families, in the order of the documentation.
std::span<const store::KeyFamily> KeyFamilies();

// The times to live of the families, as their rows say.
absl::Duration RequestRateTtl();    // 70 s
absl::Duration DailyBudgetTtl();    // 2 days
absl::Duration MonthlyBudgetTtl();  // 62 days
absl::Duration ReservationTtl();    // 1 hour

// Names one request of one virtual key. The views must outlive the task that takes them.
struct BudgetRequest {
  std::string_view key_id;
  // Inserted verbatim: the gateway takes it from the client's `x-request-id` header, so it may hold
  // anything, colons and bars included, and may be empty.
  std::string_view request_id;
};

// The two counters of a virtual key at one moment.
struct BudgetCounterKeys {
  std::string daily;
  std::string monthly;
};

// The keys at the UTC minute, day or month in which `now` falls, never rounded. Errors:
// InvalidArgument when `key_id` is not a UUID in lower case or `now` has no four-digit year.
absl::StatusOr<std::string> RequestRateKey(std::string_view key_id, absl::Time now);
absl::StatusOr<std::string> DailyBudgetKey(std::string_view key_id, absl::Time now);
absl::StatusOr<std::string> MonthlyBudgetKey(std::string_view key_id, absl::Time now);
absl::StatusOr<BudgetCounterKeys> CounterKeys(std::string_view key_id, absl::Time now);
// Errors: InvalidArgument when the key id is not a UUID in lower case.
absl::StatusOr<std::string> ReservationKey(const BudgetRequest& request);

// The time to live that belongs to a budget counter; none for a key that is not one.
std::optional<absl::Duration> CounterTtl(std::string_view key);

}  // namespace redouble::gateway

#endif  // REDOUBLE_CORE_GATEWAY_KEYS_H_
