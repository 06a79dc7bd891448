// How a command can fail, as absl::Status.
//
// Each status made here carries its kind as a payload, so that a caller can tell what it may do
// next: a command that was certainly not sent can be sent again; one whose outcome is unknown may
// have run.
//
//   if (ErrorKindOf(status) == ErrorKind::kOutcomeUnknown) ...
//   if (ServerErrorCode(status) == "WRONGTYPE") ...
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_CORE_STORE_ERRORS_H_
#define REDOUBLE_CORE_STORE_ERRORS_H_

#include <optional>
#include <string_view>

#include "absl/status/status.h"

namespace redouble::store {

enum class ErrorKind {
  kServer,          // Redis answered with an error; the message is Redis's own text.
  kNotSent,         // The command never left: safe to send again.
  kOutcomeUnknown,  // It was sent, no answer came: it may have run.
  kProtocol,        // The answer was not what the protocol or the command allows.
};

// "server", "not sent", "outcome unknown", "protocol".
std::string_view ErrorKindName(ErrorKind kind);

// The status of an error reply; `text` is the whole error, code first ("WRONGTYPE Operation
// against..."). The status code follows from the error's code: see the table in errors.cc.
absl::Status ServerError(std::string_view text);
// Unavailable by default; DeadlineExceeded for a time-out.
absl::Status NotSentError(std::string_view message,
                          absl::StatusCode code = absl::StatusCode::kUnavailable);
absl::Status OutcomeUnknownError(std::string_view message,
                                 absl::StatusCode code = absl::StatusCode::kUnavailable);
// Internal.
absl::Status ProtocolError(std::string_view message);

// The kind of a status made here; none for any other status.
std::optional<ErrorKind> ErrorKindOf(const absl::Status& status);

// "WRONGTYPE" of a server error; empty for any other status. The view points into `status`.
std::string_view ServerErrorCode(const absl::Status& status);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_ERRORS_H_
