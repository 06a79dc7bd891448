// CompileWorkflow: the graph of a run from a source workflow, as people and programs write it.
//
//   absl::StatusOr<Ir> ir = orchestrator::CompileWorkflow(R"({
//       "nodes":[{"id":"score","type":"function"},{"id":"ship","type":"http"},
//                {"id":"ask","type":"hitl"}],
//       "edges":[{"from":"score","to":"ship","condition":"output.n > 5"},
//                {"from":"score","to":"ask"}]})");
//   absl::StatusOr<std::string> text = orchestrator::FormatIr(*ir);  // For Coordinator::Start.
//
// A node has `id` and `type`, and may have `config`, `timeout_ms`, `retry`, `wait_for_all` and
// `rejection_path`. The types `conditional`, `loop` and `parallel` become `task`, which no worker
// executes if it has a branch or a loop; other types stay.
//
// A node of type `loop` describes its loop in `config`, with the members of an IR's loop:
// `loop_back_to` and `max_iterations`, and optionally `condition` (a text, or an object with `type`
// and `expression`), `break_path` and `timeout_path`. Its edge to `loop_back_to` is the loop
// itself; its other edges are the break path, unless `config` has one.
//
// Thread-safety: a pure function.
// Source: docs/systems/orchestrator.md 2.10.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_GRAPH_WORKFLOW_H_
#define REDOUBLE_CORE_ORCHESTRATOR_GRAPH_WORKFLOW_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/orchestrator/graph/ir.h"

namespace redouble::inline v0_1::orchestrator {

// Errors: InvalidArgument that begins with "workflow: " and has the JSON pointer of the mistake: a
// member of another type, an invalid or repeated id, an edge that names an unknown node, and the
// mistakes of ValidateIr.
absl::StatusOr<Ir> CompileWorkflow(std::string_view source_json);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_GRAPH_WORKFLOW_H_
