#include "redouble/backends/memory/server/slow_log.h"

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

SlowLog::Entry Took(int64_t cost) {
  SlowLog::Entry entry;
  entry.cost = cost;
  return entry;
}

TEST(SlowLog, KeepsTheNewestFirstAndNumbersThem) {
  SlowLog log;
  log.Add(Took(10), 2);
  log.Add(Took(20), 2);
  log.Add(Took(30), 2);
  ASSERT_EQ(log.entries().size(), 2u);
  EXPECT_EQ(log.entries()[0].id, 2);
  EXPECT_EQ(log.entries()[0].cost, 30);
  EXPECT_EQ(log.entries()[1].id, 1);
}

TEST(SlowLog, KeepsNumberingAfterItWasCleared) {
  SlowLog log;
  log.Add(Took(10), 2);
  log.Clear();
  EXPECT_TRUE(log.entries().empty());
  log.Add(Took(10), 2);
  EXPECT_EQ(log.entries()[0].id, 1);
}

TEST(SlowLog, KeepsNothingIfTheMaximumLengthIsZero) {
  SlowLog log;
  log.Add(Took(10), 0);
  EXPECT_TRUE(log.entries().empty());
}

TEST(SlowLog, CutsLongWords) {
  const std::string word(130, 'x');
  const std::vector<std::string_view> arguments = {word};
  EXPECT_EQ(SlowLog::Shorten("set", arguments),
            (std::vector<std::string>{"set", std::string(128, 'x') + "... (2 more bytes)"}));
}

TEST(SlowLog, KeepsThirtyTwoWordsAsTheyAre) {
  const std::vector<std::string_view> arguments(31, "a");
  const std::vector<std::string> words = SlowLog::Shorten("del", arguments);
  EXPECT_EQ(words.size(), 32u);
  EXPECT_EQ(words.back(), "a");
}

TEST(SlowLog, CutsManyWords) {
  const std::vector<std::string_view> arguments(40, "a");
  const std::vector<std::string> words = SlowLog::Shorten("del", arguments);
  EXPECT_EQ(words.size(), 32u);
  EXPECT_EQ(words.back(), "... (10 more arguments)");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
