// The bitmap commands. BITFIELD is in bitfield.cc.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/strings/bit_offset.h"
#include "redouble/backends/memory/commands/strings/bits.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// The range arguments, in bytes or bits.
struct RangeArgument {
  int64_t first = 0;
  int64_t last = -1;
  bool in_bits = false;
};

// Reads BYTE or BIT. Returns false if it is neither.
bool ReadUnit(std::string_view word, RangeArgument& range) {
  range.in_bits = IsWord(word, "BIT");
  return range.in_bits || IsWord(word, "BYTE");
}

// The bits of the range in a string of `size` bytes; nullopt if it is empty.
std::optional<BitRange> BitsOf(const RangeArgument& range, size_t size) {
  const auto length = static_cast<int64_t>(size) * (range.in_bits ? 8 : 1);
  // Unlike in a list's range, an end before the start of the string means position 0.
  const int64_t first = std::max<int64_t>(range.first < 0 ? range.first + length : range.first, 0);
  int64_t last = std::max<int64_t>(range.last < 0 ? range.last + length : range.last, 0);
  last = std::min(last, length - 1);
  if (first > last) return std::nullopt;
  const auto [begin, end] = std::pair(static_cast<uint64_t>(first), static_cast<uint64_t>(last));
  if (range.in_bits) return BitRange{begin, end};
  return BitRange{begin * 8, end * 8 + 7};
}

enum class BitOperation { kAnd, kOr, kXor, kNot };

std::optional<BitOperation> ReadOperation(std::string_view word) {
  if (IsWord(word, "AND")) return BitOperation::kAnd;
  if (IsWord(word, "OR")) return BitOperation::kOr;
  if (IsWord(word, "XOR")) return BitOperation::kXor;
  if (IsWord(word, "NOT")) return BitOperation::kNot;
  return std::nullopt;
}

// Combines `text` into `result`, which is at least as long; missing bytes of `text` are 0.
void Combine(BitOperation operation, std::string_view text, std::string& result) {
  for (size_t i = 0; i < result.size(); ++i) {
    const auto a = static_cast<uint8_t>(result[i]);
    const auto b = static_cast<uint8_t>(i < text.size() ? text[i] : 0);
    const int both = operation == BitOperation::kAnd  ? a & b
                     : operation == BitOperation::kOr ? a | b
                                                      : a ^ b;
    result[i] = static_cast<char>(both);
  }
}

// Stores the result of BITOP; an empty result removes the key.
void StoreResult(CommandContext& context, std::string_view key, const std::string& result) {
  if (!result.empty()) {
    context.Put(key, Value::RawString(result));
    context.Changed(key, EventClass::kString, "set");
  } else if (context.Remove(key)) {
    context.Changed(key, EventClass::kGeneric, "del");
  }
}

// The errors of the arguments after the key, which later versions check first.
std::optional<Reply> CheckBitCount(const CommandContext& context, Arguments arguments) {
  if (arguments.size() == 1) return std::nullopt;
  const bool has_end = arguments.size() >= 3;
  if (arguments.size() > 4) return SyntaxError();
  if (!has_end && !context.engine().Has(Feature::kBitCountStart)) return SyntaxError();
  RangeArgument range;
  const bool has_unit = arguments.size() < 4 || ReadUnit(arguments[3], range);
  if (!base::ParseInt64(arguments[1])) return Reply::Error(error_text::kNotAnInteger);
  // Valkey checks the unit before the end.
  if (context.engine().Has(Feature::kBitCountStart) && !has_unit) return SyntaxError();
  if (has_end && !base::ParseInt64(arguments[2])) return Reply::Error(error_text::kNotAnInteger);
  if (!has_unit) return SyntaxError();
  return std::nullopt;
}

// The same of BITPOS, whose second argument is the bit.
std::optional<Reply> CheckBitPos(Arguments arguments) {
  if (arguments.size() > 5) return SyntaxError();
  const auto is_number = [&](size_t at) {
    return arguments.size() <= at || base::ParseInt64(arguments[at]).has_value();
  };
  if (!is_number(2)) return Reply::Error(error_text::kNotAnInteger);
  RangeArgument range;
  if (arguments.size() == 5 && !ReadUnit(arguments[4], range)) return SyntaxError();
  if (!is_number(3)) return Reply::Error(error_text::kNotAnInteger);
  return std::nullopt;
}

}  // namespace

Reply HandleSetBit(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  const std::optional<uint64_t> position = ReadBitOffset(context, arguments[1], 0);
  if (!position) return BitOffsetError();
  const std::optional<int64_t> bit = base::ParseInt64(arguments[2]);
  if (!bit || (*bit != 0 && *bit != 1)) {
    return Reply::Error("ERR bit is not an integer or out of range");
  }
  const WritableBits bits = GrowToBit(context, key, *position);
  if (bits.wrong_type) return WrongType();
  const bool old = ReadBit({bits.text.data(), bits.text.size()}, *position);
  if (bits.grown || old != (*bit == 1)) {
    WriteBit(bits.text, *position, *bit == 1);
    context.Changed(key, EventClass::kString, "setbit");
  }
  return Reply::Integer(old ? 1 : 0);
}

