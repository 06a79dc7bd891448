#include "redouble/core/store/typed/expiry.h"

namespace redouble::inline v0_1::store {
namespace {

void AppendMillis(Command& command, std::string_view in_seconds, std::string_view in_millis,
                  int64_t millis) {
  if (millis % 1000 == 0) {
    command.Add(in_seconds).AddInteger(millis / 1000);
  } else {
    command.Add(in_millis).AddInteger(millis);
  }
}

std::string_view ConditionWord(ExpireCondition condition) {
  switch (condition) {
    case ExpireCondition::kAlways:
      return {};
    case ExpireCondition::kIfNone:
      return "NX";
    case ExpireCondition::kIfAny:
      return "XX";
    case ExpireCondition::kIfLater:
      return "GT";
    case ExpireCondition::kIfEarlier:
      return "LT";
  }
  return {};
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

Command ExpireCommand(CommandId in_seconds, CommandId in_millis, std::string_view key,
                      int64_t millis, ExpireCondition condition) {
  const bool whole_seconds = millis % 1000 == 0;
  Command command(whole_seconds ? in_seconds : in_millis, {key});
  command.AddInteger(whole_seconds ? millis / 1000 : millis);
  if (condition != ExpireCondition::kAlways) command.Add(ConditionWord(condition));
  return command;
}

}  // namespace redouble::inline v0_1::store
