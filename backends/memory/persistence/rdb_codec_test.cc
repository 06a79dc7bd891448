#include "redouble/backends/memory/persistence/rdb_codec.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/core/base/hash/crc.h"

namespace redouble::inline v0_1::memory {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

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

TEST(RdbCodec, RefusesUnknownEncodings) {
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
  // A compressed string: one byte that claims an original size of 2^62.
  EXPECT_EQ(ReadString("\xc3\x01\x81\x40\0\0\0\0\0\0\0\0"s), std::nullopt);
}

TEST(RdbCodec, CompressesOnRequest) {
  const std::string text(100, 'x');
  std::string out;
  AppendRdbString(text, out, RdbCompression::kOff);
  EXPECT_EQ(out, "\x40\x64" + text);
  EXPECT_LT(StringBytes(text).size(), 20u);
  EXPECT_EQ(ReadString(out), text);
}

TEST(RdbReader, SaysWhatItExpectedWhere) {
  RdbReader reader("\x02no\x05text"sv);
  EXPECT_EQ(reader.ReadString(), "no");
  EXPECT_EQ(reader.offset(), 3u);
  EXPECT_FALSE(reader.failure().has_value());
  EXPECT_EQ(reader.ReadString(), std::nullopt);
  ASSERT_TRUE(reader.failure().has_value());
  EXPECT_EQ(reader.failure()->offset, 3u);
  EXPECT_EQ(reader.failure()->expected, "5 more bytes at byte 4, found 4");
  reader.Fail("something else");
  EXPECT_EQ(reader.failure()->expected, "5 more bytes at byte 4, found 4") << "the first is kept";
}

TEST(RdbReader, FailsAtTheItemThatWasReadLast) {
  RdbReader reader(
      "\x01"
      "a\x01"
      "b"sv);
  EXPECT_EQ(reader.ReadStringView(), "a");
  EXPECT_EQ(reader.ReadStringView(), "b");
  reader.Fail("a letter above b");
  EXPECT_EQ(reader.failure()->offset, 2u);
}

// Yields at most `step` bytes at a time, then an error or the end.
class SteppedSource final : public ByteSource {
 public:
  SteppedSource(std::string_view bytes, size_t step, absl::Status end)
      : left_(bytes), step_(step), end_(std::move(end)) {}
  absl::StatusOr<size_t> Read(std::span<char> to) override {
    const size_t count = std::min({to.size(), left_.size(), step_});
    if (count == 0 && !end_.ok()) return end_;
    left_.copy(to.data(), count);
    left_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view left_;
  const size_t step_;
  const absl::Status end_;
};

TEST(RdbReader, ReadsASourceLikeBytes) {
  std::string bytes;
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i) {
    texts.push_back(std::to_string(i * i * 1'000'003L) +
                    std::string(static_cast<size_t>(i * i), 'x'));
    AppendRdbString(texts.back(), bytes, i % 2 == 0 ? RdbCompression::kOn : RdbCompression::kOff);
  }
  AppendRdbString(std::string(40 << 20, 'y'), bytes, RdbCompression::kOff);
  AppendRdbString("end", bytes);
  for (const size_t step : {size_t{7777}, bytes.size()}) {
    SteppedSource source(bytes, step, absl::OkStatus());
    RdbReader reader(source);
    for (const std::string& text : texts) ASSERT_EQ(reader.ReadStringView(), text);
    EXPECT_EQ(reader.ReadStringView()->size(), size_t{40} << 20);
    EXPECT_EQ(reader.ReadString(), "end");
    EXPECT_EQ(reader.offset(), bytes.size());
    EXPECT_EQ(reader.Checksum(), base::Crc64(bytes));
    EXPECT_EQ(reader.ReadLittleEndian(1), std::nullopt);
  }
}

TEST(RdbReader, PassesOnTheErrorOfItsSource) {
  SteppedSource source("\x05te", 1, absl::UnavailableError("disk"));
  RdbReader reader(source);
  EXPECT_EQ(reader.ReadString(), std::nullopt);
  EXPECT_EQ(reader.source_status(), absl::UnavailableError("disk"));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
