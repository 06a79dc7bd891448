// Patches: changes to the graph of a run while it runs. An agent patches its own run.
//
// A patch is a JSON Patch (RFC 6902) with the operations add, remove and replace. It applies to a
// document in which a run looks like this:
//
//   {"nodes": {"sum": {"id": "sum", "type": "function", ...}, ...},
//    "edges": [{"from": "agent", "to": "sum"}, ...]}
//
// A node has the members of the IR except those that follow from the edges (dependencies,
// dependents, is_terminal). The edges are the dependents of all nodes, in the order of the nodes.
//
//   [{"op": "add", "path": "/nodes/-", "value": {"id": "send_email", "type": "function"}},
//    {"op": "add", "path": "/edges/-", "value": {"from": "sum", "to": "send_email"}}]
//
// `/nodes/-` adds a node under its own id. Any path within a node can be changed. An edge with a
// `condition`, an expression, becomes a rule of its node's branch; an edge without a condition from
// a node with a branch extends the default of the branch. Removing a node removes its edges.
//
// A patch applies as a whole: the resulting graph is compiled and validated, and replaces the old
// one only if that is unchanged. The TTL, the counter and all other keys stay. The next signal is
// routed by the new graph.
//
// A patch is refused if it adds more than 5 agent nodes, or if it removes or retypes a node that
// the run has reached: an entry, a completed node, or a successor of a completed node. A token of
// such a node may be in flight.
//
// Thread-safety: ApplyPatch and RemovedOrRetypedNodes are pure functions; PatchRun as Store.
// Source: docs/systems/orchestrator.md 4.12, D13.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_GRAPH_PATCH_H_
#define REDOUBLE_CORE_ORCHESTRATOR_GRAPH_PATCH_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/graph/ir.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::orchestrator {

// Applies a patch to a graph, without a store, and raises the last number of `version` by 1.
// Errors: InvalidArgument that begins with "patch: " and names the wrong operation, or the mistake
// in the resulting graph.
absl::StatusOr<Ir> ApplyPatch(const Ir& ir, std::string_view operations_json);

// The ids of the nodes of `before` that are missing in `after` or have another type there.
std::vector<std::string> RemovedOrRetypedNodes(const Ir& before, const Ir& after);

enum class PatchOutcome { kPatched, kRunGone };

// Patches a run: reads its graph, applies the patch and replaces the graph. Starts again if another
// patch was faster, up to ten times. Two round trips for each attempt. Errors: those of ApplyPatch;
// InvalidArgument for an invalid run id or a stored graph that cannot be parsed; FailedPrecondition
// if the run has reached a node that the patch removes or retypes; Aborted after ten attempts;
// those of the store.
base::Task<absl::StatusOr<PatchOutcome>> PatchRun(store::Store& store, Keys keys,
                                                  std::string_view run_id,
                                                  std::string_view operations_json);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_GRAPH_PATCH_H_
