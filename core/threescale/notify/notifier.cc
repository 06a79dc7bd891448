#include "redouble/core/threescale/notify/notifier.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/text/integer.h"
#include "redouble/core/threescale/text/json_text.h"
#include "redouble/core/threescale/text/timestamp.h"

namespace redouble::inline v0_1::threescale {
namespace {

using Json = nlohmann::ordered_json;
using store::Batch;
using store::CommandId;
using store::Reply;

std::string LineOf(std::string_view provider_key, const Notification& notification,
                   const NotifierOptions& options, absl::Time now) {
  JsonObject usage;
  if (notification.authorizations) {
    usage.Add(options.authorizations_metric, *notification.authorizations);
  }
  if (notification.transactions) {
    usage.Add(options.transactions_metric, *notification.transactions);
  }
  const absl::Time minute = PeriodAt(Granularity::kMinute, now).start;
  return JsonObject()
      .Add("provider_key", provider_key)
      .Add("usage", usage)
      .Add("time", FormatJsonTime(minute))
      .text();
}

void AddUsage(std::string_view metric, std::string_view amount, Usage& usage) {
  const std::string* before = FindUsage(usage, metric);
  const Integer sum = ApplyUsage(before == nullptr ? Integer(0) : ToInteger(*before), amount);
  PutUsage(usage, metric, FormatInteger(sum));
}

// Parses a notification; nullopt if it is malformed.
std::optional<NotifyJob> ReadLine(const std::string& line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("provider_key") || !json.contains("usage") ||
      !json.contains("time")) {
    return std::nullopt;
  }
  const Json& usage = json["usage"];
  if (!json["provider_key"].is_string() || !json["time"].is_string() || !usage.is_object()) {
    return std::nullopt;
  }
  const auto time = ParseTimestamp(json["time"].get_ref<const std::string&>());
  if (!time) return std::nullopt;
  NotifyJob job;
  job.provider_key = json["provider_key"].get<std::string>();
  job.time = *time;
  for (const auto& item : usage.items()) {
    if (!item.value().is_number_integer()) return std::nullopt;
    AddUsage(item.key(), item.value().dump(), job.usage);
  }
  return job;
}

}  // namespace

absl::StatusOr<std::vector<NotifyJob>> SumNotifications(const std::vector<std::string>& lines) {
  std::vector<NotifyJob> jobs;
  for (const std::string& line : lines) {
    std::optional<NotifyJob> read = ReadLine(line);
    if (!read) return absl::InvalidArgumentError(absl::StrCat("not a notification: ", line));
    const auto known = std::find_if(jobs.begin(), jobs.end(), [&](const NotifyJob& job) {
      return job.provider_key == read->provider_key && job.time == read->time;
    });
    if (known == jobs.end()) {
      jobs.push_back(*std::move(read));
      continue;
    }
    for (const UsageEntry& entry : read->usage) AddUsage(entry.metric, entry.value, known->usage);
  }
  return jobs;
}

base::Task<absl::Status> Notifier::Notify(std::string_view provider_key,
                                          Notification notification) {
  if (!options_.master_service_id) co_return absl::OkStatus();
  const std::string line = LineOf(provider_key, notification, options_, process_.clock.Now());
  const std::string list = process_.keys.NotifyBatch(provider_key);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t size,
                               co_await store::RPush(process_.store, list, line));
  if (size % options_.batch_size != 0) co_return absl::OkStatus();
  co_return co_await TakeBatch(list, size);
}

base::Task<absl::Status> Notifier::TakeBatch(std::string_view list, int64_t size) {
  Batch batch(options_.hardening.take_notifications_atomically ? Batch::Atomicity::kTransaction
                                                               : Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kLRange, {list, "0"}).AddInteger(size - 1);
  batch.Add(CommandId::kLTrim, {list}).AddInteger(size).Add("-1");
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies,
                               co_await store::Execute(process_.store, batch));
  REDOUBLE_CO_RETURN_IF_ERROR(store::FirstError(replies));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                               store::DecodeStrings(std::move(replies.front())));
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<NotifyJob> jobs, SumNotifications(lines));
  for (NotifyJob& job : jobs) {
    job.enqueued_at = process_.clock.Now();
    REDOUBLE_CO_RETURN_IF_ERROR(co_await queue_.Enqueue(Job(std::move(job))));
  }
  co_return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::threescale
