// RunScenario: replays a scenario on a backend and compares the results with its expectations.
//
//   MemoryBackend backend;
//   const ScenarioResult result = RunScenario(*scenario, backend);
//   if (result.failure) std::cerr << result.failure->ToString(*scenario);
//
// Equal scenarios have equal traces, on every backend whose time is controlled.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SCENARIO_RUNNER_H_
#define REDOUBLE_SIM_SCENARIO_RUNNER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "redouble/sim/json/json_diff.h"
#include "redouble/sim/scenario/backend.h"
#include "redouble/sim/scenario/scenario.h"
#include "redouble/sim/trace/trace.h"

namespace redouble::inline v0_1::sim {

// The first step that did not go as expected.
struct StepFailure {
  int step;          // Counted from 0, as in the path; -1 if the run failed before the first step.
  std::string path;  // A JSON pointer into the scenario's file.
  std::string message;
  std::string expected;  // Both are empty if the message suffices.
  std::string got;
  std::vector<JsonDifference> more = {};  // Further differences, after that of `path`.

  // Returns text for people: the place and the message, the command or call, and for each
  // difference the expected and the actual value:
  //
  //   x.json: step 3 (command): /steps/3/expect/name: not as expected
  //     command:  HGETALL user:1
  //   - expected: "ann"
  //   + got:      "bob"
  //   at /steps/3/expect/age:
  //   - expected: 30
  //   + got:      nothing
  std::string ToString(const Scenario& scenario) const;
};

struct ScenarioResult {
  absl::Time start;
  absl::Time end;
  int64_t commands = 0;  // Trace::commands() at the end.
  std::string trace_hash;
  std::optional<StepFailure> failure;  // Nullopt if all steps that ran passed.
  bool stopped = false;                // The run ended early because of RunOptions.
};

struct RunOptions {
  // Called with each line of the trace as it is recorded.
  std::function<void(std::string_view)> trace_listener = {};
  // Called after each step, including a failing one, with its index from 0. Use it to inspect the
  // backend. It must not close or change anything that the scenario uses.
  std::function<void(int)> after_step = {};
  // Ends the run after the event for which this returns true: the current operation sends nothing
  // more, and no further step runs.
  StopAfter stop_after = {};
  // Ends the run if a step would advance the clock beyond this time; the clock then stops at this
  // time.
  absl::Time until = absl::InfiniteFuture();
};

// Runs the steps in order up to the first failure. The backend starts empty; afterwards it holds
// what the scenario left.
ScenarioResult RunScenario(const Scenario& scenario, ScenarioBackend& backend,
                           const RunOptions& options = RunOptions());

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SCENARIO_RUNNER_H_
