#include "redouble/backends/memory/values/encodings/listpack_codec.h"

#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory::listpack_codec {
namespace {

std::vector<uint8_t> Written(const EncodedElement& element) {
  std::vector<uint8_t> bytes(element.size_bytes() + BackLengthBytes(element.size_bytes()));
  WriteElement(element, bytes.data());
  return bytes;
}

TEST(BackLength, ChangesItsWidthWhereRedisChangesIt) {
  const struct {
    uint64_t size_bytes;
    size_t width;
  } kRows[] = {{1, 1},         {127, 1},       {128, 2},       {16382, 2},
               {16383, 3},     {16384, 3},     {2097150, 3},   {2097151, 4},
               {268435454, 4}, {268435455, 5}, {UINT32_MAX, 5}};
  for (const auto& row : kRows) EXPECT_EQ(BackLengthBytes(row.size_bytes), row.width);
}

RC_GTEST_PROP(BackLength, IsReadBackwards, (uint32_t size_bytes)) {
  uint8_t bytes[5];
  const size_t width = WriteBackLength(size_bytes, bytes);
  RC_ASSERT(width == BackLengthBytes(size_bytes));
  RC_ASSERT(ReadBackLength(bytes + width) == size_bytes);
}

TEST(BackLength, IsReadBackwardsAtEveryWidth) {
  for (const uint64_t size_bytes :
       {1u, 127u, 128u, 16382u, 16383u, 2097150u, 2097151u, 268435454u, 268435455u, 4294967295u}) {
    uint8_t bytes[5];
    EXPECT_EQ(ReadBackLength(bytes + WriteBackLength(size_bytes, bytes)), size_bytes);
  }
}

TEST(EncodeInteger, TakesTheShortestForm) {
  const struct {
    int64_t value;
    size_t bytes;
  } kRows[] = {
      {0, 1},
      {127, 1},
      {128, 2},
      {-1, 2},
      {4095, 2},
      {-4096, 2},
      {4096, 3},
      {-4097, 3},
      {32767, 3},
      {-32768, 3},
      {32768, 4},
      {8388607, 4},
      {-8388608, 4},
      {8388608, 5},
      {-8388609, 5},
      {2147483647, 5},
      {-2147483648, 5},
      {2147483648, 9},
      {-2147483649, 9},
      {std::numeric_limits<int64_t>::min(), 9},
      {std::numeric_limits<int64_t>::max(), 9},
  };
  for (const auto& row : kRows)
    EXPECT_EQ(EncodeInteger(row.value).size_bytes(), row.bytes) << row.value;
}

TEST(EncodeText, TakesCanonicalIntegersAsIntegers) {
  EXPECT_EQ(EncodeText("42").text, "");
  EXPECT_EQ(EncodeText("042").text, "042");
  EXPECT_EQ(EncodeText("").size_bytes(), 1u);
}

RC_GTEST_PROP(ReadValue, ReadsBackIntegers, (int64_t value, uint8_t shift)) {
  value >>= shift % 64;
  const std::vector<uint8_t> bytes = Written(EncodeInteger(value));
  RC_ASSERT(ReadValue(bytes.data()).is_integer());
  RC_ASSERT(ReadValue(bytes.data()).integer() == value);
  RC_ASSERT(ElementBytes(bytes.data()) == EncodeInteger(value).size_bytes());
}

RC_GTEST_PROP(ReadValue, ReadsBackStrings, (const std::string& prefix, uint16_t size)) {
  const std::string text = prefix + std::string(size % 9000, 'x');
  const std::vector<uint8_t> bytes = Written(EncodeText(text));
  RC_ASSERT(ReadValue(bytes.data()).Equals(text));
  RC_ASSERT(ElementBytes(bytes.data()) == EncodeText(text).size_bytes());
}

RC_GTEST_PROP(CheckElement, AcceptsWhatWasWrittenAndNothingShorter, (const std::string& text)) {
  const std::vector<uint8_t> bytes = Written(EncodeText(text));
  RC_ASSERT(CheckElement(bytes.data(), bytes.data() + bytes.size()) == bytes.size());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<int64_t>(size));
    RC_ASSERT(!CheckElement(cut.data(), cut.data() + cut.size()).has_value());
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::memory::listpack_codec
