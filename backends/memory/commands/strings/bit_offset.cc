#include "redouble/backends/memory/commands/strings/bit_offset.h"

#include <algorithm>
#include <utility>

#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {

std::optional<uint64_t> ReadBitOffset(const CommandContext& context, std::string_view text,
                                      int field_width) {
  const bool in_fields = field_width > 0 && text.starts_with('#');
  const std::optional<int64_t> number = base::ParseInt64(text.substr(in_fields ? 1 : 0));
  if (!number) return std::nullopt;
  // The product wraps around, as in Redis.
  const uint64_t factor = in_fields ? static_cast<uint64_t>(field_width) : 1;
  const auto position = static_cast<int64_t>(static_cast<uint64_t>(*number) * factor);
  if (position < 0 || static_cast<uint64_t>(position) / 8 >= context.max_string_bytes()) {
    return std::nullopt;
  }
  return static_cast<uint64_t>(position);
}

Reply BitOffsetError() { return Reply::Error("ERR bit offset is not an integer or out of range"); }

WritableBits GrowToBit(CommandContext& context, std::string_view key, uint64_t position) {
  const Lookup<Value> string = context.FindString(key);
  if (string.wrong_type()) return {.wrong_type = true};
  const size_t old_size = string ? string->TextSize() : 0;
  const size_t size = std::max<size_t>(old_size, position / 8 + 1);
  Value added;  // A failed allocation leaves no key.
  if (!string) added.ResizeText(size);
  Value& value = string ? *string : context.Add(key, std::move(added)).value;
  return {.wrong_type = false, .grown = size > old_size, .text = {value.ResizeText(size), size}};
}

}  // namespace redouble::inline v0_1::memory
