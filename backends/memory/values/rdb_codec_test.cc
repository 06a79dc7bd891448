#include "backends/memory/values/rdb_codec.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::memory {
namespace {

using namespace std::string_literals;

std::string LengthBytes(uint64_t length) {
  std::string out;
  AppendRdbLength(length, out);
  return out;
}

std::string StringBytes(std::string_view text) {
  std::string out;
  AppendRdbString(text, out);
  return out;
}

std::optional<std::string> ReadString(std::string_view bytes) {
  return RdbReader(bytes).ReadString();
}

TEST(RdbCodec, WritesLengthsInTheFewestBytes) {
  EXPECT_EQ(LengthBytes(0), "\0"s);
  EXPECT_EQ(LengthBytes(63), "\x3f");
  EXPECT_EQ(LengthBytes(64), "\x40\x40");
  EXPECT_EQ(LengthBytes(16383), "\x7f\xff");
  EXPECT_EQ(LengthBytes(16384), "\x80\0\0\x40\0"s);
  EXPECT_EQ(LengthBytes(uint64_t{1} << 32), "\x81\0\0\0\x01\0\0\0\0"s);
}

TEST(RdbCodec, WritesSmallIntegersAsSuch) {
  EXPECT_EQ(StringBytes("-1"), "\xc0\xff");
  EXPECT_EQ(StringBytes("128"), "\xc1\x80\0"s);
  EXPECT_EQ(StringBytes("-2147483648"), "\xc2\0\0\0\x80"s);
  EXPECT_EQ(StringBytes("2147483648"),
            "\x0a"
            "2147483648");
  EXPECT_EQ(StringBytes("007"),
            "\x03"
            "007");
}

RC_GTEST_PROP(RdbCodec, ReadsTheLengthsThatItWrites, (uint64_t length, uint8_t shift)) {
  const uint64_t shorter = length >> (shift % 64);
  RC_ASSERT(RdbReader(LengthBytes(shorter)).ReadLength() == shorter);
}

RC_GTEST_PROP(RdbCodec, ReadsTheStringsThatItWrites, (const std::string& text)) {
  RC_ASSERT(ReadString(StringBytes(text)) == text);
}

RC_GTEST_PROP(RdbCodec, ReadsTheIntegersThatItWrites, (int32_t value, uint8_t shift)) {
  const std::string text = std::to_string(value >> (shift % 32));
  RC_ASSERT(ReadString(StringBytes(text)) == text);
}

RC_GTEST_PROP(RdbCodec, ReadsNothingBeyondTheEnd, (const std::string& text)) {
  const std::string bytes = StringBytes(text);
  for (size_t size = 0; size < bytes.size(); ++size) {
    RC_ASSERT(ReadString(std::string_view(bytes).substr(0, size)) == std::nullopt);
  }
}

TEST(RdbCodec, RefusesEncodingsThatAreNone) {
  EXPECT_EQ(ReadString("\xc4"
                       "abc"),
            std::nullopt);
  EXPECT_EQ(ReadString("\x82"
                       "abcdefgh"),
            std::nullopt);
  EXPECT_EQ(RdbReader("\xc0\x01").ReadLength(), std::nullopt);
}

TEST(RdbCodec, DoesNotBelieveLengthsThatTheBytesCannotHold) {
  EXPECT_EQ(ReadString("\x81\x7f\xff\xff\xff\xff\xff\xff\xff"
                       "a"),
            std::nullopt);
  // Compressed: one byte that says it was 2^62.
  EXPECT_EQ(ReadString("\xc3\x01\x81\x40\0\0\0\0\0\0\0\0"s), std::nullopt);
}

}  // namespace
}  // namespace redouble::memory
