#include "redouble/core/base/text/shortest_decimal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace redouble::inline v0_1::base {
namespace {

struct Case {
  double value;
  const char* digits;
  int exponent;
  const char* mantissa;
  const char* positional;
};

TEST(ShortestDecimal, HasTheFewestDigitsAndTheirPlace) {
  const Case cases[] = {
      {0.0, "0", 0, "0", "0"},
      {1.0, "1", 0, "1", "1"},
      {0.1, "1", -1, "1", "0.1"},
      {1.5e-7, "15", -7, "1.5", "0.00000015"},
      {123.25, "12325", 2, "1.2325", "123.25"},
      {1e16, "1", 16, "1", "10000000000000000"},
      {9007199254740993.0, "9007199254740992", 15, "9.007199254740992", "9007199254740992"},
      {1200.0, "12", 3, "1.2", "1200"},
  };
  for (const Case& expected : cases) {
    const ShortestDecimal decimal = ShortestDecimalOf(expected.value);
    EXPECT_EQ(decimal.digits, expected.digits) << expected.value;
    EXPECT_EQ(decimal.exponent, expected.exponent) << expected.value;
    EXPECT_EQ(decimal.Mantissa(), expected.mantissa) << expected.value;
    EXPECT_EQ(decimal.Positional(), expected.positional) << expected.value;
  }
}

TEST(ShortestDecimal, CoversTheWholeRangeOfADouble) {
  EXPECT_EQ(ShortestDecimalOf(std::numeric_limits<double>::max()).exponent, 308);
  EXPECT_EQ(ShortestDecimalOf(std::numeric_limits<double>::denorm_min()).exponent, -324);
}

RC_GTEST_PROP(ShortestDecimal, ReadsBackToTheNumber, (double any)) {
  const double value = std::fabs(any);
  RC_PRE(std::isfinite(value));
  const ShortestDecimal decimal = ShortestDecimalOf(value);
  RC_ASSERT(std::strtod(decimal.Positional().c_str(), nullptr) == value);
  const std::string text = decimal.Mantissa() + "e" + std::to_string(decimal.exponent);
  RC_ASSERT(std::strtod(text.c_str(), nullptr) == value);
}

}  // namespace
}  // namespace redouble::inline v0_1::base
