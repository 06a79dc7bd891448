// IsTemporary: tells errors after which an operation is repeated from those that stay.
//
// A coordinator keeps its signal after a temporary error, and a loop over all runs ends there.
// After any other error they report it and take the next signal or run.
//
//   if (IsTemporary(status)) co_return status;  // The signal stays in hand for the next attempt.
//
// Thread-safety: a pure function.
// Source: docs/systems/orchestrator.md 4.3.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_STORE_ERRORS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_STORE_ERRORS_H_

#include <optional>

#include "absl/status/status.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::orchestrator {

// Whether the same operation may succeed soon: the connection failed, or the server refuses
// commands for the moment. False for OK.
inline bool IsTemporary(const absl::Status& status) {
  const std::optional<store::ErrorKind> kind = store::ErrorKindOf(status);
  if (kind != store::ErrorKind::kServer) return kind.has_value();
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status) ||
         absl::IsAborted(status);
}

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_STORE_ERRORS_H_
