// Parses the bit offsets of SETBIT, GETBIT and BITFIELD, and extends strings to contain them.
//
// Use it in handlers that write single bits. Error texts are Redis's.
//
//   const std::optional<uint64_t> position = ReadBitOffset(context, arguments[1], 0);
//   if (!position) return BitOffsetError();
//   const WritableBits bits = GrowToBit(context, key, *position);
//
// Thread-safety: one thread.
// Source: Redis 7.0 SETBIT, BITFIELD.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_STRINGS_BIT_OFFSET_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_STRINGS_BIT_OFFSET_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "redouble/backends/memory/engine/command_context.h"

namespace redouble::inline v0_1::memory {

// Reads an offset within the longest string allowed; nullopt if it is invalid. With a field width,
// "#3" means the offset of the field with index 3; width 0 does not allow that form.
std::optional<uint64_t> ReadBitOffset(const CommandContext& context, std::string_view text,
                                      int field_width);
Reply BitOffsetError();

// A string's bytes for writing.
struct WritableBits {
  bool wrong_type = false;
  bool grown = false;  // It is longer than before, or new.
  std::span<char> text = {};
};

// The string at `key`, extended with zeros to contain the bit at `position`, and added if it does
// not exist. Its encoding becomes "raw" even if nothing changes, as in Redis.
WritableBits GrowToBit(CommandContext& context, std::string_view key, uint64_t position);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_STRINGS_BIT_OFFSET_H_
