// The string commands, in the order of the table.
#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/keys/shown_encoding.h"
#include "redouble/backends/memory/commands/lazy_free.h"
#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

Reply TooLong() {
  // lint: one-home: Redis writes this text in both commands
  return Reply::Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
}

Reply TextReply(const Value& string) {
  Value::TextBuffer buffer;
  return Reply::Bulk(string.Text(buffer));
}

// The string at `key`, nil if it does not exist, or the error.
Reply GetReply(CommandContext& context, std::string_view key) {
  const Lookup<Value> string = context.FindString(key);
  context.CountRead(key, string.exists());
  if (string.wrong_type()) return WrongType();
  return string ? TextReply(*string) : Reply::Nil();
}

// The options of SET and GETEX.
struct StringOptions {
  bool nx = false;
  bool xx = false;
  bool get = false;
  bool keep_ttl = false;
  bool persist = false;
  std::optional<std::string_view> if_equal;  // SET if the key has this value.
  std::optional<ExpireArgument> expire;
};

enum class OptionsOf { kSet, kGetEx };

struct ExpireWord {
  std::string_view word;
  ExpireArgument::Unit unit;
  bool relative;
};
constexpr ExpireWord kExpireWords[] = {
    {"EX", ExpireArgument::Unit::kSeconds, true},
    {"PX", ExpireArgument::Unit::kMillis, true},
    {"EXAT", ExpireArgument::Unit::kSeconds, false},
    {"PXAT", ExpireArgument::Unit::kMillis, false},
};

// Reads "EX 10" or a similar option at `index` and moves `index` to the number. Returns false if
// there is none.
bool ReadExpireOption(Arguments arguments, size_t& index, StringOptions& options) {
  if (options.keep_ttl || options.persist) return false;
  if (index + 1 >= arguments.size()) return false;
  for (const ExpireWord& row : kExpireWords) {
    if (!IsWord(arguments[index], row.word)) continue;
    // Redis accepts a repeated option (the last one counts) but not two different ones.
    const bool same = options.expire && options.expire->unit == row.unit &&
                      options.expire->relative == row.relative;
    if (options.expire && !same) return false;
    options.expire = ExpireArgument{arguments[++index], row.unit, row.relative};
    return true;
  }
  return false;
}

// Returns nullopt on a syntax error.
std::optional<StringOptions> ReadOptions(const CommandContext& context, Arguments arguments,
                                         OptionsOf command) {
  StringOptions options;
  const bool set = command == OptionsOf::kSet;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (set && IsWord(word, "NX") && !options.xx && !options.if_equal) {
      options.nx = true;
    } else if (set && IsWord(word, "XX") && !options.nx && !options.if_equal) {
      options.xx = true;
    } else if (set && IsWord(word, "IFEQ") && context.engine().Has(Feature::kSetIfEqual) &&
               !options.nx && !options.xx && !options.if_equal && i + 1 < arguments.size()) {
      options.if_equal = arguments[++i];
    } else if (set && IsWord(word, "GET")) {
      options.get = true;
    } else if (set && IsWord(word, "KEEPTTL") && !options.expire) {
      options.keep_ttl = true;
    } else if (!set && IsWord(word, "PERSIST") && !options.expire) {
      options.persist = true;
    } else if (!ReadExpireOption(arguments, i, options)) {
      return std::nullopt;
    }
  }
  return options;
}

// The words of SET without GET, which a replica does not need.
std::vector<std::string> WithoutGet(std::string_view name, Arguments arguments) {
  std::vector<std::string> words = {std::string(name)};
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i < 2 || !IsWord(arguments[i], "GET")) words.emplace_back(arguments[i]);
  }
  return words;
}

// Removes a key that has got a deadline in the past.
void RemoveAsExpired(CommandContext& context, std::string_view key) {
  context.Remove(key);
  context.Changed(key, EventClass::kGeneric, "del");
  context.PropagateAs(RemovalWord(context, LazyFree::kExpire), key);
}

