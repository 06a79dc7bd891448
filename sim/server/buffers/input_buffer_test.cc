#include "redouble/sim/server/buffers/input_buffer.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

// As recv does.
void Read(InputBuffer& input, std::string_view bytes, size_t total) {
  const std::span<char> room = input.Room(total);
  ASSERT_LE(bytes.size(), room.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  input.Grow(bytes.size());
}

TEST(InputBuffer, KeepsWhatIsAppendedAndWhatIsReadIntoItsRoom) {
  InputBuffer input;
  EXPECT_TRUE(input.empty());
  input.Append("abc");
  Read(input, "def", 10);
  EXPECT_EQ(input.Room(10).size(), 4u);
  input.Append("");
  input.Append("ghijk");
  EXPECT_EQ(input.bytes(), "abcdefghijk");
  input.Consume(3);
  EXPECT_EQ(input.bytes(), "defghijk");
  input.Consume(8);
  EXPECT_TRUE(input.empty());
}

TEST(InputBuffer, HasTheRoomThatWasAskedForAndNoMore) {
  InputBuffer input;
  EXPECT_EQ(input.Room(1000).size(), 1000u);
  EXPECT_EQ(input.capacity(), 1000u);
  input.Append(std::string(600, 'x'));
  EXPECT_EQ(input.Room(500).size(), 0u);
  EXPECT_EQ(input.Room(1001).size(), 401u);
  EXPECT_EQ(input.bytes(), std::string(600, 'x'));
}

TEST(InputBuffer, GrowsByDoublingAndFreesItsMemory) {
  InputBuffer input;
  std::string expected;
  size_t growths = 0;
  for (int i = 0; i < 1000; ++i) {
    const size_t before = input.capacity();
    input.Append("0123456789");
    expected += "0123456789";
    growths += input.capacity() != before ? 1 : 0;
  }
  EXPECT_EQ(input.bytes(), expected);
  EXPECT_LE(growths, 12u);
  input.Free();
  EXPECT_TRUE(input.empty());
  EXPECT_EQ(input.capacity(), 0u);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
