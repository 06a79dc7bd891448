#include "redouble/core/python/error.h"

#include "absl/strings/cord.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::python {
namespace {

constexpr std::string_view kTypeUrl = "redouble/python.error_type";

}  // namespace

absl::Status Error(absl::StatusCode code, std::string_view type, std::string_view message) {
  absl::Status status(code, base::ToAbsl(message));
  status.SetPayload(base::ToAbsl(kTypeUrl), absl::Cord(base::ToAbsl(type)));
  return status;
}

absl::Status TypeError(std::string_view message) {
  return Error(absl::StatusCode::kInvalidArgument, "TypeError", message);
}

absl::Status ValueError(std::string_view message) {
  return Error(absl::StatusCode::kInvalidArgument, "ValueError", message);
}

absl::Status ValidationError(std::string_view message) {
  return Error(absl::StatusCode::kInvalidArgument, "ValidationError", message);
}

std::optional<std::string> ErrorType(const absl::Status& status) {
  const auto payload = status.GetPayload(base::ToAbsl(kTypeUrl));
  if (!payload) return std::nullopt;
  return std::string(*payload);
}

}  // namespace redouble::inline v0_1::python
