#include "redouble/core/base/number/extended.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

constexpr uint64_t kHighestBit = uint64_t{1} << 63;
constexpr uint64_t kAllBits = std::numeric_limits<uint64_t>::max();

Extended Finite(uint64_t mantissa, int exponent) {
  return Extended::Rounded(false, mantissa, exponent);
}

TEST(Extended, IsZeroAtFirst) {
  EXPECT_EQ(Extended().mantissa(), 0u);
  EXPECT_EQ(Extended(), Extended(-0.0));
}

TEST(Extended, HoldsEveryDouble) {
  EXPECT_EQ(Extended(1.0), Finite(1, 0));
  EXPECT_EQ(Extended(0.375), Finite(3, -3));
  EXPECT_EQ(Extended(std::numeric_limits<double>::denorm_min()), Finite(1, -1074));
  EXPECT_EQ(Extended(std::numeric_limits<double>::max()), Finite((uint64_t{1} << 53) - 1, 971));
  EXPECT_TRUE(Extended(-2.0).is_negative());
  EXPECT_FALSE(Extended(std::numeric_limits<double>::infinity()).is_finite());
  EXPECT_TRUE(Extended(std::nan("")).is_nan());
}

TEST(Extended, RoundsTextToTheNearestAndHalvesToEven) {
  const struct {
    std::string_view text;
    uint64_t mantissa;
    int exponent;
  } kRows[] = {
      {"1", kHighestBit, -63},
      {"0.1", 0xCCCCCCCCCCCCCCCD, -67},
      {"18446744073709551615", kAllBits, 0},
      {"18446744073709551616", kHighestBit, 1},
      {"18446744073709551617", kHighestBit, 1},
      {"18446744073709551617.0000000000000000000000000000001", kHighestBit + 1, 1},
      {"18446744073709551618", kHighestBit + 1, 1},
      {"36893488147419103233", kHighestBit, 2},
      {"36893488147419103234", kHighestBit, 2},
      {"36893488147419103234.00000000000000000000000000000001", kHighestBit + 1, 2},
      {"36893488147419103238", kHighestBit + 2, 2},
      {"0x1.00000000000000010000000000000000001", kHighestBit + 1, -63},
      {"0x1.0000000000000001", kHighestBit, -63},
      {"0x1p-16445", 1, -16445},
      {"0x1.8p-16445", 2, -16445},
      {"0x0.8000000000001p-16445", 1, -16445},
      {"0x0.ffffffffffffffff8p-16382", kHighestBit, -16445},
      {"0x1.fffffffffffffffep16383", kAllBits, 16320},
      {"0x1.fffffffffffffffeffffp16383", kAllBits, 16320},
  };
  for (const auto& row : kRows) {
    const std::optional<Extended> value = Extended::FromText(row.text);
    ASSERT_TRUE(value.has_value()) << row.text;
    EXPECT_EQ(value->mantissa(), row.mantissa) << row.text;
    EXPECT_EQ(value->exponent(), row.exponent) << row.text;
  }
}

TEST(Extended, RefusesTextOutOfRange) {
  for (const std::string_view text :
       {"0x1p-16446", "0x1p16384", "0x1.ffffffffffffffffp16383", "1e999999999999999999999",
        "1e-999999999999999999999", "0x1p999999999999999999999", "0x1p-999999999999999999999"}) {
    EXPECT_EQ(Extended::FromText(text), std::nullopt) << text;
  }
  EXPECT_EQ(Extended::FromText("0e999999999999999999999"), Extended());
  EXPECT_EQ(Extended::FromText("1" + std::string(4990, '0') + "e-4990"), Extended(1));
  EXPECT_EQ(Extended::FromText("0." + std::string(4999, '0') + "1e5000"), Extended(1));
}

