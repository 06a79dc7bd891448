#include "redouble/core/store/errors.h"

#include <array>

#include "absl/strings/cord.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::store {
namespace {

constexpr absl::string_view kPayloadUrl = "redouble/error-kind";

struct KindName {
  ErrorKind kind;
  std::string_view name;
};
constexpr std::array<KindName, 4> kKindNames = {{
    {ErrorKind::kServer, "server"},
    {ErrorKind::kNotSent, "not sent"},
    {ErrorKind::kOutcomeUnknown, "outcome unknown"},
    {ErrorKind::kProtocol, "protocol"},
}};

struct CodeRow {
  std::string_view error_code;
  absl::StatusCode status_code;
};
// Error codes of Redis that mean something other than a bad argument.
constexpr std::array kServerCodes = {
    CodeRow{"WRONGTYPE", absl::StatusCode::kFailedPrecondition},
    CodeRow{"READONLY", absl::StatusCode::kFailedPrecondition},
    CodeRow{"NOREPLICAS", absl::StatusCode::kFailedPrecondition},
    CodeRow{"MISCONF", absl::StatusCode::kFailedPrecondition},
    CodeRow{"NOSCRIPT", absl::StatusCode::kNotFound},
    CodeRow{"NOGROUP", absl::StatusCode::kNotFound},
    CodeRow{"BUSYGROUP", absl::StatusCode::kAlreadyExists},
    CodeRow{"BUSYKEY", absl::StatusCode::kAlreadyExists},
    CodeRow{"OOM", absl::StatusCode::kResourceExhausted},
    CodeRow{"NOAUTH", absl::StatusCode::kUnauthenticated},
    CodeRow{"WRONGPASS", absl::StatusCode::kUnauthenticated},
    CodeRow{"NOPERM", absl::StatusCode::kPermissionDenied},
    CodeRow{"DENIED", absl::StatusCode::kPermissionDenied},
    CodeRow{"EXECABORT", absl::StatusCode::kAborted},
    CodeRow{"UNBLOCKED", absl::StatusCode::kAborted},
    CodeRow{"NOTBUSY", absl::StatusCode::kNotFound},
    CodeRow{"BUSY", absl::StatusCode::kUnavailable},
    CodeRow{"LOADING", absl::StatusCode::kUnavailable},
    CodeRow{"MASTERDOWN", absl::StatusCode::kUnavailable},
    CodeRow{"CLUSTERDOWN", absl::StatusCode::kUnavailable},
    CodeRow{"TRYAGAIN", absl::StatusCode::kUnavailable},
    CodeRow{"MOVED", absl::StatusCode::kUnavailable},
    CodeRow{"ASK", absl::StatusCode::kUnavailable},
};

absl::Status Make(absl::StatusCode code, std::string_view message, ErrorKind kind) {
  absl::Status status(code, base::ToAbsl(message));
  status.SetPayload(kPayloadUrl, absl::Cord(base::ToAbsl(ErrorKindName(kind))));
  return status;
}

std::string_view FirstWord(std::string_view text) { return text.substr(0, text.find(' ')); }

}  // namespace

std::string_view ErrorKindName(ErrorKind kind) {
  for (const KindName& row : kKindNames) {
    if (row.kind == kind) return row.name;
  }
  return "";
}

absl::Status ServerError(std::string_view text) {
  const std::string_view error_code = FirstWord(text);
  for (const CodeRow& row : kServerCodes) {
    if (row.error_code == error_code) return Make(row.status_code, text, ErrorKind::kServer);
  }
  return Make(absl::StatusCode::kInvalidArgument, text, ErrorKind::kServer);
}

absl::Status NotSentError(std::string_view message, absl::StatusCode code) {
  return Make(code, message, ErrorKind::kNotSent);
}

absl::Status OutcomeUnknownError(std::string_view message, absl::StatusCode code) {
  return Make(code, message, ErrorKind::kOutcomeUnknown);
}

absl::Status ProtocolError(std::string_view message) {
  return Make(absl::StatusCode::kInternal, message, ErrorKind::kProtocol);
}

std::optional<ErrorKind> ErrorKindOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayloadUrl);
  if (!payload) return std::nullopt;
  for (const KindName& row : kKindNames) {
    if (*payload == base::ToAbsl(row.name)) return row.kind;
  }
  return std::nullopt;
}

std::string_view ServerErrorCode(const absl::Status& status) {
  if (ErrorKindOf(status) != ErrorKind::kServer) return {};
  return FirstWord(base::ToStd(status.message()));
}

}  // namespace redouble::inline v0_1::store
