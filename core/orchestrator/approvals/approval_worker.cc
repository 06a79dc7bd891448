#include "redouble/core/orchestrator/approvals/approval_worker.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/time/time.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/document_reader.h"
#include "redouble/core/orchestrator/errors.h"

namespace redouble::inline v0_1::orchestrator {

absl::StatusOr<ApprovalTerms> ReadApprovalTerms(std::string_view config_json) {
  ApprovalTerms terms;
  if (config_json.empty()) return terms;
  REDOUBLE_ASSIGN_OR_RETURN(const Json json, ParseObject(config_json, ErrorCode::kInvalidApproval));
  absl::Status status;
  DocumentReader config(json, "", status);
  terms.approver = config.StringOr("approver", "");
  if (const Json* const timeout = config.Find("timeout_seconds")) {
    const double seconds = timeout->is_number() ? timeout->get<double>() : 0;
    if (std::isfinite(seconds) && seconds > 0) {
      terms.timeout = absl::Seconds(seconds);
    } else {
      config.Expected("timeout_seconds", "a positive number", *timeout);
    }
  }
  if (status.ok()) return terms;
  return MakeError(ErrorCode::kInvalidApproval, base::ToStd(status.message()));
}

NodeFunction ApprovalFunction(Approvals& approvals) {
  return [&approvals](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> {
    REDOUBLE_CO_ASSIGN_OR_RETURN(ApprovalTerms terms, ReadApprovalTerms(token.config_json));
    REDOUBLE_CO_RETURN_IF_ERROR((co_await approvals.Request(token, std::move(terms))).status());
    NodeResult result;
    result.deferred = true;
    co_return result;
  };
}

}  // namespace redouble::inline v0_1::orchestrator
