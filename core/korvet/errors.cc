#include "redouble/core/korvet/errors.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

// The payload is the decimal number of the code.
constexpr absl::string_view kPayloadUrl = "redouble/korvet/error-code";

constexpr std::array kSpecs = {
#define REDOUBLE_KAFKA_ERROR(id, code, name, retriable, status_code, when) \
  ErrorSpec{ErrorCode::k##id, name, retriable, absl::StatusCode::status_code, when},
#include "redouble/core/korvet/errors.inc"
#undef REDOUBLE_KAFKA_ERROR
};

// Error codes of Redis for conditions that end by themselves, so that a retry can succeed.
constexpr std::array<std::string_view, 9> kRefusals = {
    "LOADING", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN",   "BUSY",
    "OOM",     "MISCONF",     "READONLY",   "NOREPLICAS",
};

std::optional<ErrorCode> PayloadOf(const absl::Status& status) {
  const std::optional<int> number = base::StatusNumber(status, kPayloadUrl);
  return number ? std::optional(static_cast<ErrorCode>(*number)) : std::nullopt;
}

bool IsRefusal(const absl::Status& status) {
  const std::string_view code = store::ServerErrorCode(status);
  return std::find(kRefusals.begin(), kRefusals.end(), code) != kRefusals.end();
}

}  // namespace

std::span<const ErrorSpec> ErrorSpecs() { return kSpecs; }

const ErrorSpec& SpecOf(ErrorCode code) {
  for (const ErrorSpec& spec : kSpecs) {
    if (spec.code == code) return spec;
  }
  return kSpecs.front();
}

std::string_view ErrorName(ErrorCode code) { return SpecOf(code).name; }

std::optional<ErrorCode> FindErrorCode(std::string_view name) {
  for (const ErrorSpec& spec : kSpecs) {
    if (spec.name == name) return spec.code;
  }
  return std::nullopt;
}

absl::Status MakeError(ErrorCode code, std::string_view message) {
  const ErrorSpec& spec = SpecOf(code);
  absl::Status status(spec.status_code,
                      absl::StrCat(base::ToAbsl(spec.name), ": ", base::ToAbsl(message)));
  base::SetStatusNumber(status, kPayloadUrl, static_cast<int>(spec.code));
  return status;
}

ErrorCode ErrorCodeOf(const absl::Status& status) {
  if (status.ok()) return ErrorCode::kNone;
  if (const std::optional<ErrorCode> code = PayloadOf(status)) return *code;
  const std::optional<store::ErrorKind> kind = store::ErrorKindOf(status);
  if (kind == store::ErrorKind::kOutcomeUnknown) return ErrorCode::kRequestTimedOut;
  if (kind == store::ErrorKind::kNotSent || IsRefusal(status)) return ErrorCode::kKafkaStorageError;
  return ErrorCode::kUnknownServerError;
}

absl::Status AsGroupError(absl::Status status) {
  if (ErrorCodeOf(status) == ErrorCode::kKafkaStorageError) {
    const auto code = static_cast<int>(ErrorCode::kCoordinatorNotAvailable);
    base::SetStatusNumber(status, kPayloadUrl, code);
  }
  return status;
}

}  // namespace redouble::inline v0_1::korvet
