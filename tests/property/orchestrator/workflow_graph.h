// Random workflows, and what a run of one must come to: a sequential interpreter of the graph with
// an abstract multiset of tokens, without a store, faults or time.
//
// Thread-safety: pure functions of their arguments.
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_GRAPH_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_GRAPH_H_

#include <map>
#include <string>
#include <string_view>

#include "core/base/rng.h"
#include "core/orchestrator/ir.h"

namespace redouble::orchestrator {

struct GraphOptions {
  int most_nodes = 6;
  bool loops = true;
  bool approvals = true;
};

// A graph that can run: layers of nodes with fan-out, joins, branches, absorbers, loops and
// approvals, as the draw has it. Its text is FormatIr's.
Ir DrawGraph(base::Rng& rng, const GraphOptions& options);

// What a node answers: {"n": 0..2, "again": true or false}, a function of its id.
std::string OutputOf(std::string_view node);

// How often each node is executed in a run in which every approval is approved and nothing goes
// wrong. Exact for graphs without loops; with loops the order of arrivals may matter.
std::map<std::string, int> ExpectedExecutions(const Ir& ir);

// No loop: then I8 holds, and the executions do not depend on the order of things.
bool IsLoopFree(const Ir& ir);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_GRAPH_H_
