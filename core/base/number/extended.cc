#include "redouble/core/base/number/extended.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "boost/multiprecision/cpp_int.hpp"

namespace redouble::inline v0_1::base {
namespace {

using boost::multiprecision::cpp_int;

constexpr int kDigits = 64;

// Beyond this, in either direction, a decimal exponent of the first digit decides alone: the
// largest value has 4932, the smallest -4951.
constexpr int64_t kDecimalRange = 5'000;
// The same for the binary exponent of a hexadecimal number's last digit, in as many digits as
// memory holds.
constexpr int64_t kExponentLimit = 1'000'000'000;

int WidthOf(absl::uint128 value) {
  const uint64_t high = absl::Uint128High64(value);
  return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                   : static_cast<int>(std::bit_width(absl::Uint128Low64(value)));
}

bool IsDigit(char c, bool hexadecimal) {
  if (c >= '0' && c <= '9') return true;
  return hexadecimal && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
}

// A number's parts: digits * base^-fraction * (10 or 2)^exponent.
struct NumberText {
  std::string digits;  // Without leading zeros.
  int64_t fraction = 0;
  int64_t exponent = 0;
};

// Reads "+12", up to the limit; nullopt if it is anything else.
std::optional<int64_t> ReadExponent(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  int64_t exponent = 0;
  for (const char c : text) {
    if (!IsDigit(c, false)) return std::nullopt;
    exponent = std::min(exponent * 10 + (c - '0'), kExponentLimit);
  }
  return negative ? -exponent : exponent;
}

// `text` has neither a sign nor "0x".
std::optional<NumberText> ReadNumber(std::string_view text, bool hexadecimal) {
  NumberText number;
  bool has_digits = false;
  bool has_point = false;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (!IsDigit(c, hexadecimal)) break;
    has_digits = true;
    if (has_point) ++number.fraction;
    if (c != '0' || !number.digits.empty()) number.digits.push_back(c);
  }
  if (!has_digits) return std::nullopt;
  if (at == text.size()) return number;
  const char mark = static_cast<char>(text[at] | 0x20);
  if (mark != (hexadecimal ? 'p' : 'e')) return std::nullopt;
  const std::optional<int64_t> exponent = ReadExponent(text.substr(at + 1));
  if (!exponent) return std::nullopt;
  number.exponent = *exponent;
  return number;
}

// Rounds numerator / denominator * 2^exponent.
Extended RoundRatio(bool negative, cpp_int numerator, cpp_int denominator, int64_t exponent) {
  // Two bits more than the digits, or three.
  const int64_t shift =
      kDigits + 2 + static_cast<int64_t>(msb(denominator)) - static_cast<int64_t>(msb(numerator));
  if (shift >= 0) {
    numerator <<= static_cast<uint64_t>(shift);
  } else {
    denominator <<= static_cast<uint64_t>(-shift);
  }
  cpp_int quotient, rest;
  divide_qr(numerator, denominator, quotient, rest);
  const auto low = static_cast<uint64_t>(quotient & std::numeric_limits<uint64_t>::max());
  const auto high = static_cast<uint64_t>(quotient >> 64);
  const int64_t binary = std::clamp<int64_t>(exponent - shift, -kExponentLimit, kExponentLimit);
  return Extended::Rounded(negative, absl::MakeUint128(high, low), static_cast<int>(binary),
                           !rest.is_zero());
}

// The most digits that replies have before and after the point.
constexpr int64_t kShortInteger = 19;
constexpr int64_t kShortDecimals = 17;

uint64_t ReadShort(std::string_view digits) {
  uint64_t integer = 0;
  for (const char c : digits) integer = integer * 10 + static_cast<uint64_t>(c - '0');
  return integer;
}

// Requires at most kShortDecimals, and at most kShortInteger digits before them.
Extended FromShortDecimal(bool negative, std::string_view digits, size_t decimals) {
  const size_t before = digits.size() - std::min(digits.size(), decimals);
  const uint64_t integer = ReadShort(digits.substr(0, before));
  const uint64_t fraction = ReadShort(digits.substr(before));
  uint64_t denominator = 1;
  for (size_t i = 0; i < decimals; ++i) denominator *= 10;
  // So that the quotient, or the integer with it, has two bits more than the digits.
  const int shift = integer == 0 ? 64 + std::countl_zero(fraction)
                                 : kDigits + 2 - static_cast<int>(std::bit_width(integer));
  const absl::uint128 numerator = absl::uint128(fraction) << shift;
  const absl::uint128 quotient = numerator / denominator;
  return Extended::Rounded(negative, (absl::uint128(integer) << shift) + quotient, -shift,
                           quotient * denominator != numerator);
}

// Overflow is infinite here, and underflow is zero.
Extended FromDecimal(bool negative, const NumberText& number) {
  const auto size = static_cast<int64_t>(number.digits.size());
  const int64_t exponent = number.exponent - number.fraction;
  if (size + exponent <= kShortInteger && exponent <= 0 && exponent >= -kShortDecimals) {
    return FromShortDecimal(negative, number.digits, static_cast<size_t>(-exponent));
  }
  if (size + exponent > kDecimalRange) return Extended::Rounded(negative, 1, kExponentLimit);
  if (size + exponent < -kDecimalRange) return Extended();
  const cpp_int power = pow(cpp_int(10), static_cast<unsigned>(std::abs(exponent)));
  cpp_int integer(number.digits);
  if (exponent >= 0) return RoundRatio(negative, integer * power, 1, 0);
  return RoundRatio(negative, std::move(integer), power, 0);
}

}  // namespace

