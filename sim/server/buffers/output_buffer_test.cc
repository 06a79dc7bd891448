#include "redouble/sim/server/buffers/output_buffer.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

// Appends as a client does.
void Append(OutputBuffer& buffer, std::string_view bytes) {
  buffer.ToAppend(bytes.size()).append(bytes);
}

std::string TakeAll(OutputBuffer& buffer) {
  std::string all;
  while (!buffer.empty()) {
    const std::string_view front = buffer.front().substr(0, 1000);
    all.append(front);
    buffer.Consume(front.size());
  }
  return all;
}

TEST(OutputBuffer, GivesBackWhatWasAppended) {
  OutputBuffer buffer;
  EXPECT_TRUE(buffer.empty());
  std::string expected;
  for (int i = 0; i < 50'000; ++i) {
    const std::string text = std::to_string(i) + ' ';
    Append(buffer, text);
    expected += text;
  }
  EXPECT_EQ(buffer.size(), expected.size());
  EXPECT_EQ(TakeAll(buffer), expected);
  EXPECT_EQ(buffer.size(), 0U);
  Append(buffer, "again");
  EXPECT_EQ(buffer.front(), "again");
}

TEST(OutputBuffer, InsertsAtAMarkWhateverFollows) {
  for (const size_t following : {size_t{0}, size_t{10}, size_t{200'000}}) {
    OutputBuffer buffer;
    Append(buffer, "before");
    const OutputBuffer::Mark mark = buffer.End();
    for (size_t i = 0; i < following; ++i) Append(buffer, "x");
    buffer.Insert(mark, "<inserted>");
    EXPECT_EQ(buffer.size(), 16 + following);
    EXPECT_EQ(TakeAll(buffer), "before<inserted>" + std::string(following, 'x'));
  }
}

TEST(OutputBuffer, NeedsLittleMoreRoomThanItsBytes) {
  OutputBuffer buffer;
  size_t peak = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    Append(buffer, "ten bytes.");
    peak = std::max(peak, buffer.capacity());
  }
  EXPECT_LT(peak, 11'000'000U);
  const std::string large(5'000'000, 'x');
  Append(buffer, large);
  Append(buffer, "\r\n");
  EXPECT_LT(buffer.capacity(), 16'500'000U);
  TakeAll(buffer);
  EXPECT_LE(buffer.capacity(), 64U * 1024);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
