#include "redouble/core/threescale/text/integer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>

namespace redouble::inline v0_1::threescale {
namespace {

std::string Read(std::string_view text) { return FormatInteger(ToInteger(text)); }

TEST(Integer, IsReadUpToTheFirstOtherCharacter) {
  EXPECT_EQ(Read("12"), "12");
  EXPECT_EQ(Read("007"), "7");
  EXPECT_EQ(Read(" \t\n5 6"), "5");
  EXPECT_EQ(Read("3.9"), "3");
  EXPECT_EQ(Read("12x"), "12");
}

TEST(Integer, TakesASignAndSingleUnderscores) {
  EXPECT_EQ(Read("-5"), "-5");
  EXPECT_EQ(Read("+5"), "5");
  EXPECT_EQ(Read("- 5"), "0");
  EXPECT_EQ(Read("1_000"), "1000");
  EXPECT_EQ(Read("1__000"), "1");
  EXPECT_EQ(Read("_1"), "0");
  EXPECT_EQ(Read("1_"), "1");
}

TEST(Integer, IsZeroWithoutDigits) {
  EXPECT_EQ(Read(""), "0");
  EXPECT_EQ(Read("junk"), "0");
  EXPECT_EQ(Read("#5"), "0");
  EXPECT_EQ(Read("-"), "0");
  EXPECT_EQ(ToIntegerOrZero(std::optional<std::string>()), 0);
  EXPECT_EQ(ToIntegerOrZero(std::optional<std::string>("8")), 8);
}

TEST(Integer, IsWiderThanRedisHasIt) {
  EXPECT_EQ(Read("99999999999999999999"), "99999999999999999999");
  EXPECT_EQ(Read("-18446744073709551616"), "-18446744073709551616");
  EXPECT_EQ(FormatInteger(ToInteger("99999999999999999999") + 1), "100000000000000000000");
}

TEST(Integer, HasNoEnd) {
  for (const size_t digits : {17, 18, 19, 36, 37, 38, 39, 40, 60, 1000}) {
    const std::string nines(digits, '9');
    EXPECT_EQ(Read(nines), nines);
    EXPECT_EQ(Read("-" + nines + "_0x"), "-" + nines + "0");
    EXPECT_EQ(FormatInteger(ToInteger(nines) + 1), "1" + std::string(digits, '0'));
  }
}

TEST(Integer, OfLeadingZerosIsNoLongerThanWithout) {
  EXPECT_EQ(Read(std::string(50, '0') + "7"), "7");
  EXPECT_EQ(ToInteger(std::string(50, '0')), 0);
}

RC_GTEST_PROP(Integer, ReadsWhatItWrites, (int64_t value)) {
  RC_ASSERT(FormatInteger(value) == std::to_string(value));
  RC_ASSERT(ToInteger(std::to_string(value)) == value);
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
