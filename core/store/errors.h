// The errors of a Store, as absl::Status.
//
// Each status made here carries its ErrorKind as a payload, from which a caller decides what to do
// next: a command that was not sent can safely be sent again; a command with an unknown outcome may
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

namespace redouble::inline v0_1::store {

enum class ErrorKind {
  kServer,          // Redis sent an error reply; the message is its text.
  kNotSent,         // The command was not sent: it is safe to send it again.
  kOutcomeUnknown,  // The command was sent and no reply was received: it may have run.
  kProtocol,        // The reply is not one that the protocol or the command allows.
};

// Returns "server", "not sent", "outcome unknown" or "protocol".
std::string_view ErrorKindName(ErrorKind kind);

// Returns the status of an error reply. `text` is the whole error with its code ("WRONGTYPE
// Operation against..."). The status code follows from the error's code: WRONGTYPE is
// FailedPrecondition, NOAUTH Unauthenticated, ERR InvalidArgument; errors.cc has the table.
absl::Status ServerError(std::string_view text);
// Return the status of a command that was not sent, or whose outcome is unknown. The code is
// Unavailable by default; pass DeadlineExceeded for a timeout.
absl::Status NotSentError(std::string_view message,
                          absl::StatusCode code = absl::StatusCode::kUnavailable);
absl::Status OutcomeUnknownError(std::string_view message,
                                 absl::StatusCode code = absl::StatusCode::kUnavailable);
// Returns a status with the code Internal.
absl::Status ProtocolError(std::string_view message);

// Returns the kind of a status made by the functions above, or nullopt for any other status.
std::optional<ErrorKind> ErrorKindOf(const absl::Status& status);

// Returns the code of a server error ("WRONGTYPE"), or an empty view for any other status. The view
// points into `status`.
std::string_view ServerErrorCode(const absl::Status& status);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_ERRORS_H_
