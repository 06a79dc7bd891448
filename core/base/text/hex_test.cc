#include "redouble/core/base/text/hex.h"

#include "gtest/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

TEST(Hex, DigitsAreOfBothCases) {
  EXPECT_EQ(HexDigit('0'), 0);
  EXPECT_EQ(HexDigit('9'), 9);
  EXPECT_EQ(HexDigit('a'), 10);
  EXPECT_EQ(HexDigit('F'), 15);
}

TEST(Hex, TheNeighboursOfDigitsAreNone) {
  for (const char c : {'/', ':', '@', 'G', '`', 'g', '\0', '\xff'}) EXPECT_FALSE(HexDigit(c)) << c;
}

TEST(Hex, EachPairOfDigitsIsAByte) {
  EXPECT_EQ(HexToBytes(""), "");
  EXPECT_EQ(HexToBytes("00fFA0"), std::string("\x00\xff\xa0", 3));
}

TEST(Hex, OtherCharactersAndHalfPairsAreRefused) {
  EXPECT_EQ(HexToBytes("0"), std::nullopt);
  EXPECT_EQ(HexToBytes("000"), std::nullopt);
  EXPECT_EQ(HexToBytes("g0"), std::nullopt);
  EXPECT_EQ(HexToBytes("0 "), std::nullopt);
}

}  // namespace
}  // namespace redouble::inline v0_1::base
