// Operation: how a system's operations are offered to scenarios and goldens, as JSON in and out.
//
// Domain code has typed interfaces; a scenario file has names and JSON. An operation stands between
// the two: a coroutine that reads its arguments, calls the domain code on the store of its context,
// and gives the result as JSON. Each system offers a table of them in
// scenarios/operations/<system>_operations.h; the program, the golden runner and tests hand the
// table to the scenario runner, so that sim never includes a system.
//
//   // scenarios/operations/gateway_operations.h: namespace redouble::scenarios
//   sim::OperationTable GatewayOperations();
//
//   // scenarios/operations/gateway_operations.cc
//   base::Task<sim::OperationResult> AddBudgetSpend(sim::OperationContext context,
//                                                   const sim::Json& arguments) {
//     sim::ArgumentReader reader(arguments);                       // arguments.h
//     const std::string key_id = reader.String("key_id");
//     const double cost_usd = reader.Double("cost_usd");
//     const absl::Time now = reader.TimeOr("now", context.clock.Now());
//     if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
//     gateway::BudgetStore budgets(context.store);
//     absl::Status status = co_await budgets.AddSpend(key_id, cost_usd, now);
//     if (!status.ok()) co_return status;
//     co_return sim::Json("ok");
//   }
//
//   sim::OperationTable GatewayOperations() {
//     sim::OperationTable table;
//     table.Add("add_budget_spend", AddBudgetSpend);
//     return table;
//   }
//
// Thread-safety: a table is a value; const use from several threads is safe. An operation belongs
// to one thread at a time, as its task does.
#ifndef REDOUBLE_SIM_SCENARIO_OPERATION_H_
#define REDOUBLE_SIM_SCENARIO_OPERATION_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/base/task.h"
#include "core/store/store.h"
#include "nlohmann/json.hpp"

namespace redouble::sim {

// JSON whose objects keep their order.
using Json = nlohmann::ordered_json;

// What an operation may use. All three outlive the operation's task.
struct OperationContext {
  // The constructor keeps g++ 12 from miscompiling a braced temporary in a co_await expression.
  OperationContext(store::Store& store, base::Clock& clock, base::Rng& rng)
      : store(store), clock(clock), rng(rng) {}

  store::Store& store;  // The connection of the client that calls.
  base::Clock& clock;   // The scenario's time; the same as the server's.
  base::Rng& rng;       // Seeded by the scenario.
};

// The result as JSON, or why the operation failed: an error of the domain code, or that of
// ArgumentReader::Finish(), which the runner tells apart (IsArgumentError in arguments.h).
using OperationResult = absl::StatusOr<Json>;

// `arguments` is an object and outlives the task.
using Operation =
    std::function<base::Task<OperationResult>(OperationContext, const Json& arguments)>;

// The operations of one system by name.
class OperationTable {
 public:
  // Adds an operation. `name` must not be in the table yet; checked by an assertion.
  void Add(std::string name, Operation operation);

  // The operation of that name, owned by the table; null when there is none. O(log n).
  const Operation* Find(std::string_view name) const;

  // All names, sorted.
  std::vector<std::string> Names() const;

 private:
  std::map<std::string, Operation, std::less<>> operations_;
};

// The tables of all systems that scenarios may name, by system ("gateway").
using SystemTable = std::map<std::string, OperationTable, std::less<>>;

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SCENARIO_OPERATION_H_
