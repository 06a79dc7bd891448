// REDOUBLE_EXPLORE: a GoogleTest case that runs a small system under many schedules.
//
//   REDOUBLE_EXPLORE(Counter, LosesNoUpdate) {
//     world.Spawn("a", AddOne);
//     world.Spawn("b", AddOne);
//     world.AddFinalInvariant("both count", [&world] { return Count(world) == 2; });
//   }
//
// The body fills a `redouble::sim::World& world`. It is called once for each run
// (sim/explore/explore.h). Further arguments are members of ExploreOptions, or an ExploreOptions:
//
//   REDOUBLE_EXPLORE(Counter, LosesNoUpdate, .strategy = sim::Strategy::kExhaustive) { ... }
//
// A violation fails the test. The message has the violated invariant, the commands of the shortest
// run found in their order, and the line that repeats this run alone. If
// TEST_UNDECLARED_OUTPUTS_DIR is set (Bazel sets it), the run's page (Suite.Name.html) and its
// schedule (Suite.Name.schedule) are written there.
//
// | environment variable | effect                                                            |
// | -------------------- | ----------------------------------------------------------------- |
// | REDOUBLE_REPLAY      | "seed:decision,decision,...": runs this schedule alone.           |
// | REDOUBLE_SEED        | The first seed.                                                   |
// | REDOUBLE_SCHEDULES   | The maximum number of runs.                                       |
// | REDOUBLE_SECONDS     | Tries further seeds until so much time of the machine has passed, |
// |                      | for a long search by hand. Not with Strategy::kExhaustive.        |
// | REDOUBLE_JOBS        | Divides the runs among so many processes, with a result that does |
// |                      | not depend on their number (sim/explore/parallel). By default all |
// |                      | runs are in the process of the test.                              |
//
// A value that cannot be read fails the test, and so does a mistake of the experiment
// (sim/explore/explore.h).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_TESTING_EXPLORE_H_
#define REDOUBLE_SIM_TESTING_EXPLORE_H_

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "redouble/sim/explore/explore.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::testing {

// Returns the value of an environment variable; nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

// Explores as the case `test_name` ("Suite.Name") does. Returns the message of the failure; an
// empty string if there is none.
std::string ExploreCase(std::string_view test_name, const sim::Experiment& experiment,
                        sim::ExploreOptions options, const Environment& environment);

// ExploreCase for the current test and the environment of the process. Reports the failure at this
// place.
void RunExploreCase(const char* file, int line, const sim::Experiment& experiment,
                    const sim::ExploreOptions& options);

}  // namespace redouble::inline v0_1::testing

#define REDOUBLE_EXPLORE(suite, name, ...)                                               \
  static void suite##_##name##_Experiment(::redouble::sim::World& world);                \
  TEST(suite, name) {                                                                    \
    ::redouble::testing::RunExploreCase(__FILE__, __LINE__, suite##_##name##_Experiment, \
                                        ::redouble::sim::ExploreOptions{__VA_ARGS__});   \
  }                                                                                      \
  static void suite##_##name##_Experiment(::redouble::sim::World& world)

#endif  // REDOUBLE_SIM_TESTING_EXPLORE_H_
