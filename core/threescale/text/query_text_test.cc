#include "redouble/core/threescale/text/query_text.h"

#include <gtest/gtest.h>

namespace redouble::inline v0_1::threescale {
namespace {

TEST(DecodeQueryText, ReadsPlusAndPercent) {
  EXPECT_EQ(DecodeQueryText("a+b%20c%C3%a9"), "a b c\xc3\xa9");
  EXPECT_EQ(DecodeQueryText("100%"), "100%");
  EXPECT_EQ(DecodeQueryText("%4"), "%4");
  EXPECT_EQ(DecodeQueryText("%zz"), "%zz");
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
