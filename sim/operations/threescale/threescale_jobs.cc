#include "redouble/sim/operations/threescale/threescale_jobs.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/threescale/text/periods.h"
#include "redouble/core/threescale/text/timestamp.h"
#include "redouble/sim/operations/threescale/threescale_session.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::Json;
using threescale::Job;
using threescale::NotifyJob;
using threescale::ReportJob;
using threescale::Transaction;
using threescale::Usage;

absl::Status Expected(std::string_view what, const Json& got) {
  return absl::InvalidArgumentError(
      absl::StrCat("expected ", std::string(what), ", got ", got.dump()));
}

std::optional<std::string> MemberText(const Json& json, const char* name) {
  const auto member = json.find(name);
  if (member == json.end()) return std::nullopt;
  return TextOf(*member);
}

absl::StatusOr<Job> ReportFromJson(const Json& json, const Json& args) {
  if (args.size() < 2 || !args[0].is_string() || !args[1].is_object()) {
    return Expected("[service_id, transactions, ...]", args);
  }
  ReportJob job;
  job.service_id = args[0].get<std::string>();
  for (const auto& item : args[1].items()) {
    REDOUBLE_ASSIGN_OR_RETURN(Transaction transaction, TransactionFromJson(item.value()));
    job.transactions.push_back(std::move(transaction));
  }
  job.flat_usage = json.value("flat_usage", false);
  job.counted = json.value("counted", false);
  job.id = MemberText(json, "id").value_or("");
  return Job(std::move(job));
}

absl::StatusOr<Job> NotifyFromJson(const Json& json, const Json& args) {
  constexpr size_t kLeast = 3;
  if (args.size() < kLeast || !args[0].is_string() || !args[2].is_string()) {
    return Expected("[provider_key, usage, time, ...]", args);
  }
  const auto time = threescale::ParseTimestamp(args[2].get_ref<const std::string&>());
  if (!time) return Expected("a time", args[2]);
  REDOUBLE_ASSIGN_OR_RETURN(Usage usage, UsageFromJson(args[1]));
  NotifyJob job;
  job.provider_key = args[0].get<std::string>();
  job.usage = std::move(usage);
  job.time = *time;
  job.id = MemberText(json, "id").value_or("");
  return Job(std::move(job));
}

Json UsageToJson(const Usage& usage) {
  Json json = Json::object();
  for (const threescale::UsageEntry& entry : usage) json[entry.metric] = entry.value;
  return json;
}

Json TransactionToJson(const Transaction& transaction) {
  Json json = Json::object();
  if (transaction.app_id) json["app_id"] = *transaction.app_id;
  if (transaction.user_key) json["user_key"] = *transaction.user_key;
  json["usage"] = UsageToJson(transaction.usage);
  if (transaction.timestamp) json["timestamp"] = *transaction.timestamp;
  if (transaction.log_code) json["log"] = Json{{"code", *transaction.log_code}};
  return json;
}

}  // namespace

absl::StatusOr<Usage> UsageFromJson(const Json& json) {
  Usage usage;
  if (json.is_null()) return usage;
  if (!json.is_object()) return Expected("a map of usage", json);
  for (const auto& item : json.items()) {
    const std::optional<std::string> value =
        item.value().is_null() ? std::string() : TextOf(item.value());
    if (!value) return Expected("a usage value", item.value());
    threescale::PutUsage(usage, item.key(), *value);
  }
  return usage;
}

absl::StatusOr<Transaction> TransactionFromJson(const Json& json) {
  if (!json.is_object()) return Expected("a transaction", json);
  Transaction transaction;
  transaction.app_id = MemberText(json, "app_id");
  transaction.user_key = MemberText(json, "user_key");
  transaction.timestamp = MemberText(json, "timestamp");
  if (const auto log = json.find("log"); log != json.end() && log->is_object()) {
    transaction.log_code = MemberText(*log, "code");
  }
  REDOUBLE_ASSIGN_OR_RETURN(transaction.usage, UsageFromJson(json.value("usage", Json())));
  return transaction;
}

absl::StatusOr<Job> JobFromJson(const Json& json) {
  if (!json.is_object() || !json.contains("class") || !json.contains("args") ||
      !json["args"].is_array()) {
    return Expected("{class, args}", json);
  }
  if (json["class"] == "ReportJob") return ReportFromJson(json, json["args"]);
  if (json["class"] == "NotifyJob") return NotifyFromJson(json, json["args"]);
  return Expected("ReportJob or NotifyJob", json["class"]);
}

Json JobToJson(const Job& job) {
  if (const NotifyJob* notify = std::get_if<NotifyJob>(&job)) {
    return {{"class", "NotifyJob"},
            {"args", Json::array({notify->provider_key, UsageToJson(notify->usage),
                                  threescale::FormatJsonTime(notify->time)})}};
  }
  const ReportJob& report = std::get<ReportJob>(job);
  Json transactions = Json::object();
  for (size_t i = 0; i < report.transactions.size(); ++i) {
    transactions[std::to_string(i)] = TransactionToJson(report.transactions[i]);
  }
  Json json = {{"class", "ReportJob"},
               {"args", Json::array({report.service_id, std::move(transactions),
                                     absl::ToUnixSeconds(report.enqueued_at)})}};
  if (report.flat_usage) json["flat_usage"] = true;
  if (report.counted) json["counted"] = true;
  return json;
}

Json TakeJobs(threescale::InProcessJobQueue& queue) {
  Json jobs = Json::array();
  while (const std::optional<Job> job = queue.Pop()) jobs.push_back(JobToJson(*job));
  return jobs;
}

}  // namespace redouble::inline v0_1::scenarios
