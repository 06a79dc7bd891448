// The commands for the expiration of hash fields, of Redis 7.4: HEXPIRE and its kin, HTTL and its
// kin, HPERSIST; and those of 8.0: HGETEX, HSETEX, HGETDEL.
//
// The deadlines are in the database (keyspace/field_deadlines.h). The engine removes expired fields
// before each command, as it does keys, unless they expire lazily (lazy_fields.h).
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/lazy_fields.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int64_t kMillisPerSecond = 1000;
// Redis keeps deadlines in 46 bits.
constexpr int64_t kLastDeadlineMs = (int64_t{1} << 46) - 1;

// The results for one field.
constexpr int64_t kNoField = -2;
constexpr int64_t kNoDeadline = -1;
constexpr int64_t kConditionFailed = 0;
constexpr int64_t kDone = 1;
constexpr int64_t kDeleted = 2;

constexpr std::string_view kFieldsMissing =
    "ERR Mandatory argument FIELDS is missing or not at the right position";
constexpr std::string_view kFieldsMismatch =
    "ERR The `numfields` parameter must match the number of arguments";
constexpr std::string_view kFieldsNotPositive = "ERR Number of fields must be a positive integer";
constexpr std::string_view kNumFieldsNotPositive =
    "ERR Parameter `numFields` should be greater than 0";
constexpr std::string_view kNegativeTime = "ERR invalid expire time, must be >= 0";

// How a command gives or reports a time.
struct TimeForm {
  bool in_seconds = false;
  bool is_absolute = false;
};

Reply InvalidTime(const CommandContext& context) {
  return InvalidExpire(absl::AsciiStrToLower(base::ToAbsl(context.called_name())));
}

// Reads `FIELDS count field...`, which ends the arguments. Returns an error reply, or nil.
Reply ReadFields(Arguments arguments, std::string_view not_positive, Arguments& fields) {
  if (arguments.empty() || !IsWord(arguments[0], "FIELDS")) return Reply::Error(kFieldsMissing);
  const std::optional<int64_t> count =
      arguments.size() < 2 ? std::nullopt : base::ParseInt64(arguments[1]);
  if (!count || *count < 1) return Reply::Error(not_positive);
  fields = arguments.subspan(2);
  if (static_cast<uint64_t>(*count) != fields.size()) return Reply::Error(kFieldsMismatch);
  return Reply::Nil();
}

// Reads a time to expire. Returns an error reply, or nil.
Reply ReadDeadline(const CommandContext& context, std::string_view text, const TimeForm& form,
                   int64_t& deadline_ms) {
  const std::optional<int64_t> time = base::ParseInt64(text);
  if (!time) return Reply::Error(error_text::kNotAnInteger);
  if (*time < 0) return Reply::Error(kNegativeTime);
  const int64_t base_ms = form.is_absolute ? 0 : context.now_ms();
  int64_t ms = *time;
  if (form.in_seconds && ms > kLastDeadlineMs / kMillisPerSecond) return InvalidTime(context);
  if (form.in_seconds) ms *= kMillisPerSecond;
  if (ms > kLastDeadlineMs - base_ms) return InvalidTime(context);
  deadline_ms = base_ms + ms;
  return Reply::Nil();
}

// The deadline that `options` set: EX, PX, EXAT, PXAT. Nullopt for other words.
std::optional<TimeForm> TimeFormOf(std::string_view word) {
  if (IsWord(word, "EX")) return TimeForm{.in_seconds = true, .is_absolute = false};
  if (IsWord(word, "PX")) return TimeForm{.in_seconds = false, .is_absolute = false};
  if (IsWord(word, "EXAT")) return TimeForm{.in_seconds = true, .is_absolute = true};
  if (IsWord(word, "PXAT")) return TimeForm{.in_seconds = false, .is_absolute = true};
  return std::nullopt;
}

// Changes the fields of one hash, and reports the changes once at the end.
class FieldChanges {
 public:
  FieldChanges(CommandContext& context, std::string_view key, Hash& hash)
      : context_(context), key_(key), hash_(hash) {}

