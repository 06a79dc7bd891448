// DlqRecord: a dead-lettered message, and its text in Redis.
//
//   DlqRecord record = {.dlq_id = ..., .queue_name = "q.dlq", ...};
//   record.SetBody(raw_body);                   // body, body_encoding, raw_body_b64
//   std::string id = DlqIdOf(record, raw_body);
//   FormatDlqRecord(record)                     // {"dlq_id":"...","queue_name":"q.dlq",...}
//
// Thread-safety: a plain value, pure functions.
// Source: reference/relayna.md section 4.
#ifndef REDOUBLE_CORE_RELAYNA_DLQ_RECORD_H_
#define REDOUBLE_CORE_RELAYNA_DLQ_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/python/value.h"

namespace redouble::relayna {

// Fields in the order in which they are written.
struct DlqRecord {
  std::string dlq_id;
  std::string queue_name;
  std::string source_queue_name;
  std::string retry_queue_name;
  std::optional<std::string> task_id;
  std::optional<std::string> correlation_id;
  std::string reason;
  std::optional<std::string> exception_type;
  int64_t retry_attempt = 0;
  std::optional<int64_t> max_retries;
  python::Object headers;
  std::optional<std::string> content_type;
  python::Value body;
  std::string body_encoding;  // json, text or base64.
  std::string raw_body_b64;
  absl::Time dead_lettered_at;
  std::string state{kDeadLettered};
  int64_t replay_count = 0;
  std::optional<absl::Time> replayed_at;
  std::optional<std::string> replay_target_queue_name;

  // The values of `state`.
  static constexpr std::string_view kDeadLettered = "dead_lettered";
  static constexpr std::string_view kReplayed = "replayed";

  // Sets the body from the bytes of a message: the value of UTF-8 that is JSON, the text of any
  // other UTF-8, otherwise base64.
  void SetBody(std::string_view raw_body);
};

// True for the two states that there are.
bool IsDlqState(std::string_view state);

// The id of a message: the SHA-256 of queue, source queue, correlation id, retry attempt, time of
// death (ISO with +00:00) and raw body, one behind the other.
std::string DlqIdOf(const DlqRecord& record, std::string_view raw_body);

// The record as an object in the order of its fields.
python::Value ToValue(const DlqRecord& record);
// Its text in Redis, PYDJSON. Errors: as python::PydanticJson.
absl::StatusOr<std::string> FormatDlqRecord(const DlqRecord& record);

// ValidationError for a text that is no JSON, or has not the shape of a record: a required member
// missing, one of another type, a state that there is not.
absl::StatusOr<DlqRecord> ParseDlqRecord(std::string_view text);
absl::StatusOr<DlqRecord> DlqRecordOf(const python::Value& value);

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_DLQ_RECORD_H_
