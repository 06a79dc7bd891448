// ExecutionPolicy: how long one execution of a node may take, and how often it is repeated.
//
// The members `timeout_ms` and `retry` of a node in a source workflow. A compiled graph keeps them,
// a token carries them in its metadata, and the worker follows them:
//
//   {"timeout_ms":30000,"retry":{"max_attempts":3,"backoff_ms":1000,"backoff_multiplier":2}}
//
// The attempts of one token are made by one worker, one after another, before it signals. Nothing
// of an attempt is stored: after a crash, the worker that takes the entry over begins with the
// first attempt again.
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/orchestrator.md 2.10 and 4.7.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_EXECUTION_POLICY_H_
#define REDOUBLE_CORE_ORCHESTRATOR_EXECUTION_POLICY_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/orchestrator/document_reader.h"

namespace redouble::inline v0_1::orchestrator {

struct ExecutionPolicy {
  // Of one attempt. Nullopt: no limit.
  std::optional<absl::Duration> timeout;
  // At least 1.
  int64_t max_attempts = 1;
  // The pause before the second attempt, and the factor of each later pause.
  absl::Duration backoff = absl::ZeroDuration();
  double backoff_multiplier = 1;

  friend bool operator==(const ExecutionPolicy&, const ExecutionPolicy&) = default;
};

// The longest pause between two attempts.
inline constexpr absl::Duration kLongestBackoff = absl::Hours(1);

// Reads `timeout_ms` and `retry` of an object. A member that is missing or 0 has its default.
// Errors, in the reader's status: a negative number, a multiplier below 1, and other types.
ExecutionPolicy ReadExecutionPolicy(DocumentReader& object, absl::Status& status);
// As ReadExecutionPolicy, for the text of an object; the empty text is the default policy. Errors:
// InvalidArgument.
absl::StatusOr<ExecutionPolicy> ParseExecutionPolicy(std::string_view object_json);

// Adds the two members, without those that have their default.
void AddExecutionPolicy(Json& object, const ExecutionPolicy& policy);

// The pause after the n-th attempt, n from 1; at most kLongestBackoff.
absl::Duration BackoffAfter(const ExecutionPolicy& policy, int64_t attempt);

// Whether a later attempt may succeed: the status is Unavailable, DeadlineExceeded,
// ResourceExhausted or Aborted. The member `retryable` of a failed signal.
bool IsRetryable(const absl::Status& status);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_EXECUTION_POLICY_H_