  // Sets the deadline of an existing field, or deletes the field if it has passed and no master or
  // log decides that. Returns the result of the field.
  int64_t Expire(std::string_view field, int64_t deadline_ms) {
    if (context_.ExpiresAtOnce(deadline_ms)) {
      Delete(field);
      return kDeleted;
    }
    context_.SetFieldDeadline(key_, field, deadline_ms);
    expired_.push_back(std::string(field));
    return kDone;
  }
  // Returns false if the field had no deadline.
  bool Persist(std::string_view field) {
    if (!context_.ClearFieldDeadline(key_, field)) return false;
    persisted_.push_back(std::string(field));
    return true;
  }
  void Delete(std::string_view field) {
    hash_.Remove(field);
    context_.ClearFieldDeadline(key_, field);
    deleted_.push_back(std::string(field));
  }

  // Publishes the events and propagates the effects; removes the key if it is empty. `deadline_ms`
  // is the deadline that Expire was called with. The hash must not be used after Finish.
  void Finish(int64_t deadline_ms = 0) {
    context_.PropagateOnlyOthers();
    Report(deleted_, "hdel", {"HDEL", std::string(key_)});
    Report(expired_, "hexpire",
           {"HPEXPIREAT", std::string(key_), base::FormatInt64(deadline_ms), "FIELDS",
            absl::StrCat(expired_.size())});
    Report(persisted_, "hpersist",
           {"HPERSIST", std::string(key_), "FIELDS", absl::StrCat(persisted_.size())});
    if (!deleted_.empty()) context_.RemoveIfEmpty(key_);
  }

 private:
  void Report(const std::vector<std::string>& fields, std::string_view event,
              std::vector<std::string> words) {
    if (fields.empty()) return;
    context_.Changed(key_, EventClass::kHash, event);
    if (!context_.propagates()) return;
    words.insert(words.end(), fields.begin(), fields.end());
    context_.PropagateAlsoWords(std::move(words));
  }

  CommandContext& context_;
  const std::string_view key_;
  Hash& hash_;
  std::vector<std::string> deleted_;
  std::vector<std::string> expired_;
  std::vector<std::string> persisted_;
};

enum class Condition : uint8_t { kNone, kIfNone, kIfAny, kIfGreater, kIfLess };

std::optional<Condition> ConditionOf(std::string_view word) {
  if (IsWord(word, "NX")) return Condition::kIfNone;
  if (IsWord(word, "XX")) return Condition::kIfAny;
  if (IsWord(word, "GT")) return Condition::kIfGreater;
  if (IsWord(word, "LT")) return Condition::kIfLess;
  return std::nullopt;
}

// A field without a deadline counts as one that never expires.
bool Holds(Condition condition, std::optional<int64_t> present_ms, int64_t wanted_ms) {
  switch (condition) {
    case Condition::kNone:
      return true;
    case Condition::kIfNone:
      return !present_ms;
    case Condition::kIfAny:
      return present_ms.has_value();
    case Condition::kIfGreater:
      return present_ms && wanted_ms > *present_ms;
    case Condition::kIfLess:
      return !present_ms || wanted_ms < *present_ms;
  }
  return false;
}

Reply SameForAll(size_t count, int64_t result) {
  return Reply::Array(std::vector<Reply>(count, Reply::Integer(result)));
}

// The hash gets room for deadlines ("listpackex"), also if no field takes one.
void MakeRoom(CommandContext& context, std::string_view key) { context.PutFieldDeadlines(key, {}); }

