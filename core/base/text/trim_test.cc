#include "redouble/core/base/text/trim.h"

#include <string_view>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

TEST(Trim, RemovesTheCharactersAtBothEnds) {
  EXPECT_EQ(Trim("", " "), "");
  EXPECT_EQ(Trim("   ", " "), "");
  EXPECT_EQ(Trim(" a b\t", " \t"), "a b");
  EXPECT_EQ(Trim("\va\v", " "), "\va\v");
}

TEST(Trim, RemovesZeroBytes) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(Trim("\0a\0b\0"sv, "\0"sv), "a\0b"sv);
}

}  // namespace
}  // namespace redouble::inline v0_1::base