TEST(Extended, AddsWithASingleRounding) {
  const Extended one(1);
  EXPECT_EQ(one + Finite(1, -64), one);
  EXPECT_EQ(one + Finite(3, -65), Finite(kHighestBit + 1, -63));
  EXPECT_EQ(one + Finite(kHighestBit + 1, -127), Finite(kHighestBit + 1, -63));
  EXPECT_EQ(one + Finite(1, -16445), one);
  // The largest value below 1, but for the halfway case.
  EXPECT_EQ(one + Extended::Rounded(true, 1, -66), one);
  EXPECT_EQ(one + Extended::Rounded(true, 1, -65), one);
  EXPECT_EQ(one + Extended::Rounded(true, 3, -66), Finite(kAllBits, -64));
  EXPECT_EQ(Finite(1, -16445) + Finite(1, -16445), Finite(2, -16445));
  EXPECT_FALSE((Finite(kAllBits, 16320) + Finite(1, 16319)).is_finite());
  EXPECT_TRUE((Finite(kAllBits, 16320) + Finite(1, 16318)).is_finite());
}

TEST(Extended, CalculatesWithInfinities) {
  const Extended infinity(std::numeric_limits<double>::infinity());
  const Extended opposite(-std::numeric_limits<double>::infinity());
  EXPECT_EQ(infinity + Extended(1), infinity);
  EXPECT_EQ(Extended(1) + opposite, opposite);
  EXPECT_TRUE((infinity + opposite).is_nan());
  EXPECT_EQ(opposite * Extended(1000), opposite);
  EXPECT_TRUE((infinity * Extended()).is_nan());
  EXPECT_FALSE(infinity + opposite == infinity + opposite);
}

TEST(Extended, RoundsUpToIntegers) {
  const struct {
    Extended value;
    std::optional<int64_t> ceil;
  } kRows[] = {
      {Extended(), 0},
      {Extended(2), 2},
      {Extended(2.25), 3},
      {Extended(-2.25), -2},
      {Extended(-0.5), 0},
      {Finite(1, -16445), 1},
      {Finite(kAllBits >> 1, 0), std::numeric_limits<int64_t>::max()},
      {Finite(kHighestBit, 0), std::nullopt},
      {Finite(kAllBits - 2, -1), std::numeric_limits<int64_t>::max()},
      {Finite(kAllBits, -1), std::nullopt},
      {Extended::Rounded(true, kHighestBit, 0), std::numeric_limits<int64_t>::min()},
      {Extended::Rounded(true, kHighestBit + 1, 0), std::nullopt},
      {Finite(1, 100), std::nullopt},
      {Extended(std::numeric_limits<double>::infinity()), std::nullopt},
      {Extended(std::nan("")), std::nullopt},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(row.value.CeilToInt64(), row.ceil)
        << row.value.mantissa() << " * 2^" << row.value.exponent();
  }
}

// On x86-64 the processor's own number judges.
#if LDBL_MANT_DIG == 64 && LDBL_MAX_EXP == 16384

long double Native(const Extended& value) {
  if (value.is_nan()) return std::numeric_limits<long double>::quiet_NaN();
  const long double magnitude =
      value.is_finite() ? std::ldexp(static_cast<long double>(value.mantissa()), value.exponent())
                        : std::numeric_limits<long double>::infinity();
  return value.is_negative() ? -magnitude : magnitude;
}

