// RunStore: the durable records of runs. Redis holds the state of running executions only; a run
// store keeps what remains of a run: its graph, its status and its results.
//
// Implement it for the database of a deployment (the original uses PostgreSQL), or use
// MemoryRunStore for tests and FileRunStore for a single process. Engine writes the records.
//
//   MemoryRunStore runs;
//   RunRecord record;
//   record.run_id = "run_123";
//   absl::StatusOr<bool> inserted = co_await runs.Insert(record);
//   absl::StatusOr<std::optional<RunRecord>> found = co_await runs.Find("run_123");
//
// Thread-safety: that of the implementation; MemoryRunStore: one thread.
// Source: docs/systems/orchestrator.md 2.12 and 4.18.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RESULTS_RUN_STORE_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RESULTS_RUN_STORE_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/messages.h"

namespace redouble::inline v0_1::orchestrator {

enum class RunStatus {
  kRunning,
  kCompleted,
  kFailed,     // A node failed, or the run stood still and was ended for that.
  kCancelled,  // By Engine::CancelRun.
  kExpired,    // Its keys disappeared from Redis without a result.
};
// "running", "completed", "failed", "cancelled", "expired".
std::string_view RunStatusName(RunStatus status);
std::optional<RunStatus> ParseRunStatus(std::string_view name);

struct RunRecord {
  std::string run_id;
  RunStatus status = RunStatus::kRunning;
  // The text of the graph at the start; empty if another program started the run.
  std::string ir;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  // A running run whose cancellation has begun.
  bool cancel_requested = false;
  // At the end: the context, sorted by field, and the output of each node as JSON.
  HashFields context;
  std::vector<std::pair<std::string, std::string>> outputs;
  // Of a failed run: the node, which is empty if the run stood still, and the reason.
  std::string node_id;
  std::optional<NodeFailure> failure;
};
// One JSON object without a line feed; members without a value are omitted. Errors: InvalidArgument
// if a string is not UTF-8, or if an output is not JSON.
absl::StatusOr<std::string> FormatRunRecord(const RunRecord& record);
// Errors: InvalidArgument with the JSON pointer.
absl::StatusOr<RunRecord> ParseRunRecord(std::string_view text);

struct RunQuery {
  // Not an aggregate: g++ 12 frees a braced aggregate twice inside a co_await expression.
  RunQuery() {}

  std::optional<RunStatus> status;  // Nullopt: all.
  std::string after;                // Only runs with a larger id: the last id of the page before.
  size_t limit = 100;
};

class RunStore {
 public:
  virtual ~RunStore() = default;

  // Adds a record. False, without a change, if there is a record with its id.
  virtual base::Task<absl::StatusOr<bool>> Insert(const RunRecord& record) = 0;

  // Changes a record in one step; a missing one is created with the id first. `change` may be
  // called again if another writer was faster.
  virtual base::Task<absl::Status> Update(std::string_view run_id,
                                          std::function<void(RunRecord&)> change) = 0;

  // Nullopt if there is no record.
  virtual base::Task<absl::StatusOr<std::optional<RunRecord>>> Find(std::string_view run_id) = 0;

  // The records of one page, by id.
  virtual base::Task<absl::StatusOr<std::vector<RunRecord>>> List(RunQuery query) = 0;
};

// Keeps the records in memory.
class MemoryRunStore : public RunStore {
 public:
  base::Task<absl::StatusOr<bool>> Insert(const RunRecord& record) override;
  base::Task<absl::Status> Update(std::string_view run_id,
                                  std::function<void(RunRecord&)> change) override;
  base::Task<absl::StatusOr<std::optional<RunRecord>>> Find(std::string_view run_id) override;
  base::Task<absl::StatusOr<std::vector<RunRecord>>> List(RunQuery query) override;

 private:
  std::map<std::string, RunRecord, std::less<>> records_;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RESULTS_RUN_STORE_H_
