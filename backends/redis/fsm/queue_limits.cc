#include "redouble/backends/redis/fsm/queue_limits.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {

QueueLimits QueueLimits::From(const Options& options) {
  return {static_cast<size_t>(options.queue_limit), static_cast<size_t>(options.queue_bytes)};
}

std::optional<absl::Status> QueueLimits::Refuse(size_t queued, size_t queued_bytes,
                                                std::string_view target) const {
  std::string text;
  if (queued >= requests) {
    text = absl::StrCat(queued, " requests wait for ", base::ToAbsl(target), " already");
  } else if (queued_bytes >= bytes) {
    text = absl::StrCat("requests of ", queued_bytes, " bytes wait for ", base::ToAbsl(target),
                        " already");
  } else {
    return std::nullopt;
  }
  return store::NotSentError(std::string_view(text), absl::StatusCode::kResourceExhausted);
}

size_t BytesOf(const store::Request& request) {
  size_t bytes = 0;
  for (const store::Command& command : request.commands()) {
    bytes += command.name().size();
    for (const std::string_view argument : command.arguments()) bytes += argument.size();
  }
  return bytes;
}

}  // namespace redouble::inline v0_1::redis
