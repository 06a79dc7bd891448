// BITFIELD and BITFIELD_RO.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/strings/bit_offset.h"
#include "redouble/backends/memory/commands/strings/bits.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

struct FieldOperation {
  enum class Kind { kGet, kSet, kIncrBy };
  Kind kind = Kind::kGet;
  BitFieldType type = {};
  uint64_t position = 0;
  int64_t amount = 0;
  BitFieldOverflow overflow = BitFieldOverflow::kWrap;
};

// The parsed operations, or the error.
struct FieldProgram {
  std::vector<FieldOperation> operations = {};
  std::optional<uint64_t> last_written_bit = std::nullopt;
  std::optional<Reply> error = std::nullopt;
};

std::optional<FieldOperation::Kind> ReadKind(std::string_view word, size_t words_left) {
  using Kind = FieldOperation::Kind;
  if (IsWord(word, "GET") && words_left >= 2) return Kind::kGet;
  if (IsWord(word, "SET") && words_left >= 3) return Kind::kSet;
  if (IsWord(word, "INCRBY") && words_left >= 3) return Kind::kIncrBy;
  return std::nullopt;
}

std::optional<BitFieldOverflow> ReadOverflow(std::string_view word) {
  if (IsWord(word, "WRAP")) return BitFieldOverflow::kWrap;
  if (IsWord(word, "SAT")) return BitFieldOverflow::kSaturate;
  if (IsWord(word, "FAIL")) return BitFieldOverflow::kFail;
  return std::nullopt;
}

// Reads the operation at the front of `words`. Returns the error reply, or nullopt.
std::optional<Reply> ReadOperation(const CommandContext& context, Arguments words,
                                   FieldOperation& operation) {
  const std::optional<BitFieldType> type = BitFieldType::Parse(words[1]);
  if (!type) {
    return Reply::Error(
        "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but "
        "i64 is.");
  }
  operation.type = *type;
  const std::optional<uint64_t> position = ReadBitOffset(context, words[2], type->width);
  if (!position) return BitOffsetError();
  operation.position = *position;
  if (operation.kind == FieldOperation::Kind::kGet) return std::nullopt;
  const std::optional<int64_t> amount = base::ParseInt64(words[3]);
  if (!amount) return Reply::Error(error_text::kNotAnInteger);
  operation.amount = *amount;
  return std::nullopt;
}

FieldProgram ReadProgram(const CommandContext& context, Arguments words) {
  FieldProgram program;
  BitFieldOverflow overflow = BitFieldOverflow::kWrap;
  for (size_t i = 0; i < words.size();) {
    const size_t words_left = words.size() - i - 1;
    if (IsWord(words[i], "OVERFLOW") && words_left >= 1) {
      const std::optional<BitFieldOverflow> mode = ReadOverflow(words[i + 1]);
      if (!mode) {
        program.error = Reply::Error("ERR Invalid OVERFLOW type specified");
        return program;
      }
      overflow = *mode;
      i += 2;
      continue;
    }
    const std::optional<FieldOperation::Kind> kind = ReadKind(words[i], words_left);
    if (!kind) {
      program.error = SyntaxError();
      return program;
    }
    FieldOperation operation;
    operation.kind = *kind;
    operation.overflow = overflow;
    program.error = ReadOperation(context, words.subspan(i), operation);
    if (program.error) return program;
    i += 3;
    if (*kind != FieldOperation::Kind::kGet) {
      const uint64_t last = operation.position + static_cast<uint64_t>(operation.type.width) - 1;
      program.last_written_bit = std::max(program.last_written_bit.value_or(0), last);
      ++i;
    }
    program.operations.push_back(operation);
  }
  return program;
}

// Runs a SET or INCRBY. Sets `changed` if the field's value changes.
Reply Write(const FieldOperation& operation, std::span<char> text, bool& changed) {
  const int64_t old = ReadField({text.data(), text.size()}, operation.type, operation.position);
  const bool set = operation.kind == FieldOperation::Kind::kSet;
  const std::optional<int64_t> value = AddInField(
      operation.type, operation.overflow, set ? operation.amount : old, set ? 0 : operation.amount);
  if (!value) return Reply::Nil();
  WriteField(text, operation.type, operation.position, *value);
  changed = changed || *value != old;
  return Reply::Integer(set ? old : *value);
}

Reply ReadFields(CommandContext& context, std::string_view key, const FieldProgram& program) {
  const Lookup<Value> string = context.FindString(key);
  context.CountRead(key, string.exists());
  if (string.wrong_type()) return WrongType();
  Value::TextBuffer buffer;
  const std::string_view text = string ? string->Text(buffer) : std::string_view();
  std::vector<Reply> replies;
  for (const FieldOperation& operation : program.operations) {
    replies.push_back(Reply::Integer(ReadField(text, operation.type, operation.position)));
  }
  return Reply::Array(std::move(replies));
}

}  // namespace

Reply HandleBitField(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  FieldProgram program = ReadProgram(context, arguments.subspan(1));
  if (program.error) return *std::move(program.error);
  if (!program.last_written_bit) return ReadFields(context, key, program);
  const WritableBits bits = GrowToBit(context, key, *program.last_written_bit);
  if (bits.wrong_type) return WrongType();
  bool changed = false;
  bool written = false;
  std::vector<Reply> replies;
  for (const FieldOperation& operation : program.operations) {
    if (operation.kind == FieldOperation::Kind::kGet) {
      replies.push_back(Reply::Integer(
          ReadField({bits.text.data(), bits.text.size()}, operation.type, operation.position)));
      continue;
    }
    replies.push_back(Write(operation, bits.text, changed));
    written = written || !replies.back().is_nil();
  }
  // For Redis, a string that only grew while every write failed has not changed.
  if (changed || (bits.grown && written)) context.Changed(key, EventClass::kString, "setbit");
  return Reply::Array(std::move(replies));
}

Reply HandleBitFieldRo(CommandContext& context, Arguments arguments) {
  FieldProgram program = ReadProgram(context, arguments.subspan(1));
  if (program.error) return *std::move(program.error);
  if (program.last_written_bit) {
    return Reply::Error("ERR BITFIELD_RO only supports the GET subcommand");
  }
  return ReadFields(context, arguments[0], program);
}

}  // namespace redouble::inline v0_1::memory
