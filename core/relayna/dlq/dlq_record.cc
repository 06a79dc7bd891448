#include "redouble/core/relayna/dlq/dlq_record.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/text/utf8.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/json.h"
#include "redouble/core/python/pydantic.h"

namespace redouble::relayna {
namespace {

using python::Object;
using python::Value;

std::string Base64(std::string_view bytes) { return absl::Base64Escape(base::ToAbsl(bytes)); }

Value TimeValue(const std::optional<python::DateTime>& time) {
  return time ? Value(*time) : Value();
}

// Reads the members of a record and keeps the first error.
class Members {
 public:
  explicit Members(const Object& object) : object_(object) {}

  const absl::Status& status() const { return status_; }

  std::string Text(std::string_view name) {
    const Value* value = Require(name);
    if (value == nullptr) return {};
    if (value->text() != nullptr) return *value->text();
    Refuse(name, "Input should be a valid string");
    return {};
  }

  std::optional<std::string> OptionalText(std::string_view name) {
    return IsNull(name) ? std::nullopt : std::optional(Text(name));
  }

  int64_t Integer(std::string_view name) {
    const Value* value = Require(name);
    if (value == nullptr) return 0;
    if (const std::optional<int64_t> integer = value->AsInt64()) return *integer;
    Refuse(name, "Input should be a valid integer");
    return 0;
  }
  int64_t IntegerOr(std::string_view name, int64_t otherwise) {
    return object_.Find(name) == nullptr ? otherwise : Integer(name);
  }
  std::optional<int64_t> OptionalInteger(std::string_view name) {
    return IsNull(name) ? std::nullopt : std::optional(Integer(name));
  }

  python::DateTime Time(std::string_view name) {
    const Value* value = Require(name);
    if (value == nullptr) return absl::UnixEpoch();
    const std::optional<python::DateTime> time = python::PydanticDateTime(*value);
    if (!time) Refuse(name, "Input should be a valid datetime");
    return time.value_or(absl::UnixEpoch());
  }
  std::optional<python::DateTime> OptionalTime(std::string_view name) {
    return IsNull(name) ? std::nullopt : std::optional(Time(name));
  }

  Object Headers(std::string_view name) {
    const Value* value = object_.Find(name);
    if (value == nullptr) return {};
    if (value->object() != nullptr) return *value->object();
    Refuse(name, "Input should be a valid dictionary");
    return {};
  }

  Value Any(std::string_view name) {
    const Value* value = object_.Find(name);
    return value == nullptr ? Value() : *value;
  }

  std::string OneOf(std::string_view name, std::initializer_list<std::string_view> words) {
    std::string text = Text(name);
    for (const std::string_view word : words) {
      if (text == word) return text;
    }
    Refuse(name, "Input is none of the values that there are");
    return text;
  }

 private:
  bool IsNull(std::string_view name) {
    const Value* value = object_.Find(name);
    return value == nullptr || value->is_null();
  }

  const Value* Require(std::string_view name) {
    const Value* value = object_.Find(name);
    if (value == nullptr) Refuse(name, "Field required");
    return value;
  }

  void Refuse(std::string_view name, std::string_view reason) {
    status_.Update(python::ValidationError(std::string(name) + ": " + std::string(reason)));
  }

  const Object& object_;
  absl::Status status_;
};

}  // namespace

void DlqRecord::SetBody(std::string_view raw_body) {
  raw_body_b64 = Base64(raw_body);
  if (!base::IsValidUtf8(raw_body)) {
    body = raw_body_b64;
    body_encoding = "base64";
    return;
  }
  absl::StatusOr<Value> value = python::ParseJson(raw_body);
  body_encoding = value.ok() ? "json" : "text";
  body = value.ok() ? *std::move(value) : Value(raw_body);
}

bool IsDlqState(std::string_view state) {
  return state == DlqRecord::kDeadLettered || state == DlqRecord::kReplayed;
}

std::string DlqIdOf(const DlqRecord& record, std::string_view raw_body) {
  base::Sha256 hash;
  hash.Update(record.queue_name);
  hash.Update(record.source_queue_name);
  hash.Update(record.correlation_id.value_or(""));
  hash.Update(base::FormatInt64(record.retry_attempt));
  hash.Update(python::FormatIso(record.dead_lettered_at));
  hash.Update(raw_body);
  return hash.HexDigest();
}

Value ToValue(const DlqRecord& record) {
  return Object::OfDistinct(
      {{"dlq_id", record.dlq_id},
       {"queue_name", record.queue_name},
       {"source_queue_name", record.source_queue_name},
       {"retry_queue_name", record.retry_queue_name},
       {"task_id", record.task_id},
       {"correlation_id", record.correlation_id},
       {"reason", record.reason},
       {"exception_type", record.exception_type},
       {"retry_attempt", record.retry_attempt},
       {"max_retries", record.max_retries ? Value(*record.max_retries) : Value()},
       {"headers", record.headers},
       {"content_type", record.content_type},
       {"body", record.body},
       {"body_encoding", record.body_encoding},
       {"raw_body_b64", record.raw_body_b64},
       {"dead_lettered_at", TimeValue(record.dead_lettered_at)},
       {"state", record.state},
       {"replay_count", record.replay_count},
       {"replayed_at", TimeValue(record.replayed_at)},
       {"replay_target_queue_name", record.replay_target_queue_name}});
}

absl::StatusOr<std::string> FormatDlqRecord(const DlqRecord& record) {
  return python::PydanticJson(ToValue(record));
}

absl::StatusOr<DlqRecord> ParseDlqRecord(std::string_view text) {
  const absl::StatusOr<Value> value = python::ParseJson(text);
  if (!value.ok()) return python::ValidationError(base::ToStd(value.status().message()));
  return DlqRecordOf(*value);
}

absl::StatusOr<DlqRecord> DlqRecordOf(const Value& value) {
  if (value.object() == nullptr) return python::ValidationError("a record must be an object");
  Members members(*value.object());
  // Designated initializers run in the order of the fields, so the first wrong member in that order
  // gives the error.
  DlqRecord record = {
      .dlq_id = members.Text("dlq_id"),
      .queue_name = members.Text("queue_name"),
      .source_queue_name = members.Text("source_queue_name"),
      .retry_queue_name = members.Text("retry_queue_name"),
      .task_id = members.OptionalText("task_id"),
      .correlation_id = members.OptionalText("correlation_id"),
      .reason = members.Text("reason"),
      .exception_type = members.OptionalText("exception_type"),
      .retry_attempt = members.Integer("retry_attempt"),
      .max_retries = members.OptionalInteger("max_retries"),
      .headers = members.Headers("headers"),
      .content_type = members.OptionalText("content_type"),
      .body = members.Any("body"),
      .body_encoding = members.Text("body_encoding"),
      .raw_body_b64 = members.Text("raw_body_b64"),
      .dead_lettered_at = members.Time("dead_lettered_at"),
      .state = members.OneOf("state", {DlqRecord::kDeadLettered, DlqRecord::kReplayed}),
      .replay_count = members.IntegerOr("replay_count", 0),
      .replayed_at = members.OptionalTime("replayed_at"),
      .replay_target_queue_name = members.OptionalText("replay_target_queue_name"),
  };
  REDOUBLE_RETURN_IF_ERROR(members.status());
  return record;
}

}  // namespace redouble::relayna
