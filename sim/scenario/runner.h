// The scenario runner: replays a scenario on a backend and says whether all came as expected.
//
//   MemoryBackend backend;
//   const ScenarioResult result = RunScenario(*scenario, backend);
//   if (result.failure) std::cerr << result.failure->ToString(*scenario);
//
// Equal scenarios give equal traces, on every backend whose time is held.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SCENARIO_RUNNER_H_
#define REDOUBLE_SIM_SCENARIO_RUNNER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "sim/scenario/backend.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/trace.h"

namespace redouble::sim {

// Where a scenario did not go as expected.
struct StepFailure {
  int step;          // Counted from 0, as in the path; -1 before the first.
  std::string path;  // A JSON pointer into the scenario's file.
  std::string message;
  std::string expected;  // Both empty when the message says it all.
  std::string got;

  // Lines for people, the first being "FILE: step 3 (call reserve_budget): PATH: MESSAGE", then the
  // expected and the got, indented.
  std::string ToString(const Scenario& scenario) const;
};

struct ScenarioResult {
  absl::Time start;
  absl::Time end;
  int64_t commands = 0;  // As Trace::commands().
  std::string trace_hash;
  std::optional<StepFailure> failure;  // None: passed, as far as it ran.
  bool stopped = false;                // RunOptions ended it.
};

struct RunOptions {
  // Gets each line of the trace as it happens.
  std::function<void(std::string_view)> trace_listener = {};
  // Called after each step, the one that fails too, with its number counted from 0: for who wants
  // to look at the backend meanwhile. It must not close or change what the scenario uses.
  std::function<void(int)> after_step = {};
  // Ends the run behind the event for which it says so: the operation under way sends nothing more,
  // and no step follows.
  StopBehind stop_behind = {};
  // Ends the run where a step would move the clock beyond this moment, with the clock standing
  // there.
  absl::Time until = absl::InfiniteFuture();
};

// Runs the steps in order up to the first that fails. The backend is begun anew; afterwards it
// holds what the scenario left.
ScenarioResult RunScenario(const Scenario& scenario, ScenarioBackend& backend,
                           const RunOptions& options = RunOptions());

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SCENARIO_RUNNER_H_
