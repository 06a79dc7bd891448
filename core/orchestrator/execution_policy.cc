#include "redouble/core/orchestrator/execution_policy.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/errors.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

double ReadMultiplier(DocumentReader& retry) {
  const Json* const value = retry.Find("backoff_multiplier");
  if (value == nullptr) return 1;
  const double multiplier = value->is_number() ? value->get<double>() : -1;
  if (multiplier == 0) return 1;
  if (multiplier >= 1) return multiplier;
  retry.Expected("backoff_multiplier", "a number of at least 1", *value);
  return 1;
}

}  // namespace

ExecutionPolicy ReadExecutionPolicy(DocumentReader& object, absl::Status& status) {
  ExecutionPolicy policy;
  const int64_t timeout_ms = object.IntegerOr("timeout_ms", 0, 0);
  if (timeout_ms > 0) policy.timeout = absl::Milliseconds(timeout_ms);
  const Json* const retry_json = object.Find("retry");
  if (retry_json == nullptr) return policy;
  DocumentReader retry(*retry_json, object.path() + "/retry", status);
  policy.max_attempts = std::max<int64_t>(retry.IntegerOr("max_attempts", 1, 0), 1);
  policy.backoff = absl::Milliseconds(retry.IntegerOr("backoff_ms", 0, 0));
  policy.backoff_multiplier = ReadMultiplier(retry);
  return policy;
}

absl::StatusOr<ExecutionPolicy> ParseExecutionPolicy(std::string_view object_json) {
  if (object_json.empty()) return ExecutionPolicy();
  REDOUBLE_ASSIGN_OR_RETURN(const Json json, ParseObject(object_json, ErrorCode::kInvalidPolicy));
  absl::Status status;
  DocumentReader object(json, "", status);
  const ExecutionPolicy policy = ReadExecutionPolicy(object, status);
  if (status.ok()) return policy;
  return MakeError(ErrorCode::kInvalidPolicy, base::ToStd(status.message()));
}

void AddExecutionPolicy(Json& object, const ExecutionPolicy& policy) {
  if (policy.timeout) object["timeout_ms"] = absl::ToInt64Milliseconds(*policy.timeout);
  Json retry = Json::object();
  if (policy.max_attempts != 1) retry["max_attempts"] = policy.max_attempts;
  if (policy.backoff != absl::ZeroDuration()) {
    retry["backoff_ms"] = absl::ToInt64Milliseconds(policy.backoff);
  }
  if (policy.backoff_multiplier != 1) retry["backoff_multiplier"] = policy.backoff_multiplier;
  if (!retry.empty()) object["retry"] = std::move(retry);
}

absl::Duration BackoffAfter(const ExecutionPolicy& policy, int64_t attempt) {
  const double factor = std::pow(policy.backoff_multiplier, static_cast<double>(attempt - 1));
  return std::min(policy.backoff * factor, kLongestBackoff);
}

bool IsRetryable(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status) || absl::IsAborted(status);
}

}  // namespace redouble::inline v0_1::orchestrator
