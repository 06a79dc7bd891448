#include "redouble/core/base/text/string_bridge.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

TEST(StringBridge, KeepsTheBytesAndWhereTheyAre) {
  const std::string_view text("a\0b", 3);
  const absl::string_view there = ToAbsl(text);
  EXPECT_EQ(there.data(), text.data());
  EXPECT_EQ(there.size(), 3u);
  const std::string_view back = ToStd(there);
  EXPECT_EQ(back.data(), text.data());
  EXPECT_EQ(back, text);
}

TEST(StringBridge, TakesAViewOfNothing) {
  EXPECT_TRUE(ToAbsl({}).empty());
  EXPECT_TRUE(ToStd({}).empty());
}

}  // namespace
}  // namespace redouble::inline v0_1::base
