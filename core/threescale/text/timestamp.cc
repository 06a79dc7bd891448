#include "redouble/core/threescale/text/timestamp.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/threescale/text/date_text.h"

namespace redouble::inline v0_1::threescale {
namespace {

// The digits of an integer literal and their base.
struct Literal {
  std::string_view digits;
  int base = 10;
};

Literal SplitPrefix(std::string_view text) {
  constexpr int kHexadecimal = 16;
  constexpr int kOctal = 8;
  if (text.size() < 2 || text[0] != '0') return {text};
  switch (absl::ascii_tolower(text[1])) {
    case 'x':
      return {text.substr(2), kHexadecimal};
    case 'o':
      return {text.substr(2), kOctal};
    case 'b':
      return {text.substr(2), 2};
    case 'd':
      return {text.substr(2)};
    default:
      return {text, kOctal};
  }
}

int DigitValue(char c) {
  constexpr int kTen = 10;
  if (absl::ascii_isdigit(c)) return c - '0';
  if (absl::ascii_isalpha(c)) return absl::ascii_tolower(c) - 'a' + kTen;
  return std::numeric_limits<int>::max();
}

// Returns the value of digits with single underscores between them, saturated to int64_t, or
// nullopt if they are not a number.
std::optional<int64_t> ReadDigits(const Literal& literal) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t value = 0;
  bool after_digit = false;
  for (const char c : literal.digits) {
    if (c == '_' && after_digit) {
      after_digit = false;
      continue;
    }
    const int digit = DigitValue(c);
    if (digit >= literal.base) return std::nullopt;
    after_digit = true;
    value = value > (kMost - digit) / literal.base ? kMost : value * literal.base + digit;
  }
  return after_digit ? std::optional<int64_t>(value) : std::nullopt;
}

std::optional<absl::Time> ParseUnixSeconds(std::string_view text) {
  text = base::ToStd(absl::StripAsciiWhitespace(base::ToAbsl(text)));
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::optional<int64_t> seconds = ReadDigits(SplitPrefix(text));
  if (!seconds) return std::nullopt;
  return absl::FromUnixSeconds(negative ? -*seconds : *seconds);
}

}  // namespace

std::optional<absl::Time> ParseTimestamp(std::string_view text) {
  if (const std::optional<absl::Time> time = ParseUnixSeconds(text)) return time;
  return ParseDateText(text);
}

}  // namespace redouble::inline v0_1::threescale
