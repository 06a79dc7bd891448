#include "core/threescale/integer.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"

namespace redouble::threescale {
namespace {

// a * 10 + digit, at most the end of the range.
absl::uint128 Append(absl::uint128 value, unsigned digit) {
  const absl::uint128 most = absl::uint128(std::numeric_limits<absl::int128>::max());
  if (value > (most - digit) / 10) return most;
  return value * 10 + digit;
}

}  // namespace

Integer ToInteger(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && absl::ascii_isspace(text[at])) ++at;
  const bool negative = at < text.size() && text[at] == '-';
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  absl::uint128 value = 0;
  bool after_digit = false;
  for (; at < text.size(); ++at) {
    if (absl::ascii_isdigit(text[at])) {
      value = Append(value, static_cast<unsigned>(text[at] - '0'));
      after_digit = true;
    } else if (text[at] == '_' && after_digit) {
      after_digit = false;
    } else {
      break;
    }
  }
  const Integer number = static_cast<Integer>(value);
  return negative ? -number : number;
}

Integer ToIntegerOrZero(const std::optional<std::string>& text) {
  return text ? ToInteger(std::string_view(*text)) : Integer(0);
}

std::string FormatInteger(Integer value) {
  const bool negative = value < 0;
  absl::uint128 rest = static_cast<absl::uint128>(value);
  if (negative) rest = -rest;
  std::string text;
  do {
    text += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (negative) text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace redouble::threescale
