#include "redouble/core/store/typed/expiry.h"

namespace redouble::store {
namespace {

void AppendMillis(Command& command, std::string_view in_seconds, std::string_view in_millis,
                  int64_t millis) {
  if (millis % 1000 == 0) {
    command.Add(in_seconds).AddInteger(millis / 1000);
  } else {
    command.Add(in_millis).AddInteger(millis);
  }
}

}  // namespace

void Expiry::AppendTo(Command& command) const {
  switch (kind_) {
    case Kind::kNone:
      return;
    case Kind::kIn:
      return AppendMillis(command, "EX", "PX", absl::ToInt64Milliseconds(ttl_));
    case Kind::kAt:
      return AppendMillis(command, "EXAT", "PXAT", absl::ToUnixMillis(deadline_));
    case Kind::kPersist:
      command.Add("PERSIST");
      return;
  }
}

}  // namespace redouble::store
