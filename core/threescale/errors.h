// Errors: the failures that the 3scale backend names, and how a status carries one.
//
// Why it exists: a code, a message and an HTTP status belong to each failure, and clients and the
// errors list (errors/service_id:S) get them as they are. 3scale's operations give absl::Status
// like everything else; the code is a payload of it, the message is the status's own. The reasons
// why a request is rejected (authorizer.h) are rows of the same table.
//
//   absl::Status status = MakeError(ErrorCode::kMetricInvalid, "nope");
//   status.message()                              // metric "nope" is invalid
//   SpecOf(*ErrorCodeOf(status)).name             // "metric_invalid"
//   SpecOf(*ErrorCodeOf(status)).http_status      // 404
//
// Errors of Redis pass through as they are (core/store/errors.h) and have no ErrorCode. The one
// other failure without one is the parent cycle of metric.h, which the original does not notice.
//
// Thread-safety: constant data and pure functions.
// Source: reference/threescale.md 3, 4 and 5; the table is errors.inc.
#ifndef REDOUBLE_CORE_THREESCALE_ERRORS_H_
#define REDOUBLE_CORE_THREESCALE_ERRORS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace redouble::threescale {

enum class ErrorCode : uint8_t {
#define REDOUBLE_THREESCALE_ERROR(id, name, http, status_code, message, if_blank) k##id,
#include "core/threescale/errors.inc"
#undef REDOUBLE_THREESCALE_ERROR
};

// A row of the table.
struct ErrorSpec {
  ErrorCode code;
  std::string_view class_name;   // The original's: "MetricInvalid".
  std::string_view name;         // What clients see: "metric_invalid".
  int http_status;               // Of the public API.
  absl::StatusCode status_code;  // What MakeError makes of it.
  std::string_view message;      // With $0 and $1 for the arguments.
  // In place of it when the first argument is blank; empty: there is no difference.
  std::string_view message_if_blank;
};

// All rows, in the order of the enumerators.
std::span<const ErrorSpec> ErrorSpecs();
const ErrorSpec& SpecOf(ErrorCode code);

// True when `text` has nothing but white space.
bool IsBlank(std::string_view text);

// A status with `code` as its payload, the status code and the message of its row.
absl::Status MakeError(ErrorCode code, std::string_view argument = {},
                       std::string_view second_argument = {});

// The message that MakeError would give.
std::string ErrorMessage(ErrorCode code, std::string_view argument = {},
                         std::string_view second_argument = {});

// The code of a status made here; none for any other, OK among them.
std::optional<ErrorCode> ErrorCodeOf(const absl::Status& status);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_ERRORS_H_
