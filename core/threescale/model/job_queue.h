// JobQueue: the interface by which listeners pass jobs to workers, and a queue in memory.
//
// A listener answers a report at once and enqueues a job; a worker parses, checks and counts it.
// The transport of jobs is not part of the package: a program implements JobQueue for the listener,
// or uses InProcessJobQueue, as tests and simulations do.
//
//   InProcessJobQueue queue;
//   Reporter reporter(process, queue, notifier);       // enqueues
//   while (std::optional<Job> job = queue.Pop()) ...   // worker.h runs them
//
// Thread-safety: InProcessJobQueue: one thread.
// Source: docs/systems/threescale.md 1.3, 4.15, 4.17, 4.22, D23.
#ifndef REDOUBLE_CORE_THREESCALE_MODEL_JOB_QUEUE_H_
#define REDOUBLE_CORE_THREESCALE_MODEL_JOB_QUEUE_H_

#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/model/usage.h"

namespace redouble::inline v0_1::threescale {

// One transaction of a report, as received.
struct Transaction {
  std::optional<std::string> app_id = std::nullopt;
  std::optional<std::string> user_key = std::nullopt;
  // By metric names. A transaction without usage counts nothing, not even its response code.
  Usage usage = {};
  // Parsed leniently (text/timestamp.h). Nullopt, empty or unreadable: the time of the worker.
  std::optional<std::string> timestamp = std::nullopt;
  std::optional<std::string> log_code = std::nullopt;

  friend bool operator==(const Transaction&, const Transaction&) = default;
};

// A report to count: transactions of one service.
struct ReportJob {
  std::string service_id;
  std::vector<Transaction> transactions = {};
  // The extension flat_usage: usage is not propagated to parent metrics.
  bool flat_usage = false;
  // The usage was counted already (Hardening::check_and_report_atomically). The worker only adds
  // response codes, traffic events and alerts.
  bool counted = false;
  absl::Time enqueued_at = absl::UnixEpoch();
  // Set by a queue that can deliver a job more than once: unique among all jobs, and the same for
  // each delivery. Empty: none. Hardening::count_jobs_once needs it.
  std::string id = {};
};

// A notification to count: usage of a provider on the master service.
struct NotifyJob {
  std::string provider_key;
  Usage usage = {};
  absl::Time time = absl::UnixEpoch();
  absl::Time enqueued_at = absl::UnixEpoch();
  std::string id = {};  // As that of a report.
};

using Job = std::variant<ReportJob, NotifyJob>;

class JobQueue {
 public:
  virtual ~JobQueue() = default;

  // Takes ownership of a job. After an error the job may be lost; the operation that enqueued it
  // returns the error.
  virtual base::Task<absl::Status> Enqueue(Job job) = 0;
};

// A queue in memory. Reports come before notifications, each in the order of arrival. It delivers a
// job once, and gives it no id.
class InProcessJobQueue final : public JobQueue {
 public:
  base::Task<absl::Status> Enqueue(Job job) override;

  // Removes and returns the next job, or nullopt if the queue is empty.
  std::optional<Job> Pop();

  size_t size() const { return reports_.size() + notifications_.size(); }

 private:
  std::deque<ReportJob> reports_;        // The queue "priority" of the original.
  std::deque<NotifyJob> notifications_;  // The queue "main".
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MODEL_JOB_QUEUE_H_
