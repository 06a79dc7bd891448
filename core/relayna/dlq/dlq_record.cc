#include "redouble/core/relayna/dlq/dlq_record.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/strings/escaping.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/text/utf8.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/json.h"
#include "redouble/core/python/model_reader.h"

namespace redouble::inline v0_1::relayna {
namespace {

constexpr std::string_view kModel = "DLQRecord";

using python::ModelReader;
using python::Object;
using python::Value;

std::string Base64(std::string_view bytes) { return absl::Base64Escape(base::ToAbsl(bytes)); }

// Reads one of the words; the first if the member is missing.
std::string OneOf(ModelReader& reader, std::string_view name,
                  std::initializer_list<std::string_view> words) {
  std::string text = reader.StringOr(name, *words.begin());
  if (std::find(words.begin(), words.end(), text) == words.end()) {
    reader.Refuse(name, "Input is none of the values that there are");
  }
  return text;
}

Object Headers(ModelReader& reader, std::string_view name) {
  const Value headers = reader.Object(name);
  return headers.object() == nullptr ? Object() : *headers.object();
}

// Reads a required member of any type.
Value Any(ModelReader& reader, std::string_view name) {
  const Value* value = reader.FindGiven(name);
  if (value == nullptr) reader.Refuse(name, "Field required");
  return value == nullptr ? Value() : *value;
}

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
       {"dead_lettered_at", python::OptionalTimeValue(record.dead_lettered_at)},
       {"state", record.state},
       {"replay_count", record.replay_count},
       {"replayed_at", python::OptionalTimeValue(record.replayed_at)},
       {"replay_target_queue_name", record.replay_target_queue_name}});
}

absl::StatusOr<std::string> FormatDlqRecord(const DlqRecord& record) {
  return python::PydanticJson(ToValue(record));
}

absl::StatusOr<DlqRecord> ParseDlqRecord(std::string_view text) {
  REDOUBLE_ASSIGN_OR_RETURN(const Value value, python::ParseModelJson(text, kModel));
  return DlqRecordOf(value);
}

absl::StatusOr<DlqRecord> DlqRecordOf(const Value& value) {
  ModelReader reader(value, kModel);
  // Designated initializers run in the order of the fields, so the first wrong member in that order
  // gives the error.
  DlqRecord record = {
      .dlq_id = reader.String("dlq_id"),
      .queue_name = reader.String("queue_name"),
      .source_queue_name = reader.String("source_queue_name"),
      .retry_queue_name = reader.String("retry_queue_name"),
      .task_id = reader.OptionalString("task_id"),
      .correlation_id = reader.OptionalString("correlation_id"),
      .reason = reader.String("reason"),
      .exception_type = reader.OptionalString("exception_type"),
      .retry_attempt = reader.Integer("retry_attempt"),
      .max_retries = reader.OptionalInteger("max_retries"),
      .headers = Headers(reader, "headers"),
      .content_type = reader.OptionalString("content_type"),
      .body = Any(reader, "body"),
      .body_encoding = reader.String("body_encoding"),
      .raw_body_b64 = reader.String("raw_body_b64"),
      .dead_lettered_at = reader.Time("dead_lettered_at"),
      .state = OneOf(reader, "state", {DlqRecord::kDeadLettered, DlqRecord::kReplayed}),
      .replay_count = reader.IntegerOr("replay_count", 0),
      .replayed_at = reader.OptionalTime("replayed_at"),
      .replay_target_queue_name = reader.OptionalString("replay_target_queue_name"),
  };
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return record;
}

}  // namespace redouble::inline v0_1::relayna
