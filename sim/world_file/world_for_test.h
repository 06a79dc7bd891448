// A system for tests of worlds: a counter with an operation "add".
//
// "add" reads the counter and writes it back in two commands, so two calls can lose an update. With
// {"atomic": true} it is one INCR. CounterWorld() is a world file in which two actors add.
//
// Thread-safety: free functions; the system is constant.
#ifndef REDOUBLE_SIM_WORLD_FILE_WORLD_FOR_TEST_H_
#define REDOUBLE_SIM_WORLD_FILE_WORLD_FOR_TEST_H_

#include <string>
#include <string_view>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/operation.h"
#include "redouble/sim/world_file/world_file.h"

namespace redouble::inline v0_1::sim {

inline base::Task<OperationResult> AddToCounter(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string key = reader.String("key");
  const bool atomic = reader.BoolOr("atomic", false);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  if (atomic) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, co_await store::Incr(context.store, key));
    co_return Json{{"count", count}};
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto count, co_await store::Get(context.store, key));
  const int64_t next = std::stoll(count.value_or("0")) + 1;
  const std::string text = std::to_string(next);
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Set(context.store, key, text)).status());
  co_return Json{{"count", next}};
}

inline const SystemTable& CounterSystem() {
  static const SystemTable* const systems = [] {
    OperationTable table;
    table.Add("add", AddToCounter);
    return new SystemTable{{"counter", std::move(table)}};
  }();
  return *systems;
}

// A world file with two actors that each add one, and the invariant that both are counted.
inline Json CounterWorld() {
  const Json add{{"kind", "call"}, {"operation", "add"}, {"arguments", {{"key", "n"}}}};
  return Json{{"name", "two add"},
              {"description", "Both read before either writes."},
              {"source", "the textbook"},
              {"system", "counter"},
              {"start", "2026-05-09T14:03:02Z"},
              {"setup", Json::array({Json{{"kind", "command"}, {"command", {"SET", "n", "5"}}}})},
              {"actors", {{"a", Json::array({add})}, {"b", Json::array({add})}}},
              {"invariants", Json::array({Json{{"kind", "reply"},
                                               {"name", "both count"},
                                               {"command", {"GET", "n"}},
                                               {"expect", "7"}}})},
              {"hardened", {{"add", {{"atomic", true}}}}}};
}

inline absl::StatusOr<WorldFile> ParseCounter(const Json& json) {
  return ParseWorldFile(json.dump(), "w.world.json", CounterSystem());
}

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_FILE_WORLD_FOR_TEST_H_