// SET, SETNX, SETEX and PSETEX. `done` is the reply if the key was set, `refused` if the condition
// did not hold; with GET the reply is the old value in both cases.
Reply SetGeneric(CommandContext& context, std::string_view command, std::string_view key,
                 std::string_view text, const StringOptions& options, Reply done, Reply refused) {
  Deadline deadline;
  if (options.expire) deadline = ReadDeadline(*options.expire, command, context.now_ms());
  if (deadline.error) return *std::move(deadline.error);
  if (options.get) {
    done = GetReply(context, key);
    if (done.is_error()) return done;
    refused = done;
  }
  if (options.if_equal) {
    const Lookup<Value> string = context.FindString(key);
    if (string.wrong_type()) return WrongType();
    Value::TextBuffer buffer;
    if (!string || string->Text(buffer) != *options.if_equal) return refused;
  }
  Database::Entry* entry = context.FindAny(key);
  if ((options.nx && entry != nullptr) || (options.xx && entry == nullptr)) return refused;
  if (options.expire && context.engine().Has(Feature::kSetExpired) &&
      context.ExpiresAtOnce(deadline.deadline_ms)) {
    if (entry != nullptr) RemoveAsExpired(context, key);
    return done;
  }
  if (entry == nullptr) {
    entry = &context.Add(key, Value::String(text));
  } else {
    context.SignalGone(key);
    if (!options.keep_ttl) context.db().ClearExpiry(*entry);
    entry->value = Value::String(text);
  }
  context.Changed(key, EventClass::kString, "set");
  if (options.expire) {
    context.SetExpiry(*entry, deadline.deadline_ms);
    context.Notify(key, EventClass::kGeneric, "expire");
    if (context.propagates()) {
      context.PropagateAs("SET", key, text, "PXAT", base::FormatInt64(deadline.deadline_ms));
    }
  }
  return done;
}

Reply SetWithTtl(CommandContext& context, std::string_view command, Arguments arguments,
                 ExpireArgument::Unit unit) {
  StringOptions options;
  options.expire = ExpireArgument{arguments[1], unit, true};
  return SetGeneric(context, command, arguments[0], arguments[2], options, Reply::Ok(),
                    Reply::Nil());
}

void SetPairs(CommandContext& context, Arguments arguments) {
  for (size_t i = 0; i < arguments.size(); i += 2) {
    context.Put(arguments[i], Value::String(arguments[i + 1]));
    context.Changed(arguments[i], EventClass::kString, "set");
  }
}

Reply IncrementBy(CommandContext& context, std::string_view key, int64_t increment) {
  const Lookup<Value> string = context.FindString(key);
  if (string.wrong_type()) return WrongType();
  int64_t value = 0;
  if (string) {
    Value::TextBuffer buffer;
    const std::optional<int64_t> old = string->is_integer()
                                           ? std::optional<int64_t>(string->integer())
                                           : base::ParseInt64(string->Text(buffer));
    if (!old) return Reply::Error(error_text::kNotAnInteger);
    value = *old;
  }
  if (__builtin_add_overflow(value, increment, &value)) {
    return Reply::Error(error_text::kIncrementOverflow);
  }
  if (string) {
    *string = Value::Integer(value);
  } else {
    context.Add(key, Value::Integer(value));
  }
  context.Changed(key, EventClass::kString, "incrby");
  return Reply::Integer(value);
}

Reply IncrementByText(CommandContext& context, std::string_view key, std::string_view text,
                      bool negate) {
  const std::optional<int64_t> amount = base::ParseInt64(text);
  if (!amount) return Reply::Error(error_text::kNotAnInteger);
  if (!negate) return IncrementBy(context, key, *amount);
  if (*amount == std::numeric_limits<int64_t>::min()) {
    return Reply::Error("ERR decrement would overflow");
  }
  return IncrementBy(context, key, -*amount);
}

Reply RangeReply(CommandContext& context, Arguments arguments) {
  const std::optional<int64_t> first = base::ParseInt64(arguments[1]);
  const std::optional<int64_t> last = base::ParseInt64(arguments[2]);
  if (!first || !last) return Reply::Error(error_text::kNotAnInteger);
  const Lookup<Value> string = context.FindString(arguments[0]);
  if (string.wrong_type()) return WrongType();
  if (!string || (*first < 0 && *last < 0 && *first > *last)) return Reply::Bulk("");
  Value::TextBuffer buffer;
  const std::string_view text = string->Text(buffer);
  // Unlike in a list's range, an end before the start of the string means its first byte.
  const auto length = static_cast<int64_t>(text.size());
  const int64_t end = *last < 0 ? std::max<int64_t>(*last + length, 0) : *last;
  const std::optional<Range> range = ClampRange(*first, end, text.size());
  if (!range) return Reply::Bulk("");
  return Reply::Bulk(text.substr(range->first, range->last - range->first + 1));
}

}  // namespace

