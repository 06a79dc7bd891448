// The gateway's key families, and the builders of their keys.
//
// Every key contains the id of a virtual key, which is a UUID in lower case. Counters also contain
// a UTC time bucket, and reservations the id of a request. The two budget counters and the
// reservation of one request belong together; see budget.h.
//
//   const gateway::Keys keys;
//   absl::StatusOr<std::string> key = keys.RequestRate(key_id, now);
//   // "rl:req:018f8d31-86a7-7c48-8f36-4d1fa4d99101:202605091403"
//
// In the cluster layout the id of the virtual key is the hash tag of each key, so that a cluster
// serves all keys of one virtual key in one slot: "rl:req:{018f8d31-...}:202605091403".
//
// Thread-safety: constant data and pure functions; a Keys is a plain value.
// Source: docs/systems/gateway.md 1, 1.5.
#ifndef REDOUBLE_CORE_GATEWAY_KEYS_H_
#define REDOUBLE_CORE_GATEWAY_KEYS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_layout.h"

namespace redouble::inline v0_1::gateway {

// The five families, in the order of the documentation and with the same ids in both layouts.
std::span<const store::KeyFamily> KeyFamilies(
    store::KeyLayout layout = store::KeyLayout::kDocumented);

// The TTLs of the families. Source: docs/systems/gateway.md 1.3.
absl::Duration RequestRateTtl();    // 70 s
absl::Duration TokenRateTtl();      // 70 s
absl::Duration DailyBudgetTtl();    // 2 days
absl::Duration MonthlyBudgetTtl();  // 62 days
absl::Duration ReservationTtl();    // 1 hour

// Names one request of one virtual key. The views must outlive the task that takes them.
struct BudgetRequest {
  std::string_view key_id;
  // Inserted verbatim. The gateway takes it from the client's `x-request-id` header, so it may
  // contain any byte, colons and bars included, and may be empty.
  std::string_view request_id;
};

// The two counters of a virtual key at one moment.
struct BudgetCounterKeys {
  std::string daily;
  std::string monthly;
};

// Builds and recognizes the keys of one layout.
class Keys {
 public:
  explicit Keys(store::KeyLayout layout = store::KeyLayout::kDocumented) : layout_(layout) {}

  store::KeyLayout layout() const { return layout_; }

  // Return the keys of the UTC minute, day or month that contains `now`; the time is truncated.
  // Errors: InvalidArgument if `key_id` is not a UUID in lower case or the year of `now` does not
  // have four digits.
  absl::StatusOr<std::string> RequestRate(std::string_view key_id, absl::Time now) const;
  absl::StatusOr<std::string> TokenRate(std::string_view key_id, absl::Time now) const;
  absl::StatusOr<std::string> DailyBudget(std::string_view key_id, absl::Time now) const;
  absl::StatusOr<std::string> MonthlyBudget(std::string_view key_id, absl::Time now) const;
  absl::StatusOr<BudgetCounterKeys> Counters(std::string_view key_id, absl::Time now) const;
  // Errors: InvalidArgument if the key id is not a UUID in lower case.
  absl::StatusOr<std::string> Reservation(const BudgetRequest& request) const;

  // A pattern for SCAN that matches the reservations of all virtual keys.
  std::string_view ReservationPattern() const;
  // Whether `key` is the key of a reservation.
  bool IsReservation(std::string_view key) const;
  // The TTL of a daily or monthly budget counter; nullopt for any other key.
  std::optional<absl::Duration> CounterTtl(std::string_view key) const;
  // Whether one transaction may settle a reservation against the counters that its value names. In
  // the documented layout always; in the cluster layout if both are counters of its virtual key.
  bool SettleTogether(std::string_view reservation, const BudgetCounterKeys& counters) const;

 private:
  store::KeyLayout layout_;
};

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_KEYS_H_