Reply HandleGetBit(CommandContext& context, Arguments arguments) {
  const std::optional<uint64_t> position = ReadBitOffset(context, arguments[1], 0);
  if (!position) return BitOffsetError();
  const Lookup<Value> string = context.FindString(arguments[0]);
  if (string.wrong_type()) return WrongType();
  if (!string) return Reply::Integer(0);
  Value::TextBuffer buffer;
  return Reply::Integer(ReadBit(string->Text(buffer), *position) ? 1 : 0);
}

Reply HandleBitCount(CommandContext& context, Arguments arguments) {
  if (context.engine().Has(Feature::kBitArguments)) {
    if (std::optional<Reply> error = CheckBitCount(context, arguments)) return *std::move(error);
  }
  // In Redis 7.0, a missing key returns before the other arguments are checked.
  const Lookup<Value> string = context.FindString(arguments[0]);
  if (string.wrong_type()) return WrongType();
  if (!string) return Reply::Integer(0);
  RangeArgument range;
  if (arguments.size() == 3 || arguments.size() == 4) {
    const std::optional<int64_t> first = base::ParseInt64(arguments[1]);
    const std::optional<int64_t> last = base::ParseInt64(arguments[2]);
    if (!first || !last) return Reply::Error(error_text::kNotAnInteger);
    if (*first < 0 && *last < 0 && *first > *last) return Reply::Integer(0);
    if (arguments.size() == 4 && !ReadUnit(arguments[3], range)) return SyntaxError();
    range.first = *first;
    range.last = *last;
  } else if (arguments.size() == 2 && context.engine().Has(Feature::kBitCountStart)) {
    range.first = *base::ParseInt64(arguments[1]);
  } else if (arguments.size() != 1) {
    return SyntaxError();
  }
  Value::TextBuffer buffer;
  const std::string_view text = string->Text(buffer);
  const std::optional<BitRange> bits = BitsOf(range, text.size());
  return Reply::Integer(bits ? static_cast<int64_t>(CountBits(text, *bits)) : 0);
}

Reply HandleBitPos(CommandContext& context, Arguments arguments) {
  const std::optional<int64_t> bit = base::ParseInt64(arguments[1]);
  if (!bit) return Reply::Error(error_text::kNotAnInteger);
  if (*bit != 0 && *bit != 1) return Reply::Error("ERR The bit argument must be 1 or 0.");
  if (context.engine().Has(Feature::kBitArguments)) {
    if (std::optional<Reply> error = CheckBitPos(arguments)) return *std::move(error);
  }
  const Lookup<Value> string = context.FindString(arguments[0]);
  if (string.wrong_type()) return WrongType();
  // A missing key is an infinite string of zeros.
  if (!string) return Reply::Integer(*bit == 1 ? -1 : 0);
  if (arguments.size() > 5) return SyntaxError();
  RangeArgument range;
  if (arguments.size() >= 3) {
    const std::optional<int64_t> first = base::ParseInt64(arguments[2]);
    if (!first) return Reply::Error(error_text::kNotAnInteger);
    range.first = *first;
  }
  if (arguments.size() == 5 && !ReadUnit(arguments[4], range)) return SyntaxError();
  const bool end_given = arguments.size() >= 4;
  if (end_given) {
    const std::optional<int64_t> last = base::ParseInt64(arguments[3]);
    if (!last) return Reply::Error(error_text::kNotAnInteger);
    range.last = *last;
  }
  Value::TextBuffer buffer;
  const std::string_view text = string->Text(buffer);
  const std::optional<BitRange> bits = BitsOf(range, text.size());
  if (!bits) return Reply::Integer(-1);
  if (const std::optional<uint64_t> found = FindBit(text, *bits, *bit == 1)) {
    return Reply::Integer(static_cast<int64_t>(*found));
  }
  // Without an end argument the string is followed by zeros.
  const bool zeros_follow = *bit == 0 && !end_given;
  return Reply::Integer(zeros_follow ? static_cast<int64_t>(bits->last) + 1 : -1);
}

Reply HandleBitOp(CommandContext& context, Arguments arguments) {
  const std::optional<BitOperation> operation = ReadOperation(arguments[0]);
  if (!operation) return SyntaxError();
  const Arguments sources = arguments.subspan(2);
  if (operation == BitOperation::kNot && sources.size() != 1) {
    return Reply::Error("ERR BITOP NOT must be called with a single source key.");
  }
  std::vector<std::string> texts;
  size_t size = 0;
  for (const std::string_view key : sources) {
    const Lookup<Value> string = context.FindString(key);
    context.CountRead(key, string.exists());
    if (string.wrong_type()) return WrongType();
    Value::TextBuffer buffer;
    texts.emplace_back(string ? string->Text(buffer) : std::string_view());
    size = std::max(size, texts.back().size());
  }
  std::string result = std::move(texts[0]);
  result.resize(size);
  if (operation == BitOperation::kNot) {
    for (char& byte : result) byte = static_cast<char>(~byte);
  }
  for (size_t i = 1; i < texts.size(); ++i) Combine(*operation, texts[i], result);
  StoreResult(context, arguments[1], result);
  return Reply::Integer(static_cast<int64_t>(size));
}

}  // namespace redouble::inline v0_1::memory
