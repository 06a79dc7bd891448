#include "redouble/core/gateway/errors.h"

#include <array>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::gateway {
namespace {

constexpr std::array kSpecs = {
    ErrorSpec{ErrorCode::kRateLimitExceeded, "rate_limit_exceeded", 429,
              "the request rate limit of the key is exceeded",
              absl::StatusCode::kResourceExhausted},
    ErrorSpec{ErrorCode::kTokenRateLimitExceeded, "token_rate_limit_exceeded", 429,
              "the token rate limit of the key is exceeded", absl::StatusCode::kResourceExhausted},
    ErrorSpec{ErrorCode::kBudgetExceeded, "budget_exceeded", 402,
              "the budget of the key is exceeded", absl::StatusCode::kResourceExhausted},
    ErrorSpec{ErrorCode::kControlStateUnavailable, "control_state_unavailable", 503,
              "the control state is unavailable", absl::StatusCode::kUnavailable},
};

constexpr absl::string_view kCodePayload = "redouble/gateway/error-code";
// The number of the cause's status code. The cause's message follows our prefix.
constexpr absl::string_view kCausePayload = "redouble/gateway/control-state-cause";

std::string MessagePrefix(ErrorCode code) {
  return absl::StrCat(base::ToAbsl(SpecOf(code).name), ": ");
}

void CopyPayloads(const absl::Status& from, absl::Status& to) {
  from.ForEachPayload([&to](absl::string_view url, const absl::Cord& payload) {
    if (url != kCausePayload && url != kCodePayload) to.SetPayload(url, payload);
  });
}

}  // namespace

std::span<const ErrorSpec> ErrorSpecs() { return kSpecs; }

const ErrorSpec& SpecOf(ErrorCode code) { return kSpecs[static_cast<size_t>(code)]; }

absl::Status MakeError(ErrorCode code, std::string_view message) {
  absl::Status status(SpecOf(code).status_code,
                      absl::StrCat(MessagePrefix(code), base::ToAbsl(message)));
  base::SetStatusNumber(status, kCodePayload, static_cast<int>(code));
  return status;
}

std::optional<ErrorCode> ErrorCodeOf(const absl::Status& status) {
  const std::optional<int> code = base::StatusNumber(status, kCodePayload);
  return code ? std::optional(static_cast<ErrorCode>(*code)) : std::nullopt;
}

absl::Status ControlStateUnavailable(const absl::Status& cause) {
  absl::Status status =
      MakeError(ErrorCode::kControlStateUnavailable, base::ToStd(cause.message()));
  CopyPayloads(cause, status);
  base::SetStatusNumber(status, kCausePayload, cause.raw_code());
  return status;
}

bool IsControlStateUnavailable(const absl::Status& status) {
  return ErrorCodeOf(status) == ErrorCode::kControlStateUnavailable;
}

absl::Status ControlStateCause(const absl::Status& status) {
  const std::optional<int> code = base::StatusNumber(status, kCausePayload);
  if (!code) return absl::OkStatus();
  absl::Status cause(
      static_cast<absl::StatusCode>(*code),
      status.message().substr(MessagePrefix(ErrorCode::kControlStateUnavailable).size()));
  CopyPayloads(status, cause);
  return cause;
}

}  // namespace redouble::inline v0_1::gateway
