// ExecutionGraph: what happened to a task, as nodes and edges: attempts, retries, messages between
// stages, dead letters, statuses, and the children that were aggregated into it.
//
// ExecutionGraphService reads the records of a task and builds its graph. Use BuildExecutionGraph
// for records that the program already has:
//
//   absl::StatusOr<ExecutionGraph> graph = BuildExecutionGraph(
//       ExecutionTopology::kSharedTasks, "t1", {{.task_id = "t1", .statuses = history}});
//   FormatExecutionGraph(*graph)     // {"task_id":"t1","topology_kind":...
//   MermaidText(*graph)              // flowchart LR ...
//
// Hazards of the documented SDK, which this code keeps: timestamps are compared as texts, so those
// with different offsets are not in the order of time; retries without an attempt share one node.
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/relayna.md 4.17.
#ifndef REDOUBLE_CORE_RELAYNA_EXECUTION_EXECUTION_GRAPH_H_
#define REDOUBLE_CORE_RELAYNA_EXECUTION_EXECUTION_GRAPH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/python/value.h"
#include "redouble/core/relayna/dlq/dlq_record.h"

namespace redouble::inline v0_1::relayna {

// How the queues of a service are laid out. A graph names it; only kWorkflow changes the edges.
enum class ExecutionTopology {
  kSharedTasks,
  kSharedTasksShardedAggregation,
  kRoutedTasks,
  kRoutedTasksShardedAggregation,
  kWorkflow,
};

// Returns the name that the documented SDK gives to a topology, such as
// "shared_tasks_shared_status".
std::string_view TopologyKind(ExecutionTopology topology);

struct ExecutionGraphNode {
  std::string id;    // Unique in its graph.
  std::string kind;  // See docs/systems/relayna.md 4.17.
  std::optional<std::string> task_id = std::nullopt;
  std::optional<std::string> label = std::nullopt;
  // The text of the record. Empty if the record has none; nullopt for tasks.
  std::optional<std::string> timestamp = std::nullopt;
  python::Object annotations = {};

  friend bool operator==(const ExecutionGraphNode&, const ExecutionGraphNode&) = default;
};

struct ExecutionGraphEdge {
  std::string source;                                   // The id of a node.
  std::string target;                                   // The id of a node.
  std::string kind;                                     // See docs/systems/relayna.md 4.17.
  std::optional<std::string> timestamp = std::nullopt;  // As that of a node; nullopt from children.
  python::Object annotations = {};

  friend bool operator==(const ExecutionGraphEdge&, const ExecutionGraphEdge&) = default;
};

struct ExecutionGraphSummary {
  std::optional<std::string> status;      // That of the last status of the task.
  std::optional<std::string> started_at;  // The first timestamp of the graph.
  std::optional<std::string> ended_at;    // That of the last status, or the last of the graph.
  std::optional<int64_t> duration_ms;     // Negative if the texts are not in the order of time.
  std::string graph_completeness = "partial";  // "full" with an observation.

  friend bool operator==(const ExecutionGraphSummary&, const ExecutionGraphSummary&) = default;
};

// The members are in the order in which they are written.
struct ExecutionGraph {
  std::string task_id;
  std::string topology_kind;
  ExecutionGraphSummary summary;
  std::vector<ExecutionGraphNode> nodes;  // By timestamp and id.
  std::vector<ExecutionGraphEdge> edges;  // By timestamp, kind, source and target.
  python::Object annotations;
  std::vector<std::string> related_task_ids;  // The children, in code point order.

  friend bool operator==(const ExecutionGraph&, const ExecutionGraph&) = default;
};

// The records of one task, in the order in which the stores return them.
struct TaskRecords {
  std::string task_id;
  std::vector<python::Value> statuses = {};
  std::vector<python::Value> observations = {};
  std::vector<DlqRecord> dead_letters = {};
};

// Builds the graph of `task_id`. `tasks` has the records of the task and of its children; ids must
// be distinct. `children` are the ids of the children; the empty text and the task itself are
// ignored. Records with equal timestamps and event ids stay in their order; any other order of the
// records gives the same graph. O(n log n) for n records, and O(n * attempts) for the edges.
//
// Errors, all InvalidArgument: KeyError if an edge needs a task that is neither `task_id` nor one
// of the children; AttributeError if a status or an observation is not an object; TypeError if the
// `meta` of a status is not one, or if a field that becomes text is an array or an object;
// ValueError if the first or the last timestamp is not an ISO date-time; TypeError if only one of
// the two has an offset.
// Source: docs/systems/relayna.md 4.17.
absl::StatusOr<ExecutionGraph> BuildExecutionGraph(ExecutionTopology topology,
                                                   std::string_view task_id,
                                                   const std::vector<TaskRecords>& tasks,
                                                   const std::vector<std::string>& children = {});

// The graph as an object, with null for nullopt.
python::Value ToValue(const ExecutionGraph& graph);
// The text of the graph (PYDJSON). Errors: those of python::PydanticJson.
absl::StatusOr<std::string> FormatExecutionGraph(const ExecutionGraph& graph);

// The graph as a Mermaid flowchart, without a newline at the end. Edges of unknown nodes are left
// out. A quotation mark of a label is escaped by a backslash; nothing else is.
std::string MermaidText(const ExecutionGraph& graph);

// What Studio shows: task id, topology, summary, children, the graph and its Mermaid text.
python::Value ExecutionView(const ExecutionGraph& graph);

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_EXECUTION_EXECUTION_GRAPH_H_
