// SCAN, and the options that HSCAN, SSCAN and ZSCAN share with it.
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "redouble/backends/memory/commands/scan_options.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/table/key_type.h"

namespace redouble::inline v0_1::memory {

// As strtoul with Redis's checks: no leading space, nothing after the number except after a zero
// byte, and within range. An empty text is 0, and a minus sign wraps around. Later versions skip
// leading spaces, and refuse an empty text and a negative number in canonical form.
std::optional<Reply> ReadCursor(const CommandContext& context, std::string_view text,
                                uint64_t& cursor) {
  text = text.substr(0, text.find('\0'));
  if (context.engine().Has(Feature::kCursorDigits)) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
    const std::optional<int64_t> number = base::ParseInt64(text);
    if (text.empty() || (number && *number < 0)) return Reply::Error(error_text::kInvalidCursor);
  }
  cursor = 0;
  if (text.empty()) return std::nullopt;
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cursor);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Reply::Error(error_text::kInvalidCursor);
  }
  if (negative) cursor = -cursor;
  return std::nullopt;
}

namespace {

bool IsTypeName(std::string_view name) {
  const std::string lower = absl::AsciiStrToLower(base::ToAbsl(name));
  return store::ParseKeyType(lower).value_or(store::KeyType::kNone) != store::KeyType::kNone;
}

}  // namespace

std::optional<Reply> ReadScanOptions(const CommandContext& context, Arguments arguments,
                                     bool with_type, ScanOptions& options) {
  for (size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 >= arguments.size()) return SyntaxError();
    const std::string_view value = arguments[i + 1];
    if (IsWord(arguments[i], "COUNT")) {
      const std::optional<int64_t> count = base::ParseInt64(value);
      if (!count) return Reply::Error(error_text::kNotAnInteger);
      if (*count < 1) return SyntaxError();
      options.count = static_cast<size_t>(*count);
    } else if (IsWord(arguments[i], "MATCH")) {
      options.match = value;
    } else if (with_type && IsWord(arguments[i], "TYPE")) {
      if (context.engine().Has(Feature::kKnownTypes) && !IsTypeName(value)) {
        return Reply::Error("ERR unknown type name '" + WordInError(value) + "'");
      }
      options.type = value;
    } else {
      return SyntaxError();
    }
  }
  return std::nullopt;
}

Reply ScanReply(uint64_t cursor, std::vector<Reply> elements) {
  return Reply::Array({Reply::Bulk(std::to_string(cursor)), Reply::Array(std::move(elements))});
}

Reply HandleScan(CommandContext& context, Arguments arguments) {
  ScanOptions options;
  if (std::optional<Reply> error = ReadCursor(context, arguments[0], options.cursor)) return *error;
  if (std::optional<Reply> error = ReadScanOptions(context, arguments.subspan(1), true, options)) {
    return *error;
  }
  std::vector<Reply> keys;
  std::vector<std::string> expired;
  context.PropagateSeparately();
  const bool by_type_first = context.engine().Has(Feature::kScanByType);
  // To learn its type, Redis 7.0 looks the key up as a command that reads does.
  const bool looks_up = options.type && !by_type_first;
  const auto visit = [&](const Database::Entry& entry) {
    if (!options.Matches(entry.key())) return;
    const bool has_type =
        !options.type || IsWord(store::KeyTypeName(entry.value.type()), *options.type);
    if (by_type_first && !has_type) return;
    if (context.IsExpired(entry)) {
      expired.emplace_back(entry.key());
      return;
    }
    if (looks_up) context.CountLookup(/*found=*/true);
    if (has_type) keys.push_back(Reply::Bulk(entry.key()));
  };
  const uint64_t next = context.db().Scan(options.cursor, options.count, visit);
  // As in Redis, they expire now.
  for (const std::string& key : expired) {
    if (looks_up) {
      context.Peek(key);
    } else {
      context.db().Find(key);
    }
  }
  return ScanReply(next, std::move(keys));
}

}  // namespace redouble::inline v0_1::memory
