// Reporter: takes reports from clients, looks at their form only, and leaves a job for the worker.
//
// What the transactions say is checked when the job runs; the client was told that all is well by
// then. So a report of an application that does not exist is taken, and its error stands in the
// errors list of the service later.
//
//   Reporter reporter(process, queue, notifier);
//   ReportRequest request;
//   request.provider_key = "pkey";
//   request.service_id = "2";
//   request.transactions = {Transaction{.app_id = "37ba04ec", .usage = {{"hits", "1"}}}};
//   absl::Status taken = co_await reporter.Report(std::move(request));    // 202
//
// Thread-safety: as Store.
// Source: reference/threescale.md 4.1 and 5.
#ifndef REDOUBLE_CORE_THREESCALE_REPORTER_H_
#define REDOUBLE_CORE_THREESCALE_REPORTER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/base/task.h"
#include "core/threescale/job_queue.h"
#include "core/threescale/notifier.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

struct ReportRequest {
  // None: the request has no body. What stands behind a semicolon is not looked at.
  std::optional<std::string> content_type = std::nullopt;
  std::optional<std::string> provider_key = std::nullopt;
  std::optional<std::string> service_token = std::nullopt;
  std::optional<std::string> service_id = std::nullopt;
  // Whether the parameter `transactions` is there and something else than a map.
  bool transactions_are_no_map = false;
  // In the order in which they came; none for an entry without a value.
  std::vector<std::optional<Transaction>> transactions = {};
  // Whether one of them names a user_id.
  bool names_user_id = false;
  bool flat_usage = false;
  // The request for the errors list, as JSON.
  std::string context_info = "{}";
};

class Reporter {
 public:
  // `queue` and `notifier` must outlive this.
  Reporter(const Process& process, JobQueue& queue, Notifier& notifier)
      : process_(process), queue_(queue), notifier_(notifier) {}

  // Takes a report: OK is 202. Entries of usage whose text is "0" are dropped, and transactions
  // that had nothing else; when no transaction is left nothing is enqueued. Otherwise one job has
  // them all, and the master is notified of their number.
  //
  // Errors, in this order: ContentTypeInvalid; those of Authorizer::FindProviderKey;
  // TransactionsIsBlank, TransactionsFormatInvalid, TransactionsHasNilTransaction,
  // EndUsersNoLongerSupported; those of ServiceStore::LoadWithProviderKey; those of the queue and
  // of Redis. Round trips: two for the service, up to two for a service token, up to two to notify.
  base::Task<absl::Status> Report(ReportRequest request);

 private:
  Process process_;
  JobQueue& queue_;
  Notifier& notifier_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REPORTER_H_
