// SystemLoad: what many units of a system do in the cluster layout, through its public classes.
//
// No unit is busier than the others but by chance: what a busy one does to its node is up to its
// user. Where the simulator's storms have a few units that meet often, a load has many that do not
// meet, enough of them for the spread not to depend on the luck of a few.
//
// Thread-safety: one thread. For tests only.
#ifndef REDOUBLE_TESTS_PROPERTY_SPREAD_LOADS_H_
#define REDOUBLE_TESTS_PROPERTY_SPREAD_LOADS_H_

#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/base/time/clock.h"
#include "redouble/tests/property/spread/load_counter.h"

namespace redouble::inline v0_1::tests {

struct SystemLoad {
  std::string_view system;
  // The units, as the page says it.
  std::string_view units;
  // Sets the system up, begins to count, and runs the load with the same random numbers each time.
  // `store` must reply at once.
  void (*run)(LoadCounter& store, base::Clock& clock);
  // How the tags begin that all units share and that are too busy: with one of them, the bounds of
  // the spread do not hold.
  std::vector<std::string> shared = {};
};

std::vector<SystemLoad> SystemLoads();

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_PROPERTY_SPREAD_LOADS_H_
