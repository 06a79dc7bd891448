// A consumer's own `redouble`: it replays, explores and inspects files whose operations are C++ of
// the consumer.
//
//   own_program explore sold_twice.world.json              finds that the last book is sold twice
//   own_program explore sold_twice.world.json --hardened   finds nothing with one DECR

#include <iostream>
#include <string>

#include "redouble/program.h"
#include "redouble/store.h"

namespace base = redouble::base;
namespace sim = redouble::sim;
namespace store = redouble::store;

namespace {

// Sells one book. Returns whether there was one.
base::Task<sim::OperationResult> Sell(sim::OperationContext context, const sim::Json& arguments) {
  sim::ArgumentReader reader(arguments);
  const std::string book = reader.String("book");
  const bool atomic = reader.BoolOr("atomic", false);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  const std::string key = "stock:" + book;
  if (atomic) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t left, co_await store::Decr(context.store, key));
    co_return sim::Json(left >= 0);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto stock, co_await store::Get(context.store, key));
  if (!stock || *stock == "0") co_return sim::Json(false);
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Incr(context.store, "sold:" + book)).status());
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Decr(context.store, key)).status());
  co_return sim::Json(true);
}

sim::OperationTable ShopOperations() {
  sim::OperationTable table;
  table.Add("sell", Sell);
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  sim::Systems systems;
  const absl::Status added = systems.Add({"shop", ShopOperations()});
  if (!added.ok()) return std::cerr << added << "\n", 1;
  return sim::RunMain(argc, argv, systems);
}
