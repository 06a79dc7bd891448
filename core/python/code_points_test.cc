#include "redouble/core/python/code_points.h"

#include <gtest/gtest.h>

#include "redouble/core/base/text/utf8.h"

namespace redouble::inline v0_1::python {
namespace {

TEST(CodePoints, RoundTrip) {
  for (const char32_t code_point :
       {0x0, 0x7F, 0x80, 0x7FF, 0x800, 0xD800, 0xFFFF, 0x10000, 0x10FFFF}) {
    std::string text;
    AppendCodePoint(text, code_point);
    std::string_view rest = text;
    EXPECT_EQ(TakeCodePoint(rest), code_point);
    EXPECT_TRUE(rest.empty());
    EXPECT_EQ(base::CountCodePoints(text), 1u);
  }
}

TEST(CodePoints, LeaveMalformedSequencesUnread) {
  for (const std::string_view bytes : {"\x80", "\xC3", "\xC3x", "\xC0\x80", "\xE0\x80\x80",
                                       "\xF4\x90\x80\x80", "\xF8\x80\x80\x80\x80", "\xFF"}) {
    std::string_view rest = bytes;
    EXPECT_EQ(TakeCodePoint(rest), std::nullopt) << bytes;
    EXPECT_EQ(rest, bytes);
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::python
