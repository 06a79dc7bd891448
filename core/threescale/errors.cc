#include "redouble/core/threescale/errors.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/substitute.h"
#include "redouble/core/base/status/status_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::threescale {
namespace {

constexpr std::array kSpecs = {
#define REDOUBLE_THREESCALE_ERROR(id, name, http, status_code, message, if_blank) \
  ErrorSpec{ErrorCode::k##id, #id, name, http, absl::StatusCode::status_code, message, if_blank},
#include "redouble/core/threescale/errors.inc"
#undef REDOUBLE_THREESCALE_ERROR
};

constexpr char kCodePayload[] = "redouble/threescale/error-code";

}  // namespace

std::span<const ErrorSpec> ErrorSpecs() { return kSpecs; }

const ErrorSpec& SpecOf(ErrorCode code) { return kSpecs[static_cast<size_t>(code)]; }

bool IsBlank(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isspace(c); });
}

std::string ErrorMessage(ErrorCode code, std::string_view argument,
                         std::string_view second_argument) {
  const ErrorSpec& spec = SpecOf(code);
  const bool blank = !spec.message_if_blank.empty() && IsBlank(argument);
  return absl::Substitute(base::ToAbsl(blank ? spec.message_if_blank : spec.message),
                          base::ToAbsl(argument), base::ToAbsl(second_argument));
}

absl::Status MakeError(ErrorCode code, std::string_view argument,
                       std::string_view second_argument) {
  absl::Status status(SpecOf(code).status_code, ErrorMessage(code, argument, second_argument));
  base::SetStatusNumber(status, kCodePayload, static_cast<int>(code));
  return status;
}

std::optional<ErrorCode> ErrorCodeOf(const absl::Status& status) {
  const std::optional<int> code = base::StatusNumber(status, kCodePayload);
  return code ? std::optional(static_cast<ErrorCode>(*code)) : std::nullopt;
}

}  // namespace redouble::inline v0_1::threescale
