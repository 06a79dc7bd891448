// What SCAN, HSCAN, SSCAN and ZSCAN have in common: the cursor and the options.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SCAN_OPTIONS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SCAN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/memory/command_context.h"
#include "core/base/glob.h"

namespace redouble::memory {

struct ScanOptions {
  uint64_t cursor = 0;
  size_t count = 10;
  std::string_view match = "*";
  std::optional<std::string_view> type;  // SCAN only; none: every type.

  // The star alone matches the empty element too, which no other pattern with a star does.
  bool Matches(std::string_view element) const {
    return match == "*" || base::GlobMatch(match, element);
  }
};

// Reads the cursor; an error reply when it is none.
std::optional<Reply> ReadCursor(std::string_view text, uint64_t& cursor);
// Reads the options behind the cursor; an error reply when they are wrong.
std::optional<Reply> ReadScanOptions(Arguments arguments, bool with_type, ScanOptions& options);

// A page as a reply: the next cursor and the elements.
Reply ScanReply(uint64_t cursor, std::vector<Reply> elements);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SCAN_OPTIONS_H_
