// ErrorCode: the errors of the orchestrator, and how an absl::Status carries one.
//
// Many formats are read, and an error in any of them is InvalidArgument. The code tells which one
// it was, and callers do not have to search the message.
//
//   absl::Status status = engine.StartWorkflow("order-7", source).status();
//   ErrorCodeOf(status)                    // ErrorCode::kInvalidWorkflow
//   SpecOf(*ErrorCodeOf(status)).name      // "invalid_workflow"
//   status.message()                       // "workflow: /nodes: expected an array"
//
// Errors of Redis pass through unchanged (core/store/errors.h) and have no ErrorCode. Neither have
// InvalidArgument for an id that cannot be part of a key (keys.h), for a value that cannot be
// written as JSON, and for settings. store_errors.h tells which errors are temporary.
//
// Thread-safety: constant data and pure functions.
// Source: docs/systems/orchestrator.md 4.22; the table is errors.inc.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_ERRORS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_ERRORS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"

namespace redouble::inline v0_1::orchestrator {

enum class ErrorCode : uint8_t {
#define REDOUBLE_ORCHESTRATOR_ERROR(id, name, subject, status_code, when) k##id,
#include "redouble/core/orchestrator/errors.inc"
#undef REDOUBLE_ORCHESTRATOR_ERROR
};

// One row of the table.
struct ErrorSpec {
  ErrorCode code;
  std::string_view name;     // "invalid_workflow".
  std::string_view subject;  // What messages begin with; empty for messages that begin with a path.
  absl::StatusCode status_code;  // The code of the statuses that MakeError returns.
  std::string_view when;         // When the error occurs, for documentation.
};

// All rows, in the order of the enumerators.
std::span<const ErrorSpec> ErrorSpecs();
const ErrorSpec& SpecOf(ErrorCode code);

// Returns a status with `code` as its payload, the status code of its row and the message
// "subject: message".
absl::Status MakeError(ErrorCode code, std::string_view message);

// Returns the code of a status from MakeError, or nullopt for any other status, including OK.
std::optional<ErrorCode> ErrorCodeOf(const absl::Status& status);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_ERRORS_H_
