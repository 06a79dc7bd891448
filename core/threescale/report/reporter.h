// Reporter: accepts reports of clients, checks only their form, and enqueues a job for the worker.
//
// The contents of the transactions are validated when the job runs, after the client has received
// 202. A report for a missing application is therefore accepted, and its error appears later in the
// errors list of the service.
//
//   Reporter reporter(process, queue, notifier);
//   ReportRequest request;
//   request.provider_key = "pkey";
//   request.service_id = "2";
//   request.transactions = {Transaction{.app_id = "37ba04ec", .usage = {{"hits", "1"}}}};
//   absl::Status accepted = co_await reporter.Report(std::move(request));    // 202
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 3.1, 4.17.
#ifndef REDOUBLE_CORE_THREESCALE_REPORT_REPORTER_H_
#define REDOUBLE_CORE_THREESCALE_REPORT_REPORTER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/model/job_queue.h"
#include "redouble/core/threescale/notify/notifier.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

struct ReportRequest {
  // The header; parameters after a semicolon or comma are ignored. Nullopt: no header.
  std::optional<std::string> content_type = std::nullopt;
  std::optional<std::string> provider_key = std::nullopt;
  std::optional<std::string> service_token = std::nullopt;
  std::optional<std::string> service_id = std::nullopt;
  // The parameter `transactions` is present but not a map.
  bool transactions_are_no_map = false;
  // In the order of the request; nullopt for an entry without a value.
  std::vector<std::optional<Transaction>> transactions = {};
  // Whether a transaction has a user_id.
  bool names_user_id = false;
  bool flat_usage = false;
};

class Reporter {
 public:
  // `queue` and `notifier` must outlive the object.
  Reporter(const Process& process, JobQueue& queue, Notifier& notifier)
      : process_(process), queue_(queue), notifier_(notifier) {}

  // Accepts a report; OK is HTTP 202. Drops usage entries whose text is "0", and transactions whose
  // usage becomes empty. If a transaction is left, enqueues one job with all of them, and notifies
  // the master service of their number.
  //
  // Ids and keys are used as they are, padded or blank. Errors, in this order: ContentTypeInvalid,
  // which names the media type; those of Authorizer::FindProviderKey;
  // TransactionsIsBlank, TransactionsFormatInvalid, TransactionsHasNilTransaction,
  // EndUsersNoLongerSupported; those of ServiceStore::LoadWithProviderKey; those of the queue and
  // of Redis. Round trips: two for the service, up to two for a service token, up to two for the
  // notification.
  base::Task<absl::Status> Report(ReportRequest request);

 private:
  Process process_;
  JobQueue& queue_;
  Notifier& notifier_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REPORT_REPORTER_H_
