#include "redouble/sim/recording/interleaving.h"

#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

std::string TableOf(std::string event) {
  Recording recording;
  recording.actors = {"a", "long"};
  recording.events = {std::move(event)};
  return InterleavingTable(recording);
}

TEST(InterleavingTable, AlignsTheActors) {
  EXPECT_EQ(TableOf(R"({"client": "a", "command": ["GET", "n"], "reply": "1"})"),
            "  a     [\"GET\",\"n\"] -> 1\n");
  EXPECT_EQ(TableOf(R"({"client": "long", "fault": "crash"})"), "  long  fault: crash\n");
}

TEST(InterleavingTable, PrintsOneLineForAReplyOfSeveral) {
  EXPECT_EQ(TableOf(R"({"client": "a", "command": ["INFO"], "reply": "# Server\r\nport:0\r\n"})"),
            "  a     [\"INFO\"] -> \"# Server\\r\\nport:0\\r\\n\"\n");
}

TEST(InterleavingTable, ShortensALongReplyBetweenTwoCharacters) {
  const std::string text = std::string(199, 'x') + "ää";
  EXPECT_EQ(TableOf(R"({"client": "a", "command": ["GET", "n"], "reply": ")" + text + "\"}"),
            "  a     [\"GET\",\"n\"] -> " + std::string(199, 'x') + "... (203 bytes)\n");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
