#include "redouble/core/base/text/shortest_double.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

#include "absl/numeric/int128.h"
#include "redouble/core/base/text/shortest_decimal.h"

namespace redouble::inline v0_1::base {
namespace {

// Grisu2 (Florian Loitsch, "Printing Floating-Point Numbers Quickly and Accurately with Integers",
// PLDI 2010). Its digits give the same double when they are read. For less
// than one double of a hundred they are one more than the fewest, or not the nearest of the fewest.

// significand * 2^exponent.
struct Scaled {
  uint64_t significand;
  int exponent;
};

constexpr int kFirstPower = -348;
constexpr int kPowerStep = 8;
// The significands of 10^kFirstPower, 10^(kFirstPower + kPowerStep), ..., rounded to 64 bits.
constexpr auto kPowers = std::to_array<uint64_t>({
    0xfa8fd5a0081c0288, 0xbaaee17fa23ebf76, 0x8b16fb203055ac76, 0xcf42894a5dce35ea,
    0x9a6bb0aa55653b2d, 0xe61acf033d1a45df, 0xab70fe17c79ac6ca, 0xff77b1fcbebcdc4f,
    0xbe5691ef416bd60c, 0x8dd01fad907ffc3c, 0xd3515c2831559a83, 0x9d71ac8fada6c9b5,
    0xea9c227723ee8bcb, 0xaecc49914078536d, 0x823c12795db6ce57, 0xc21094364dfb5637,
    0x9096ea6f3848984f, 0xd77485cb25823ac7, 0xa086cfcd97bf97f4, 0xef340a98172aace5,
    0xb23867fb2a35b28e, 0x84c8d4dfd2c63f3b, 0xc5dd44271ad3cdba, 0x936b9fcebb25c996,
    0xdbac6c247d62a584, 0xa3ab66580d5fdaf6, 0xf3e2f893dec3f126, 0xb5b5ada8aaff80b8,
    0x87625f056c7c4a8b, 0xc9bcff6034c13053, 0x964e858c91ba2655, 0xdff9772470297ebd,
    0xa6dfbd9fb8e5b88f, 0xf8a95fcf88747d94, 0xb94470938fa89bcf, 0x8a08f0f8bf0f156b,
    0xcdb02555653131b6, 0x993fe2c6d07b7fac, 0xe45c10c42a2b3b06, 0xaa242499697392d3,
    0xfd87b5f28300ca0e, 0xbce5086492111aeb, 0x8cbccc096f5088cc, 0xd1b71758e219652c,
    0x9c40000000000000, 0xe8d4a51000000000, 0xad78ebc5ac620000, 0x813f3978f8940984,
    0xc097ce7bc90715b3, 0x8f7e32ce7bea5c70, 0xd5d238a4abe98068, 0x9f4f2726179a2245,
    0xed63a231d4c4fb27, 0xb0de65388cc8ada8, 0x83c7088e1aab65db, 0xc45d1df942711d9a,
    0x924d692ca61be758, 0xda01ee641a708dea, 0xa26da3999aef774a, 0xf209787bb47d6b85,
    0xb454e4a179dd1877, 0x865b86925b9bc5c2, 0xc83553c5c8965d3d, 0x952ab45cfa97a0b3,
    0xde469fbd99a05fe3, 0xa59bc234db398c25, 0xf6c69a72a3989f5c, 0xb7dcbf5354e9bece,
    0x88fcf317f22241e2, 0xcc20ce9bd35c78a5, 0x98165af37b2153df, 0xe2a0b5dc971f303a,
    0xa8d9d1535ce3b396, 0xfb9b7cd9a4a7443c, 0xbb764c4ca7a44410, 0x8bab8eefb6409c1a,
    0xd01fef10a657842c, 0x9b10a4e5e9913129, 0xe7109bfba19c0c9d, 0xac2820d9623bf429,
    0x80444b5e7aa7cf85, 0xbf21e44003acdd2d, 0x8e679c2f5e44ff8f, 0xd433179d9c8cb841,
    0x9e19db92b4e31ba9, 0xeb96bf6ebadf77d9, 0xaf87023b9bf0ee6b,
});

// The power at `index` of the table.
Scaled PowerAt(int index) {
  const int power = kFirstPower + index * kPowerStep;
  // floor(power * log2(10)) for all powers of the table.
  const int binary = (power * 217706) >> 16;
  return {kPowers.at(static_cast<size_t>(index)), binary - 63};
}

Scaled Normalized(Scaled value) {
  const int shift = std::countl_zero(value.significand);
  return {value.significand << shift, value.exponent - shift};
}

// The upper 64 bits of the product, rounded.
Scaled Product(Scaled a, Scaled b) {
  const absl::uint128 product = absl::uint128(a.significand) * b.significand + (uint64_t{1} << 63);
  return {absl::Uint128High64(product), a.exponent + b.exponent + 64};
}

// The index of the power that brings a number of this exponent between 2^4 and 2^32 in units.
int IndexOfPower(int exponent) {
  constexpr int kLowest = -60;
  constexpr int kHighest = -32;
  constexpr double kLog10Of2 = 0.30102999566398114;
  const int size = static_cast<int>(kPowers.size());
  const int decimal = static_cast<int>(-(exponent + size) * kLog10Of2);
  int index = (decimal - kFirstPower) / kPowerStep;
  while (true) {
    const int sum = exponent + PowerAt(index).exponent + 64;
    if (sum >= kLowest && sum <= kHighest) return index;
    index += sum < kLowest ? 1 : -1;
  }
}

// Digits of a number between two bounds. All numbers here have one exponent, in which `one` is 1;
// distances are from the upper bound downwards.
class DigitGenerator {
 public:
  // `scale` is the power of ten of the last digit that an integer would have.
  DigitGenerator(Scaled lower, Scaled value, Scaled upper, int scale)
      : fraction_bits_(-upper.exponent),
        range_(upper.significand - lower.significand),
        to_value_(upper.significand - value.significand),
        integer_(upper.significand >> fraction_bits_),
        fraction_(upper.significand & (One() - 1)),
        scale_(scale) {}

