// ControlStateUnavailable: the single error of the gateway's Redis operations.
//
// Any failure of Redis (no connection, an error reply, a reply that cannot be decoded) is this one
// error for the callers of the gateway, and the request is refused: the gateway fails closed. The
// cause stays readable.
//
//   if (IsControlStateUnavailable(status)) {
//     Respond(kControlStateUnavailableHttpStatus, kControlStateUnavailableCode);
//     Log(ControlStateCause(status));  // Redis's own error, with its kind (core/store/errors.h).
//   }
//
// Thread-safety: pure functions.
// Source: docs/systems/gateway.md 4.1.
#ifndef REDOUBLE_CORE_GATEWAY_CONTROL_STATE_H_
#define REDOUBLE_CORE_GATEWAY_CONTROL_STATE_H_

#include <string_view>

#include "absl/status/status.h"

namespace redouble::gateway {

inline constexpr int kControlStateUnavailableHttpStatus = 503;
inline constexpr std::string_view kControlStateUnavailableCode = "control_state_unavailable";

// Returns an Unavailable status that contains `cause`, which must not be OK. The message is the
// code followed by the message of the cause; store::ErrorKindOf returns the kind of the cause.
absl::Status ControlStateUnavailable(const absl::Status& cause);

// True for a status that ControlStateUnavailable returned.
bool IsControlStateUnavailable(const absl::Status& status);

// The cause with its code, message and payloads; OK if IsControlStateUnavailable is false.
absl::Status ControlStateCause(const absl::Status& status);

}  // namespace redouble::gateway

#endif  // REDOUBLE_CORE_GATEWAY_CONTROL_STATE_H_