Reply HandleGet(CommandContext& context, Arguments arguments) {
  return GetReply(context, arguments[0]);
}

Reply HandleSet(CommandContext& context, Arguments arguments) {
  const std::optional<StringOptions> options =
      ReadOptions(context, arguments.subspan(2), OptionsOf::kSet);
  if (!options) return SyntaxError();
  if (options->get && context.propagates()) {
    context.PropagateAs(WithoutGet(context.called_name(), arguments));
  }
  return SetGeneric(context, "set", arguments[0], arguments[1], *options, Reply::Ok(),
                    Reply::Nil());
}

Reply HandleGetEx(CommandContext& context, Arguments arguments) {
  const std::optional<StringOptions> options =
      ReadOptions(context, arguments.subspan(1), OptionsOf::kGetEx);
  if (!options) return SyntaxError();
  const std::string_view key = arguments[0];
  const Lookup<Value> string = context.FindString(key);
  context.CountRead(key, string.exists());
  if (string.wrong_type()) return WrongType();
  if (!string) return Reply::Nil();
  Reply reply = TextReply(*string);
  if (options->persist) {
    KeepEncoding(context, string.entry());
    if (context.db().ClearExpiry(string.entry())) {
      context.Changed(key, EventClass::kGeneric, "persist");
      context.PropagateAs("PERSIST", key);
    }
    return reply;
  }
  if (!options->expire) return reply;
  Deadline deadline = ReadDeadline(*options->expire, "getex", context.now_ms());
  if (deadline.error) return *std::move(deadline.error);
  if (!options->expire->relative && context.ExpiresAtOnce(deadline.deadline_ms)) {
    RemoveAsExpired(context, key);
  } else {
    context.SetExpiry(string.entry(), deadline.deadline_ms);
    context.Changed(key, EventClass::kGeneric, "expire");
    if (context.propagates()) {
      context.PropagateAs("PEXPIREAT", key, base::FormatInt64(deadline.deadline_ms));
    }
  }
  return reply;
}

Reply HandleGetDel(CommandContext& context, Arguments arguments) {
  Reply reply = GetReply(context, arguments[0]);
  if (!reply.is_bulk()) return reply;
  context.Remove(arguments[0]);
  context.Changed(arguments[0], EventClass::kGeneric, "del");
  context.PropagateAs(RemovalWord(context, LazyFree::kUserDel), arguments[0]);
  return reply;
}

Reply HandleGetSet(CommandContext& context, Arguments arguments) {
  Reply reply = GetReply(context, arguments[0]);
  if (reply.is_error()) return reply;
  context.Put(arguments[0], Value::String(arguments[1]));
  context.Changed(arguments[0], EventClass::kString, "set");
  context.PropagateAs("SET", arguments[0], arguments[1]);
  return reply;
}

Reply HandleMGet(CommandContext& context, Arguments arguments) {
  ReplyArray replies(context, Reply::Shape::kPlain, arguments.size());
  for (const std::string_view key : arguments) {
    const Lookup<Value> string = context.FindString(key);
    replies.Add(string && replies.wanted() ? TextReply(*string) : Reply::Nil());
  }
  return std::move(replies).Finish();
}

Reply HandleMSet(CommandContext& context, Arguments arguments) {
  if (arguments.size() % 2 != 0) {
    return WrongArity("mset");
  }
  SetPairs(context, arguments);
  return Reply::Ok();
}

Reply HandleMSetNx(CommandContext& context, Arguments arguments) {
  if (arguments.size() % 2 != 0) {
    return WrongArity("msetnx");
  }
  for (size_t i = 0; i < arguments.size(); i += 2) {
    if (context.FindAny(arguments[i]) != nullptr) return Reply::Integer(0);
  }
  SetPairs(context, arguments);
  return Reply::Integer(1);
}

