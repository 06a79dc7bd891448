// The writes of BudgetStore: the commands that an operation sends after it has decided.
//
// Each write exists as a transaction, which is the documented behavior, and as a script, which
// checks a condition and writes in one step. Part of budget.h; not for use on its own.
//
// Errors are those of the store, unchanged; BudgetStore converts them to ControlStateUnavailable.
//
// Thread-safety: as Store.
// Source: docs/systems/gateway.md 4.5 to 4.8.
#ifndef REDOUBLE_CORE_GATEWAY_BUDGET_COMMANDS_H_
#define REDOUBLE_CORE_GATEWAY_BUDGET_COMMANDS_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/gateway/budget.h"
#include "redouble/core/gateway/keys.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::gateway {

// Replaces a reconciled reservation, with Hardening::idempotent_settlement.
// Source: docs/systems/gateway.md 2.4.
inline constexpr std::string_view kSettledMark = "settled";

struct ReservationWrite {
  std::string key;
  BudgetCounterKeys counters;
  double cost_usd = 0;
};

// SET of the reservation, INCRBYFLOAT and EXPIRE of each counter. One round trip. The first error
// reply is the result; the other commands have taken effect.
base::Task<absl::Status> ReserveByTransaction(store::Store& store, const ReservationWrite& write);

// The result of check_and_reserve.lua.
struct CheckedSpend {
  bool exceeded = false;
  std::optional<std::string> daily;  // The values of the counters; nullopt if missing.
  std::optional<std::string> monthly;
};
// Reads both counters and, unless one has reached its limit, writes as ReserveByTransaction does.
// One round trip; one more for the first use of the script on a server, and one more if a counter
// has bytes above 127. Errors also: InvalidArgument, with nothing written, for a counter that is
// not UTF-8.
base::Task<absl::StatusOr<CheckedSpend>> CheckAndReserveByScript(store::Store& store,
                                                                 const ReservationWrite& write,
                                                                 const BudgetLimits& limits);

struct SettlementWrite {
  std::string key;
  // The value of the reservation that `delta_usd` was computed from. SettleByScript only.
  std::optional<std::string> seen;
  BudgetCounterKeys counters;
  Keys keys = Keys();  // Tell counters from other keys, for `heal_counter_ttl`.
  double delta_usd = 0;
  bool heal_counter_ttl = false;
  bool leave_mark = false;  // SettleByScript only.
};

// INCRBYFLOAT of each counter, and DEL of the reservation. One round trip.
base::Task<absl::Status> SettleByTransaction(store::Store& store, const SettlementWrite& write);

// As SettleByTransaction, if the reservation still has the value `seen`; with `leave_mark` it
// stores the mark instead of deleting the reservation. Returns false, with nothing written, if the
// reservation has changed. One round trip, two for the first use of the script on a server.
base::Task<absl::StatusOr<bool>> SettleByScript(store::Store& store, const SettlementWrite& write);

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_BUDGET_COMMANDS_H_
