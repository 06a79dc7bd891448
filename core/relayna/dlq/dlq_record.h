// DlqRecord: a dead-lettered message, and its JSON text in Redis.
//
// Use it to build the record for DlqStore::Add, and to read the records that DlqStore returns.
//
//   DlqRecord record = {.queue_name = "q.dlq", .dead_lettered_at = clock.Now()};
//   record.SetBody(raw_body);                   // body, body_encoding, raw_body_b64
//   record.dlq_id = DlqIdOf(record, raw_body);
//   FormatDlqRecord(record);                    // {"dlq_id":"...","queue_name":"q.dlq",...}
//
// Thread-safety: a plain value and pure functions.
// Source: docs/systems/relayna.md 2.9.
#ifndef REDOUBLE_CORE_RELAYNA_DLQ_DLQ_RECORD_H_
#define REDOUBLE_CORE_RELAYNA_DLQ_DLQ_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/python/value.h"

namespace redouble::inline v0_1::relayna {

// The fields are in the order in which they are written.
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
  std::string body_encoding;  // "json", "text" or "base64".
  std::string raw_body_b64;
  python::DateTime dead_lettered_at;
  std::string state{kDeadLettered};
  int64_t replay_count = 0;
  std::optional<python::DateTime> replayed_at;
  std::optional<std::string> replay_target_queue_name;

  // The values of `state`.
  static constexpr std::string_view kDeadLettered = "dead_lettered";
  static constexpr std::string_view kReplayed = "replayed";

  // Sets raw_body_b64 to the base64 of `raw_body`, and body and body_encoding to a readable copy:
  // the JSON value if the bytes are JSON, the text if they are other UTF-8, otherwise the base64
  // again.
  void SetBody(std::string_view raw_body);
};

// True for kDeadLettered and kReplayed.
bool IsDlqState(std::string_view state);

// The id of a message: the SHA-256 of queue name, source queue name, correlation id, retry attempt,
// time of dead-lettering (ISO, such as +00:00) and raw body, without separators.
std::string DlqIdOf(const DlqRecord& record, std::string_view raw_body);

// The record as an object, with the members in the order of the fields.
python::Value ToValue(const DlqRecord& record);
// The text of the record in Redis (PYDJSON). Errors: those of python::PydanticJson.
absl::StatusOr<std::string> FormatDlqRecord(const DlqRecord& record);

// Read a record from its text, or from its value. Errors: InvalidArgument (ValidationError) if the
// text is not JSON, a required member is missing, a member has another type, or the state is
// unknown.
absl::StatusOr<DlqRecord> ParseDlqRecord(std::string_view text);
absl::StatusOr<DlqRecord> DlqRecordOf(const python::Value& value);

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_DLQ_DLQ_RECORD_H_
