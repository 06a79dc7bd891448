#include "redouble/core/orchestrator/errors.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

constexpr std::array kSpecs = {
#define REDOUBLE_ORCHESTRATOR_ERROR(id, name, subject, status_code, when) \
  ErrorSpec{ErrorCode::k##id, name, subject, absl::StatusCode::status_code, when},
#include "redouble/core/orchestrator/errors.inc"
#undef REDOUBLE_ORCHESTRATOR_ERROR
};

constexpr char kCodePayload[] = "redouble/orchestrator/error-code";

}  // namespace

std::span<const ErrorSpec> ErrorSpecs() { return kSpecs; }

const ErrorSpec& SpecOf(ErrorCode code) { return kSpecs[static_cast<size_t>(code)]; }

absl::Status MakeError(ErrorCode code, std::string_view message) {
  const ErrorSpec& spec = SpecOf(code);
  const absl::string_view separator = spec.subject.empty() ? "" : ": ";
  absl::Status status(spec.status_code,
                      absl::StrCat(base::ToAbsl(spec.subject), separator, base::ToAbsl(message)));
  base::SetStatusNumber(status, kCodePayload, static_cast<int>(code));
  return status;
}

std::optional<ErrorCode> ErrorCodeOf(const absl::Status& status) {
  const std::optional<int> code = base::StatusNumber(status, kCodePayload);
  return code ? std::optional(static_cast<ErrorCode>(*code)) : std::nullopt;
}

}  // namespace redouble::inline v0_1::orchestrator
