#include "redouble/core/base/text/redis_number.h"

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "absl/numeric/int128.h"
#include "boost/multiprecision/cpp_int.hpp"

namespace redouble::inline v0_1::base {
namespace {

constexpr uint64_t kTenTo17 = 100'000'000'000'000'000;

// Never freed, because it may be in use until the last thread ends.
locale_t CLocale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

// strtod skips leading white space as defined by isspace; Redis refuses it.
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// `text` must be followed by a NUL byte, at text[size].
std::optional<double> ParseTerminated(const char* text, size_t size) {
  errno = 0;
  char* end = nullptr;
  const double value = strtod_l(text, &end, CLocale());
  if (static_cast<size_t>(end - text) != size || std::isnan(value)) return std::nullopt;
  // ERANGE alone is not an error: a subnormal result sets it too.
  const bool out_of_range = errno == ERANGE && (std::isinf(value) || value == 0);
  if (out_of_range || errno == EINVAL) return std::nullopt;
  return value;
}

// The C function needs a terminated string; nearly every number fits in the small buffer.
std::optional<double> ParseFloat(std::string_view text) {
  if (text.empty() || IsSpace(text.front())) return std::nullopt;
  char small[64];
  if (text.size() < sizeof(small)) {
    std::memcpy(small, text.data(), text.size());
    small[text.size()] = '\0';
    return ParseTerminated(small, text.size());
  }
  return ParseTerminated(std::string(text).c_str(), text.size());
}

// Doubles in this range represent integers exactly, and 17 significant digits show all their
// digits.
bool IsSmallInteger(double value) {
  constexpr double kLimit = 4503599627370496.0;  // 2^52
  if (!(value > -kLimit && value < kLimit)) return false;
  if (value == 0 && std::signbit(value)) return false;
  return value == static_cast<double>(static_cast<int64_t>(value));
}

// A value below 2^63 in magnitude, rounded to 17 decimals: |value| = integer + decimals / 10^17.
struct Fixed17 {
  bool negative;
  uint64_t integer;
  uint64_t decimals;
};

// Returns nullopt for values of 2^63 and more.
std::optional<Fixed17> RoundTo17Decimals(const Extended& value) {
  const uint64_t mantissa = value.mantissa();
  const int fraction_bits = -value.exponent();
  if (fraction_bits <= 0) return std::nullopt;
  Fixed17 fixed{value.is_negative(), 0, 0};
  // 2^64 * 10^17 has 121 bits; with more fraction bits than that, everything rounds to zero.
  if (fraction_bits >= 122) return fixed;
  uint64_t fraction = mantissa;
  if (fraction_bits < 64) {
    fixed.integer = mantissa >> fraction_bits;
    fraction = mantissa & ((uint64_t{1} << fraction_bits) - 1);
  }
  const absl::uint128 scaled = absl::uint128(fraction) * kTenTo17;
  const absl::uint128 rest = scaled & ((absl::uint128(1) << fraction_bits) - 1);
  const absl::uint128 half = absl::uint128(1) << (fraction_bits - 1);
  fixed.decimals = absl::Uint128Low64(scaled >> fraction_bits);
  if (rest > half || (rest == half && fixed.decimals % 2 == 1)) ++fixed.decimals;
  if (fixed.decimals == kTenTo17) {
    fixed.decimals = 0;
    ++fixed.integer;
  }
  return fixed;
}

// Returns the integer part, the point and the decimals without trailing zeros.
std::string FormatFixed17(const Fixed17& fixed) {
  std::array<char, 48> buffer;
  char* end = buffer.data();
  if (fixed.negative && (fixed.integer != 0 || fixed.decimals != 0)) *end++ = '-';
  end = std::to_chars(end, buffer.data() + buffer.size(), fixed.integer).ptr;
  if (fixed.decimals != 0) {
    *end = '.';
    uint64_t rest = fixed.decimals;
    for (int place = 17; place > 0; --place, rest /= 10)
      end[place] = static_cast<char>('0' + rest % 10);
    end += 18;
    while (end[-1] == '0') --end;
  }
  return std::string(buffer.data(), end);
}

}  // namespace

std::optional<int64_t> ParseInt64(std::string_view text) {
  if (text == "0") return 0;
  const bool negative = !text.empty() && text.front() == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  // 19 digits cannot overflow 64 unsigned bits, 20 digits cannot fit 64 signed ones.
  if (digits.empty() || digits.size() > 19 || digits.front() == '0') return std::nullopt;
  uint64_t magnitude = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    magnitude = magnitude * 10 + static_cast<uint64_t>(c - '0');
  }
  constexpr uint64_t kMaxMagnitude = std::numeric_limits<int64_t>::max();
  if (magnitude > kMaxMagnitude + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<int64_t>(negative ? uint64_t{0} - magnitude : magnitude);
}

std::string_view FormatInt64(int64_t value, Int64Buffer& buffer) {
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), static_cast<size_t>(result.ptr - buffer.data())};
}

std::string FormatInt64(int64_t value) {
  Int64Buffer buffer;
  return std::string(FormatInt64(value, buffer));
}

std::optional<Extended> ParseLongDouble(std::string_view text) {
  if (text.size() > kMaxLongDoubleTextBytes) return std::nullopt;
  return Extended::FromText(text);
}

std::string FormatLongDoubleHuman(const Extended& value) {
  if (value.is_nan()) return "nan";
  if (!value.is_finite()) return value.is_negative() ? "-inf" : "inf";
  const std::optional<Fixed17> fixed = RoundTo17Decimals(value);
  if (fixed.has_value()) return FormatFixed17(*fixed);
  boost::multiprecision::cpp_int integer(value.mantissa());
  integer <<= static_cast<unsigned>(value.exponent());
  return (value.is_negative() ? "-" : "") + integer.str();
}

// Most scores have few digits. A double represents their integer and the power of ten exactly, so
// that the quotient is the nearest double.
std::optional<double> ParseDouble(std::string_view text) {
  constexpr size_t kExactDigits = 15;
  constexpr double kPowersOfTen[kExactDigits] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                                 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
  if (text.empty() || text.size() > kExactDigits) return ParseFloat(text);
  int64_t integer = 0;
  size_t point = text.size() - 1;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && i > 0 && point == text.size() - 1 && i != point) {
      point = i;
      continue;
    }
    if (c < '0' || c > '9') return ParseFloat(text);
    integer = integer * 10 + (c - '0');
  }
  return static_cast<double>(integer) / kPowersOfTen[text.size() - 1 - point];
}

std::string_view FormatDouble(double value, DoubleBuffer& buffer) {
  char* const begin = buffer.data();
  char* const end = begin + buffer.size();
  // Most scores are integers: counters and times.
  const auto result = IsSmallInteger(value)
                          ? std::to_chars(begin, end, static_cast<int64_t>(value))
                          : std::to_chars(begin, end, value, std::chars_format::general, 17);
  return {begin, static_cast<size_t>(result.ptr - begin)};
}

std::string FormatDouble(double value) {
  DoubleBuffer buffer;
  return std::string(FormatDouble(value, buffer));
}

std::string FormatDistance(double value) {
  // The largest double has 309 digits before the point.
  std::array<char, 320> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                    std::chars_format::fixed, 4);
  return std::string(buffer.data(), result.ptr);
}

}  // namespace redouble::inline v0_1::base
