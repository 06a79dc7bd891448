// A system for the tests of worlds: a counter whose "add" reads and writes, unless it is told to be
// atomic.
#ifndef REDOUBLE_SIM_EXPLORE_WORLD_FOR_TEST_H_
#define REDOUBLE_SIM_EXPLORE_WORLD_FOR_TEST_H_

#include <string>
#include <string_view>

#include "core/store/strings.h"
#include "sim/explore/world_file.h"
#include "sim/scenario/arguments.h"
#include "sim/scenario/operation.h"

namespace redouble::sim {

inline base::Task<OperationResult> AddToCounter(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string key = reader.String("key");
  const bool atomic = reader.BoolOr("atomic", false);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  if (atomic) {
    const absl::StatusOr<int64_t> count = co_await store::Incr(context.store, key);
    if (!count.ok()) co_return count.status();
    co_return Json{{"count", *count}};
  }
  const auto count = co_await store::Get(context.store, key);
  if (!count.ok()) co_return count.status();
  const int64_t next = std::stoll(count->value_or("0")) + 1;
  const std::string text = std::to_string(next);
  const absl::StatusOr<bool> set = co_await store::Set(context.store, key, text);
  if (!set.ok()) co_return set.status();
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

// Two actors that add one each, and what must hold.
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

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_EXPLORE_WORLD_FOR_TEST_H_