// key time [NX|XX|GT|LT] FIELDS count field...
Reply ExpireFields(CommandContext& context, Arguments arguments, const TimeForm& form) {
  const std::string_view key = arguments[0];
  const Lookup<Hash> hash = context.Find<Hash>(key);
  if (hash.wrong_type()) return WrongType();
  int64_t deadline_ms = 0;
  if (Reply error = ReadDeadline(context, arguments[1], form, deadline_ms); error.is_error()) {
    return error;
  }
  const std::optional<Condition> condition = ConditionOf(arguments[2]);
  Arguments fields;
  if (Reply error = ReadFields(arguments.subspan(condition ? 3 : 2), kNumFieldsNotPositive, fields);
      error.is_error()) {
    return error;
  }
  if (!hash) return SameForAll(fields.size(), kNoField);
  MakeRoom(context, key);
  FieldChanges changes(context, key, *hash);
  std::vector<Reply> results;
  for (const std::string_view field : fields) {
    int64_t result = kNoField;
    if (hash->Contains(field)) {
      const bool holds = Holds(condition.value_or(Condition::kNone),
                               context.FieldDeadline(key, field), deadline_ms);
      result = holds ? changes.Expire(field, deadline_ms) : kConditionFailed;
    }
    results.push_back(Reply::Integer(result));
  }
  changes.Finish(deadline_ms);
  return Reply::Array(std::move(results));
}

// key FIELDS count field...
Reply TimesOfFields(CommandContext& context, Arguments arguments, const TimeForm& form) {
  const std::string_view key = arguments[0];
  const Lookup<Hash> hash = context.Find<Hash>(key);
  if (hash.wrong_type()) return WrongType();
  Arguments fields;
  if (Reply error = ReadFields(arguments.subspan(1), kFieldsNotPositive, fields);
      error.is_error()) {
    return error;
  }
  if (!hash) return SameForAll(fields.size(), kNoField);
  // As in Redis, a field of a listpack is missing at its deadline, and one of a table after it.
  const int64_t last_hidden_ms = context.now_ms() - (hash->listpack() != nullptr ? 0 : 1);
  std::vector<Reply> times;
  for (const std::string_view field : fields) {
    int64_t time = hash->Contains(field) ? kNoDeadline : kNoField;
    const std::optional<int64_t> deadline_ms = context.FieldDeadline(key, field);
    if (deadline_ms && *deadline_ms <= last_hidden_ms) {
      time = kNoField;
    } else if (deadline_ms) {
      time = *deadline_ms - (form.is_absolute ? 0 : context.now_ms());
      // Rounded up, as Redis does.
      if (form.in_seconds) time = (time + kMillisPerSecond - 1) / kMillisPerSecond;
    }
    times.push_back(Reply::Integer(time));
  }
  return Reply::Array(std::move(times));
}

Reply ValueOrNil(const Hash& hash, std::string_view field) {
  std::optional<std::string> value = hash.Get(field);
  return value ? Reply::Bulk(*std::move(value)) : Reply::Nil();
}

Reply NilForAll(size_t count) { return Reply::Array(std::vector<Reply>(count)); }

// The options of HGETEX.
struct ReadOptions {
  std::optional<int64_t> deadline_ms = std::nullopt;
  bool persists = false;
};

// Reads the options and `FIELDS count field...`. Returns an error reply, or nil.
Reply ReadHGetEx(const CommandContext& context, Arguments arguments, ReadOptions& options,
                 Arguments& fields) {
  if (IsWord(arguments[0], "PERSIST")) {
    options.persists = true;
    arguments = arguments.subspan(1);
  } else if (const std::optional<TimeForm> form = TimeFormOf(arguments[0])) {
    int64_t deadline_ms = 0;
    if (Reply error = ReadDeadline(context, arguments[1], *form, deadline_ms); error.is_error()) {
      return error;
    }
    options.deadline_ms = deadline_ms;
    arguments = arguments.subspan(2);
  }
  if (arguments.size() <= 1) return WrongArity("hgetex");
  return ReadFields(arguments, kFieldsNotPositive, fields);
}

// The options of HSETEX.
struct WriteOptions {
  std::optional<int64_t> deadline_ms = std::nullopt;
  bool keeps_deadlines = false;
  bool only_if_all = false;   // FXX
  bool only_if_none = false;  // FNX
  Arguments pairs = {};
};

