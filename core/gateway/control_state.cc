#include "redouble/core/gateway/control_state.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::gateway {
namespace {

// The payload contains the number of the cause's code. The cause's message follows our prefix.
constexpr absl::string_view kCausePayload = "redouble/gateway/control-state-cause";

std::string MessagePrefix() {
  return absl::StrCat(base::ToAbsl(kControlStateUnavailableCode), ": ");
}

void CopyPayloads(const absl::Status& from, absl::Status& to) {
  from.ForEachPayload([&to](absl::string_view url, const absl::Cord& payload) {
    if (url != kCausePayload) to.SetPayload(url, payload);
  });
}

}  // namespace

absl::Status ControlStateUnavailable(const absl::Status& cause) {
  absl::Status status = absl::UnavailableError(absl::StrCat(MessagePrefix(), cause.message()));
  CopyPayloads(cause, status);
  status.SetPayload(kCausePayload, absl::Cord(absl::StrCat(cause.raw_code())));
  return status;
}

bool IsControlStateUnavailable(const absl::Status& status) {
  return status.GetPayload(kCausePayload).has_value();
}

absl::Status ControlStateCause(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kCausePayload);
  int code = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &code)) return absl::OkStatus();
  absl::Status cause(static_cast<absl::StatusCode>(code),
                     status.message().substr(MessagePrefix().size()));
  CopyPayloads(status, cause);
  return cause;
}

}  // namespace redouble::gateway