Extended::Extended(double value) {
  if (std::isnan(value)) {
    *this = Nan();
  } else if (std::isinf(value)) {
    *this = Infinite(value < 0);
  } else {
    constexpr int kDoubleDigits = std::numeric_limits<double>::digits;
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent);
    const auto integer = static_cast<uint64_t>(std::ldexp(fraction, kDoubleDigits));
    *this = Rounded(std::signbit(value), integer, exponent - kDoubleDigits);
  }
}

Extended Extended::Infinite(bool negative) {
  Extended result;
  result.kind_ = Kind::kInfinite;
  result.negative_ = negative;
  return result;
}

Extended Extended::Nan() {
  Extended result;
  result.kind_ = Kind::kNan;
  return result;
}

std::optional<Extended> Extended::FromText(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  for (const absl::string_view name : {"inf", "infinity"}) {
    if (absl::EqualsIgnoreCase(absl::string_view(text.data(), text.size()), name))
      return Infinite(negative);
  }
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  const std::optional<NumberText> number = ReadNumber(text, hexadecimal);
  if (!number) return std::nullopt;
  if (number->digits.empty()) return Rounded(negative, 0, 0);
  Extended result;
  if (hexadecimal) {
    result = RoundRatio(negative, cpp_int("0x" + number->digits), 1,
                        number->exponent - 4 * number->fraction);
  } else {
    result = FromDecimal(negative, *number);
  }
  if (!result.is_finite() || result.is_zero()) return std::nullopt;
  return result;
}

Extended Extended::Rounded(bool negative, absl::uint128 value, int exponent, bool has_rest) {
  Extended result;
  result.negative_ = negative;
  const int width = WidthOf(value);
  const int shift = std::max(width - kDigits, kMinExponent - exponent);
  // Less than a half.
  if (width == 0 || shift > width) return result;
  absl::uint128 kept = value;
  if (shift <= 0) {
    kept = value << -shift;
  } else {
    kept = shift == 128 ? 0 : value >> shift;
    const absl::uint128 dropped = shift == 128 ? value : value - (kept << shift);
    const absl::uint128 half = absl::uint128(1) << (shift - 1);
    if (dropped > half || (dropped == half && (has_rest || kept % 2 == 1))) ++kept;
  }
  result.exponent_ = exponent + shift;
  if (WidthOf(kept) > kDigits) {
    kept >>= 1;
    ++result.exponent_;
  }
  result.mantissa_ = absl::Uint128Low64(kept);
  return result.exponent_ > kMaxExponent ? Infinite(negative) : result;
}

std::optional<int64_t> Extended::CeilToInt64() const {
  if (!is_finite() || (exponent_ > 0 && mantissa_ != 0)) return std::nullopt;
  uint64_t magnitude = exponent_ > -kDigits ? mantissa_ >> -exponent_ : 0;
  const bool is_integer = exponent_ > -kDigits ? magnitude << -exponent_ == mantissa_ : is_zero();
  if (!is_integer && !negative_) ++magnitude;
  constexpr uint64_t kMaxMagnitude = std::numeric_limits<int64_t>::max();
  if (magnitude > kMaxMagnitude + (negative_ ? 1 : 0)) return std::nullopt;
  return static_cast<int64_t>(negative_ ? uint64_t{0} - magnitude : magnitude);
}

Extended operator+(const Extended& a, const Extended& b) {
  if (a.exponent_ < b.exponent_) return b + a;
  if (!a.is_finite() || !b.is_finite()) {
    const bool opposed = !a.is_finite() && !b.is_finite() && a.negative_ != b.negative_;
    if (a.is_nan() || b.is_nan() || opposed) return Extended::Nan();
    return a.is_finite() ? b : a;
  }
  // Both are aligned to the larger exponent, with room for a carry. What the smaller one loses is
  // less than a unit.
  constexpr int kRoom = 62;
  const absl::uint128 larger = absl::uint128(a.mantissa_) << kRoom;
  const absl::uint128 whole = absl::uint128(b.mantissa_) << kRoom;
  const int distance = a.exponent_ - b.exponent_;
  const absl::uint128 smaller = distance < 128 ? whole >> distance : 0;
  const bool has_rest = distance < 128 ? (smaller << distance) != whole : whole != 0;
  const int exponent = a.exponent_ - kRoom;
  if (a.negative_ == b.negative_) {
    return Extended::Rounded(a.negative_, larger + smaller, exponent, has_rest);
  }
  if (larger == smaller && !has_rest) return Extended();
  if (larger > smaller) {
    return Extended::Rounded(a.negative_, larger - smaller - (has_rest ? 1 : 0), exponent,
                             has_rest);
  }
  return Extended::Rounded(b.negative_, smaller - larger, exponent);
}

Extended operator*(const Extended& a, const Extended& b) {
  const bool negative = a.negative_ != b.negative_;
  if (!a.is_finite() || !b.is_finite()) {
    const bool is_nan = a.is_nan() || b.is_nan() || a.is_zero() || b.is_zero();
    return is_nan ? Extended::Nan() : Extended::Infinite(negative);
  }
  return Extended::Rounded(negative, absl::uint128(a.mantissa_) * b.mantissa_,
                           a.exponent_ + b.exponent_);
}

bool operator==(const Extended& a, const Extended& b) {
  if (a.is_nan() || b.is_nan()) return false;
  if (a.is_zero() && b.is_zero()) return true;
  return a.kind_ == b.kind_ && a.negative_ == b.negative_ && a.mantissa_ == b.mantissa_ &&
         a.exponent_ == b.exponent_;
}

}  // namespace redouble::inline v0_1::base