// Reads the words after the key. Returns an error reply, or nil.
Reply ReadHSetEx(const CommandContext& context, Arguments arguments, WriteOptions& options) {
  constexpr std::string_view kOneCondition =
      "ERR Only one of FXX or FNX arguments can be specified";
  constexpr std::string_view kOneTime =
      "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified";
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (IsWord(word, "FIELDS")) {
      constexpr size_t kFewestWords = 4;  // FIELDS count field value
      if (arguments.size() - i < kFewestWords) return WrongArity("hsetex");
      const std::optional<int64_t> count = base::ParseInt64(arguments[i + 1]);
      if (!count || *count < 1 || *count > std::numeric_limits<int32_t>::max()) {
        return Reply::Error("ERR invalid number of fields");
      }
      options.pairs = arguments.subspan(i + 2);
      if (options.pairs.size() != 2 * static_cast<size_t>(*count)) return WrongArity("hsetex");
      return Reply::Nil();
    }
    const bool only_if_all = IsWord(word, "FXX");
    if (only_if_all || IsWord(word, "FNX")) {
      if (options.only_if_all || options.only_if_none) return Reply::Error(kOneCondition);
      (only_if_all ? options.only_if_all : options.only_if_none) = true;
      continue;
    }
    const std::optional<TimeForm> form = TimeFormOf(word);
    if (!form && !IsWord(word, "KEEPTTL")) {
      return Reply::Error("ERR unknown argument: " + WordInError(word));
    }
    if (options.keeps_deadlines || options.deadline_ms) return Reply::Error(kOneTime);
    if (!form) {
      options.keeps_deadlines = true;
      continue;
    }
    if (++i == arguments.size()) return WrongArity("hsetex");
    int64_t deadline_ms = 0;
    if (Reply error = ReadDeadline(context, arguments[i], *form, deadline_ms); error.is_error()) {
      return error;
    }
    options.deadline_ms = deadline_ms;
  }
  return Reply::Error(kFieldsMissing);
}

// A field that has expired goes when it is looked at, without an event. The hash may then be empty.
bool ConditionHolds(CommandContext& context, std::string_view key, const Lookup<Hash>& hash,
                    const WriteOptions& options) {
  const bool looks = options.only_if_all || options.only_if_none;
  for (size_t i = 0; looks && i < options.pairs.size(); i += 2) {
    const std::string_view field = options.pairs[i];
    if (hash && HidesField(context, key, field)) {
      hash->Remove(field);
      context.ClearFieldDeadline(key, field);
    }
    const bool exists = hash && hash->Contains(field);
    if (options.only_if_all && !exists) return false;
    if (options.only_if_none && exists) return false;
  }
  return true;
}

}  // namespace

Reply HandleHExpire(CommandContext& context, Arguments arguments) {
  return ExpireFields(context, arguments, {.in_seconds = true, .is_absolute = false});
}

Reply HandleHPExpire(CommandContext& context, Arguments arguments) {
  return ExpireFields(context, arguments, {.in_seconds = false, .is_absolute = false});
}

Reply HandleHExpireAt(CommandContext& context, Arguments arguments) {
  return ExpireFields(context, arguments, {.in_seconds = true, .is_absolute = true});
}

Reply HandleHPExpireAt(CommandContext& context, Arguments arguments) {
  return ExpireFields(context, arguments, {.in_seconds = false, .is_absolute = true});
}

Reply HandleHTtl(CommandContext& context, Arguments arguments) {
  return TimesOfFields(context, arguments, {.in_seconds = true, .is_absolute = false});
}

Reply HandleHPTtl(CommandContext& context, Arguments arguments) {
  return TimesOfFields(context, arguments, {.in_seconds = false, .is_absolute = false});
}

Reply HandleHExpireTime(CommandContext& context, Arguments arguments) {
  return TimesOfFields(context, arguments, {.in_seconds = true, .is_absolute = true});
}

Reply HandleHPExpireTime(CommandContext& context, Arguments arguments) {
  return TimesOfFields(context, arguments, {.in_seconds = false, .is_absolute = true});
}

