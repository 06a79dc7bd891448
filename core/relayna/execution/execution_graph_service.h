// ExecutionGraphService: reads what the stores have of a task and builds its execution graph.
//
// A server calls it to answer a request for the graph of a task, and a tool to show what happened:
//
//   ExecutionGraphService executions(ExecutionTopology::kSharedTasks, statuses, observations, dlq);
//   absl::StatusOr<std::optional<ExecutionGraph>> graph = co_await executions.GetGraph("t1");
//
// The reads are separate commands: a graph that is read while the task runs can have a status
// without its attempt.
//
// Thread-safety: as the store. The stores must outlive the service; arguments must outlive the
// task.
// Source: docs/systems/relayna.md 4.17.
#ifndef REDOUBLE_CORE_RELAYNA_EXECUTION_EXECUTION_GRAPH_SERVICE_H_
#define REDOUBLE_CORE_RELAYNA_EXECUTION_EXECUTION_GRAPH_SERVICE_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/relayna/dlq/dlq_store.h"
#include "redouble/core/relayna/execution/execution_graph.h"
#include "redouble/core/relayna/observation_store.h"
#include "redouble/core/relayna/status_store.h"

namespace redouble::inline v0_1::relayna {

class ExecutionGraphService {
 public:
  // Null: the service has no such store.
  ExecutionGraphService(ExecutionTopology topology, StatusStore& statuses,
                        ObservationStore* observations = nullptr, DlqStore* dlq = nullptr)
      : topology_(topology), statuses_(statuses), observations_(observations), dlq_(dlq) {}

  // Returns the graph of a task and its children; nullopt if no store has a record of any of them.
  // The histories are read up to the history_maxlen of their stores, and at most
  // kMaxDeadLetters DLQ records of each task.
  //
  // Round trips: one for the children; one for each task, and one more with an observation store;
  // with a DLQ store those of DlqStore::ListRecords for each task.
  //
  // Errors: those of the stores and of BuildExecutionGraph.
  // Source: docs/systems/relayna.md 4.17.
  base::Task<absl::StatusOr<std::optional<ExecutionGraph>>> GetGraph(std::string_view task_id);

  static constexpr int64_t kMaxDeadLetters = 200;

 private:
  base::Task<absl::StatusOr<TaskRecords>> ReadHistories(std::string_view task_id);

  const ExecutionTopology topology_;
  StatusStore& statuses_;
  ObservationStore* const observations_;
  DlqStore* const dlq_;
};

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_EXECUTION_EXECUTION_GRAPH_SERVICE_H_
