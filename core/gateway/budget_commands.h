// The writes of budgets: what goes to Redis once an operation has decided.
//
// Each comes as a transaction, the documented way, or as a script that does the same in one step
// with a condition. Part of budget.h; not for use on its own.
//
// Thread-safety: as Store.
// Source: reference/gateway.md 3.4 to 3.6 and 7.
#ifndef REDOUBLE_CORE_GATEWAY_BUDGET_COMMANDS_H_
#define REDOUBLE_CORE_GATEWAY_BUDGET_COMMANDS_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/gateway/budget.h"
#include "core/gateway/keys.h"
#include "core/store/store.h"

namespace redouble::gateway {

// In place of a reservation that was reconciled: Hardening::idempotent_settlement.
inline constexpr std::string_view kSettledMark = "settled";

struct ReservationWrite {
  std::string key;
  BudgetCounterKeys counters;
  double cost_usd = 0;
};

// SET, and INCRBYFLOAT and EXPIRE of each counter.
base::Task<absl::Status> ReserveByTransaction(store::Store& store, const ReservationWrite& write);

// What a script that checks first found.
struct CheckedSpend {
  bool exceeded = false;
  std::optional<std::string> daily;  // The counters' texts.
  std::optional<std::string> monthly;
};
// Reads both counters and, unless one has reached its limit, does as ReserveByTransaction. Errors
// also: InvalidArgument, with nothing written, for a counter that is not UTF-8.
base::Task<absl::StatusOr<CheckedSpend>> CheckAndReserveByScript(store::Store& store,
                                                                 const ReservationWrite& write,
                                                                 const BudgetLimits& limits);

struct SettlementWrite {
  std::string key;
  // What the reservation was when the settlement was computed; for the script.
  std::optional<std::string> seen;
  BudgetCounterKeys counters;
  double delta_usd = 0;
  bool heal_counter_ttl = false;
  bool leave_mark = false;  // For the script.
};

// INCRBYFLOAT of each counter, and DEL of the reservation.
base::Task<absl::Status> SettleByTransaction(store::Store& store, const SettlementWrite& write);

// The same, with the mark in place of DEL if so asked, if the reservation is still as seen. False,
// with nothing written, when it is not.
base::Task<absl::StatusOr<bool>> SettleByScript(store::Store& store, const SettlementWrite& write);

}  // namespace redouble::gateway

#endif  // REDOUBLE_CORE_GATEWAY_BUDGET_COMMANDS_H_
