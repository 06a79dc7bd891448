// Worker: runs the jobs that listeners enqueue.
//
// A report is counted completely or not at all: an invalid transaction, or one outside the accepted
// times, discards the whole job. The job then counts as done and leaves an entry in the errors list
// of the service. An error of Redis fails the job; running it again counts again what was already
// counted (hazard H11).
//
//   Worker worker(process, {.master_service_id = "1"});
//   while (std::optional<Job> job = queue.Pop()) {
//     absl::Status status = co_await worker.Run(*std::move(job));
//   }
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 3.1, 4.18 to 4.22, H11, H22.
#ifndef REDOUBLE_CORE_THREESCALE_REPORT_WORKER_H_
#define REDOUBLE_CORE_THREESCALE_REPORT_WORKER_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/model/job_queue.h"
#include "redouble/core/threescale/process.h"
#include "redouble/core/threescale/report/aggregator.h"

namespace redouble::inline v0_1::threescale {

// The accepted distance of a transaction from now, in whole seconds, both inclusive.
inline constexpr absl::Duration kOldestTransaction = absl::Hours(24);
inline constexpr absl::Duration kNewestTransaction = absl::Hours(1);

struct WorkerOptions {
  AggregatorOptions aggregator = {};
  // The service on which notifications are counted; nullopt: they are dropped.
  std::optional<std::string> master_service_id = std::nullopt;
};

class Worker {
 public:
  explicit Worker(const Process& process, WorkerOptions options = WorkerOptions())
      : process_(process), options_(std::move(options)) {}

  // Runs one job. Errors: those of Redis, and the cycle of parents of metric.h. An invalid report
  // is not an error; it is added to the errors list. An invalid notification is dropped.
  base::Task<absl::Status> Run(Job job);

  // Runs the jobs of the queue until it is empty or a job fails. The failed job is removed from the
  // queue.
  base::Task<absl::Status> RunAll(InProcessJobQueue& queue);

 private:
  base::Task<absl::Status> RunReport(ReportJob job);
  base::Task<absl::Status> RunNotify(NotifyJob job);
  base::Task<absl::StatusOr<std::vector<CountedTransaction>>> Parse(const ReportJob& job);

  Process process_;
  WorkerOptions options_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REPORT_WORKER_H_
