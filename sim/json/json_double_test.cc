#include "redouble/sim/json/json_double.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

TEST(JsonDouble, WritesNonFiniteDoublesAsText) {
  EXPECT_EQ(JsonDouble(0.5), Json(0.5));
  EXPECT_EQ(JsonDouble(std::nan("")), Json("NaN"));
  EXPECT_EQ(JsonDouble(std::numeric_limits<double>::infinity()), Json("inf"));
  EXPECT_EQ(JsonDouble(-std::numeric_limits<double>::infinity()), Json("-inf"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
