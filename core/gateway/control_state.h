// ControlStateUnavailable: the one way in which the gateway's Redis operations fail.
//
// Whatever goes wrong with Redis (no connection, an error reply, a reply that cannot be decoded)
// is one error to the gateway's callers, and the request is refused: it fails closed. What went
// wrong stays readable behind it.
//
//   if (IsControlStateUnavailable(status)) {
//     respond(kControlStateUnavailableHttpStatus, kControlStateUnavailableCode);
//     log(ControlStateCause(status));   // Redis's own error, its kind (store/errors.h) included
//   }
//
// Thread-safety: free functions on values.
// Source: reference/gateway.md section 2.
#ifndef REDOUBLE_CORE_GATEWAY_CONTROL_STATE_H_
#define REDOUBLE_CORE_GATEWAY_CONTROL_STATE_H_

#include <string_view>

#include "absl/status/status.h"

namespace redouble::gateway {

inline constexpr int kControlStateUnavailableHttpStatus = 503;
inline constexpr std::string_view kControlStateUnavailableCode = "control_state_unavailable";

// Unavailable, with `cause`, which must not be OK, kept inside. The message is the code and the
// cause's message; store::ErrorKindOf answers as for the cause.
absl::Status ControlStateUnavailable(const absl::Status& cause);

// True for a status made here.
bool IsControlStateUnavailable(const absl::Status& status);

// The cause, code, message and payloads; OK for a status that was not made here.
absl::Status ControlStateCause(const absl::Status& status);

}  // namespace redouble::gateway

#endif  // REDOUBLE_CORE_GATEWAY_CONTROL_STATE_H_
