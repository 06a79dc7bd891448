#include "redouble/backends/memory/commands/strings/bits.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

using Overflow = BitFieldOverflow;

constexpr BitFieldType kU8{false, 8};
constexpr BitFieldType kI8{true, 8};
constexpr BitFieldType kI64{true, 64};

BitRange AnyRangeOf(const std::string& text) {
  const auto bits = static_cast<uint64_t>(text.size() * 8);
  const auto first = *rc::gen::inRange<uint64_t>(0, bits);
  return {first, *rc::gen::inRange<uint64_t>(first, bits)};
}

TEST(Bits, CountFromTheHighestBitOfTheFirstByte) {
  std::string text(1, '\0');
  WriteBit(text, 0, true);
  EXPECT_EQ(text, "\x80");
  WriteBit(text, 7, true);
  EXPECT_EQ(text, "\x81");
  WriteBit(text, 0, false);
  EXPECT_EQ(text, "\x01");
}

TEST(Bits, AreZeroBehindTheEnd) {
  EXPECT_TRUE(ReadBit("\xff", 7));
  EXPECT_FALSE(ReadBit("\xff", 8));
  EXPECT_EQ(ReadField("\xff", kU8, 4), 0xf0);
  EXPECT_EQ(ReadField("\xff", kU8, 800), 0);
}

RC_GTEST_PROP(Bits, CountAsOneByOne, (std::string text)) {
  RC_PRE(!text.empty());
  const BitRange range = AnyRangeOf(text);
  uint64_t count = 0;
  for (uint64_t i = range.first; i <= range.last; ++i) count += ReadBit(text, i) ? 1 : 0;
  RC_ASSERT(CountBits(text, range) == count);
}

RC_GTEST_PROP(Bits, AreFoundAsOneByOne, (bool set)) {
  // Long runs of equal bits, which a search has to cross.
  const char filler = set ? '\0' : '\xff';
  std::string text(*rc::gen::inRange<size_t>(1, 40), filler);
  if (*rc::gen::arbitrary<bool>()) text[*rc::gen::inRange<size_t>(0, text.size())] = '\x24';
  const BitRange range = AnyRangeOf(text);
  std::optional<uint64_t> expected;
  for (uint64_t i = range.first; i <= range.last && !expected; ++i) {
    if (ReadBit(text, i) == set) expected = i;
  }
  RC_ASSERT(FindBit(text, range, set) == expected);
}

TEST(BitFieldType, ReadsWidthsThatRedisHas) {
  EXPECT_EQ(BitFieldType::Parse("u1").value().width, 1);
  EXPECT_EQ(BitFieldType::Parse("u63").value().width, 63);
  EXPECT_FALSE(BitFieldType::Parse("u63").value().is_signed);
  EXPECT_EQ(BitFieldType::Parse("i64").value().width, 64);
  EXPECT_TRUE(BitFieldType::Parse("i64").value().is_signed);
}

TEST(BitFieldType, RefusesOthers) {
  for (const std::string_view text :
       {"", "i", "u0", "u64", "i65", "U8", "8", "i-1", "u 8", "u8x"}) {
    EXPECT_FALSE(BitFieldType::Parse(text)) << text;
  }
}

RC_GTEST_PROP(BitField, KeepsWhatIsWritten, (int64_t value)) {
  const bool is_signed = *rc::gen::arbitrary<bool>();
  const BitFieldType type{is_signed, *rc::gen::inRange(1, is_signed ? 65 : 64)};
  const auto position = *rc::gen::inRange<uint64_t>(0, 20);
  const std::string before = *rc::gen::container<std::string>(11, rc::gen::arbitrary<char>());
  const int64_t held = *AddInField(type, Overflow::kWrap, value, 0);
  std::string text = before;
  WriteField(text, type, position, value);
  RC_ASSERT(ReadField(text, type, position) == held);
  for (uint64_t i = 0; i < text.size() * 8; ++i) {
    const bool inside = i >= position && i < position + static_cast<uint64_t>(type.width);
    if (!inside) RC_ASSERT(ReadBit(text, i) == ReadBit(before, i));
  }
}

TEST(BitField, WrapsAround) {
  EXPECT_EQ(AddInField(kU8, Overflow::kWrap, 255, 1), 0);
  EXPECT_EQ(AddInField(kU8, Overflow::kWrap, 0, -1), 255);
  EXPECT_EQ(AddInField(kI8, Overflow::kWrap, 127, 1), -128);
  EXPECT_EQ(AddInField(kI64, Overflow::kWrap, std::numeric_limits<int64_t>::max(), 1),
            std::numeric_limits<int64_t>::min());
}

TEST(BitField, Saturates) {
  EXPECT_EQ(AddInField(kU8, Overflow::kSaturate, 255, 1), 255);
  EXPECT_EQ(AddInField(kU8, Overflow::kSaturate, 3, -4), 0);
  EXPECT_EQ(AddInField(kI8, Overflow::kSaturate, 100, 100), 127);
  EXPECT_EQ(AddInField(kI8, Overflow::kSaturate, -100, -100), -128);
}

TEST(BitField, SaturatesTheLowestNumbersUpwardsAsRedisDoes) {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(AddInField(kI8, Overflow::kSaturate, kLowest, 0), 127);
  EXPECT_EQ(AddInField(kI8, Overflow::kSaturate, kLowest + 127, 0), 127);
  EXPECT_EQ(AddInField(kI8, Overflow::kSaturate, kLowest + 128, 0), -128);
  EXPECT_EQ(AddInField(kI64, Overflow::kSaturate, kLowest, -1), kLowest);
}

TEST(BitField, FailsOnlyWhenItOverflows) {
  EXPECT_EQ(AddInField(kU8, Overflow::kFail, 255, 1), std::nullopt);
  EXPECT_EQ(AddInField(kU8, Overflow::kFail, 254, 1), 255);
  EXPECT_EQ(AddInField(kI64, Overflow::kFail, std::numeric_limits<int64_t>::min(), -1),
            std::nullopt);
}

TEST(BitField, TakesANegativeNumberForAHugeUnsignedOne) {
  EXPECT_EQ(AddInField(kU8, Overflow::kSaturate, -1, 0), 255);
  EXPECT_EQ(AddInField(kU8, Overflow::kWrap, -2, 0), 254);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
