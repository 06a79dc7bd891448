// The rows of the tables were recorded from redis-server 7.0.15: INCRBY k 0 after SET k TEXT for
// integers, INCRBYFLOAT and HINCRBYFLOAT for long doubles, ZADD and ZSCORE for doubles, GEODIST for
// distances.

#include "redouble/core/base/text/redis_number.h"

#include <bit>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

using std::string_view_literals::operator""sv;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(ParseInt64, AcceptsCanonicalDecimals) {
  const struct {
    std::string_view text;
    int64_t value;
  } kRows[] = {
      {"0", 0},
      {"1", 1},
      {"-1", -1},
      {"10", 10},
      {"9223372036854775807", kMax},
      {"-9223372036854775808", kMin},
      {"-9223372036854775807", kMin + 1},
      {"999999999999999999", 999999999999999999},
  };
  for (const auto& row : kRows) EXPECT_EQ(ParseInt64(row.text), row.value) << row.text;
}

TEST(ParseInt64, RefusesEverythingElse) {
  for (const std::string_view text : {""sv,
                                      "-"sv,
                                      "-0"sv,
                                      "+1"sv,
                                      "+"sv,
                                      "01"sv,
                                      "-01"sv,
                                      "00"sv,
                                      " 1"sv,
                                      "1 "sv,
                                      "1a"sv,
                                      "a1"sv,
                                      "--1"sv,
                                      "0x10"sv,
                                      "1.0"sv,
                                      "1e3"sv,
                                      "1\0"sv,
                                      "\0"sv,
                                      "9223372036854775808"sv,
                                      "-9223372036854775809"sv,
                                      "9999999999999999999"sv,
                                      "18446744073709551616"sv,
                                      "100000000000000000000"sv,
                                      "-10000000000000000000"sv,
                                      "1/"sv,
                                      "1:"sv}) {
    EXPECT_EQ(ParseInt64(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(ParseInt64, ReadsBackWhatFormatInt64Writes, (int64_t value)) {
  RC_ASSERT(ParseInt64(FormatInt64(value)) == value);
}

RC_GTEST_PROP(ParseInt64, AcceptsOnlyWhatFormatInt64Writes, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::weightedElement<char>({{4, '0'}, {4, '1'}, {4, '9'}, {2, '-'}, {1, '+'}, {1, ' '}}));
  const std::optional<int64_t> value = ParseInt64(text);
  if (value.has_value()) RC_ASSERT(FormatInt64(*value) == text);
}

TEST(FormatInt64, FillsTheBufferWithTheLongestValue) {
  Int64Buffer buffer;
  EXPECT_EQ(FormatInt64(kMin, buffer), "-9223372036854775808");
  EXPECT_EQ(FormatInt64(kMax, buffer), "9223372036854775807");
  EXPECT_EQ(FormatInt64(0, buffer), "0");
}

// The replies of INCRBYFLOAT k 0 after SET k TEXT, and of INCRBYFLOAT k TEXT after SET k 0.
TEST(ParseLongDouble, ReadsAndWritesAsIncrByFloat) {
  const struct {
    std::string_view text;
    std::string_view human;
  } kRows[] = {
      {"0", "0"},
      {"-0", "0"},
      {"+1", "1"},
      {"01", "1"},
      {"-1", "-1"},
      {"1.", "1"},
      {".5", "0.5"},
      {"0x10", "16"},
      {"0X1p3", "8"},
      {"0x1.8", "1.5"},
      {"1e-4932", "0"},
      {"1e-4950", "0"},
      {"3.0e3", "3000"},
      {"5.0e3", "5000"},
      {"0.1", "0.1"},
      {"0.3", "0.3"},
      {"10.50", "10.5"},
      {"5e-324", "0"},
      {"1e30", "1000000000000000000024696061952"},
      {"1000000000000000000000000000000", "1000000000000000000024696061952"},
      {"123456789.123456789", "123456789.12345678899873747"},
      {"0.00000000000000001", "0.00000000000000001"},
      {"0.000000000000000001", "0"},
      {"-0.000000000000000001", "0"},
      {"3.14159265358979323846", "3.14159265358979324"},
      {"1e17", "100000000000000000"},
      {"1e20", "100000000000000000000"},
      {"inf", "inf"},
      {"+inf", "inf"},
      {"-inf", "-inf"},
      {"INF", "inf"},
      {"-Infinity", "-inf"},
  };
  for (const auto& row : kRows) {
    const std::optional<Extended> value = ParseLongDouble(row.text);
    ASSERT_TRUE(value.has_value()) << row.text;
    EXPECT_EQ(FormatLongDoubleHuman(*value), row.human) << row.text;
  }
}

TEST(ParseLongDouble, RefusesWhatIncrByFloatRefuses) {
  for (const std::string_view text : {""sv,
                                      "-"sv,
                                      "."sv,
                                      "1."
                                      " "sv,
                                      " 1"sv,
                                      "1 "sv,
                                      "\t1"sv,
                                      "\n1"sv,
                                      "\v1"sv,
                                      "\f1"sv,
                                      "\r1"sv,
                                      "1\n"sv,
                                      "0x"sv,
                                      "nan"sv,
                                      "NaN"sv,
                                      "-nan"sv,
                                      "nan(1)"sv,
                                      "1.2e4932"sv,
                                      "1e4933"sv,
                                      "-1e4933"sv,
                                      "1e-4951"sv,
                                      "1e-5000"sv,
                                      "1e"sv,
                                      "1e+"sv,
                                      "1.5\0"sv,
                                      "1,5"sv,
                                      "1_000"sv,
                                      "- 1"sv,
                                      "--1"sv,
                                      "+-1"sv,
                                      "0b1"sv,
                                      "1d"sv,
                                      "1f"sv,
                                      "1L"sv}) {
    EXPECT_EQ(ParseLongDouble(text), std::nullopt) << text;
  }
}

TEST(ParseLongDouble, LimitsTheLengthOfTheText) {
  const std::string longest = std::string(kMaxLongDoubleTextBytes - 1, '0') + "1";
  EXPECT_EQ(ParseLongDouble(longest), Extended(1));
  EXPECT_EQ(ParseLongDouble("0" + longest), std::nullopt);
}

// 80-bit arithmetic with 17 decimals: the replies of INCRBYFLOAT and HINCRBYFLOAT for the two
// addends.
TEST(FormatLongDoubleHuman, WritesSumsAsIncrByFloat) {
  const struct {
    std::string_view augend, addend, sum;
  } kRows[] = {
      {"0.1", "0.2", "0.3"},
      {"10.5", "0.1", "10.6"},
      {"3", "-3", "0"},
      {"-1", "1", "0"},
      {"5.0e3", "200", "5200"},
      {"1e20", "0.1", "100000000000000000000"},
      {"0", "-0.0", "0"},
      {"-0", "-0", "0"},
      {"0", "-1e-18", "0"},
      {"1e30", "1", "1000000000000000000024696061952"},
      {"17179869184", "1.00000000000000000000000000000001", "17179869185"},
      {"3.0", "1.000000000000000005", "4.00000000000000001"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(FormatLongDoubleHuman(*ParseLongDouble(row.augend) + *ParseLongDouble(row.addend)),
              row.sum)
        << row.augend << " + " << row.addend;
  }
}

TEST(FormatLongDoubleHuman, WritesTheLargestValuesInFull) {
  const std::string text = FormatLongDoubleHuman(*ParseLongDouble("1e4932"));
  EXPECT_EQ(text.size(), 4933u);
  EXPECT_EQ(text.substr(0, 40), "1000000000000000000006018949387963891323");
  EXPECT_EQ(text.substr(text.size() - 20), "38418113791886622720");
  EXPECT_EQ(FormatLongDoubleHuman(*ParseLongDouble("-1.18973e4932")).size(), 4934u);
}

// Each of the values below has at most 64 bits.
Extended ToExtended(long double value) {
  int exponent = 0;
  const auto mantissa =
      static_cast<uint64_t>(std::ldexp(std::frexp(std::abs(value), &exponent), 64));
  return Extended::Rounded(std::signbit(value), mantissa, exponent - 64);
}

std::string Human(long double value) { return FormatLongDoubleHuman(ToExtended(value)); }

// The definition: "%.17Lf" of the C library without trailing zeros and point.
std::string PrintedHuman(long double value) {
  std::array<char, std::numeric_limits<long double>::max_exponent10 + 21> buffer;
  std::string text(buffer.data(), static_cast<size_t>(std::snprintf(buffer.data(), buffer.size(),
                                                                    "%.17Lf", value)));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

TEST(FormatLongDoubleHuman, EqualsItsDefinitionAtEveryMagnitude) {
  for (int exponent = -140; exponent < 140; ++exponent) {
    for (const long double mantissa :
         {1.0L, 1.5L, 0x1.b333333333333334p0L, 0x1.5555555555555554p0L, 2.0L - 0x1p-63L}) {
      const long double value = std::ldexp(mantissa, exponent);
      EXPECT_EQ(Human(value), PrintedHuman(value)) << exponent;
      EXPECT_EQ(Human(-value), PrintedHuman(-value)) << exponent;
    }
  }
}

TEST(FormatLongDoubleHuman, RoundsHalvesToEven) {
  // Odd multiples of 2^-18 have 18 decimals, and the last is a 5.
  for (const long double value : {1 / 262144.0L, 3 / 262144.0L, 5 / 262144.0L, 262143 / 262144.0L,
                                  1 + 1 / 262144.0L, 1 - 0x1p-64L}) {
    EXPECT_EQ(Human(value), PrintedHuman(value));
  }
}

RC_GTEST_PROP(FormatLongDoubleHuman, EqualsItsDefinition, (int64_t mantissa)) {
  const long double value =
      std::ldexp(static_cast<long double>(mantissa), *rc::gen::inRange(-190, 20));
  RC_ASSERT(Human(value) == PrintedHuman(value));
}

RC_GTEST_PROP(FormatLongDoubleHuman, NeedsOnlySeventeenDecimalsForSmallFractions, (int32_t value)) {
  const long double fraction = value / 4096.0L;
  RC_ASSERT(ParseLongDouble(Human(fraction)) == ToExtended(fraction));
}

// The replies of ZSCORE after ZADD, with the encoding skiplist, which keeps the sign of zero.
TEST(ParseDouble, ReadsAndWritesAsScores) {
  const struct {
    std::string_view text;
    std::string_view score;
  } kRows[] = {
      {"0", "0"},
      {"-0", "-0"},
      {"-0.0", "-0"},
      {"+1", "1"},
      {"01", "1"},
      {"000000000000042", "42"},
      {"999999999999999", "999999999999999"},
      {"9007199254740993", "9007199254740992"},
      {"-1", "-1"},
      {"1.", "1"},
      {".5", "0.5"},
      {"0x10", "16"},
      {"0X1p3", "8"},
      {"0x1.8p1", "3"},
      {"inf", "inf"},
      {"+inf", "inf"},
      {"-inf", "-inf"},
      {"Infinity", "inf"},
      {"INF", "inf"},
      {"1e308", "1e+308"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"1e-300", "1e-300"},
      {"5e-324", "4.9406564584124654e-324"},
      {"3e-324", "4.9406564584124654e-324"},
      {"2.2250738585072014e-308", "2.2250738585072014e-308"},
      {"2.2250738585072011e-308", "2.2250738585072009e-308"},
      {"1e-310", "9.9999999999999694e-311"},
      {"3.0", "3"},
      {"0.1", "0.10000000000000001"},
      {"1e-7", "9.9999999999999995e-08"},
      {"-1e-7", "-9.9999999999999995e-08"},
      {"1e5", "100000"},
      {"1e15", "1000000000000000"},
      {"1e16", "10000000000000000"},
      {"1e17", "1e+17"},
      {"1e18", "1e+18"},
      {"1e20", "1e+20"},
      {"1e22", "1e+22"},
      {"123456789012345678", "1.2345678901234568e+17"},
      {"9007199254740993", "9007199254740992"},
      {"4503599627370495", "4503599627370495"},
      {"4503599627370496", "4503599627370496"},
      {"-4503599627370496", "-4503599627370496"},
      {"9223372036854775807", "9.2233720368547758e+18"},
      {"-9223372036854775808", "-9.2233720368547758e+18"},
      {"0.0001", "0.0001"},
      {"0.00001", "1.0000000000000001e-05"},
      {"123456.789", "123456.789"},
      {"1234567.125", "1234567.125"},
      {"3.1415926535897931", "3.1415926535897931"},
      {"0.30000000000000004", "0.30000000000000004"},
  };
  for (const auto& row : kRows) {
    const std::optional<double> value = ParseDouble(row.text);
    ASSERT_TRUE(value.has_value()) << row.text;
    EXPECT_EQ(FormatDouble(*value), row.score) << row.text;
  }
}

RC_GTEST_PROP(ParseDouble, ReadsDecimalsAsStrtodDoes, (uint64_t digits)) {
  const std::string integer = std::to_string(digits % 1'000'000'000'000'000);
  const size_t point = *rc::gen::inRange<size_t>(0, integer.size() + 1);
  const std::string text = integer.substr(0, point) + "." + integer.substr(point);
  RC_ASSERT(ParseDouble(text) == std::strtod(text.c_str(), nullptr));
}

TEST(ParseDouble, RefusesWhatZAddRefuses) {
  for (const std::string_view text :
       {""sv,        "-"sv,     "."sv,      " 1"sv,     "1 "sv,     "\t1"sv,
        "1\n"sv,     "0x"sv,    "nan"sv,    "NaN"sv,    "-nan"sv,   "nan(1)"sv,
        "1.8e308"sv, "1e309"sv, "-1e309"sv, "1e-324"sv, "2e-324"sv, "1e-400"sv,
        "1e"sv,      "1e+"sv,   "1.5\0"sv,  "(1"sv,     "1/3"sv}) {
    EXPECT_EQ(ParseDouble(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseDouble("1" + std::string(400, '0')), std::nullopt);
}

TEST(ParseDouble, HasNoLimitOfLength) { EXPECT_EQ(ParseDouble(std::string(6000, '0') + "1"), 1.0); }

RC_GTEST_PROP(FormatDouble, WritesSeventeenSignificantDigitsAsPrintf, (uint64_t bits)) {
  const double value = std::bit_cast<double>(bits);
  char expected[64];
  std::snprintf(expected, sizeof(expected), "%.17g", value);
  RC_ASSERT(FormatDouble(value) == expected);
}

RC_GTEST_PROP(FormatDouble, WritesIntegersAsPrintf, (int64_t value, uint8_t shift)) {
  const double integer = static_cast<double>(value >> (shift % 64));
  char expected[64];
  std::snprintf(expected, sizeof(expected), "%.17g", integer);
  RC_ASSERT(FormatDouble(integer) == expected);
}

RC_GTEST_PROP(FormatDouble, IsReadBackExactly, (uint64_t bits)) {
  const double value = std::bit_cast<double>(bits);
  RC_PRE(!std::isnan(value));
  RC_ASSERT(ParseDouble(FormatDouble(value)) == value);
}

TEST(FormatDouble, FillsTheBufferWithTheLongestValue) {
  DoubleBuffer buffer;
  EXPECT_EQ(FormatDouble(-std::numeric_limits<double>::min(), buffer), "-2.2250738585072014e-308");
  EXPECT_EQ(FormatDouble(std::numeric_limits<double>::quiet_NaN(), buffer), "nan");
}

TEST(FormatDistance, WritesFourDecimals) {
  EXPECT_EQ(FormatDistance(166274.15156960033), "166274.1516");
  EXPECT_EQ(FormatDistance(0), "0.0000");
  EXPECT_EQ(FormatDistance(20020.7336), "20020.7336");
  EXPECT_EQ(FormatDistance(std::numeric_limits<double>::max()).size(), 314u);
}

TEST(RedisNumber, DoesNotFollowTheLocaleOfTheProcess) {
  if (std::setlocale(LC_NUMERIC, "de_DE.UTF-8") == nullptr) {
    GTEST_SKIP() << "this machine has no locale with a decimal comma";
  }
  EXPECT_EQ(ParseDouble("1.5"), 1.5);
  EXPECT_EQ(ParseLongDouble("1.5"), Extended(1.5));
  EXPECT_EQ(FormatDouble(1.5), "1.5");
  EXPECT_EQ(FormatLongDoubleHuman(Extended(1.5)), "1.5");
  EXPECT_EQ(FormatDistance(1.5), "1.5000");
  std::setlocale(LC_NUMERIC, "C");
}

}  // namespace
}  // namespace redouble::inline v0_1::base
