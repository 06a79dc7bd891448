// What SETBIT, GETBIT and BITFIELD share: positions of bits as clients write them, and strings made
// long enough to have them.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_BIT_OFFSET_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_BIT_OFFSET_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "backends/memory/command_context.h"

namespace redouble::memory {

// Reads a position within the longest string that there may be. With a field's width, "#3" means
// three such fields further on; with width 0 that form does not exist.
std::optional<uint64_t> ReadBitOffset(const CommandContext& context, std::string_view text,
                                      int field_width);
Reply BitOffsetError();

// A string's bytes for writing.
struct WritableBits {
  bool wrong_type = false;
  bool grown = false;  // It is longer than before, or new.
  std::span<char> text = {};
};

// The string at `key`, made to have the bit at `position`, filled with zeros; added when it does
// not exist. It becomes "raw" even when nothing changes, as in Redis.
WritableBits GrowToBit(CommandContext& context, std::string_view key, uint64_t position);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_BIT_OFFSET_H_
