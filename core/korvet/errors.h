// ErrorCode: the error codes of the Kafka protocol that Korvet returns, and how an absl::Status
// carries one.
//
// A Kafka client decides by the code what to do next: refresh its metadata, retry, or give up.
// Korvet's operations return absl::Status like all others, and attach the code as a payload. Errors
// of Redis pass through unchanged (core/store/errors.h); ErrorCodeOf maps them to a code.
//
//   absl::Status status = co_await topics.Delete("orders");
//   ErrorCodeOf(status);                        // ErrorCode::kUnknownTopicOrPartition
//   ErrorName(ErrorCodeOf(status));             // "UNKNOWN_TOPIC_OR_PARTITION"
//   static_cast<int16_t>(ErrorCodeOf(status));  // 3
//
// Thread-safety: constant data and pure functions.
// Source: docs/systems/korvet.md 2.7; the table is errors.inc.
#ifndef REDOUBLE_CORE_KORVET_ERRORS_H_
#define REDOUBLE_CORE_KORVET_ERRORS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"

namespace redouble::inline v0_1::korvet {

// The error codes. The value of each enumerator is the number in the Kafka protocol.
enum class ErrorCode : int16_t {
#define REDOUBLE_KAFKA_ERROR(id, code, name, retriable, status_code, when) k##id = code,
#include "redouble/core/korvet/errors.inc"
#undef REDOUBLE_KAFKA_ERROR
};

// One row of the table.
struct ErrorSpec {
  ErrorCode code;
  std::string_view name;         // Kafka's name: "UNKNOWN_TOPIC_OR_PARTITION".
  bool retriable;                // Whether Kafka clients retry the request.
  absl::StatusCode status_code;  // The code of the statuses that MakeError returns.
  std::string_view when;         // When the error occurs, for documentation.
};

// All rows, in ascending order of the numbers.
std::span<const ErrorSpec> ErrorSpecs();

// Returns the row of a code, or the row of UNKNOWN_SERVER_ERROR if no row has the number.
const ErrorSpec& SpecOf(ErrorCode code);
std::string_view ErrorName(ErrorCode code);
// Returns the code with Kafka's name in upper case, or nullopt if the table does not have it.
std::optional<ErrorCode> FindErrorCode(std::string_view name);

// Returns a status with `code` as its payload, the status code of its row and the message "NAME:
// message". Returns OK for kNone.
absl::Status MakeError(ErrorCode code, std::string_view message);

// Returns the code that a Kafka client receives for `status`: kNone for OK, the payload of a status
// from MakeError, and otherwise the code of the failure of Redis:
//
//   | failure                                                            | code                |
//   | ------------------------------------------------------------------ | ------------------- |
//   | sent, but the outcome is unknown                                   | kRequestTimedOut    |
//   | not sent; refused for now (LOADING, READONLY, OOM, CLUSTERDOWN...) | kKafkaStorageError  |
//   | any other, such as WRONGTYPE                                       | kUnknownServerError |
ErrorCode ErrorCodeOf(const absl::Status& status);

// Converts the error of a group operation: a status whose code is kKafkaStorageError becomes
// kCoordinatorNotAvailable, as Kafka clients expect of group requests. Other statuses are returned
// unchanged.
absl::Status AsGroupError(absl::Status status);

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_ERRORS_H_
