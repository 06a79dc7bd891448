// Extended: the floating-point number of INCRBYFLOAT, with a mantissa of 64 bits and an exponent
// of 15.
//
// Redis calculates with C's long double, which is this number on x86-64 only: arm64 has one of 113
// bits, and other systems have none beside double. This one is calculated with integers, so that
// all of them give the replies of x86-64.
//
//   const std::optional<Extended> a = Extended::FromText("0.1");
//   const Extended sum = *a + Extended(0.25);
//   sum.mantissa(), sum.exponent()              // |sum| = mantissa * 2^exponent
//
// Results are rounded to the nearest value, halves to even, as the processor rounds them.
//
// Thread-safety: plain values.
#ifndef REDOUBLE_CORE_BASE_NUMBER_EXTENDED_H_
#define REDOUBLE_CORE_BASE_NUMBER_EXTENDED_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/numeric/int128.h"

namespace redouble::inline v0_1::base {

class Extended {
 public:
  // Zero.
  constexpr Extended() = default;
  // Every double is such a number.
  explicit Extended(double value);

  // Returns the value nearest to `text`, otherwise nullopt: if it is not a decimal or hexadecimal
  // number in C syntax or an infinity, and if it overflows or underflows to zero. There is no limit
  // of length, but the time grows with its square.
  static std::optional<Extended> FromText(std::string_view text);

  bool is_finite() const { return kind_ == Kind::kFinite; }
  bool is_nan() const { return kind_ == Kind::kNan; }
  bool is_negative() const { return negative_; }

  // The magnitude is mantissa * 2^exponent. Requires a finite value.
  uint64_t mantissa() const { return mantissa_; }
  int exponent() const { return exponent_; }

  // Returns the smallest integer that is not below the value; nullopt if it does not fit.
  std::optional<int64_t> CeilToInt64() const;

  // Returns mantissa * 2^exponent, rounded. With `has_rest` the magnitude is larger by less than
  // one unit of `value`, which then must have 66 bits or more.
  static Extended Rounded(bool negative, absl::uint128 value, int exponent, bool has_rest = false);

  friend Extended operator+(const Extended& a, const Extended& b);
  friend Extended operator*(const Extended& a, const Extended& b);
  // Zeros are equal, and NaN equals nothing.
  friend bool operator==(const Extended& a, const Extended& b);

 private:
  enum class Kind : uint8_t { kFinite, kInfinite, kNan };

  static constexpr int kMinExponent = -16'445;
  static constexpr int kMaxExponent = 16'320;

  static Extended Infinite(bool negative);
  static Extended Nan();
  bool is_zero() const { return is_finite() && mantissa_ == 0; }

  // The highest bit is set, unless the exponent is the least.
  uint64_t mantissa_ = 0;
  int exponent_ = kMinExponent;
  Kind kind_ = Kind::kFinite;
  bool negative_ = false;
};

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_NUMBER_EXTENDED_H_
