#include "redouble/backends/memory/values/value.h"

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/backends/memory/values/encoding_limits.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"

namespace redouble::inline v0_1::memory {
namespace {

std::string TextOf(const Value& value) {
  Value::TextBuffer buffer;
  return std::string(value.Text(buffer));
}

// The smallest possible collection.
class SmallList final : public Collection {
 public:
  static constexpr store::KeyType kType = store::KeyType::kList;
  explicit SmallList(int count) : count(count) {}
  store::KeyType type() const override { return kType; }
  std::unique_ptr<Collection> Clone() const override { return std::make_unique<SmallList>(count); }
  std::string_view encoding() const override { return "small list"; }
  bool empty() const override { return count == 0; }
  int count;
};

class SmallStream final : public Collection {
 public:
  static constexpr store::KeyType kType = store::KeyType::kStream;
  store::KeyType type() const override { return kType; }
  std::unique_ptr<Collection> Clone() const override { return std::make_unique<SmallStream>(); }
  std::string_view encoding() const override { return "small stream"; }
  bool empty() const override { return false; }
};

TEST(Value, BeginsAsTheEmptyString) {
  const Value value;
  EXPECT_TRUE(value.is_string());
  EXPECT_EQ(TextOf(value), "");
  EXPECT_EQ(value.type(), store::KeyType::kString);
}

TEST(Value, KeepsCanonicalIntegersAsNumbers) {
  for (const char* text : {"0", "-1", "9223372036854775807", "-9223372036854775808"}) {
    const Value value = Value::String(text);
    EXPECT_TRUE(value.is_integer()) << text;
    EXPECT_EQ(value.encoding(), "int");
    EXPECT_EQ(TextOf(value), text);
    EXPECT_EQ(value.TextSize(), std::strlen(text));
    EXPECT_EQ(value.HeapBytes(), 0u);
  }
  EXPECT_EQ(Value::Integer(std::numeric_limits<int64_t>::min()).integer(),
            std::numeric_limits<int64_t>::min());
}

TEST(Value, KeepsOtherSpellingsOfNumbersAsTheyAre) {
  for (const char* text : {"01", "-0", "+1", " 1", "1 ", "1.0", "9223372036854775808", ""}) {
    const Value value = Value::String(text);
    EXPECT_FALSE(value.is_integer()) << text;
    EXPECT_EQ(value.encoding(), "embstr") << text;
    EXPECT_EQ(TextOf(value), text);
  }
}

TEST(Value, ReportsTheEncodingByLengthAndHistory) {
  EXPECT_EQ(Value::String(std::string(44, 'x')).encoding(), "embstr");
  EXPECT_EQ(Value::String(std::string(45, 'x')).encoding(), "raw");
  EXPECT_EQ(Value::RawString("1").encoding(), "raw");
  EXPECT_EQ(Value::TextString("1").encoding(), "embstr");
  EXPECT_EQ(Value::TextString(std::string(45, '1')).encoding(), "raw");
  EXPECT_EQ(TextOf(Value::RawString("1")), "1");
  Value grown = Value::String("short");
  grown.ResizeText(6);
  EXPECT_EQ(grown.encoding(), "raw");
}

TEST(Value, GrowsWithZeroBytesAndShrinks) {
  Value value = Value::String("12");
  std::memcpy(value.ResizeText(5) + 4, "x", 1);
  EXPECT_EQ(TextOf(value), std::string("12\0\0x", 5));
  value.ResizeText(40);
  EXPECT_EQ(TextOf(value), std::string("12\0\0x", 5) + std::string(35, '\0'));
  value.ResizeText(1);
  EXPECT_EQ(TextOf(value), "1");
}

TEST(Value, IsACollectionOfOneType) {
  const Value value = Value::Of(std::make_unique<SmallList>(3));
  EXPECT_FALSE(value.is_string());
  EXPECT_EQ(value.type(), store::KeyType::kList);
  EXPECT_EQ(value.encoding(), "small list");
  EXPECT_FALSE(value.empty());
  EXPECT_TRUE(Value::Of(std::make_unique<SmallList>(0)).empty());
  ASSERT_NE(value.As<SmallList>(), nullptr);
  EXPECT_EQ(value.As<SmallList>()->count, 3);
  EXPECT_EQ(value.As<SmallStream>(), nullptr);
  EXPECT_EQ(Value::String("x").As<SmallList>(), nullptr);
}

TEST(Value, HoldsHashesSetsAndSortedSetsInside) {
  const EncodingLimits limits;
  const Value hash = Value::Empty<Hash>();
  const Value set = Value::Empty<Set>();
  const Value sorted_set = Value::Empty<SortedSet>();
  EXPECT_TRUE(hash.empty() && set.empty() && sorted_set.empty());
  EXPECT_FALSE(hash.is_string() || set.is_string() || sorted_set.is_string());
  hash.As<Hash>()->Set("field", "value", limits);
  set.As<Set>()->Add("12", limits);
  sorted_set.As<SortedSet>()->Set("member", 1.5, limits);
  EXPECT_FALSE(hash.empty() || set.empty() || sorted_set.empty());
  EXPECT_EQ(hash.type(), store::KeyType::kHash);
  EXPECT_EQ(set.type(), store::KeyType::kSet);
  EXPECT_EQ(sorted_set.type(), store::KeyType::kSortedSet);
  EXPECT_EQ(hash.encoding(), "listpack");
  EXPECT_EQ(set.encoding(), "intset");
  EXPECT_EQ(sorted_set.encoding(), "listpack");
  EXPECT_EQ(hash.As<Set>(), nullptr);
  EXPECT_EQ(set.As<SmallList>(), nullptr);
  EXPECT_EQ(sorted_set.As<Hash>(), nullptr);
}

TEST(Value, ClonesAndMovesWhatLivesInside) {
  const EncodingLimits limits;
  for (const size_t members : {size_t{1}, size_t{2000}}) {
    Value set = Value::Empty<Set>();
    Value hash = Value::Empty<Hash>();
    Value sorted_set = Value::Empty<SortedSet>();
    for (size_t i = 0; i < members; ++i) {
      const std::string name = "member " + std::to_string(i);
      set.As<Set>()->Add(name, limits);
      hash.As<Hash>()->Set(name, "v", limits);
      sorted_set.As<SortedSet>()->Set(name, static_cast<double>(i), limits);
    }
    const Value copies[] = {set.Clone(), hash.Clone(), sorted_set.Clone()};
    set.As<Set>()->Remove("member 0");
    hash = std::move(sorted_set);
    EXPECT_EQ(hash.As<SortedSet>()->size(), members);
    EXPECT_TRUE(copies[0].As<Set>()->Contains("member 0"));
    EXPECT_EQ(copies[1].As<Hash>()->Get("member 0"), "v");
    EXPECT_EQ(copies[2].As<SortedSet>()->Score("member 0"), 0);
  }
}

TEST(Value, ClonesSoThatNothingIsShared) {
  Value original = Value::Of(std::make_unique<SmallList>(3));
  const Value copy = original.Clone();
  original.As<SmallList>()->count = 4;
  EXPECT_EQ(copy.As<SmallList>()->count, 3);
  Value text = Value::RawString("a text that does not fit inside");
  const Value text_copy = text.Clone();
  text.ResizeText(1);
  EXPECT_EQ(TextOf(text_copy), "a text that does not fit inside");
  EXPECT_EQ(text_copy.encoding(), "raw");
}

TEST(Value, IsTheEmptyStringAfterItWasMovedFrom) {
  Value from = Value::RawString("a text that does not fit inside");
  Value to = std::move(from);
  EXPECT_EQ(TextOf(from), "");  // NOLINT(bugprone-use-after-move): it is said to be empty.
  EXPECT_EQ(from.encoding(), "embstr");
  to = Value::Integer(5);
  EXPECT_EQ(TextOf(to), "5");
}

RC_GTEST_PROP(Value, KeepsEveryByteOfAString, (const std::string& text)) {
  RC_ASSERT(TextOf(Value::String(text)) == text);
  RC_ASSERT(TextOf(Value::RawString(text)) == text);
  RC_ASSERT(Value::String(text).TextSize() == text.size());
  RC_ASSERT(TextOf(Value::String(text).Clone()) == text);
}

RC_GTEST_PROP(Value, ResizesLikeAString, (std::string text, const std::vector<uint8_t>& sizes)) {
  Value value = Value::String(text);
  for (const uint8_t size : sizes) {
    text.resize(size, '\0');
    value.ResizeText(size);
    RC_ASSERT(TextOf(value) == text);
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
