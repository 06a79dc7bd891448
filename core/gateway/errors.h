// ErrorCode: the errors that the gateway returns to its clients, and how an absl::Status carries
// one.
//
// Any failure of Redis (no connection, an error reply, a reply that cannot be decoded) is one error
// for the callers of the gateway, ControlStateUnavailable, and the request is refused: the gateway
// fails closed. The cause stays readable. The refusals of admission.h are rows of the same table.
//
//   if (IsControlStateUnavailable(status)) {
//     const ErrorSpec& spec = SpecOf(ErrorCode::kControlStateUnavailable);
//     Respond(spec.http_status, spec.name);  // 503, "control_state_unavailable".
//     Log(ControlStateCause(status));        // The error of Redis, with its kind.
//   }
//
// Thread-safety: constant data and pure functions.
// Source: docs/systems/gateway.md 4.1, 4.9.
#ifndef REDOUBLE_CORE_GATEWAY_ERRORS_H_
#define REDOUBLE_CORE_GATEWAY_ERRORS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"

namespace redouble::inline v0_1::gateway {

enum class ErrorCode : uint8_t {
  kRateLimitExceeded,
  kTokenRateLimitExceeded,
  kBudgetExceeded,
  kControlStateUnavailable,
};

// One row of the table.
struct ErrorSpec {
  ErrorCode code;
  std::string_view name;         // The code in the body of the response: "budget_exceeded".
  int http_status;               // The HTTP status of the response.
  std::string_view message;      // The message in the body of the response.
  absl::StatusCode status_code;  // The code of the statuses that MakeError returns.
};

// All rows, in the order of the enumerators.
std::span<const ErrorSpec> ErrorSpecs();
const ErrorSpec& SpecOf(ErrorCode code);

// Returns a status with `code` as its payload, the status code of its row and the message "name:
// message".
absl::Status MakeError(ErrorCode code, std::string_view message);

// Returns the code of a status from MakeError or ControlStateUnavailable; nullopt for any other
// status, including OK.
std::optional<ErrorCode> ErrorCodeOf(const absl::Status& status);

// Returns the error of kControlStateUnavailable that contains `cause`, which must not be OK. The
// message ends with the message of the cause; store::ErrorKindOf returns the kind of the cause.
absl::Status ControlStateUnavailable(const absl::Status& cause);

// True for a status that ControlStateUnavailable returned.
bool IsControlStateUnavailable(const absl::Status& status);

// The cause with its code, message and payloads; OK if IsControlStateUnavailable is false.
absl::Status ControlStateCause(const absl::Status& status);

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_ERRORS_H_
