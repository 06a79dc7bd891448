// The sizes are those of redis-server 7.0.15 at the same events (CLIENT LIST: qbuf-free and rbs).
#include "redouble/sim/server/buffers/buffer_rooms.h"

#include "gtest/gtest.h"
#include "redouble/backends/memory/server/host.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr size_t kLongWord = 400'000;

TEST(QueryRooms, AreThoseOfOneReadWhileTheClientIsActive) {
  QueryRoom room(0);
  EXPECT_EQ(room.bytes(0, 0, 0), 0U);
  room.OnInput(0, 0, 14);
  EXPECT_EQ(room.bytes(0, 0, 0), 20'474U);
  EXPECT_EQ(room.bytes(2'999, 0, 0), 20'474U);
  EXPECT_EQ(room.bytes(3'000, 0, 0), 0U);
  room.OnInput(3'100, 0, 14);
  EXPECT_EQ(room.bytes(3'100, 0, 0), 20'474U);
}

TEST(QueryRooms, OfAnIdleClientKeepWhatHasArrived) {
  QueryRoom room(0);
  room.OnInput(0, 0, 5'000);
  EXPECT_EQ(room.bytes(3'000, 5'000, 0), 5'000U);
}

TEST(QueryRooms, AreThoseOfALongWordUntilShorterOnesCome) {
  QueryRoom room(0);
  room.OnInput(0, 0, kLongWord + 40);
  room.OnWord(3);
  room.OnWord(kLongWord);
  EXPECT_EQ(room.bytes(0, 0, 0), 458'742U);
  room.OnInput(90, 0, 120);
  room.OnWord(100);
  EXPECT_EQ(room.bytes(90, 0, 0), 458'742U);
  // The long word is the peak until the first look.
  room.OnInput(110, 0, 120);
  EXPECT_EQ(room.bytes(110, 0, 0), 458'742U);
  room.OnInput(210, 0, 120);
  EXPECT_EQ(room.bytes(210, 0, 0), 20'474U);
}

TEST(QueryRooms, HaveRoomForALongWordBeforeItArrives) {
  QueryRoom room(0);
  room.OnInput(0, 0, 20);
  EXPECT_EQ(room.bytes(0, 9, kLongWord), 458'742U);
  EXPECT_EQ(room.bytes(1'000, 9, kLongWord), 458'742U);
}

class ReplyRooms : public testing::Test {
 protected:
  // What is shown a moment after the job has looked twice.
  size_t BytesAt(int64_t now_ms) {
    room_.Look(now_ms, 0);
    return room_.bytes();
  }

  memory::ReplyBufferOptions options_;
  ReplyRoom room_{0, options_};
};

TEST_F(ReplyRooms, AreLargeAtFirstAndSmallAfterTwoLooks) {
  EXPECT_EQ(room_.bytes(), 16'384U);
  EXPECT_EQ(room_.peak_bytes(), 16'384U);
  EXPECT_EQ(BytesAt(100), 16'384U);
  EXPECT_EQ(room_.peak_bytes(), 0U);
  EXPECT_EQ(BytesAt(200), 1'024U);
}

TEST_F(ReplyRooms, AreDoubledWhileTheyAreTooSmall) {
  EXPECT_EQ(BytesAt(200), 1'024U);
  room_.OnOutput(3'009);
  EXPECT_EQ(room_.peak_bytes(), 1'024U);
  EXPECT_EQ(BytesAt(400), 2'048U);
  room_.OnOutput(3'009);
  EXPECT_EQ(BytesAt(500), 4'096U);
  room_.OnOutput(3'009);
  EXPECT_EQ(BytesAt(600), 4'096U);
  EXPECT_EQ(room_.peak_bytes(), 3'009U);
  // After five seconds the peak is forgotten.
  EXPECT_EQ(BytesAt(5'300), 1'024U);
  EXPECT_EQ(room_.peak_bytes(), 0U);
}

TEST_F(ReplyRooms, AreNeverLargerThanTheFirst) {
  EXPECT_EQ(BytesAt(200), 1'024U);
  for (int look = 3; look < 10; ++look) {
    room_.OnOutput(100'000);
    room_.Look(look * 100, 0);
  }
  EXPECT_EQ(room_.bytes(), 16'384U);
}

TEST_F(ReplyRooms, FollowDebugReplybuffer) {
  options_.resizes = false;
  EXPECT_EQ(BytesAt(200), 16'384U);
  options_.resizes = true;
  options_.peak_reset_ms = -1;
  EXPECT_EQ(BytesAt(300), 1'024U);
  room_.OnOutput(1'000);
  EXPECT_EQ(BytesAt(60'000), 1'024U);
  EXPECT_EQ(room_.peak_bytes(), 1'000U);
  options_.peak_reset_ms = 100;
  BytesAt(60'100);
  EXPECT_EQ(room_.peak_bytes(), 0U);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
