// Worker: runs the jobs that listeners left.
//
// A report is all or nothing: any transaction that is invalid, or lies outside the window of time,
// discards the whole job, which counts as done and leaves an entry in the errors list of the
// service. A job that Redis fails is not done: who runs it again counts what was already counted
// once more.
//
//   Worker worker(process, {.master_service_id = "1"});
//   while (std::optional<Job> job = queue.Pop()) {
//     absl::Status status = co_await worker.Run(*std::move(job));
//   }
//
// Thread-safety: as Store.
// Source: reference/threescale.md 5.1 to 5.7.
#ifndef REDOUBLE_CORE_THREESCALE_WORKER_H_
#define REDOUBLE_CORE_THREESCALE_WORKER_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/threescale/aggregator.h"
#include "core/threescale/job_queue.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

// How far from now a transaction may lie, in whole seconds, both inclusive.
inline constexpr absl::Duration kOldestTransaction = absl::Hours(24);
inline constexpr absl::Duration kNewestTransaction = absl::Hours(1);

struct WorkerOptions {
  AggregatorOptions aggregator = {};
  // Where notifications are counted; without it they are dropped.
  std::optional<std::string> master_service_id = std::nullopt;
};

class Worker {
 public:
  explicit Worker(const Process& process, WorkerOptions options = WorkerOptions())
      : process_(process), options_(std::move(options)) {}

  // Runs one job. Errors: those of Redis, and the circle of parents of metric.h; what is wrong with
  // the transactions of a report is no error but an entry in the errors list, and what is wrong
  // with a notification drops it.
  base::Task<absl::Status> Run(Job job);

  // Runs the jobs of the queue until it is empty or one fails, which is gone then.
  base::Task<absl::Status> RunAll(InProcessJobQueue& queue);

 private:
  base::Task<absl::Status> RunReport(ReportJob job);
  base::Task<absl::Status> RunNotify(NotifyJob job);
  base::Task<absl::StatusOr<std::vector<CountedTransaction>>> Parse(const ReportJob& job);

  Process process_;
  WorkerOptions options_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_WORKER_H_