Reply HandleHPersist(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  const Lookup<Hash> hash = context.Find<Hash>(key);
  if (hash.wrong_type()) return WrongType();
  Arguments fields;
  if (Reply error = ReadFields(arguments.subspan(1), kFieldsNotPositive, fields);
      error.is_error()) {
    return error;
  }
  if (!hash) return SameForAll(fields.size(), kNoField);
  FieldChanges changes(context, key, *hash);
  std::vector<Reply> results;
  for (const std::string_view field : fields) {
    int64_t result = kNoField;
    if (hash->Contains(field) && !HidesField(context, key, field)) {
      result = changes.Persist(field) ? kDone : kNoDeadline;
    }
    results.push_back(Reply::Integer(result));
  }
  changes.Finish();
  return Reply::Array(std::move(results));
}

Reply HandleHGetEx(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  if (context.Find<Hash>(key).wrong_type()) return WrongType();
  ReadOptions options;
  Arguments fields;
  if (Reply error = ReadHGetEx(context, arguments.subspan(1), options, fields); error.is_error()) {
    return error;
  }
  ExpireNamedFields(context, key, fields);
  const Lookup<Hash> hash = context.Find<Hash>(key);
  if (!hash) return NilForAll(fields.size());
  if (options.persists || options.deadline_ms) MakeRoom(context, key);
  FieldChanges changes(context, key, *hash);
  std::vector<Reply> values;
  for (const std::string_view field : fields) {
    values.push_back(ValueOrNil(*hash, field));
    if (values.back().is_nil()) continue;
    if (options.persists) changes.Persist(field);
    if (options.deadline_ms) changes.Expire(field, *options.deadline_ms);
  }
  changes.Finish(options.deadline_ms.value_or(0));
  return Reply::Array(std::move(values));
}

Reply HandleHGetDel(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  if (context.Find<Hash>(key).wrong_type()) return WrongType();
  Arguments fields;
  if (Reply error = ReadFields(arguments.subspan(1), kFieldsNotPositive, fields);
      error.is_error()) {
    return error;
  }
  ExpireNamedFields(context, key, fields);
  const Lookup<Hash> hash = context.Find<Hash>(key);
  if (!hash) return NilForAll(fields.size());
  FieldChanges changes(context, key, *hash);
  std::vector<Reply> values;
  for (const std::string_view field : fields) {
    values.push_back(ValueOrNil(*hash, field));
    if (!values.back().is_nil()) changes.Delete(field);
  }
  changes.Finish();
  return Reply::Array(std::move(values));
}

Reply HandleHSetEx(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  WriteOptions options;
  if (Reply error = ReadHSetEx(context, arguments.subspan(1), options); error.is_error()) {
    return error;
  }
  const Lookup<Hash> present = context.Find<Hash>(key);
  if (present.wrong_type()) return WrongType();
  if (!ConditionHolds(context, key, present, options)) {
    context.RemoveIfEmpty(key);
    return Reply::Integer(0);
  }
  const Lookup<Hash> hash = context.FindOrAdd<Hash>(key);
  for (const std::string_view text : options.pairs) hash->ConvertIfTooLong(text, context.limits());
  for (size_t i = 0; i < options.pairs.size(); i += 2) {
    hash->Set(options.pairs[i], options.pairs[i + 1], context.limits());
    if (!options.keeps_deadlines) context.ClearFieldDeadline(key, options.pairs[i]);
  }
  context.Changed(key, EventClass::kHash, "hset");
  if (context.propagates()) {
    std::vector<std::string> words = {"HSET", std::string(key)};
    words.insert(words.end(), options.pairs.begin(), options.pairs.end());
    context.PropagateAlsoWords(std::move(words));
  }
  FieldChanges changes(context, key, *hash);
  if (options.deadline_ms) {
    MakeRoom(context, key);
    for (size_t i = 0; i < options.pairs.size(); i += 2) {
      changes.Expire(options.pairs[i], *options.deadline_ms);
    }
  }
  changes.Finish(options.deadline_ms.value_or(0));
  return Reply::Integer(1);
}

}  // namespace redouble::inline v0_1::memory
