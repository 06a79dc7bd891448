#include "redouble/backends/memory/engine/argument.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {

std::string WordInError(std::string_view word, size_t limit) {
  std::string text(word.substr(0, std::min(limit, word.find('\0'))));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return text;
}

std::optional<Reply> ReadInt32(std::string_view text, int32_t& value) {
  const std::optional<int64_t> number = base::ParseInt64(text);
  if (!number) return Reply::Error(error_text::kNotAnInteger);
  value = static_cast<int32_t>(*number);
  if (value == *number) return std::nullopt;
  return Reply::Error("ERR value is out of range, value must between -2147483648 and 2147483647");
}

Reply WrongSubcommandUse(const CommandContext& context) {
  return Reply::Error(
      // lint: one-home: Redis writes this text in both commands
      base::ToStd(absl::StrCat("ERR unknown subcommand or wrong number of arguments for '",
                               WordInError(context.subcommand(), kQuotedBytes), "'. Try ",
                               absl::AsciiStrToUpper(base::ToAbsl(context.called_name())),
                               " HELP.")));
}

Reply WrongArity(std::string_view command) {
  return Reply::Error(base::ToStd(
      absl::StrCat("ERR wrong number of arguments for '", base::ToAbsl(command), "' command")));
}

Reply InvalidExpire(std::string_view command) {
  return Reply::Error(base::ToStd(
      absl::StrCat("ERR invalid expire time in '", base::ToAbsl(command), "' command")));
}

Deadline ReadDeadline(const ExpireArgument& argument, std::string_view command, int64_t now_ms) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::optional<int64_t> amount = base::ParseInt64(argument.text);
  if (!amount) return {.error = Reply::Error(error_text::kNotAnInteger)};
  const bool seconds = argument.unit == ExpireArgument::Unit::kSeconds;
  if (*amount <= 0 || (seconds && *amount > kMax / 1000)) return {.error = InvalidExpire(command)};
  int64_t deadline_ms = seconds ? *amount * 1000 : *amount;
  if (argument.relative) {
    if (deadline_ms > kMax - now_ms) return {.error = InvalidExpire(command)};
    deadline_ms += now_ms;
  }
  return {.deadline_ms = deadline_ms, .error = std::nullopt};
}

std::string OutOfRangeText(int64_t low, int64_t high) {
  return absl::StrCat("ERR value is out of range, value must between ", low, " and ", high);
}

std::optional<Range> ClampRange(int64_t first, int64_t last, size_t size) {
  const auto length = static_cast<int64_t>(size);
  if (first < 0) first = std::max<int64_t>(first + length, 0);
  if (last < 0) last = std::max<int64_t>(last + length, -1);
  last = std::min(last, length - 1);
  if (first > last) return std::nullopt;
  return Range{static_cast<size_t>(first), static_cast<size_t>(last)};
}

}  // namespace redouble::inline v0_1::memory
