#include "redouble/core/gateway/rust_float.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

namespace redouble::inline v0_1::gateway {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Any double. Small and round ones are more frequent than in random bit patterns.
double ArbitraryDouble() {
  return *rc::gen::oneOf(
      rc::gen::map(rc::gen::arbitrary<uint64_t>(),
                   [](uint64_t bits) { return std::bit_cast<double>(bits); }),
      rc::gen::map(rc::gen::arbitrary<int32_t>(), [](int32_t cents) { return cents / 100.0; }),
      rc::gen::map(rc::gen::inRange(-330, 310), [](int power) {
        return std::strtod(("1e" + std::to_string(power)).c_str(), nullptr);
      }));
}

struct FormatCase {
  double value;
  const char* argument;
  const char* display;
};
// Recorded formats, and the edges of both layouts.
const FormatCase kFormatCases[] = {
    {0.0, "0.0", "0"},
    {-0.0, "-0.0", "-0"},
    {1.0, "1.0", "1"},
    {-0.5, "-0.5", "-0.5"},
    {0.25, "0.25", "0.25"},
    {0.1, "0.1", "0.1"},
    {100.0, "100.0", "100"},
    {0.0001, "0.0001", "0.0001"},
    {0.00001, "0.00001", "0.00001"},
    {0.0000099, "9.9e-6", "0.0000099"},
    {1e-6, "1e-6", "0.000001"},
    {1.5e-7, "1.5e-7", "0.00000015"},
    {123456.789, "123456.789", "123456.789"},
    {0.30000000000000004, "0.30000000000000004", "0.30000000000000004"},
    {1e15, "1000000000000000.0", "1000000000000000"},
    {1.5e15, "1500000000000000.0", "1500000000000000"},
    {1234567890123456.5, "1234567890123456.5", "1234567890123456.5"},
    {9007199254740993.0, "9007199254740992.0", "9007199254740992"},
    {1e16, "1e16", "10000000000000000"},
    {1.2345678901234568e16, "1.2345678901234568e16", "12345678901234568"},
    {1e17, "1e17", "100000000000000000"},
    {1e21, "1e21", "1000000000000000000000"},
    {1e23, "1e23", "100000000000000000000000"},
    {-1e21, "-1e21", "-1000000000000000000000"},
    {1.7976931348623157e308, "1.7976931348623157e308", nullptr},
    {5e-324, "5e-324", nullptr},
    {std::nan(""), "NaN", "NaN"},
    {kInfinity, "inf", "inf"},
    {-kInfinity, "-inf", "-inf"},
};

TEST(RustFloat, WritesArguments) {
  for (const FormatCase& row : kFormatCases) {
    EXPECT_EQ(FormatFloatArgument(row.value), row.argument);
  }
}

TEST(RustFloat, WritesReservationAmounts) {
  for (const FormatCase& row : kFormatCases) {
    if (row.display != nullptr) {
      EXPECT_EQ(FormatFloatDisplay(row.value), row.display);
    }
  }
}

TEST(RustFloat, WritesTheLongestAmountsInFull) {
  EXPECT_EQ(FormatFloatDisplay(5e-324), "0." + std::string(323, '0') + "5");
  EXPECT_EQ(FormatFloatDisplay(1.7976931348623157e308),
            "17976931348623157" + std::string(292, '0'));
  EXPECT_EQ(FormatFloatDisplay(-2.2250738585072014e-308).size(), 327u);
}

struct ParseCase {
  const char* text;
  double value;
};
const ParseCase kParseCases[] = {
    {"0", 0.0},
    {"1", 1.0},
    {"+1", 1.0},
    {"-1.5", -1.5},
    {"5.", 5.0},
    {".5", 0.5},
    {"-.5e1", -5.0},
    {"5.e1", 50.0},
    {"0001.50", 1.5},
    {"1e3", 1000.0},
    {"1E+3", 1000.0},
    {"1e-3", 0.001},
    {"1e0000000000000000000000000003", 1000.0},
    {"0.15000000000000002", 0.15000000000000002},
    {"10000000000123456.7890625", 10000000000123456.7890625},
    {"9007199254740993", 9007199254740992.0},
    {"5e-324", 5e-324},
    {"2.5e-324", 5e-324},
    {"2.2250738585072011e-308", 2.2250738585072011e-308},
    {"1.7976931348623157e308", 1.7976931348623157e308},
    {"inf", kInfinity},
    {"+Inf", kInfinity},
    {"-INFINITY", -kInfinity},
    {"1.8e308", kInfinity},
    {"-1e309", -kInfinity},
    {"1e99999999999999999999999", kInfinity},
    {"123456789e9223372036854775807", kInfinity},
    {"2e-324", 0.0},
    {"1e-400", 0.0},
    {"0.001e-9223372036854775808", 0.0},
    {"1e-99999999999999999999999", 0.0},
    {"0e99999999999999999999999", 0.0},
    {"0.000e400", 0.0},
};

TEST(RustFloat, ReadsNumbers) {
  for (const ParseCase& row : kParseCases) {
    const std::optional<double> value = ParseFloat(row.text);
    ASSERT_TRUE(value.has_value()) << row.text;
    EXPECT_EQ(*value, row.value) << row.text;
  }
}

TEST(RustFloat, ReadsNumbersFarOutByTheirFirstDigit) {
  EXPECT_EQ(ParseFloat("1" + std::string(400, '0')), kInfinity);
  EXPECT_EQ(ParseFloat("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(ParseFloat("0." + std::string(400, '0') + "1e401"), 1.0);
  EXPECT_EQ(ParseFloat("1" + std::string(400, '0') + "e-400"), 1.0);
}

TEST(RustFloat, ReadsSignedZeros) {
  EXPECT_TRUE(std::signbit(ParseFloat("-0").value()));
  EXPECT_TRUE(std::signbit(ParseFloat("-1e-400").value()));
  EXPECT_FALSE(std::signbit(ParseFloat("0").value()));
}

TEST(RustFloat, ReadsNan) {
  for (const char* text : {"nan", "NaN", "+NAN", "-nan"}) {
    const std::optional<double> value = ParseFloat(text);
    ASSERT_TRUE(value.has_value()) << text;
    EXPECT_TRUE(std::isnan(*value)) << text;
  }
}

TEST(RustFloat, RefusesEverythingElse) {
  for (const char* text :
       {"",    " ",         " 1",     "1 ",    "\t1",  "1\n",   "+",     "-",     ".",
        "+.",  "e5",        ".e5",    "1e",    "1e+",  "1e5.5", "1.2.3", "++1",   "+-1",
        "--1", "0x10",      "0x1p3",  "1_000", "1,5",  "1f",    "1d",    "abc",   "infin",
        "in",  "infinityy", "nan(1)", "nano",  "1inf", "e",     "E1",    "1e1e1", "\xd9\xa1"}) {
    EXPECT_EQ(ParseFloat(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseFloat(std::string_view("1\0", 2)), std::nullopt);
}

RC_GTEST_PROP(RustFloat, ReadsBackWhatItWrites, ()) {
  const double value = ArbitraryDouble();
  for (const std::string& text : {FormatFloatArgument(value), FormatFloatDisplay(value)}) {
    const std::optional<double> read = ParseFloat(text);
    RC_ASSERT(read.has_value());
    if (std::isnan(value)) {
      RC_ASSERT(std::isnan(*read));
    } else {
      RC_ASSERT(std::bit_cast<uint64_t>(*read) == std::bit_cast<uint64_t>(value));
    }
  }
}

RC_GTEST_PROP(RustFloat, WritesAmountsWithoutExponent, ()) {
  const double value = ArbitraryDouble();
  RC_PRE(std::isfinite(value));
  const std::string text = FormatFloatDisplay(value);
  RC_ASSERT(text.find_first_not_of("-0123456789.") == text.npos);
  RC_ASSERT(text.back() != '.');
  RC_ASSERT(text.size() <= 327u);
}

// Rust's parser and strtod agree on the texts that both accept.
RC_GTEST_PROP(RustFloat, ReadsDecimalsAsStrtodDoes, ()) {
  const std::string text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789.e-+")));
  const std::optional<double> value = ParseFloat(text);
  char* end = nullptr;
  const double expected = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && *end == '\0';
  RC_CLASSIFY(whole);
  RC_ASSERT(value.has_value() == whole);
  if (whole) RC_ASSERT(*value == expected);
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
