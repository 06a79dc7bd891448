// The HyperLogLog commands. Other commands see a HyperLogLog as a string.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/strings/hyperloglog.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"

namespace redouble::inline v0_1::memory {
namespace {

Reply Corrupted() { return Reply::Error("INVALIDOBJ Corrupted HLL object detected"); }

// A key's value: absent, a HyperLogLog, or refused with `error`.
struct Found {
  Lookup<Value> string;
  std::optional<HyperLogLog> sketch = std::nullopt;
  std::optional<Reply> error = std::nullopt;
};

Found FindSketch(CommandContext& context, std::string_view key) {
  Found found{.string = context.FindString(key)};
  if (found.string.wrong_type()) {
    found.error = WrongType();
  } else if (found.string) {
    Value::TextBuffer buffer;
    found.sketch = HyperLogLog::FromString(found.string->Text(buffer));
    if (!found.sketch) {
      found.error = Reply::Error("WRONGTYPE Key is not a valid HyperLogLog string value.");
    }
  }
  return found;
}

// Stores the sketch. The string's encoding becomes "raw" even if it is unchanged, as in Redis.
void Store(Value& value, const HyperLogLog& sketch) {
  const std::string& text = sketch.text();
  std::copy(text.begin(), text.end(), value.ResizeText(text.size()));
}

// The value of a new key.
Value& AddSketch(CommandContext& context, std::string_view key) {
  return context.Add(key, Value::RawString(HyperLogLog().text())).value;
}

// The registers of the union of all keys, or the error. `dense`: whether any of them was dense.
struct Union {
  HyperLogLog::Registers registers{};
  bool dense = false;
  std::optional<Reply> error = std::nullopt;
};

Union UnionOf(CommandContext& context, Arguments keys) {
  Union all;
  for (const std::string_view key : keys) {
    Found found = FindSketch(context, key);
    context.CountRead(key, found.string.exists());
    all.error = std::move(found.error);
    if (all.error) return all;
    if (!found.sketch) continue;
    all.dense = all.dense || found.sketch->is_dense();
    if (!found.sketch->MergeInto(all.registers)) {
      all.error = Corrupted();
      return all;
    }
  }
  return all;
}

Reply CountUnion(CommandContext& context, Arguments keys) {
  Union all = UnionOf(context, keys);
  if (all.error) return *std::move(all.error);
  return Reply::Integer(static_cast<int64_t>(HyperLogLog::CountOf(all.registers)));
}

Reply RegistersReply(const HyperLogLog& sketch) {
  HyperLogLog::Registers registers{};
  sketch.MergeInto(registers);
  std::vector<Reply> replies;
  replies.reserve(registers.size());
  for (const uint8_t value : registers) replies.push_back(Reply::Integer(value));
  return Reply::Array(std::move(replies));
}

// The subcommands of PFDEBUG. GETREG converts the sketch to dense, as in Redis.
Reply Inspect(std::string_view subcommand, HyperLogLog& sketch) {
  const bool sparse = !sketch.is_dense();
  if (IsWord(subcommand, "GETREG")) {
    return sketch.ToDense() ? RegistersReply(sketch) : Corrupted();
  }
  if (IsWord(subcommand, "DECODE")) {
    if (!sparse) return Reply::Error("ERR HLL encoding is not sparse");
    return Reply::Bulk(sketch.DecodeRuns());
  }
  if (IsWord(subcommand, "ENCODING")) return Reply::Status(sparse ? "sparse" : "dense");
  if (IsWord(subcommand, "TODENSE")) {
    return sketch.ToDense() ? Reply::Integer(sparse ? 1 : 0) : Corrupted();
  }
  return Reply::Error(
      absl::StrCat("ERR Unknown PFDEBUG subcommand '", WordInError(subcommand), "'"));
}

}  // namespace

Reply HandlePfAdd(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  Found found = FindSketch(context, key);
  if (found.error) return *std::move(found.error);
  bool updated = !found.sketch.has_value();
  HyperLogLog sketch = found.sketch ? *std::move(found.sketch) : HyperLogLog();
  Value& value = found.string ? *found.string : AddSketch(context, key);
  for (const std::string_view element : arguments.subspan(1)) {
    const HyperLogLog::Outcome outcome = sketch.Add(element, context.limits().hll_sparse_max_bytes);
    if (outcome == HyperLogLog::Outcome::kCorrupted) {
      // Elements added before the corruption was found stay.
      Store(value, sketch);
      return Corrupted();
    }
    updated = updated || outcome == HyperLogLog::Outcome::kRaised;
  }
  if (updated) sketch.ForgetCachedCount();
  Store(value, sketch);
  if (updated) context.Changed(key, EventClass::kString, "pfadd");
  return Reply::Integer(updated ? 1 : 0);
}

Reply HandlePfCount(CommandContext& context, Arguments arguments) {
  if (arguments.size() > 1) return CountUnion(context, arguments);
  Found found = FindSketch(context, arguments[0]);
  if (found.error) return *std::move(found.error);
  if (!found.sketch) return Reply::Integer(0);
  std::optional<uint64_t> count = found.sketch->cached_count();
  const bool cached = count.has_value();
  if (!cached) {
    count = found.sketch->Count();
    if (count) found.sketch->set_cached_count(*count);
  }
  Store(*found.string, *found.sketch);
  if (!count) return Corrupted();
  // The cache is part of the value, so that a read which updates it is a change.
  if (!cached) context.Touched(arguments[0]);
  return Reply::Integer(static_cast<int64_t>(*count));
}

Reply HandlePfMerge(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  Union all = UnionOf(context, arguments);
  if (all.error) return *std::move(all.error);
  Found found = FindSketch(context, key);
  Value& value = found.string ? *found.string : AddSketch(context, key);
  HyperLogLog sketch = found.sketch ? *std::move(found.sketch) : HyperLogLog();
  // All inputs have been read completely, so that the code below cannot fail.
  if (all.dense) sketch.ToDense();
  for (size_t i = 0; i < HyperLogLog::kRegisters; ++i) {
    if (all.registers[i] == 0) continue;
    sketch.Raise(i, all.registers[i], context.limits().hll_sparse_max_bytes);
  }
  sketch.ForgetCachedCount();
  Store(value, sketch);
  context.Changed(key, EventClass::kString, "pfadd");
  return Reply::Ok();
}

Reply HandlePfDebug(CommandContext& context, Arguments arguments) {
  Found found = FindSketch(context, arguments[1]);
  if (found.error) return *std::move(found.error);
  if (!found.sketch) return Reply::Error("ERR The specified key does not exist");
  const bool was_dense = found.sketch->is_dense();
  Reply reply = Inspect(arguments[0], *found.sketch);
  Store(*found.string, *found.sketch);
  if (found.sketch->is_dense() != was_dense) context.CountChange();
  return reply;
}

// PFSELFTEST: registers return the values written to them. Redis's own test checks that first.
Reply HandlePfSelfTest(CommandContext& context, Arguments) {
  HyperLogLog sketch;
  HyperLogLog::Registers expected{};
  if (!sketch.ToDense()) return Reply::Error("TESTFAILED Cannot make a HyperLogLog dense");
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] = static_cast<uint8_t>(i % 63 + 1);
    sketch.Raise(i, expected[i], context.limits().hll_sparse_max_bytes);
  }
  HyperLogLog::Registers registers{};
  if (!sketch.MergeInto(registers) || registers != expected) {
    return Reply::Error("TESTFAILED A register does not hold its value");
  }
  return Reply::Ok();
}

}  // namespace redouble::inline v0_1::memory
