#include "core/threescale/worker.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"
#include "core/base/utf8.h"
#include "core/threescale/application.h"
#include "core/threescale/error_log.h"
#include "core/threescale/errors.h"
#include "core/threescale/metric_usage.h"
#include "core/threescale/timestamp.h"

namespace redouble::threescale {
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

// Views of what names the application of a transaction.
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
    const absl::StatusOr<std::string> id =
        co_await applications.FindId(job.service_id, IdentityOf(transaction));
    if (!id.ok()) co_return id.status();
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& other) { return other.application_id == *id; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{*id, {}});
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
    absl::Status status = co_await Run(*std::move(job));
    if (!status.ok()) co_return status;
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> Worker::RunReport(ReportJob job) {
  absl::StatusOr<std::vector<CountedTransaction>> transactions = co_await Parse(job);
  if (transactions.ok()) {
    co_return co_await Aggregator(process_, options_.aggregator)
        .Aggregate(*std::move(transactions));
  }
  if (!ErrorCodeOf(transactions.status())) co_return transactions.status();
  co_return co_await ErrorLog(process_).Store(job.service_id, transactions.status(),
                                              job.context_info);
}

// Everything is checked before anything is written.
base::Task<absl::StatusOr<std::vector<CountedTransaction>>> Worker::Parse(const ReportJob& job) {
  const bool is_text = std::all_of(job.transactions.begin(), job.transactions.end(),
                                   [](const Transaction& each) { return IsText(each); });
  if (!is_text) co_return MakeError(ErrorCode::kNotValidData);
  const absl::StatusOr<std::vector<Group>> groups = co_await GroupByApplication(process_, job);
  if (!groups.ok()) co_return groups.status();
  const Propagation propagation = job.flat_usage ? Propagation::kNone : Propagation::kToParents;
  const absl::Time now = process_.clock.Now();
  MetricCollection metrics(process_, job.service_id);
  std::vector<CountedTransaction> counted;
  for (const Group& group : *groups) {
    for (const Transaction* transaction : group.transactions) {
      if (transaction->usage.empty()) continue;
      absl::StatusOr<Usage> usage = co_await metrics.ProcessUsage(transaction->usage, propagation);
      if (!usage.ok()) co_return usage.status();
      if (job.counted) usage->clear();
      counted.push_back({job.service_id, group.application_id, TimeOf(*transaction, now),
                         *std::move(usage), transaction->log_code.value_or("")});
    }
  }
  for (const CountedTransaction& transaction : counted) {
    absl::Status status = CheckTime(transaction.time, now);
    if (!status.ok()) co_return status;
  }
  co_return counted;
}

base::Task<absl::Status> Worker::RunNotify(NotifyJob job) {
  if (!options_.master_service_id) co_return absl::OkStatus();
  const std::string& master = *options_.master_service_id;
  ApplicationStore applications(process_);
  const absl::StatusOr<std::optional<std::string>> id =
      co_await applications.LoadIdByUserKey({master, job.provider_key});
  if (!id.ok()) co_return id.status();
  if (!*id) co_return absl::OkStatus();
  const absl::StatusOr<bool> exists = co_await applications.Exists({master, **id});
  if (!exists.ok()) co_return exists.status();
  if (!*exists) co_return absl::OkStatus();
  absl::StatusOr<Usage> usage =
      co_await MetricCollection(process_, master).ProcessUsage(std::move(job.usage));
  absl::Status valid = usage.status();
  if (valid.ok()) valid = CheckTime(job.time, process_.clock.Now());
  if (ErrorCodeOf(valid)) co_return absl::OkStatus();
  if (!valid.ok()) co_return valid;
  std::vector<CountedTransaction> transactions;
  transactions.push_back({master, **id, job.time, *std::move(usage), ""});
  co_return co_await Aggregator(process_, options_.aggregator).Aggregate(std::move(transactions));
}

}  // namespace redouble::threescale
