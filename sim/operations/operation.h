// Operation: one operation of a system, with JSON arguments and a JSON result.
//
// Domain code has typed interfaces; scenario files and goldens have names and JSON. An operation is
// a coroutine that reads its arguments, calls the domain code on the store of its context and
// returns the result as JSON. Each system has a table of operations in a folder of sim/operations.
// The program, the golden runner and tests pass the tables to the scenario runner, which therefore
// includes no system.
//
//   // sim/operations/gateway/gateway_operations.h: namespace redouble::scenarios
//   sim::OperationTable GatewayOperations();
//
//   // sim/operations/gateway/gateway_operations.cc
//   base::Task<sim::OperationResult> AddBudgetSpend(sim::OperationContext context,
//                                                   const sim::Json& arguments) {
//     sim::ArgumentReader reader(arguments);                       // arguments.h
//     const std::string key_id = reader.String("key_id");
//     const double cost_usd = reader.Double("cost_usd");
//     const absl::Time now = reader.TimeOr("now", context.clock.Now());
//     REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
//     gateway::BudgetStore budgets(context.store);
//     REDOUBLE_CO_RETURN_IF_ERROR(co_await budgets.AddBudgetSpend(key_id, cost_usd, now));
//     co_return sim::Json("ok");
//   }
//
//   sim::OperationTable GatewayOperations() {
//     sim::OperationTable table;
//     table.Add("add_budget_spend", AddBudgetSpend);
//     return table;
//   }
//
// Thread-safety: a table is a value; const use from several threads is safe. An operation runs on
// one thread, as its task does.
#ifndef REDOUBLE_SIM_OPERATIONS_OPERATION_H_
#define REDOUBLE_SIM_OPERATIONS_OPERATION_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/json/json.h"

namespace redouble::inline v0_1::sim {

// Opens a further connection of the calling client, which must be destroyed before the operation
// ends. Null if it cannot be opened.
using Connector = std::function<std::unique_ptr<store::Store>()>;

// What an operation may use. It outlives the task of the operation.
struct OperationContext {
  // The constructor keeps g++ 12 from miscompiling a braced temporary in a co_await expression.
  OperationContext(store::Store& connection, base::Clock& time, base::Rng& numbers,
                   Connector connector = {})
      : store(connection), clock(time), rng(numbers), connect(std::move(connector)) {}

  store::Store& store;  // The connection of the calling client.
  base::Clock& clock;   // The virtual clock of the scenario and of the server.
  base::Rng& rng;       // Seeded by the scenario.
  Connector connect;    // Empty outside of worlds and goldens.
};

// The result as JSON, or the error of the domain code or of ArgumentReader::Finish(). The runner
// distinguishes the two by IsArgumentError (arguments.h).
using OperationResult = absl::StatusOr<Json>;

// `arguments` is an object and outlives the task.
using Operation =
    std::function<base::Task<OperationResult>(OperationContext, const Json& arguments)>;

// The operations of one system, by name.
class OperationTable {
 public:
  // Adds an operation. `name` must not be in the table; an assertion checks this.
  void Add(std::string name, Operation operation);

  // Returns the operation with that name, owned by the table, or nullptr. O(log n).
  const Operation* Find(std::string_view name) const;

  // Returns all names in sorted order.
  std::vector<std::string> Names() const;

 private:
  std::map<std::string, Operation, std::less<>> operations_;
};

// The tables of the systems, by the name that scenarios use ("gateway").
using SystemTable = std::map<std::string, OperationTable, std::less<>>;

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_OPERATIONS_OPERATION_H_
