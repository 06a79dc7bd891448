// ErrorCode: the error codes of the Kafka protocol that Korvet answers with, and how a status
// carries one.
//
// Why it exists: a Kafka client decides by the number what to do next (refresh its metadata, try
// again, give up), so that the number is part of an operation's meaning. Korvet's operations give
// absl::Status like everything else; the code is a payload of it. Errors of Redis pass through as
// they are (store/errors.h), and ErrorCodeOf says which code they amount to.
//
//   absl::Status status = co_await topics.Delete("orders");
//   ErrorCodeOf(status);                        // ErrorCode::kUnknownTopicOrPartition
//   ErrorName(ErrorCodeOf(status));             // "UNKNOWN_TOPIC_OR_PARTITION"
//   static_cast<int16_t>(ErrorCodeOf(status));  // 3
//
// Thread-safety: constant data and pure functions.
// Source: reference/korvet.md section 9; the table is error_codes.inc.
#ifndef REDOUBLE_CORE_KORVET_ERROR_CODE_H_
#define REDOUBLE_CORE_KORVET_ERROR_CODE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"

namespace redouble::korvet {

// The value is the number on the wire.
enum class ErrorCode : int16_t {
#define REDOUBLE_KAFKA_ERROR(id, code, name, retriable, status_code, when) k##id = code,
#include "core/korvet/error_codes.inc"
#undef REDOUBLE_KAFKA_ERROR
};

// A row of the table.
struct ErrorSpec {
  ErrorCode code;
  std::string_view name;         // Kafka's: "UNKNOWN_TOPIC_OR_PARTITION".
  bool retriable;                // Whether Kafka's clients try again by themselves.
  absl::StatusCode status_code;  // What KafkaError makes of it.
  std::string_view when;         // For people.
};

// All rows, by rising number.
std::span<const ErrorSpec> ErrorCodes();

// The row of a code. Of a number that no row has: that of UNKNOWN_SERVER_ERROR.
const ErrorSpec& SpecOf(ErrorCode code);
std::string_view ErrorName(ErrorCode code);
// The code of Kafka's name, upper case; none when the table does not have it.
std::optional<ErrorCode> FindErrorCode(std::string_view name);

// A status with `code` as its payload, the status code of its row and "NAME: message". OK for
// kNone.
absl::Status KafkaError(ErrorCode code, std::string_view message);

// What a Kafka client is told: kNone for OK, the payload of a status from KafkaError, and else what
// the failure of Redis amounts to:
//
//   | failure                                                            | code                |
//   | ------------------------------------------------------------------ | ------------------- |
//   | sent, but the outcome is unknown                                   | kRequestTimedOut    |
//   | not sent; refused for now (LOADING, READONLY, OOM, CLUSTERDOWN...) | kKafkaStorageError  |
//   | any other, WRONGTYPE among them                                    | kUnknownServerError |
ErrorCode ErrorCodeOf(const absl::Status& status);

// What a request of a consumer group says of a failure: the same status, but where ErrorCodeOf is
// kKafkaStorageError it becomes kCoordinatorNotAvailable, as Kafka's clients expect of group calls.
absl::Status AsGroupError(absl::Status status);

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_ERROR_CODE_H_
