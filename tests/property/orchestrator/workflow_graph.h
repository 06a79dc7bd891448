// DrawGraph: draws random workflow graphs for simulated runs.
//
// The graphs have every construct that the orchestrator supports, and conditions and outputs that
// the routing model (routing_model.h) understands.
//
//   base::Rng rng(7);
//   const Ir ir = DrawGraph(rng, {.loops = false});
//
// Thread-safety: a pure function of its arguments.
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_GRAPH_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_GRAPH_H_

#include "redouble/core/base/random/rng.h"
#include "redouble/core/orchestrator/graph/ir.h"

namespace redouble::inline v0_1::orchestrator {

struct GraphOptions {
  int most_nodes = 6;
  bool loops = true;
  bool approvals = true;
};

// Returns a valid graph: layers of nodes with random fan-out, joins, branches, absorbers, loops and
// approvals. Its conditions are those of routing_model.h; FormatIr formats its text.
Ir DrawGraph(base::Rng& rng, const GraphOptions& options);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_GRAPH_H_
