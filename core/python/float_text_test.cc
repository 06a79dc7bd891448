#include "redouble/core/python/float_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace redouble::inline v0_1::python {
namespace {

struct Row {
  double value;
  std::string_view repr;
  std::string_view pydantic;
};

// The second column was recorded from CPython 3.13; the third follows docs/systems/relayna.md 2.2.
constexpr Row kRows[] = {
    {0.0, "0.0", "0.0"},
    {-0.0, "-0.0", "-0.0"},
    {1.0, "1.0", "1.0"},
    {0.1, "0.1", "0.1"},
    {-2.5, "-2.5", "-2.5"},
    {100.0, "100.0", "100.0"},
    {1.0 / 3, "0.3333333333333333", "0.3333333333333333"},
    {1e15, "1000000000000000.0", "1000000000000000.0"},
    {9999999999999998.0, "9999999999999998.0", "9999999999999998.0"},
    {1e16, "1e+16", "1e16"},
    {1.5e16, "1.5e+16", "1.5e16"},
    {1e22, "1e+22", "1e22"},
    {1e100, "1e+100", "1e100"},
    {0.001, "0.001", "0.001"},
    {0.0001, "0.0001", "0.0001"},
    {0.00012, "0.00012", "0.00012"},
    {0.00001, "1e-05", "0.00001"},
    {1.5e-5, "1.5e-05", "0.000015"},
    {9e-6, "9e-06", "9e-6"},
    {1e-7, "1e-07", "1e-7"},
    {1.5e-7, "1.5e-07", "1.5e-7"},
    {5e-324, "5e-324", "5e-324"},
    {1.7976931348623157e308, "1.7976931348623157e+308", "1.7976931348623157e308"},
};

TEST(FloatText, IsWhatEachWriterWrites) {
  for (const Row& row : kRows) {
    EXPECT_EQ(FloatRepr(row.value), row.repr);
    EXPECT_EQ(PydanticFloatText(row.value), row.pydantic);
  }
}

TEST(FloatText, NamesWhatIsNotFinite) {
  EXPECT_EQ(FloatRepr(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(FloatRepr(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(FloatRepr(std::nan("")), "nan");
  EXPECT_EQ(FloatRepr(-std::nan("")), "nan");
}

RC_GTEST_PROP(FloatText, ReadsBackAsTheSameNumber, (double value)) {
  RC_PRE(std::isfinite(value));
  RC_ASSERT(std::strtod(FloatRepr(value).c_str(), nullptr) == value);
  RC_ASSERT(std::strtod(PydanticFloatText(value).c_str(), nullptr) == value);
}

}  // namespace
}  // namespace redouble::inline v0_1::python
