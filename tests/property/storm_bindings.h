// The prefixes of the keys that a system's storm writes.
#ifndef REDOUBLE_TESTS_PROPERTY_STORM_BINDINGS_H_
#define REDOUBLE_TESTS_PROPERTY_STORM_BINDINGS_H_

#include <span>
#include <string_view>

#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/sim/migrate/key_move.h"

namespace redouble::inline v0_1::tests {

// `system` is one that sim::FindMovedSystem knows.
inline std::span<const store::KeyBinding> BindingsOfStorm(std::string_view system) {
  // The storm of Relayna writes with the direct prefix.
  static constexpr store::KeyBinding kRelayna[] = {{"status_prefix", "task"},
                                                   {"observation_prefix", "relayna-observations"},
                                                   {"feed_prefix", "relayna-service-events"},
                                                   {"dlq_prefix", "relayna"},
                                                   {"workflow_prefix", "relayna"}};
  if (system == "relayna") return kRelayna;
  return (*sim::FindMovedSystem(system))->defaults;
}

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_PROPERTY_STORM_BINDINGS_H_
