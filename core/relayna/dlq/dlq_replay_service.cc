#include "redouble/core/relayna/dlq/dlq_replay_service.h"

#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/iso_time.h"

namespace redouble::inline v0_1::relayna {
namespace {

using python::Object;
using python::Value;
using Result = absl::StatusOr<std::optional<DlqReplayResult>>;

constexpr std::string_view kRetryAttempt = "x-relayna-retry-attempt";
constexpr std::string_view kFailureReason = "x-relayna-failure-reason";
constexpr std::string_view kExceptionType = "x-relayna-exception-type";

void KeepOriginal(Object& headers, std::string_view name, std::string_view original) {
  const Value* value = headers.Find(name);
  if (value != nullptr) headers.Set(original, Value(*value));
}

absl::StatusOr<QueueMessage> MessageOf(const DlqRecord& record, absl::Time now) {
  QueueMessage message;
  if (!absl::Base64Unescape(base::ToAbsl(record.raw_body_b64), &message.body)) {
    return python::ValueError("raw_body_b64: Incorrect padding");
  }
  message.queue_name = record.retry_queue_name;
  message.correlation_id = record.correlation_id;
  message.headers = ReplayHeaders(record, now);
  message.content_type = record.content_type;
  return message;
}

DlqReplayResult ResultOf(const DlqRecord& replayed, const DlqReplayRequest& request) {
  const absl::Time replayed_at = replayed.replayed_at.value_or(request.now).time;
  return {replayed.dlq_id, replayed.retry_queue_name, replayed.state,
          replayed_at,     replayed.replay_count,     request.force};
}

}  // namespace

Value ToValue(const DlqReplayResult& result) {
  return Object::OfDistinct({{"dlq_id", result.dlq_id},
                             {"target_queue_name", result.target_queue_name},
                             {"state", result.state},
                             {"replayed_at", python::DateTime{result.replayed_at}},
                             {"replay_count", result.replay_count},
                             {"forced", result.forced}});
}

Object ReplayHeaders(const DlqRecord& record, absl::Time replayed_at) {
  Object headers = record.headers;
  KeepOriginal(headers, kRetryAttempt, "x-relayna-original-retry-attempt");
  KeepOriginal(headers, kFailureReason, "x-relayna-original-failure-reason");
  KeepOriginal(headers, kExceptionType, "x-relayna-original-exception-type");
  headers.Set("x-relayna-replayed-from-dlq", true);
  headers.Set("x-relayna-dlq-id", record.dlq_id);
  headers.Set("x-relayna-replayed-at", python::FormatIso(replayed_at));
  headers.Set(kRetryAttempt, 0);
  headers.Erase(kFailureReason);
  headers.Erase(kExceptionType);
  return headers;
}

base::Task<Result> DlqReplayService::ReplayMessage(const DlqReplayRequest& request) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<DlqRecord> claimed,
                               co_await dlq_.ClaimReplay(request.dlq_id, request.force));
  Result result = std::nullopt;
  if (claimed.has_value() && dlq_.hardening().mark_before_publish) {
    result = co_await MarkAndPublish(*claimed, request);
  } else if (claimed.has_value()) {
    result = co_await PublishAndMark(*claimed, request);
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await dlq_.ReleaseReplayClaim(request.dlq_id));
  co_return result;
}

base::Task<Result> DlqReplayService::PublishAndMark(const DlqRecord& record,
                                                    const DlqReplayRequest& request) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(QueueMessage message, MessageOf(record, request.now));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await publisher_.Publish(std::move(message)));

  DlqReplay replay{request.now, record.retry_queue_name};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<DlqRecord> marked,
                               co_await dlq_.MarkReplayed(record.dlq_id, std::move(replay)));
  if (!marked.has_value()) co_return std::nullopt;
  co_return ResultOf(*marked, request);
}

base::Task<Result> DlqReplayService::MarkAndPublish(const DlqRecord& record,
                                                    const DlqReplayRequest& request) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(QueueMessage message, MessageOf(record, request.now));
  DlqReplay replay{request.now, record.retry_queue_name, /*only_first=*/!request.force};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<DlqRecord> marked,
                               co_await dlq_.MarkReplayed(record.dlq_id, std::move(replay)));
  if (!marked.has_value()) co_return std::nullopt;
  const absl::Status published = co_await publisher_.Publish(std::move(message));
  if (!published.ok()) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await dlq_.TakeMarkBack(*marked, record));
    co_return published;
  }
  co_return ResultOf(*marked, request);
}

}  // namespace redouble::inline v0_1::relayna
