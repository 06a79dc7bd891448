#include "backends/memory/values/value.h"

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::memory {
namespace {

std::string TextOf(const Value& value) {
  Value::TextBuffer buffer;
  return std::string(value.Text(buffer));
}

// The smallest collection there can be.
class Pebbles final : public Collection {
 public:
  static constexpr store::KeyType kType = store::KeyType::kSet;
  explicit Pebbles(int count) : count(count) {}
  store::KeyType type() const override { return kType; }
  std::unique_ptr<Collection> Clone() const override { return std::make_unique<Pebbles>(count); }
  std::string_view encoding() const override { return "pebbles"; }
  bool empty() const override { return count == 0; }
  int count;
};

class Boulders final : public Collection {
 public:
  static constexpr store::KeyType kType = store::KeyType::kHash;
  store::KeyType type() const override { return kType; }
  std::unique_ptr<Collection> Clone() const override { return std::make_unique<Boulders>(); }
  std::string_view encoding() const override { return "boulders"; }
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
  const Value value = Value::Of(std::make_unique<Pebbles>(3));
  EXPECT_FALSE(value.is_string());
  EXPECT_EQ(value.type(), store::KeyType::kSet);
  EXPECT_EQ(value.encoding(), "pebbles");
  ASSERT_NE(value.As<Pebbles>(), nullptr);
  EXPECT_EQ(value.As<Pebbles>()->count, 3);
  EXPECT_EQ(value.As<Boulders>(), nullptr);
  EXPECT_EQ(Value::String("x").As<Pebbles>(), nullptr);
}

TEST(Value, ClonesSoThatNothingIsShared) {
  Value original = Value::Of(std::make_unique<Pebbles>(3));
  const Value copy = original.Clone();
  original.As<Pebbles>()->count = 4;
  EXPECT_EQ(copy.As<Pebbles>()->count, 3);
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
}  // namespace redouble::memory
