// Notifier: counts what the providers' listeners do, for the master service that bills for it.
//
// Every call of a listener leaves a line in one list. Whoever makes the list a multiple of the
// batch size long takes the batch away, sums it up by provider and minute, and leaves a job for
// each; worker.h counts it on the master service. A batch that is not full waits, for ever if need
// be. Nothing at all happens without a master service.
//
//   Notifier notifier(process, queue, {.master_service_id = "1"});
//   co_await notifier.Notify("pkey", {.transactions = 1, .authorizations = 1});
//   // RPUSH {"provider_key":"pkey","usage":{"transactions/authorize":1,"transactions":1},
//   //        "time":"2025-04-23 17:42:00 UTC"}
//
// LRANGE and LTRIM of two listeners that both find a full list can interleave: some lines are
// counted twice, others never. Hardening::take_notifications_atomically prevents that.
//
// Thread-safety: as Store.
// Source: seed 004 Notify keys; reference/threescale.md 5.7 and 7.
#ifndef REDOUBLE_CORE_THREESCALE_NOTIFIER_H_
#define REDOUBLE_CORE_THREESCALE_NOTIFIER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/base/task.h"
#include "core/threescale/hardening.h"
#include "core/threescale/job_queue.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

struct NotifierOptions {
  std::optional<std::string> master_service_id = std::nullopt;
  // How many lines make a batch; positive.
  int64_t batch_size = 10000;
  // Metrics of the master service.
  std::string transactions_metric = "transactions";
  std::string authorizations_metric = "transactions/authorize";
  Hardening hardening = {};
};

// What a call of a listener amounts to; none is not mentioned at all, 0 is.
struct Notification {
  std::optional<int64_t> transactions = std::nullopt;
  std::optional<int64_t> authorizations = std::nullopt;
};

class Notifier {
 public:
  // `queue` must outlive this.
  Notifier(const Process& process, JobQueue& queue, NotifierOptions options = NotifierOptions())
      : process_(process), queue_(queue), options_(std::move(options)) {}

  const NotifierOptions& options() const { return options_; }

  // Adds a line, with the minute that is now. One round trip, and one for a full batch. Errors:
  // those of the store and of the queue; InvalidArgument when a line of the batch is none, with
  // the batch gone.
  base::Task<absl::Status> Notify(std::string_view provider_key, Notification notification);

 private:
  base::Task<absl::Status> TakeBatch(int64_t size);

  Process process_;
  JobQueue& queue_;
  NotifierOptions options_;
};

// The lines of a batch summed up: a job for each provider and minute, in the order in which they
// first appear. Errors: InvalidArgument for a line that is not one of Notify's.
absl::StatusOr<std::vector<NotifyJob>> SumNotifications(const std::vector<std::string>& lines);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_NOTIFIER_H_
