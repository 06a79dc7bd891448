#include "redouble/backends/memory/values/encodings/compact_string.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

TEST(CompactString, KeepsShortTextsInside) {
  for (size_t size = 0; size <= 15; ++size) {
    const std::string text(size, 'x');
    const CompactString compact(text);
    EXPECT_EQ(compact.view(), text);
    EXPECT_EQ(compact.HeapBytes(), 0u);
  }
}

TEST(CompactString, KeepsLongTextsInOneBlockOfTheirSize) {
  const std::string text(16, 'x');
  const CompactString compact(text);
  EXPECT_EQ(compact.view(), text);
  EXPECT_EQ(compact.HeapBytes(), 16u);
}

TEST(CompactString, IsEmptyAfterItWasMovedFrom) {
  for (const char* text : {"short", "a text too long to live inside"}) {
    CompactString from{std::string_view(text)};
    CompactString to(std::move(from));
    EXPECT_EQ(to.view(), text);
    EXPECT_EQ(from.view(), "");  // NOLINT(bugprone-use-after-move): it is said to be empty.
    CompactString assigned(std::string_view("another text that does not fit"));
    assigned = std::move(to);
    EXPECT_EQ(assigned.view(), text);
  }
}

TEST(CompactString, MayHaveMoreRoomInside) {
  const std::string text(24, 'x');
  const BasicCompactString<23> inside(std::string_view(text).substr(1));
  EXPECT_EQ(inside.view(), text.substr(1));
  EXPECT_EQ(inside.HeapBytes(), 0u);
  BasicCompactString<23> outside{std::string_view(text)};
  EXPECT_EQ(outside.HeapBytes(), 24u);
  const BasicCompactString<23> moved(std::move(outside));
  EXPECT_EQ(moved.view(), text);
}

RC_GTEST_PROP(CompactString, KeepsEveryByte, (const std::string& text)) {
  RC_ASSERT(CompactString(text).view() == text);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
