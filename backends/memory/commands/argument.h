// Small readers of command arguments that many handlers share.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_ARGUMENT_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_ARGUMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "backends/memory/command_context.h"
#include "core/base/string_bridge.h"

namespace redouble::memory {

// True when the argument is the option's word, in any case.
inline bool IsWord(std::string_view argument, std::string_view word) {
  return absl::EqualsIgnoreCase(base::ToAbsl(argument), base::ToAbsl(word));
}

// Redis quotes at most this much of a client's words in an error.
inline constexpr size_t kQuotedBytes = 128;

// A client's word as it stands in an error: cut at `limit` and at a zero byte, like a C string,
// line breaks as blanks.
std::string WordInError(std::string_view word, size_t limit = std::string_view::npos);

// Reads a 32-bit number, a database's index for one; the error reply when it is none.
std::optional<Reply> ReadInt32(std::string_view text, int32_t& value);

// What SET, GETEX, SETEX, EXPIRE and their like mean by a number of seconds or milliseconds.
struct ExpireArgument {
  enum class Unit { kSeconds, kMillis };
  std::string_view text;
  Unit unit = Unit::kSeconds;
  // Counts from now; otherwise it is a moment.
  bool relative = true;
};

// An absolute deadline in milliseconds, or the error to reply.
struct Deadline {
  int64_t deadline_ms = 0;
  std::optional<Reply> error = std::nullopt;
};

// "ERR wrong number of arguments for 'set' command".
Reply WrongArity(std::string_view command);

// "ERR unknown subcommand or wrong number of arguments for 'create'. Try XGROUP HELP.", of the
// subcommand as the client wrote it.
Reply WrongSubcommandUse(const CommandContext& context, std::string_view container);

// "ERR invalid expire time in 'set' command".
Reply InvalidExpire(std::string_view command);
// Reads the expiry of a command that sets a value: it must be positive.
Deadline ReadDeadline(const ExpireArgument& argument, std::string_view command, int64_t now_ms);

// "ERR value is out of range, value must between 1 and 10".
std::string OutOfRangeText(int64_t low, int64_t high);

// A range of positions as GETRANGE and LRANGE mean it: negative ones count from the end of `size`
// elements, and what lies outside is cut off. No value when nothing is left.
struct Range {
  size_t first;
  size_t last;
};
std::optional<Range> ClampRange(int64_t first, int64_t last, size_t size);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_ARGUMENT_H_
