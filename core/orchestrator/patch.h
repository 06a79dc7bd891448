// Patches: an agent changes the graph of its own run while it runs.
//
// A patch is a JSON Patch (RFC 6902) of the operations add, remove and replace. It sees a run as
//
//   {"nodes": {"sum": {"id": "sum", "type": "function", ...}, ...},
//    "edges": [{"from": "agent", "to": "sum"}, ...]}
//
// where a node has the members that the graph gives it but for those that follow from the edges
// (dependencies, dependents, is_terminal), and the edges are the dependents of all nodes, in the
// order of the nodes.
//
//   [{"op": "add", "path": "/nodes/-", "value": {"id": "send_email", "type": "function"}},
//    {"op": "add", "path": "/edges/-", "value": {"from": "sum", "to": "send_email"}}]
//
// `/nodes/-` adds a node under its own id. Within a node any path may be changed. An edge with a
// `condition`, an expression, becomes a rule of its node's branch; one without it, from a node with
// a branch, goes to the branch's default. Removing a node takes its edges with it.
//
// All or nothing: the graph that results is compiled and validated, and replaces the old one only
// if nobody changed that meanwhile. A patch changes the graph and nothing else: its time to live,
// the counter and all other keys stay. The next signal is routed by the new graph.
//
// Refused are patches that add more than 5 agent nodes, and those that take away or retype a node
// that the run has come by: an entry, a node that has completed, one that follows such a node. Its
// token may be on its way.
//
// Thread-safety: as Store.
// Source: seed 001 "Agent Patch"; reference/orchestrator.md section 7.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_PATCH_H_
#define REDOUBLE_CORE_ORCHESTRATOR_PATCH_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/orchestrator/ir.h"
#include "core/orchestrator/keys.h"
#include "core/orchestrator/mutation.h"
#include "core/store/store.h"

namespace redouble::orchestrator {

// Applies a patch to a graph, without a store. `version` is raised: its last number plus one.
// Errors: InvalidArgument that begins with "patch: " and tells which operation is wrong, or what is
// wrong with the graph that results.
absl::StatusOr<Ir> ApplyPatch(const Ir& ir, std::string_view operations_json);

// The nodes of `before` that `after` does not have, or has with another type.
std::vector<std::string> NodesTakenAway(const Ir& before, const Ir& after);

enum class PatchOutcome { kPatched, kRunGone };

// Patches a run: reads its graph, applies the patch and replaces it, once more from the start when
// somebody else was faster, up to ten times. Two round trips per attempt.
// Errors: those of ApplyPatch; FailedPrecondition for a patch that comes too late for a node it
// takes away; Aborted when the graph changed all the time; those of the store.
base::Task<absl::StatusOr<PatchOutcome>> PatchRun(store::Store& store, Keys keys,
                                                  std::string_view run_id,
                                                  std::string_view operations_json,
                                                  Mutation mutation = Mutation::kNone);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_PATCH_H_
