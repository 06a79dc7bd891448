// The hash commands, in the order of the table.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/lazy_fields.h"
#include "redouble/backends/memory/commands/random_picks.h"
#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/commands/scan_options.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

Reply ValueReply(std::optional<std::string> value) {
  return value ? Reply::Bulk(*std::move(value)) : Reply::Nil();
}

struct SetResult {
  int64_t added = 0;
  std::optional<Reply> error;
};

SetResult SetFields(CommandContext& context, std::string_view command, Arguments arguments) {
  if (arguments.size() % 2 == 0) return {.error = WrongArity(command)};
  const std::string_view key = arguments[0];
  const Lookup<Hash> hash = context.FindOrAdd<Hash>(key);
  if (hash.wrong_type()) return {.error = WrongType()};
  for (const std::string_view text : arguments.subspan(1)) {
    hash->ConvertIfTooLong(text, context.limits());
  }
  SetResult result;
  for (size_t i = 1; i < arguments.size(); i += 2) {
    result.added += hash->Set(arguments[i], arguments[i + 1], context.limits());
    context.ClearFieldDeadline(key, arguments[i]);
  }
  context.Changed(key, EventClass::kHash, "hset");
  return result;
}

enum class Parts { kFields, kValues, kBoth };

void AddParts(ReplyArray& out, Parts parts, std::string_view field, std::string_view value) {
  if (parts != Parts::kValues) out.AddBulk(field);
  if (parts != Parts::kFields) out.AddBulk(value);
}

Reply AllReply(CommandContext& context, std::string_view key, Parts parts) {
  const Lookup<Hash> hash = context.Find<Hash>(key);
  if (hash.wrong_type()) return WrongType();
  const bool both = parts == Parts::kBoth;
  const size_t hidden = hash ? HiddenFields(context, key).size() : 0;
  ReplyArray all(context, both ? Reply::Shape::kMap : Reply::Shape::kPlain,
                 hash ? (hash->size() - hidden) * (both ? 2 : 1) : 0);
  if (hash) {
    hash->ForEach([&](std::string_view field, std::string_view value) {
      if (hidden > 0 && HidesField(context, key, field)) return;
      AddParts(all, parts, field, value);
    });
  }
  return std::move(all).Finish();
}

// The value that clients see; nullopt if the field does not exist.
std::optional<std::string> ShownValue(const CommandContext& context, std::string_view key,
                                      const Lookup<Hash>& hash, std::string_view field) {
  if (!hash || HidesField(context, key, field)) return std::nullopt;
  return hash->Get(field);
}

// The field's value before an increment: "0" if the key or the field does not exist.
std::string OldValue(const Hash& hash, std::string_view field) {
  return hash.Get(field).value_or("0");
}

void StoreIncremented(CommandContext& context, std::string_view key, std::string_view field,
                      std::string_view value, std::string_view event) {
  context.FindOrAdd<Hash>(key)->Set(field, value, context.limits());
  context.Changed(key, EventClass::kHash, event);
}

// The options of HSCAN, without the word NOVALUES that may stand between them.
struct ScanWords {
  ScanWords(const CommandContext& context, Arguments arguments) {
    const bool takes_word = context.engine().Has(Feature::kScanNoValues);
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (takes_word && IsWord(arguments[i], "NOVALUES")) {
        no_values = true;
        continue;
      }
      options.push_back(arguments[i]);
      const bool has_value = IsWord(arguments[i], "COUNT") || IsWord(arguments[i], "MATCH");
      if (has_value && i + 1 < arguments.size()) options.push_back(arguments[++i]);
    }
  }

  std::vector<std::string_view> options;
  bool no_values = false;
};

}  // namespace

Reply HandleHSet(CommandContext& context, Arguments arguments) {
  SetResult result = SetFields(context, "hset", arguments);
  return result.error ? *std::move(result.error) : Reply::Integer(result.added);
}

Reply HandleHMSet(CommandContext& context, Arguments arguments) {
  SetResult result = SetFields(context, "hmset", arguments);
  return result.error ? *std::move(result.error) : Reply::Ok();
}