  ShortestDecimal Generate() && {
    if (!AddIntegerDigits()) AddFractionDigits();
    const int exponent = scale_ + static_cast<int>(digits_.size()) - 1;
    return {.digits = std::move(digits_), .exponent = exponent};
  }

 private:
  uint64_t One() const { return uint64_t{1} << fraction_bits_; }

  void Add(uint64_t digit) {
    if (digit != 0 || !digits_.empty()) digits_ += static_cast<char>('0' + digit);
  }

  // Adds digits of the integer part. Returns true if those are enough.
  bool AddIntegerDigits() {
    uint64_t unit = 1'000'000'000;
    for (int left = 9; left >= 0; --left, unit /= 10) {
      Add(integer_ / unit);
      integer_ %= unit;
      const uint64_t rest = (integer_ << fraction_bits_) + fraction_;
      if (rest > range_) continue;
      scale_ += left;
      RoundLast(rest, unit << fraction_bits_, to_value_);
      return true;
    }
    return false;
  }

  void AddFractionDigits() {
    uint64_t to_value = to_value_;
    while (true) {
      fraction_ *= 10;
      range_ *= 10;
      to_value *= 10;
      --scale_;
      Add(fraction_ >> fraction_bits_);
      fraction_ &= One() - 1;
      if (fraction_ < range_) return RoundLast(fraction_, One(), to_value);
    }
  }

  // Lowers the last digit, worth `unit`, while that comes nearer to the value. `rest` is the
  // distance of the digits from the upper bound.
  void RoundLast(uint64_t rest, uint64_t unit, uint64_t to_value) {
    while (rest < to_value && range_ - rest >= unit &&
           (rest + unit < to_value || to_value - rest > rest + unit - to_value)) {
      --digits_.back();
      rest += unit;
    }
  }

  int fraction_bits_;
  uint64_t range_;
  uint64_t to_value_;
  uint64_t integer_;
  uint64_t fraction_;
  int scale_;
  std::string digits_;
};

// The digits of a finite value above zero.
ShortestDecimal DigitsOf(double value) {
  constexpr int kFractionBits = std::numeric_limits<double>::digits - 1;
  constexpr int kLeastExponent = std::numeric_limits<double>::min_exponent - 1 - kFractionBits;
  constexpr uint64_t kHiddenBit = uint64_t{1} << kFractionBits;
  const auto bits = std::bit_cast<uint64_t>(value);
  const int biased = static_cast<int>(bits >> kFractionBits);
  Scaled exact{bits & (kHiddenBit - 1), kLeastExponent};
  if (biased != 0) exact = {exact.significand + kHiddenBit, kLeastExponent + biased - 1};

  // Halfway to the neighbors; the lower one of a power of two is nearer.
  const int shift = exact.significand == kHiddenBit ? 2 : 1;
  const Scaled upper = Normalized({(exact.significand << 1) + 1, exact.exponent - 1});
  Scaled lower{(exact.significand << shift) - 1, exact.exponent - shift};
  lower = {lower.significand << (lower.exponent - upper.exponent), upper.exponent};

  const int index = IndexOfPower(upper.exponent);
  const Scaled power = PowerAt(index);
  Scaled scaled_lower = Product(lower, power);
  Scaled scaled_upper = Product(upper, power);
  ++scaled_lower.significand;
  --scaled_upper.significand;
  const int scale = -(kFirstPower + index * kPowerStep);
  return DigitGenerator(scaled_lower, Product(Normalized(exact), power), scaled_upper, scale)
      .Generate();
}

// As emit_digits of fpconv_dtoa.c.
std::string Text(const ShortestDecimal& decimal) {
  const int count = static_cast<int>(decimal.digits.size());
  // The value is digits * 10^scale.
  const int scale = decimal.exponent - count + 1;
  const int magnitude = std::abs(decimal.exponent);
  const bool is_near_integer = scale >= 0 && magnitude < count + 7;
  const bool is_near_fraction = scale < 0 && (scale > -7 || magnitude < 4);
  if (is_near_integer || is_near_fraction) return decimal.Positional();
  return decimal.Mantissa() + (decimal.exponent < 0 ? "e-" : "e+") + std::to_string(magnitude);
}

}  // namespace

std::string FormatShortestDouble(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  constexpr double kLargest = static_cast<double>(std::numeric_limits<int64_t>::max() / 2);
  if (std::fabs(value) <= kLargest && value == std::trunc(value)) {
    return std::to_string(static_cast<int64_t>(value));
  }
  return (value < 0 ? "-" : "") + Text(DigitsOf(std::fabs(value)));
}

}  // namespace redouble::inline v0_1::base
