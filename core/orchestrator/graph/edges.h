// AddEdge: compiles one edge of a source workflow or of a patch into the graph of a run.
//
// The nodes are JSON objects by id, with a member `dependents`, as ParseIr reads them:
//
//   Json nodes = {{"a", {{"id", "a"}, {"type", "http"}, {"dependents", Json::array()}}}, ...};
//   absl::Status added = AddEdge(nodes, Json{{"from", "a"}, {"to", "b"}}, "/edges/0");
//
// An edge without a condition makes its target a dependent. An edge with one makes a rule of a
// branch; edges with equal conditions share a rule, and the edges without a condition become the
// default. Repeated edges count once, because ParseIr reads each name once.
//
// Thread-safety: pure functions. For this folder only.
// Source: docs/systems/orchestrator.md 2.10.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_GRAPH_EDGES_H_
#define REDOUBLE_CORE_ORCHESTRATOR_GRAPH_EDGES_H_

#include <string>

#include "absl/status/status.h"
#include "redouble/core/orchestrator/document_reader.h"

namespace redouble::inline v0_1::orchestrator {

// `path` is the position of the edge, for errors. Errors: InvalidArgument that begins with `path`,
// for an edge that is not an object with `from`, `to` and at most a text `condition`, or that names
// an unknown node.
absl::Status AddEdge(Json& nodes, const Json& edge, const std::string& path);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_GRAPH_EDGES_H_
