// Notifier: records the calls of listeners, which the master service counts.
//
// Each call appends a notification to one list. The listener that makes the length a multiple of
// the batch size takes the batch, adds it up by provider key and minute, and enqueues a job for
// each; worker.h counts them on the master service. A batch that is not full stays in the list
// until further calls fill it. Without a master service nothing is sent.
//
//   Notifier notifier(process, queue, {.master_service_id = "1"});
//   co_await notifier.Notify("pkey", {.transactions = 1, .authorizations = 1});
//   // RPUSH {"provider_key":"pkey","usage":{"transactions/authorize":1,"transactions":1},
//   //        "time":"2025-04-23 17:42:00 UTC"}
//
// LRANGE and LTRIM of two listeners that both find a full list can interleave: some notifications
// are counted twice, and others are lost (H7). Hardening::take_notifications_atomically removes
// this.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 1.3, 2.7, 3.6, 4.22, H7.
#ifndef REDOUBLE_CORE_THREESCALE_NOTIFY_NOTIFIER_H_
#define REDOUBLE_CORE_THREESCALE_NOTIFY_NOTIFIER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/hardening.h"
#include "redouble/core/threescale/model/job_queue.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

struct NotifierOptions {
  std::optional<std::string> master_service_id = std::nullopt;
  // The number of notifications in a batch; positive. In the cluster layout each shard has batches
  // of its own.
  int64_t batch_size = 10000;
  // The names of the metrics on the master service.
  std::string transactions_metric = "transactions";
  std::string authorizations_metric = "transactions/authorize";
  Hardening hardening = {};
};

// The counts of one call of a listener. Nullopt omits a count; 0 is written.
struct Notification {
  std::optional<int64_t> transactions = std::nullopt;
  std::optional<int64_t> authorizations = std::nullopt;
};

class Notifier {
 public:
  // `queue` must outlive the object.
  Notifier(const Process& process, JobQueue& queue, NotifierOptions options = NotifierOptions())
      : process_(process), queue_(queue), options_(std::move(options)) {}

  const NotifierOptions& options() const { return options_; }

  // Appends a notification with the current minute. One round trip, and one more for a full batch.
  // Errors: those of Redis and of the queue; InvalidArgument for a malformed notification in the
  // batch, which is already removed from the list.
  base::Task<absl::Status> Notify(std::string_view provider_key, Notification notification);

 private:
  base::Task<absl::Status> TakeBatch(std::string_view list, int64_t size);

  Process process_;
  JobQueue& queue_;
  NotifierOptions options_;
};

// Returns the sums of a batch: a job for each provider key and minute, in the order of their first
// appearance. Errors: InvalidArgument for a text that Notify does not write.
absl::StatusOr<std::vector<NotifyJob>> SumNotifications(const std::vector<std::string>& lines);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_NOTIFY_NOTIFIER_H_
