#include "redouble/core/relayna/execution/execution_graph_service.h"

#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::relayna {

base::Task<absl::StatusOr<TaskRecords>> ExecutionGraphService::ReadHistories(
    std::string_view task_id) {
  TaskRecords records;
  records.task_id = std::string(task_id);
  REDOUBLE_CO_ASSIGN_OR_RETURN(records.statuses, co_await statuses_.GetHistory(task_id));
  if (observations_ != nullptr) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(records.observations, co_await observations_->GetHistory(task_id));
  }
  co_return records;
}

base::Task<absl::StatusOr<std::optional<ExecutionGraph>>> ExecutionGraphService::GetGraph(
    std::string_view task_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> children,
                               co_await statuses_.GetChildTaskIds(task_id));
  std::vector<std::string> ids = {std::string(task_id)};
  for (const std::string& child : children) {
    if (child != task_id) ids.push_back(child);
  }
  std::vector<TaskRecords> tasks;
  for (const std::string& id : ids) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(TaskRecords records, co_await ReadHistories(id));
    tasks.push_back(std::move(records));
  }
  if (dlq_ != nullptr) {
    for (TaskRecords& task : tasks) {
      DlqQuery query;
      query.limit = kMaxDeadLetters;
      query.task_id = task.task_id;
      REDOUBLE_CO_ASSIGN_OR_RETURN(DlqPage page, co_await dlq_->ListRecords(std::move(query)));
      task.dead_letters = std::move(page.records);
    }
  }
  bool has_records = false;
  for (const TaskRecords& task : tasks) {
    has_records = has_records || !task.statuses.empty() || !task.observations.empty() ||
                  !task.dead_letters.empty();
  }
  if (!has_records) co_return std::nullopt;
  REDOUBLE_CO_ASSIGN_OR_RETURN(ExecutionGraph graph,
                               BuildExecutionGraph(topology_, task_id, tasks, children));
  co_return graph;
}

}  // namespace redouble::inline v0_1::relayna