bool AreEqual(long double a, long double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Mantissas with long runs of equal bits, which round in every way.
Extended AnyExtended() {
  uint64_t mantissa = 0;
  const auto runs = *rc::gen::container<std::vector<uint8_t>>(4, rc::gen::arbitrary<uint8_t>());
  for (const uint8_t run : runs) {
    mantissa = (mantissa << (run % 64)) ^ (run % 2 == 0 ? 0 : kAllBits);
  }
  const bool is_close = *rc::gen::arbitrary<bool>();
  const int exponent = is_close ? *rc::gen::inRange(-140, 80) : *rc::gen::inRange(-16520, 16330);
  return Extended::Rounded(*rc::gen::arbitrary<bool>(), mantissa, exponent);
}

RC_GTEST_PROP(Extended, AddsAsTheProcessor, ()) {
  const Extended a = AnyExtended();
  const Extended b = AnyExtended();
  RC_ASSERT(AreEqual(Native(a + b), Native(a) + Native(b)));
}

RC_GTEST_PROP(Extended, MultipliesAsTheProcessor, ()) {
  const Extended a = AnyExtended();
  const Extended b = AnyExtended();
  RC_ASSERT(AreEqual(Native(a * b), Native(a) * Native(b)));
}

RC_GTEST_PROP(Extended, RoundsUpAsTheLibrary, ()) {
  const Extended value = AnyExtended();
  const long double ceil = std::ceil(Native(value));
  const bool fits = ceil >= -0x1p63L && ceil < 0x1p63L;
  const std::optional<int64_t> expected =
      fits ? std::optional<int64_t>(static_cast<int64_t>(ceil)) : std::nullopt;
  RC_ASSERT(value.CeilToInt64() == expected);
}

RC_GTEST_PROP(Extended, HoldsDoublesAsTheProcessor, (uint64_t bits)) {
  const auto value = std::bit_cast<double>(bits);
  RC_ASSERT(AreEqual(Native(Extended(value)), value));
}

// What strtold says, as INCRBYFLOAT judges it.
std::optional<long double> ReadByLibrary(const std::string& text) {
  errno = 0;
  char* end = nullptr;
  const long double value = std::strtold(text.c_str(), &end);
  const bool is_out_of_range = errno == ERANGE && (std::isinf(value) || value == 0);
  if (text.empty() || *end != '\0' || std::isnan(value) || is_out_of_range) return std::nullopt;
  return value;
}

void ExpectReadAsByLibrary(const std::string& text) {
  const std::optional<Extended> value = Extended::FromText(text);
  const std::optional<long double> expected = ReadByLibrary(text);
  RC_LOG() << "text: " << text << "\n";
  RC_ASSERT(value.has_value() == expected.has_value());
  if (value) RC_ASSERT(Native(*value) == *expected);
}

RC_GTEST_PROP(Extended, ReadsWhatTheLibraryReads, ()) {
  ExpectReadAsByLibrary(
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0015.e+-xXpPfinINFtyaA"))));
}

RC_GTEST_PROP(Extended, ReadsDecimalsAsTheLibrary, (uint64_t high, uint64_t low)) {
  std::string digits = std::to_string(high) + std::to_string(low);
  digits.resize(*rc::gen::inRange<size_t>(1, digits.size() + 1));
  digits.insert(*rc::gen::inRange<size_t>(0, digits.size() + 1), ".");
  const int exponent =
      *rc::gen::arbitrary<bool>() ? *rc::gen::inRange(-30, 30) : *rc::gen::inRange(-5000, 5000);
  ExpectReadAsByLibrary(digits);
  ExpectReadAsByLibrary(digits + "e" + std::to_string(exponent));
}

// Up to 19 digits before the point and 17 after it are read by the fast path. Draws up to one more
// of each.
RC_GTEST_PROP(Extended, ReadsTheNumbersOfRepliesAsTheLibrary,
              (uint64_t integer, uint64_t decimals)) {
  std::string before = std::to_string(integer);
  before.resize(*rc::gen::inRange<size_t>(0, before.size() + 1));
  std::string after = std::to_string(decimals);
  after.insert(0, *rc::gen::inRange<size_t>(0, 18), '0');
  after.resize(*rc::gen::inRange<size_t>(1, std::min<size_t>(after.size(), 18) + 1));
  ExpectReadAsByLibrary(before + "." + after);
  ExpectReadAsByLibrary("-" + before + "." + after);
}

// Halfway between two values, and a little more or less.
RC_GTEST_PROP(Extended, ReadsHalvesAsTheLibrary, (uint64_t mantissa)) {
  const int exponent = *rc::gen::inRange(-200, 200);
  const long double value = std::ldexp(static_cast<long double>(mantissa | kHighestBit), exponent);
  char text[512];
  std::snprintf(text, sizeof(text), "%.270Lf", value);
  // The value and half a unit: the digit 8 after its last bit.
  char hexadecimal[64];
  std::snprintf(hexadecimal, sizeof(hexadecimal), "0x%llx8p%d",
                static_cast<unsigned long long>(mantissa | kHighestBit), exponent);
  ExpectReadAsByLibrary(text);
  ExpectReadAsByLibrary(hexadecimal);
  ExpectReadAsByLibrary(std::string(hexadecimal).insert(19, "00000001"));
}

#endif

}  // namespace
}  // namespace redouble::inline v0_1::base
