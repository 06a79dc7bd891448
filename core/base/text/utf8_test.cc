#include "redouble/core/base/text/utf8.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>

namespace redouble::inline v0_1::base {
namespace {

// Encodes a number below 2^21 in the shortest form, including surrogates.
std::string Encode(uint32_t code_point) {
  const auto tail = [&](int shift) {
    return static_cast<char>(0x80 | ((code_point >> shift) & 0x3f));
  };
  if (code_point < 0x80) return std::string(1, static_cast<char>(code_point));
  if (code_point < 0x800) return {static_cast<char>(0xc0 | code_point >> 6), tail(0)};
  if (code_point < 0x10000) {
    return {static_cast<char>(0xe0 | code_point >> 12), tail(6), tail(0)};
  }
  return {static_cast<char>(0xf0 | code_point >> 18), tail(12), tail(6), tail(0)};
}

TEST(Utf8, AcceptsText) {
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8("plain"));
  EXPECT_TRUE(IsValidUtf8(std::string_view("\0", 1)));
  EXPECT_TRUE(IsValidUtf8("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
}

TEST(Utf8, AcceptsEveryCodePointButSurrogates) {
  for (uint32_t code_point = 0; code_point < 0x1fffff; ++code_point) {
    const bool expected = code_point <= 0x10ffff && (code_point < 0xd800 || code_point > 0xdfff);
    ASSERT_EQ(IsValidUtf8(Encode(code_point)), expected) << code_point;
  }
}

TEST(Utf8, RefusesOverlongForms) {
  EXPECT_FALSE(IsValidUtf8("\xc0\x80"));
  EXPECT_FALSE(IsValidUtf8("\xc1\xbf"));
  EXPECT_FALSE(IsValidUtf8("\xe0\x9f\xbf"));
  EXPECT_FALSE(IsValidUtf8("\xf0\x8f\xbf\xbf"));
}

TEST(Utf8, RefusesStrayAndMissingBytes) {
  EXPECT_FALSE(IsValidUtf8("\x80"));
  EXPECT_FALSE(IsValidUtf8("caf\xe9"));
  EXPECT_FALSE(IsValidUtf8("\xe2\x82"));
  EXPECT_FALSE(IsValidUtf8("\xe2\x28\xa1"));
  EXPECT_FALSE(IsValidUtf8("\xf0\x9f\x98\x28"));
  EXPECT_FALSE(IsValidUtf8("\xff"));
}

RC_GTEST_PROP(Utf8, RefusesTextThatIsCutInsideACharacter, ()) {
  const std::string character = Encode(*rc::gen::inRange<uint32_t>(0xe000, 0x110000));
  const auto kept = *rc::gen::inRange<size_t>(1, character.size());
  RC_ASSERT(IsValidUtf8("a" + character + "b"));
  RC_ASSERT(!IsValidUtf8("a" + character.substr(0, kept) + "b"));
}

TEST(Utf8, CountsCodePoints) { EXPECT_EQ(CountCodePoints("na\u00EFve \u2603"), 7u); }

}  // namespace
}  // namespace redouble::inline v0_1::base
