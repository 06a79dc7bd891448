// RunWorkflowWorld: simulates two random workflows with all processes of the orchestrator.
//
// The world has coordinators, workers, approvers, timers, a sweeper, an actor that patches graphs
// and one that duplicates signals, entries and decisions. Any of them may crash before any command.
// A ProtocolWatch checks the invariants after every command, and the routing model checks the
// outcomes.
//
//   const WorldReport report = RunWorkflowWorld({.seed = 7});
//   EXPECT_THAT(report.violations, IsEmpty()) << report.text;
//
// Thread-safety: one thread. Source: docs/systems/orchestrator.md 7.
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_WORLD_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_WORLD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "redouble/core/orchestrator/keys.h"
#include "redouble/sim/operations/orchestrator/unguarded_store.h"
#include "redouble/tests/property/orchestrator/protocol_watch.h"

namespace redouble::inline v0_1::orchestrator {

// How approvals are decided.
enum class Deciders {
  kApprove,
  kReject,
  kTimeOut,  // They time out.
  kRace,     // One actor approves and another rejects, at about the time of the timeout.
};

struct WorkflowWorldOptions {
  uint64_t seed = 1;
  store::KeyLayout key_layout = store::KeyLayout::kCluster;
  int64_t queue_shards = 1;
  double crash_probability = 0.01;  // Before each command; at most a dozen crashes.
  // If not zero, the only crash is that of the actor that sends the n-th command, before the
  // command.
  int64_t crash_before = 0;
  bool duplicates = true;
  bool patches = false;
  bool failures = false;  // Some runs have a node that fails.
  Deciders deciders = Deciders::kApprove;
  scenarios::Unguarded mutation = scenarios::Unguarded::kNone;
  bool plain_pop = false;
  bool reclaims = true;
  // The server is a cluster node, which refuses requests that cross slots.
  bool cluster = false;
};

struct WorldReport {
  Violations violations;  // The violations of the first command with violations, or of the end.
  std::vector<RunSummary> runs;
  int64_t commands = 0;
  int64_t crashes = 0;
  int compared = 0;  // Runs whose outcome the model could determine.
  // The outcome depends only on the graphs.
  bool repeatable = true;
  // The violations and the runs as text; empty if there are no violations.
  std::string text;

  bool Broke(const std::string& invariant) const;
};

// Runs one world until both runs have ended. Outcomes that the routing model does not allow for the
// graphs are reported as violations of "oracle".
WorldReport RunWorkflowWorld(const WorkflowWorldOptions& options);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_WORLD_H_
