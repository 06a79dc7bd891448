// EXPIRE, TTL, PERSIST and their variants.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/keys/shown_encoding.h"
#include "redouble/backends/memory/commands/lazy_free.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

using Unit = ExpireArgument::Unit;

struct Conditions {
  bool nx = false;
  bool xx = false;
  bool gt = false;
  bool lt = false;
};

// Returns an error reply, or nil if `conditions` is filled.
Reply ReadConditions(Arguments arguments, Conditions& conditions) {
  for (const std::string_view word : arguments) {
    if (IsWord(word, "NX")) {
      conditions.nx = true;
    } else if (IsWord(word, "XX")) {
      conditions.xx = true;
    } else if (IsWord(word, "GT")) {
      conditions.gt = true;
    } else if (IsWord(word, "LT")) {
      conditions.lt = true;
    } else {
      return Reply::Error(base::ToStd(absl::StrCat("ERR Unsupported option ", WordInError(word))));
    }
  }
  if (conditions.nx && (conditions.xx || conditions.gt || conditions.lt)) {
    return Reply::Error("ERR NX and XX, GT or LT options at the same time are not compatible");
  }
  if (conditions.gt && conditions.lt) {
    return Reply::Error("ERR GT and LT options at the same time are not compatible");
  }
  return Reply::Nil();
}

bool Holds(const Conditions& conditions, std::optional<int64_t> current_ms, int64_t deadline_ms) {
  if (conditions.nx && current_ms) return false;
  if (conditions.xx && !current_ms) return false;
  // A key without an expiry counts as infinite.
  if (conditions.gt && (!current_ms || deadline_ms <= *current_ms)) return false;
  if (conditions.lt && current_ms && deadline_ms >= *current_ms) return false;
  return true;
}

// Returns nullopt if it is out of range. Unlike in SET, the number may be zero or negative.
std::optional<int64_t> ToDeadline(int64_t amount, Unit unit, int64_t base_ms) {
  int64_t deadline_ms = amount;
  if (unit == Unit::kSeconds && __builtin_mul_overflow(amount, 1000, &deadline_ms)) {
    return std::nullopt;
  }
  if (deadline_ms > std::numeric_limits<int64_t>::max() - base_ms) return std::nullopt;
  return deadline_ms + base_ms;
}

// The command with the time instead of the duration. PEXPIREAT is sent as it is.
void PropagateDeadline(const CommandContext& context, std::string_view command, Arguments arguments,
                       int64_t deadline_ms) {
  if (command == "pexpireat") return;
  std::vector<std::string> words = {"PEXPIREAT", std::string(arguments[0]),
                                    base::FormatInt64(deadline_ms)};
  words.insert(words.end(), arguments.begin() + 2, arguments.end());
  context.PropagateAs(std::move(words));
}

Reply ExpireGeneric(CommandContext& context, std::string_view command, Arguments arguments,
                    Unit unit, int64_t base_ms) {
  Conditions conditions;
  if (Reply error = ReadConditions(arguments.subspan(2), conditions); error.is_error()) {
    return error;
  }
  const std::optional<int64_t> amount = base::ParseInt64(arguments[1]);
  if (!amount) return Reply::Error(error_text::kNotAnInteger);
  const std::optional<int64_t> deadline_ms = ToDeadline(*amount, unit, base_ms);
  if (!deadline_ms) return InvalidExpire(command);
  const std::string_view key = arguments[0];
  Database::Entry* entry = context.FindAny(key);
  if (entry == nullptr) return Reply::Integer(0);
  if (!Holds(conditions, context.db().DeadlineOf(*entry), *deadline_ms)) return Reply::Integer(0);
  if (context.ExpiresAtOnce(*deadline_ms)) {
    context.Remove(key);
    context.Changed(key, EventClass::kGeneric, "del");
    context.PropagateAs(RemovalWord(context, LazyFree::kExpire), key);
  } else {
    context.SetExpiry(*entry, *deadline_ms);
    context.Changed(key, EventClass::kGeneric, "expire");
    if (context.propagates()) PropagateDeadline(context, command, arguments, *deadline_ms);
  }
  return Reply::Integer(1);
}

constexpr int64_t kNoKey = -2;
constexpr int64_t kNoExpiry = -1;

// The deadline in milliseconds, kNoKey or kNoExpiry.
int64_t DeadlineOf(CommandContext& context, std::string_view key) {
  const Database::Entry* entry = context.Peek(key);
  if (entry == nullptr) return kNoKey;
  return context.db().DeadlineOf(*entry).value_or(kNoExpiry);
}

// Redis rounds TTL in seconds to the nearest second.
int64_t ToSeconds(int64_t millis) {
  return static_cast<int64_t>((static_cast<uint64_t>(millis) + 500) / 1000);
}

Reply TtlReply(CommandContext& context, std::string_view key, Unit unit) {
  const int64_t deadline_ms = DeadlineOf(context, key);
  if (deadline_ms < 0) return Reply::Integer(deadline_ms);
  const int64_t left_ms = std::max<int64_t>(deadline_ms - context.now_ms(), 0);
  return Reply::Integer(unit == Unit::kSeconds ? ToSeconds(left_ms) : left_ms);
}

Reply DeadlineReply(CommandContext& context, std::string_view key, Unit unit) {
  const int64_t deadline_ms = DeadlineOf(context, key);
  if (deadline_ms < 0) return Reply::Integer(deadline_ms);
  return Reply::Integer(unit == Unit::kSeconds ? ToSeconds(deadline_ms) : deadline_ms);
}

}  // namespace

Reply HandleExpire(CommandContext& context, Arguments arguments) {
  return ExpireGeneric(context, "expire", arguments, Unit::kSeconds, context.now_ms());
}

Reply HandlePExpire(CommandContext& context, Arguments arguments) {
  return ExpireGeneric(context, "pexpire", arguments, Unit::kMillis, context.now_ms());
}

Reply HandleExpireAt(CommandContext& context, Arguments arguments) {
  return ExpireGeneric(context, "expireat", arguments, Unit::kSeconds, 0);
}

Reply HandlePExpireAt(CommandContext& context, Arguments arguments) {
  return ExpireGeneric(context, "pexpireat", arguments, Unit::kMillis, 0);
}

Reply HandleTtl(CommandContext& context, Arguments arguments) {
  return TtlReply(context, arguments[0], Unit::kSeconds);
}

Reply HandlePTtl(CommandContext& context, Arguments arguments) {
  return TtlReply(context, arguments[0], Unit::kMillis);
}

Reply HandleExpireTime(CommandContext& context, Arguments arguments) {
  return DeadlineReply(context, arguments[0], Unit::kSeconds);
}

Reply HandlePExpireTime(CommandContext& context, Arguments arguments) {
  return DeadlineReply(context, arguments[0], Unit::kMillis);
}

Reply HandlePersist(CommandContext& context, Arguments arguments) {
  Database::Entry* entry = context.FindAny(arguments[0]);
  if (entry == nullptr) return Reply::Integer(0);
  KeepEncoding(context, *entry);
  if (!context.db().ClearExpiry(*entry)) return Reply::Integer(0);
  context.Changed(arguments[0], EventClass::kGeneric, "persist");
  return Reply::Integer(1);
}

}  // namespace redouble::inline v0_1::memory