Reply HandleAppend(CommandContext& context, Arguments arguments) {
  const auto [key, tail] = std::pair(arguments[0], arguments[1]);
  const Lookup<Value> string = context.FindString(key);
  if (string.wrong_type()) return WrongType();
  size_t size = tail.size();
  if (!string) {
    context.Add(key, Value::String(tail));
  } else {
    const size_t old_size = string->TextSize();
    size += old_size;
    if (size > context.max_string_bytes()) return TooLong();
    char* bytes = string->ResizeText(size);
    if (!tail.empty()) std::memcpy(bytes + old_size, tail.data(), tail.size());
  }
  context.Changed(key, EventClass::kString, "append");
  return Reply::Integer(static_cast<int64_t>(size));
}

Reply HandleStrLen(CommandContext& context, Arguments arguments) {
  const Lookup<Value> string = context.FindString(arguments[0]);
  if (string.wrong_type()) return WrongType();
  return Reply::Integer(string ? static_cast<int64_t>(string->TextSize()) : 0);
}

Reply HandleGetRange(CommandContext& context, Arguments arguments) {
  return RangeReply(context, arguments);
}

Reply HandleSubStr(CommandContext& context, Arguments arguments) {
  return RangeReply(context, arguments);
}

Reply HandleSetRange(CommandContext& context, Arguments arguments) {
  const auto [key, patch] = std::pair(arguments[0], arguments[2]);
  const std::optional<int64_t> offset = base::ParseInt64(arguments[1]);
  if (!offset) return Reply::Error(error_text::kNotAnInteger);
  if (*offset < 0) return Reply::Error("ERR offset is out of range");
  const Lookup<Value> string = context.FindString(key);
  if (string.wrong_type()) return WrongType();
  const size_t old_size = string ? string->TextSize() : 0;
  if (patch.empty()) return Reply::Integer(static_cast<int64_t>(old_size));
  const uint64_t end = static_cast<uint64_t>(*offset) + patch.size();
  if (end > context.max_string_bytes()) return TooLong();
  Value added;  // A failed allocation leaves no key.
  char* bytes = (string ? *string : added).ResizeText(std::max<size_t>(old_size, end));
  std::memcpy(bytes + *offset, patch.data(), patch.size());
  if (!string) context.Add(key, std::move(added));
  context.Changed(key, EventClass::kString, "setrange");
  return Reply::Integer(static_cast<int64_t>(std::max<size_t>(old_size, end)));
}

Reply HandleSetEx(CommandContext& context, Arguments arguments) {
  return SetWithTtl(context, "setex", arguments, ExpireArgument::Unit::kSeconds);
}

Reply HandlePSetEx(CommandContext& context, Arguments arguments) {
  return SetWithTtl(context, "psetex", arguments, ExpireArgument::Unit::kMillis);
}

Reply HandleSetNx(CommandContext& context, Arguments arguments) {
  StringOptions options;
  options.nx = true;
  return SetGeneric(context, "setnx", arguments[0], arguments[1], options, Reply::Integer(1),
                    Reply::Integer(0));
}

Reply HandleIncr(CommandContext& context, Arguments arguments) {
  return IncrementBy(context, arguments[0], 1);
}

Reply HandleDecr(CommandContext& context, Arguments arguments) {
  return IncrementBy(context, arguments[0], -1);
}

Reply HandleIncrBy(CommandContext& context, Arguments arguments) {
  return IncrementByText(context, arguments[0], arguments[1], false);
}

Reply HandleDecrBy(CommandContext& context, Arguments arguments) {
  return IncrementByText(context, arguments[0], arguments[1], true);
}

Reply HandleIncrByFloat(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  const Lookup<Value> string = context.FindString(key);
  if (string.wrong_type()) return WrongType();
  base::Extended value;
  if (string) {
    Value::TextBuffer buffer;
    const std::optional<base::Extended> old = base::ParseLongDouble(string->Text(buffer));
    if (!old) return Reply::Error(error_text::kNotAFloat);
    value = *old;
  }
  const std::optional<base::Extended> increment = base::ParseLongDouble(arguments[1]);
  if (!increment) return Reply::Error(error_text::kNotAFloat);
  value = value + *increment;
  if (!value.is_finite()) return Reply::Error(error_text::kIncrementNotFinite);
  const std::string text = base::FormatLongDoubleHuman(value);
  if (string) {
    *string = Value::TextString(text);
  } else {
    context.Add(key, Value::TextString(text));
  }
  context.Changed(key, EventClass::kString, "incrbyfloat");
  context.PropagateAs("SET", key, text, "KEEPTTL");
  return Reply::Bulk(text);
}

}  // namespace redouble::inline v0_1::memory
