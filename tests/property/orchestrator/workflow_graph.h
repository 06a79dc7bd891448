// Random workflows.
//
// Thread-safety: a pure function of its arguments.
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_GRAPH_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_GRAPH_H_

#include "core/base/rng.h"
#include "core/orchestrator/ir.h"

namespace redouble::orchestrator {

struct GraphOptions {
  int most_nodes = 6;
  bool loops = true;
  bool approvals = true;
};

// A graph that can run: layers of nodes with fan-out, joins, branches, absorbers, loops and
// approvals, as the draw has it. Its conditions are those of routing_model.h, its text FormatIr's.
Ir DrawGraph(base::Rng& rng, const GraphOptions& options);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_GRAPH_H_
