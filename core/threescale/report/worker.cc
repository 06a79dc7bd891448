#include "redouble/core/threescale/report/worker.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/text/utf8.h"
#include "redouble/core/threescale/authorize/metric_usage.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/report/error_log.h"
#include "redouble/core/threescale/text/timestamp.h"

namespace redouble::inline v0_1::threescale {
namespace {

// The transactions of one application, in their order.
struct Group {
  std::string application_id;
  std::vector<const Transaction*> transactions;
};

bool IsText(const std::optional<std::string>& text) { return !text || base::IsValidUtf8(*text); }

bool IsText(const Transaction& transaction) {
  return IsText(transaction.app_id) && IsText(transaction.user_key) &&
         IsText(transaction.timestamp) && IsText(transaction.log_code) &&
         std::all_of(transaction.usage.begin(), transaction.usage.end(),
                     [](const UsageEntry& entry) {
                       return base::IsValidUtf8(entry.metric) && base::IsValidUtf8(entry.value);
                     });
}

absl::Time TimeOf(const Transaction& transaction, absl::Time now) {
  if (!transaction.timestamp) return now;
  return ParseTimestamp(*transaction.timestamp).value_or(now);
}

std::string Seconds(absl::Duration duration) {
  return absl::StrCat(absl::ToInt64Seconds(duration));
}

absl::Status CheckTime(absl::Time time, absl::Time now) {
  const auto whole_seconds = [](absl::Time moment) {
    return absl::FromUnixSeconds(absl::ToUnixSeconds(moment));
  };
  const absl::Duration ahead = whole_seconds(time) - whole_seconds(now);
  if (ahead < -kOldestTransaction) {
    return MakeError(ErrorCode::kTransactionTimestampTooOld, Seconds(kOldestTransaction));
  }
  if (ahead > kNewestTransaction) {
    return MakeError(ErrorCode::kTransactionTimestampTooNew, Seconds(kNewestTransaction));
  }
  return absl::OkStatus();
}

// The result refers to `transaction`.
ApplicationIdentity IdentityOf(const Transaction& transaction) {
  ApplicationIdentity identity;
  if (transaction.app_id) identity.app_id = *transaction.app_id;
  if (transaction.user_key) identity.user_key = *transaction.user_key;
  return identity;
}

base::Task<absl::StatusOr<std::vector<Group>>> GroupByApplication(Process process,
                                                                  const ReportJob& job) {
  ApplicationStore applications(process);
  std::vector<Group> groups;
  for (const Transaction& transaction : job.transactions) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        const std::string id,
        co_await applications.FindId(job.service_id, IdentityOf(transaction)));
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& other) { return other.application_id == id; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{id, {}});
    group->transactions.push_back(&transaction);
  }
  co_return groups;
}

}  // namespace

base::Task<absl::Status> Worker::Run(Job job) {
  if (ReportJob* report = std::get_if<ReportJob>(&job)) {
    co_return co_await RunReport(std::move(*report));
  }
  co_return co_await RunNotify(std::get<NotifyJob>(std::move(job)));
}

base::Task<absl::Status> Worker::RunAll(InProcessJobQueue& queue) {
  while (std::optional<Job> job = queue.Pop()) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Run(*std::move(job)));
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> Worker::RunReport(ReportJob job) {
  absl::StatusOr<std::vector<CountedTransaction>> transactions = co_await Parse(job);
  absl::Status run = transactions.status();
  if (run.ok()) {
    // A report that counts nothing does not ask for a ping.
    if (transactions->empty()) co_return absl::OkStatus();
    run = co_await Aggregator(process_, options_.aggregator)
              .Aggregate(*std::move(transactions), job.id);
  }
  if (!ErrorCodeOf(run)) co_return run;
  // The original looks for the request where the queue's JSON does not keep it, and finds none.
  co_return co_await ErrorLog(process_, options_.aggregator.hardening)
      .Store(job.service_id, std::move(run), /*context_info=*/"{}");
}

// Validates all transactions before any write.
base::Task<absl::StatusOr<std::vector<CountedTransaction>>> Worker::Parse(const ReportJob& job) {
  const bool is_text = std::all_of(job.transactions.begin(), job.transactions.end(),
                                   [](const Transaction& each) { return IsText(each); });
  if (!is_text) co_return MakeError(ErrorCode::kNotValidData);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Group> groups,
                               co_await GroupByApplication(process_, job));
  const Propagation propagation = job.flat_usage ? Propagation::kNone : Propagation::kToParents;
  const absl::Time now = process_.clock.Now();
  MetricCollection metrics(process_, job.service_id);
  std::vector<CountedTransaction> counted;
  for (const Group& group : groups) {
    for (const Transaction* transaction : group.transactions) {
      if (transaction->usage.empty()) continue;
      REDOUBLE_CO_ASSIGN_OR_RETURN(Usage usage,
                                   co_await metrics.ProcessUsage(transaction->usage, propagation));
      if (job.counted) usage.clear();
      counted.push_back({job.service_id, group.application_id, TimeOf(*transaction, now),
                         std::move(usage), transaction->log_code.value_or("")});
    }
  }
  for (const CountedTransaction& transaction : counted) {
    REDOUBLE_CO_RETURN_IF_ERROR(CheckTime(transaction.time, now));
  }
  co_return counted;
}

base::Task<absl::Status> Worker::RunNotify(NotifyJob job) {
  if (!options_.master_service_id) co_return absl::OkStatus();
  const std::string& master = *options_.master_service_id;
  ApplicationStore applications(process_);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> id,
                               co_await applications.LoadIdByUserKey({master, job.provider_key}));
  if (!id) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool exists, co_await applications.Exists({master, *id}));
  if (!exists) co_return absl::OkStatus();
  absl::StatusOr<Usage> usage =
      co_await MetricCollection(process_, master).ProcessUsage(std::move(job.usage));
  absl::Status valid = usage.status();
  if (valid.ok()) valid = CheckTime(job.time, process_.clock.Now());
  if (ErrorCodeOf(valid)) co_return absl::OkStatus();
  REDOUBLE_CO_RETURN_IF_ERROR(valid);
  std::vector<CountedTransaction> transactions;
  transactions.push_back({master, *id, job.time, *std::move(usage), ""});
  const absl::Status counted =
      co_await Aggregator(process_, options_.aggregator).Aggregate(std::move(transactions), job.id);
  // The application was deleted meanwhile.
  if (ErrorCodeOf(counted) == ErrorCode::kApplicationNotFound) co_return absl::OkStatus();
  co_return counted;
}

}  // namespace redouble::inline v0_1::threescale
