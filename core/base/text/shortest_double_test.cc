#include "redouble/core/base/text/shortest_double.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

// Replies of ZSCORE, recorded from Redis 8.0.2.
TEST(ShortestDouble, IsAsRedisWritesIt) {
  EXPECT_EQ(FormatShortestDouble(0.1), "0.1");
  EXPECT_EQ(FormatShortestDouble(-0.00001), "-0.00001");
  EXPECT_EQ(FormatShortestDouble(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(FormatShortestDouble(3), "3");
  EXPECT_EQ(FormatShortestDouble(1e17), "100000000000000000");
  EXPECT_EQ(FormatShortestDouble(123456789012345680), "123456789012345680");
  EXPECT_EQ(FormatShortestDouble(4611686018427387904), "4611686018427387904");
  EXPECT_EQ(FormatShortestDouble(4611686018427388928), "4611686018427389000");
  EXPECT_EQ(FormatShortestDouble(5e-324), "5e-324");
  EXPECT_EQ(FormatShortestDouble(1.7976931348623157e308), "1.7976931348623157e+308");
  EXPECT_EQ(FormatShortestDouble(1.5), "1.5");
  EXPECT_EQ(FormatShortestDouble(1e-7), "1e-7");
  // One digit more than the fewest, and a last digit that is not the nearest.
  EXPECT_EQ(FormatShortestDouble(0.891931660095237), "0.8919316600952371");
  EXPECT_EQ(FormatShortestDouble(900719925474099.25), "900719925474099.3");
}

TEST(ShortestDouble, HasTheSpecialValues) {
  EXPECT_EQ(FormatShortestDouble(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(FormatShortestDouble(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(FormatShortestDouble(-0.0), "-0");
  EXPECT_EQ(FormatShortestDouble(0.0), "0");
  EXPECT_EQ(FormatShortestDouble(std::nan("")), "nan");
}

RC_GTEST_PROP(ShortestDouble, IsReadAsTheSameDouble, (double value)) {
  RC_ASSERT(std::strtod(FormatShortestDouble(value).c_str(), nullptr) == value);
}

}  // namespace
}  // namespace redouble::inline v0_1::base
