// The cursor, options and reply that SCAN, HSCAN, SSCAN and ZSCAN share.
//
// Use it in handlers of the SCAN family: read the cursor, then the options, and reply with a page.
//
//   ScanOptions options;
//   std::optional<Reply> error = ReadCursor(context, arguments[1], options.cursor);
//   if (!error) error = ReadScanOptions(context, arguments.subspan(2), false, options);
//   if (error) return *std::move(error);
//   return ScanReply(next, std::move(page));
//
// Thread-safety: pure functions; ScanOptions is a plain value.
// Source: Redis 7.0 SCAN.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SCAN_OPTIONS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SCAN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/core/base/text/glob.h"

namespace redouble::inline v0_1::memory {

struct ScanOptions {
  uint64_t cursor = 0;
  size_t count = 10;
  std::string_view match = "*";
  std::optional<std::string_view> type;  // SCAN only; nullopt: every type.

  // "*" alone also matches the empty element, unlike any other pattern.
  bool Matches(std::string_view element) const {
    return match == "*" || base::GlobMatch(match, element);
  }
};

// Reads the cursor. Returns the error reply if it is invalid.
std::optional<Reply> ReadCursor(const CommandContext& context, std::string_view text,
                                uint64_t& cursor);
// Reads the options after the cursor. Returns the error reply if they are invalid.
std::optional<Reply> ReadScanOptions(const CommandContext& context, Arguments arguments,
                                     bool with_type, ScanOptions& options);

// The reply: the next cursor and the elements.
Reply ScanReply(uint64_t cursor, std::vector<Reply> elements);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SCAN_OPTIONS_H_
