// BudgetStore: the daily and monthly spend of virtual keys, and reservations against it.
//
// A request whose cost can be estimated reserves the estimate before it is forwarded: both counters
// are charged, and a reservation stores the amount and the counters. When the request has ended,
// the reservation is reconciled with the actual cost, or released. A request without a reservation
// adds its cost when the cost is known.
//
//   gateway::BudgetStore budgets(store);
//   const gateway::BudgetRequest request{key_id, request_id};
//   absl::Status reserved = co_await budgets.ReserveBudget(request, 0.50, clock.Now());
//   ...
//   absl::Status settled =
//       co_await budgets.ReconcileBudgetReservation(request, 0.75, clock.Now());
//
// `now` selects the UTC day and month. Costs are in USD. By default the hazards of the original
// gateway are kept; hardening.h has options that remove some of them.
//
// Errors of every operation: InvalidArgument if the key id is not a UUID in lower case or the year
// of `now` does not have four digits, before a command is sent; otherwise ControlStateUnavailable
// (errors.h) for any failure of Redis. Redis does not roll back: if one command of a
// transaction fails, the other commands have taken effect.
//
// Thread-safety: as Store.
// Source: docs/systems/gateway.md 4.1, 4.3 to 4.8; hazards in 5.
#ifndef REDOUBLE_CORE_GATEWAY_BUDGET_H_
#define REDOUBLE_CORE_GATEWAY_BUDGET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/gateway/hardening.h"
#include "redouble/core/gateway/keys.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::gateway {

// The limits of a virtual key; nullopt means unlimited.
struct BudgetLimits {
  std::optional<double> daily_usd;
  std::optional<double> monthly_usd;

  bool unlimited() const { return !daily_usd && !monthly_usd; }
};

struct BudgetDecision {
  enum class Outcome { kAllowed, kExceeded };
  Outcome outcome = Outcome::kAllowed;
  // The values of the counters; 0 if they were not read.
  double daily_spend_usd = 0;
  double monthly_spend_usd = 0;
};

struct ReservationWrite;

class BudgetStore {
 public:
  // `store` must outlive this.
  explicit BudgetStore(store::Store& store, Hardening hardening = Hardening(), Keys keys = Keys())
      : store_(store), hardening_(hardening), keys_(keys) {}

  // Compares the spend with the limits. A limit is exceeded if the spend has reached it; the cost
  // of the current request is not added. A counter that is missing or not a number counts as 0;
  // "inf" always exceeds a limit, "nan" never does. Reads only.
  //
  // Round trips: 2 (two GETs), also with one limit; 0 without limits. Errors also:
  // ControlStateUnavailable for a counter that is not a string or not UTF-8.
  // Source: docs/systems/gateway.md 4.3.
  base::Task<absl::StatusOr<BudgetDecision>> CheckBudget(std::string_view key_id,
                                                         BudgetLimits limits, absl::Time now);

  // Adds a cost to both counters and restarts their TTLs. The four commands are not a transaction:
  // the operation stops at the first error, and earlier commands have taken effect. They are one
  // with Hardening::atomic_spend, and a counter that is not a number then fails alone. A cost of 0
  // or less sends nothing. Redis refuses a NaN or infinite cost.
  //
  // Round trips: 4, or 0; 1 with Hardening::atomic_spend. Source: docs/systems/gateway.md 4.4.
  base::Task<absl::Status> AddBudgetSpend(std::string_view key_id, double cost_usd, absl::Time now);

  // Writes the reservation, adds the cost to both counters and restarts all TTLs in one
  // transaction. A reservation with the same id is replaced, and its amount is never refunded. A
  // cost of 0 or less sends nothing and makes no reservation. The budget is not checked.
  //
  // Round trips: 1, or 0. Source: docs/systems/gateway.md 4.5.
  base::Task<absl::Status> ReserveBudget(BudgetRequest request, double cost_usd, absl::Time now);

  // CheckBudget, then ReserveBudget if the check allows it. Other clients can run between the three
  // round trips. With Hardening::atomic_check_and_reserve one script does both: one round trip, two
  // the first time. Errors: those of both operations. Source: docs/systems/gateway.md 4.6.
  base::Task<absl::StatusOr<BudgetDecision>> CheckAndReserveBudget(BudgetRequest request,
                                                                   BudgetLimits limits,
                                                                   double cost_usd, absl::Time now);

  // Replaces the reserved amount by the actual cost in the counters that were charged, and deletes
  // the reservation. Without a reservation, or with a malformed one, the whole cost goes to the
  // counters of `now`. A negative cost and NaN count as 0. No TTL is set: a missing counter is
  // created without one, unless Hardening::heal_counter_ttl is set. In the cluster layout a
  // reservation that names other keys than counters of its virtual key is malformed.
  //
  // Round trips: 2 (a GET and a transaction); with Hardening::idempotent_settlement see
  // docs/systems/gateway.md 4. Errors also: ControlStateUnavailable, with nothing written, for a
  // reservation that is not a string or not UTF-8. Source: docs/systems/gateway.md 4.7.
  base::Task<absl::Status> ReconcileBudgetReservation(BudgetRequest request, double actual_usd,
                                                      absl::Time now);

  // Subtracts the reserved amount from the counters that were charged, and deletes the reservation;
  // otherwise as ReconcileBudgetReservation with a cost of 0. A counter is never deleted; it can
  // become 0 or negative. `now` selects the counters only if the reservation is missing or
  // malformed. Source: docs/systems/gateway.md 4.8.
  base::Task<absl::Status> ReleaseBudgetReservation(BudgetRequest request, absl::Time now);

  // The result of SweepReservations.
  struct Sweep {
    int64_t seen = 0;      // The reservations that were found.
    int64_t released = 0;  // Of these, the ones that were released.
    double released_usd = 0;
  };

  // Releases the reservations that were made at least `age` ago: their gateway has crashed, or
  // their request takes longer than that. The age follows from the TTL. Each is released only if it
  // is unchanged since it was read, so that two sweeps, or a sweep and a settlement with
  // Hardening::idempotent_settlement, release it once. A request that ends after its release is
  // charged its actual cost, in the counters of that time. Without the option, a settlement that
  // has read the reservation just before it is released refunds it a second time (hazard R5).
  // Malformed reservations and settled marks are left to expire. After a crash, or an error, a
  // repeated call continues.
  //
  // `age` must be shorter than ReservationTtl(). Round trips: those of a SCAN, 1 for each
  // reservation, and 1 more for each that is released. Errors: ControlStateUnavailable; the
  // reservations before it are released. Source: docs/systems/gateway.md 4.14.
  base::Task<absl::StatusOr<Sweep>> SweepReservations(absl::Duration age);

 private:
  // The write of a reservation, with the id that is stored.
  absl::StatusOr<ReservationWrite> ReservationOf(const BudgetRequest& request, double cost_usd,
                                                 absl::Time now) const;
  base::Task<absl::Status> SweepOne(const std::string& key, absl::Duration age, Sweep& sweep);
  base::Task<absl::StatusOr<double>> ReadSpend(std::string_view counter_key);
  base::Task<absl::Status> AddToCounter(std::string_view counter_key, std::string_view cost,
                                        absl::Duration ttl);
  base::Task<absl::Status> Settle(BudgetRequest request, std::optional<double> actual_usd,
                                  absl::Time now);

  store::Store& store_;
  Hardening hardening_;
  Keys keys_;
};

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_BUDGET_H_
