// The workflows of the orchestrator's storm, and what a run of one must return.
//
// They are small and have every construct: a chain, a fork with a join, a branch whose join
// starves, a loop, and an approval with a path for its rejection.
//
//   const PlannedRun run = {.id = "r1", .workflow = Workflow::kApproval};
//   co_await engine.StartRun(run.id, IrOf(run.workflow));
//   NodesOf(run, /*approved=*/false);  // {"A", "H", "R"}
//
// Thread-safety: values and pure functions.
// Source: docs/systems/orchestrator.md 2.1 and 4.5.
#ifndef REDOUBLE_SIM_STORM_ORCHESTRATOR_WORKFLOWS_H_
#define REDOUBLE_SIM_STORM_ORCHESTRATOR_WORKFLOWS_H_

#include <array>
#include <set>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::sim {

enum class Workflow { kChain, kJoin, kBranch, kLoop, kApproval };
inline constexpr std::array kWorkflows = {Workflow::kChain, Workflow::kJoin, Workflow::kBranch,
                                          Workflow::kLoop, Workflow::kApproval};

// The types of the nodes. Each has a stream and its workers.
inline constexpr std::array<std::string_view, 3> kNodeTypes = {"http", "function", "hitl"};
// The node that waits for an approval, and the one that joins two paths.
inline constexpr std::string_view kApprovalNode = "H";
inline constexpr std::string_view kJoinNode = "D";
// The node that fails in a run that fails.
inline constexpr std::string_view kFailingNode = "B";

struct PlannedRun {
  std::string id;
  Workflow workflow = Workflow::kChain;
  int number = 0;      // 0 or 1, in the output of each node: decides branches and loops.
  bool fails = false;  // Node B fails. Of chains only.
};

// The text of the graph.
std::string_view IrOf(Workflow workflow);
// What a node returns, as JSON. Not for the approval.
std::string OutputOf(const PlannedRun& run, std::string_view node);
// The nodes that a run that completes has executed.
std::set<std::string> NodesOf(const PlannedRun& run, bool approved);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_ORCHESTRATOR_WORKFLOWS_H_
