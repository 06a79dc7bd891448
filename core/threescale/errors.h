// ErrorCode: the failures of the 3scale backend, and how an absl::Status carries one.
//
// Each failure has a code, a message and an HTTP status, which clients and the errors list of a
// service (errors/service_id:S) receive. 3scale's operations return absl::Status like all others,
// with the message of the table and the code as a payload. The reasons for rejections
// (authorizer.h) are rows of the same table.
//
//   absl::Status status = MakeError(ErrorCode::kMetricInvalid, "nope");
//   status.message()                              // metric "nope" is invalid
//   SpecOf(*ErrorCodeOf(status)).name             // "metric_invalid"
//   SpecOf(*ErrorCodeOf(status)).http_status      // 404
//
// Errors of Redis pass through unchanged (core/store/errors.h) and have no ErrorCode. The only
// other failure without one is the cycle of parents of metric.h (D16).
//
// Thread-safety: constant data and pure functions.
// Source: docs/systems/threescale.md 4.25; the table is errors.inc.
#ifndef REDOUBLE_CORE_THREESCALE_ERRORS_H_
#define REDOUBLE_CORE_THREESCALE_ERRORS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace redouble::inline v0_1::threescale {

enum class ErrorCode : uint8_t {
#define REDOUBLE_THREESCALE_ERROR(id, name, http, status_code, message, if_blank) k##id,
#include "redouble/core/threescale/errors.inc"
#undef REDOUBLE_THREESCALE_ERROR
};

// One row of the table.
struct ErrorSpec {
  ErrorCode code;
  std::string_view class_name;   // The class in the original: "MetricInvalid".
  std::string_view name;         // The code that clients receive: "metric_invalid".
  int http_status;               // The HTTP status of the public API.
  absl::StatusCode status_code;  // The code of the statuses that MakeError returns.
  std::string_view message;      // With $0 and $1 for the arguments.
  // The message if the first argument is blank; empty: `message` in all cases.
  std::string_view message_if_blank;
};

// All rows, in the order of the enumerators.
std::span<const ErrorSpec> ErrorSpecs();
const ErrorSpec& SpecOf(ErrorCode code);

// Whether `text` is empty or contains only white space.
bool IsBlank(std::string_view text);

// Returns a status with `code` as its payload, and the status code and message of its row.
absl::Status MakeError(ErrorCode code, std::string_view argument = {},
                       std::string_view second_argument = {});

// Returns the message of MakeError with the same arguments.
std::string ErrorMessage(ErrorCode code, std::string_view argument = {},
                         std::string_view second_argument = {});

// Returns the code of a status from MakeError, or nullopt for any other status, including OK.
std::optional<ErrorCode> ErrorCodeOf(const absl::Status& status);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_ERRORS_H_
