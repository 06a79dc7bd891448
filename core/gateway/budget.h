// BudgetStore: the daily and monthly spend of virtual keys, and reservations against it.
//
// A request whose cost can be estimated reserves it before it is forwarded: both counters are
// charged and a reservation remembers amount and counters. When the request is over, the
// reservation is reconciled with the actual cost or released. A request that reserved nothing adds
// its cost when it is known.
//
//   gateway::BudgetStore budgets(store);
//   const gateway::BudgetRequest request{key_id, request_id};
//   absl::Status reserved = co_await budgets.ReserveBudget(request, 0.50, clock.Now());
//   ...
//   absl::Status settled =
//       co_await budgets.ReconcileBudgetReservation(request, 0.75, clock.Now());
//
// Time buckets come from `now`, in UTC. Costs are USD. The hazards of the original are kept; see
// hardening.h for the options that remove some, and reference/gateway.md section 7 for all.
//
// Errors of every operation: InvalidArgument when the key id is not a UUID in lower case, before
// anything is sent; otherwise ControlStateUnavailable (control_state.h), whatever the cause. Redis
// rolls nothing back: where one command of a transaction failed, the others have taken effect.
//
// Thread-safety: as Store.
// Source: seed 002, reference/gateway.md 3.2 to 3.7 and 6.
#ifndef REDOUBLE_CORE_GATEWAY_BUDGET_H_
#define REDOUBLE_CORE_GATEWAY_BUDGET_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/gateway/hardening.h"
#include "core/gateway/keys.h"
#include "core/store/store.h"

namespace redouble::gateway {

// What a virtual key may spend; none means unlimited.
struct BudgetLimits {
  std::optional<double> daily_usd;
  std::optional<double> monthly_usd;

  bool unlimited() const { return !daily_usd && !monthly_usd; }
};

struct BudgetDecision {
  enum class Outcome { kAllowed, kExceeded };
  Outcome outcome = Outcome::kAllowed;
  // What the counters held; 0 when they were not read.
  double daily_spend_usd = 0;
  double monthly_spend_usd = 0;
};

class BudgetStore {
 public:
  // `store` must outlive this.
  explicit BudgetStore(store::Store& store, Hardening hardening = Hardening())
      : store_(store), hardening_(hardening) {}

  // Compares what was spent with the limits: a spend that has reached a limit exceeds it. The cost
  // of the request at hand is not added. A missing counter and one that is no number count as 0;
  // "inf" always exceeds, "nan" never does. Reads only: two GETs, two round trips, also when one
  // limit is none; no command when both are. Errors also: a counter that is no string or not UTF-8.
  base::Task<absl::StatusOr<BudgetDecision>> CheckBudget(std::string_view key_id,
                                                         BudgetLimits limits, absl::Time now);

  // Adds a cost to both counters and restarts their TTLs: four commands, four round trips, not a
  // transaction; it stops at the first error, with what came before in effect. Nothing is sent for
  // a cost of 0 or below. NaN is sent, and Redis refuses it.
  base::Task<absl::Status> AddBudgetSpend(std::string_view key_id, double cost_usd, absl::Time now);

  // Writes the reservation (overwriting one of the same id, whose amount is then never given back),
  // adds the cost to both counters and restarts all TTLs: one transaction, one round trip. Nothing
  // is sent, and no reservation made, for a cost of 0 or below.
  base::Task<absl::Status> ReserveBudget(BudgetRequest request, double cost_usd, absl::Time now);

  // CheckBudget, and if it allows ReserveBudget: three round trips, with room for others between
  // them. By one script, one round trip (two the first time), with
  // Hardening::atomic_check_and_reserve; then errors are those of both.
  base::Task<absl::StatusOr<BudgetDecision>> CheckAndReserveBudget(BudgetRequest request,
                                                                   BudgetLimits limits,
                                                                   double cost_usd, absl::Time now);

  // Replaces the reserved amount by the actual cost in the counters that were charged, and deletes
  // the reservation: a GET and a transaction, two round trips. Without a reservation, or with a
  // malformed one, the whole cost goes to the counters of `now`. A negative cost and NaN count as
  // 0. No TTL is set: a counter that does not exist is created without one. Errors also: a
  // reservation that is no string or not UTF-8, with nothing written.
  base::Task<absl::Status> ReconcileBudgetReservation(BudgetRequest request, double actual_usd,
                                                      absl::Time now);

  // Takes the reserved amount back from the counters that were charged, and deletes the
  // reservation; otherwise as above with a cost of 0. A counter stays, at 0 or below. `now` serves
  // for the counters of a missing reservation only.
  base::Task<absl::Status> ReleaseBudgetReservation(BudgetRequest request, absl::Time now);

 private:
  base::Task<absl::StatusOr<double>> ReadSpend(std::string_view counter_key);
  base::Task<absl::Status> AddToCounter(std::string_view counter_key, std::string_view cost,
                                        absl::Duration ttl);
  base::Task<absl::Status> Settle(BudgetRequest request, std::optional<double> actual_usd,
                                  absl::Time now);

  store::Store& store_;
  Hardening hardening_;
};

}  // namespace redouble::gateway

#endif  // REDOUBLE_CORE_GATEWAY_BUDGET_H_
