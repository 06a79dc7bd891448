// JobQueue: the work that listeners leave to workers, and a queue of it inside the process.
//
// A listener answers a report at once and enqueues a job; a worker parses, checks and counts. What
// carries jobs from one to the other is not part of the package: a program gives the listener side
// a JobQueue of its own, or takes InProcessJobQueue, as tests and simulations do.
//
//   InProcessJobQueue queue;
//   Reporter reporter(process, queue, notifier);       // enqueues
//   while (std::optional<Job> job = queue.Pop()) ...   // worker.h runs them
//
// Thread-safety: InProcessJobQueue: one thread.
// Source: reference/threescale.md 4.6, 5, 5.7 and 7.
#ifndef REDOUBLE_CORE_THREESCALE_JOB_QUEUE_H_
#define REDOUBLE_CORE_THREESCALE_JOB_QUEUE_H_

#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/threescale/usage.h"

namespace redouble::threescale {

// What a client reports of one application, as it came.
struct Transaction {
  std::optional<std::string> app_id = std::nullopt;
  std::optional<std::string> user_key = std::nullopt;
  // By names of metrics. A transaction without usage counts nothing, not even its code.
  Usage usage = {};
  // Read leniently (timestamp.h); none, empty or unreadable: the worker's own time.
  std::optional<std::string> timestamp = std::nullopt;
  std::optional<std::string> log_code = std::nullopt;

  friend bool operator==(const Transaction&, const Transaction&) = default;
};

// Transactions of one service to count.
struct ReportJob {
  std::string service_id;
  std::vector<Transaction> transactions = {};
  // The extension flat_usage: usage does not count for parent metrics.
  bool flat_usage = false;
  // The usage is in the counters already (Hardening::check_and_report_atomically): what is left is
  // the response codes, traffic and alerts.
  bool counted = false;
  // The request that the job came from, as JSON, for the errors list.
  std::string context_info = "{}";
  absl::Time enqueued_at = absl::UnixEpoch();
};

// Usage of a provider to count on the master service.
struct NotifyJob {
  std::string provider_key;
  Usage usage = {};
  absl::Time time = absl::UnixEpoch();
  absl::Time enqueued_at = absl::UnixEpoch();
};

using Job = std::variant<ReportJob, NotifyJob>;

class JobQueue {
 public:
  virtual ~JobQueue() = default;

  // Takes a job over. An error means that the job may be lost; it is the operation's error then.
  virtual base::Task<absl::Status> Enqueue(Job job) = 0;
};

// A queue in memory: reports before notifications, each in the order they came.
class InProcessJobQueue final : public JobQueue {
 public:
  base::Task<absl::Status> Enqueue(Job job) override;

  // The next job; none when there is none.
  std::optional<Job> Pop();

  size_t size() const { return reports_.size() + notifications_.size(); }

 private:
  std::deque<ReportJob> reports_;        // The original's queue "priority".
  std::deque<NotifyJob> notifications_;  // "main"
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_JOB_QUEUE_H_