Reply HandleHSetNx(CommandContext& context, Arguments arguments) {
  ExpireNamedFields(context, arguments[0], arguments.subspan(1, 1));
  const Lookup<Hash> hash = context.FindOrAdd<Hash>(arguments[0]);
  if (hash.wrong_type()) return WrongType();
  if (hash->Contains(arguments[1])) return Reply::Integer(0);
  hash->Set(arguments[1], arguments[2], context.limits());
  context.Changed(arguments[0], EventClass::kHash, "hset");
  return Reply::Integer(1);
}

Reply HandleHGet(CommandContext& context, Arguments arguments) {
  ExpireNamedFields(context, arguments[0], arguments.subspan(1));
  const Lookup<Hash> hash = context.Find<Hash>(arguments[0]);
  if (hash.wrong_type()) return WrongType();
  return ValueReply(ShownValue(context, arguments[0], hash, arguments[1]));
}

Reply HandleHMGet(CommandContext& context, Arguments arguments) {
  ExpireNamedFields(context, arguments[0], arguments.subspan(1), FieldEvents::kTogether);
  const Lookup<Hash> hash = context.Find<Hash>(arguments[0]);
  if (hash.wrong_type()) return WrongType();
  ReplyArray values(context, Reply::Shape::kPlain, arguments.size() - 1);
  for (const std::string_view field : arguments.subspan(1)) {
    values.Add(ValueReply(ShownValue(context, arguments[0], hash, field)));
    if (!values.wanted()) break;
  }
  return std::move(values).Finish();
}

Reply HandleHDel(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  const Lookup<Hash> hash = context.Find<Hash>(key);
  if (hash.wrong_type()) return WrongType();
  if (!hash) return Reply::Integer(0);
  int64_t removed = 0;
  for (const std::string_view field : arguments.subspan(1)) {
    if (!hash->Remove(field)) continue;
    context.ClearFieldDeadline(key, field);
    ++removed;
  }
  if (removed == 0) return Reply::Integer(0);
  context.Changed(key, EventClass::kHash, "hdel");
  context.RemoveIfEmpty(key, *hash);
  return Reply::Integer(removed);
}

Reply HandleHLen(CommandContext& context, Arguments arguments) {
  const Lookup<Hash> hash = context.Find<Hash>(arguments[0]);
  if (hash.wrong_type()) return WrongType();
  return Reply::Integer(hash ? static_cast<int64_t>(hash->size()) : 0);
}

Reply HandleHStrLen(CommandContext& context, Arguments arguments) {
  ExpireNamedFields(context, arguments[0], arguments.subspan(1));
  const Lookup<Hash> hash = context.Find<Hash>(arguments[0]);
  if (hash.wrong_type()) return WrongType();
  const std::optional<std::string> value = ShownValue(context, arguments[0], hash, arguments[1]);
  return Reply::Integer(value ? static_cast<int64_t>(value->size()) : 0);
}

Reply HandleHKeys(CommandContext& context, Arguments arguments) {
  return AllReply(context, arguments[0], Parts::kFields);
}

Reply HandleHVals(CommandContext& context, Arguments arguments) {
  return AllReply(context, arguments[0], Parts::kValues);
}

Reply HandleHGetAll(CommandContext& context, Arguments arguments) {
  return AllReply(context, arguments[0], Parts::kBoth);
}

Reply HandleHExists(CommandContext& context, Arguments arguments) {
  ExpireNamedFields(context, arguments[0], arguments.subspan(1));
  const Lookup<Hash> hash = context.Find<Hash>(arguments[0]);
  if (hash.wrong_type()) return WrongType();
  const bool exists =
      hash && hash->Contains(arguments[1]) && !HidesField(context, arguments[0], arguments[1]);
  return Reply::Integer(exists ? 1 : 0);
}

Reply HandleHIncrBy(CommandContext& context, Arguments arguments) {
  const std::optional<int64_t> increment = base::ParseInt64(arguments[2]);
  if (!increment) return Reply::Error(error_text::kNotAnInteger);
  ExpireNamedFields(context, arguments[0], arguments.subspan(1, 1));
  const Lookup<Hash> hash = context.Find<Hash>(arguments[0]);
  if (hash.wrong_type()) return WrongType();
  const std::optional<int64_t> old = base::ParseInt64(hash ? OldValue(*hash, arguments[1]) : "0");
  if (!old) return Reply::Error("ERR hash value is not an integer");
  int64_t value = 0;
  if (__builtin_add_overflow(*old, *increment, &value)) {
    return Reply::Error(error_text::kIncrementOverflow);
  }
  StoreIncremented(context, arguments[0], arguments[1], base::FormatInt64(value), "hincrby");
  return Reply::Integer(value);
}

