// Parsers of command arguments that several handlers share, and the errors that go with them.
//
// Use them in command handlers (commands/). Error texts are byte for byte those of Redis.
//
//   if (IsWord(arguments[1], "GET")) ...
//   if (std::optional<Reply> error = ReadInt32(arguments[0], index)) return *error;
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_ARGUMENT_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_ARGUMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {

// True if the argument is the option's word, in any case.
inline bool IsWord(std::string_view argument, std::string_view word) {
  return absl::EqualsIgnoreCase(base::ToAbsl(argument), base::ToAbsl(word));
}

// Redis quotes at most this many bytes of a client's words in an error.
inline constexpr size_t kQuotedBytes = 128;

// A client's word as Redis quotes it in an error: cut off at `limit` and at a zero byte, with line
// breaks replaced by spaces.
std::string WordInError(std::string_view word, size_t limit = std::string_view::npos);

// Reads a 32-bit integer, such as a database index. Returns the error reply if it is invalid.
std::optional<Reply> ReadInt32(std::string_view text, int32_t& value);

// The expiry argument of SET, GETEX, SETEX or EXPIRE: a number of seconds or milliseconds.
struct ExpireArgument {
  enum class Unit { kSeconds, kMillis };
  std::string_view text;
  Unit unit = Unit::kSeconds;
  // True: a duration from now. False: a Unix time.
  bool relative = true;
};

// An absolute deadline in milliseconds, or the error to reply.
struct Deadline {
  int64_t deadline_ms = 0;
  std::optional<Reply> error = std::nullopt;
};

// "ERR wrong number of arguments for 'set' command".
Reply WrongArity(std::string_view command);

// "ERR unknown subcommand or wrong number of arguments for 'create'. Try XGROUP HELP.", with the
// subcommand as the client wrote it.
Reply WrongSubcommandUse(const CommandContext& context);

// "ERR invalid expire time in 'set' command".
Reply InvalidExpire(std::string_view command);
// Reads the expiry of a command that sets a value. It must be positive.
Deadline ReadDeadline(const ExpireArgument& argument, std::string_view command, int64_t now_ms);

// "ERR value is out of range, value must between 1 and 10".
std::string OutOfRangeText(int64_t low, int64_t high);

// A range of indexes as GETRANGE and LRANGE define it: negative indexes count from the end of
// `size` elements, and indexes outside are clamped. Returns nullopt if the range is empty.
struct Range {
  size_t first;
  size_t last;
};
std::optional<Range> ClampRange(int64_t first, int64_t last, size_t size);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_ARGUMENT_H_