Reply HandleHIncrByFloat(CommandContext& context, Arguments arguments) {
  const std::optional<base::Extended> increment = base::ParseLongDouble(arguments[2]);
  if (!increment) return Reply::Error(error_text::kNotAFloat);
  if (!increment->is_finite()) return Reply::Error("ERR value is NaN or Infinity");
  ExpireNamedFields(context, arguments[0], arguments.subspan(1, 1));
  const Lookup<Hash> hash = context.Find<Hash>(arguments[0]);
  if (hash.wrong_type()) return WrongType();
  const std::optional<base::Extended> old =
      base::ParseLongDouble(hash ? OldValue(*hash, arguments[1]) : "0");
  if (!old) return Reply::Error("ERR hash value is not a float");
  const base::Extended value = *old + *increment;
  if (!value.is_finite()) return Reply::Error(error_text::kIncrementNotFinite);
  const std::string text = base::FormatLongDoubleHuman(value);
  StoreIncremented(context, arguments[0], arguments[1], text, "hincrbyfloat");
  context.PropagateAs("HSET", arguments[0], arguments[1], text);
  return Reply::Bulk(text);
}

Reply HandleHRandField(CommandContext& context, Arguments arguments) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const bool with_count = arguments.size() > 1;
  int64_t count = 1;
  Parts parts = Parts::kFields;
  if (with_count) {
    const std::optional<int64_t> given = base::ParseInt64(arguments[1]);
    if (!given) return Reply::Error(error_text::kNotAnInteger);
    if (*given < -kMax) return Reply::Error(OutOfRangeText(-kMax, kMax));
    if (arguments.size() > 3) return SyntaxError();
    if (arguments.size() == 3) {
      if (!IsWord(arguments[2], "WITHVALUES")) return SyntaxError();
      if (*given < -kMax / 2 || *given > kMax / 2) return Reply::Error(error_text::kOutOfRange);
      parts = Parts::kBoth;
    }
    count = *given;
  }
  ExpireAllFields(context, arguments[0]);
  const Lookup<Hash> hash = context.Find<Hash>(arguments[0]);
  if (hash.wrong_type()) return WrongType();
  if (!hash) return with_count ? Reply::EmptyArray() : Reply::Nil();
  if (!with_count) {
    return Reply::Bulk(hash->At(PickPosition(context.rng(), hash->size())).first);
  }
  if (std::optional<Reply> refusal = RefuseAbsurdCount(count, context.session().reply_sink())) {
    return *std::move(refusal);
  }
  const bool both = parts == Parts::kBoth;
  ReplyArray picks(context, both ? Reply::Shape::kPairs : Reply::Shape::kPlain,
                   PickCount(hash->size(), count) * (both ? 2 : 1));
  VisitPositions(context.rng(), hash->size(), count, [&](size_t position) {
    const auto [field, value] = hash->At(position);
    AddParts(picks, parts, field, value);
    return picks.wanted();
  });
  return std::move(picks).Finish();
}

Reply HandleHScan(CommandContext& context, Arguments arguments) {
  ScanOptions options;
  if (std::optional<Reply> error = ReadCursor(context, arguments[1], options.cursor)) return *error;
  const Lookup<Hash> hash = context.Find<Hash>(arguments[0]);
  if (hash.wrong_type()) return WrongType();
  if (!hash) return ScanReply(0, {});
  const ScanWords words(context, arguments.subspan(2));
  if (std::optional<Reply> error = ReadScanOptions(context, words.options, false, options))
    return *error;
  std::vector<Reply> page;
  const uint64_t next = hash->Scan(options.cursor, options.count,
                                   [&](std::string_view field, std::string_view value) {
                                     if (!options.Matches(field)) return;
                                     if (HidesField(context, arguments[0], field)) return;
                                     page.push_back(Reply::Bulk(field));
                                     if (!words.no_values) page.push_back(Reply::Bulk(value));
                                   });
  return ScanReply(next, std::move(page));
}

}  // namespace redouble::inline v0_1::memory
