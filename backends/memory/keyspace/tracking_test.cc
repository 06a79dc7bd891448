#include "redouble/backends/memory/keyspace/tracking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace redouble::inline v0_1::memory {
namespace {

using Keys = std::vector<std::string>;

// As lines: "7: a b", "7: all".
std::vector<std::string> Take(Tracking& tracking) {
  std::vector<std::string> lines;
  for (const Tracking::Invalidation& told : tracking.TakeInvalidations()) {
    std::string line = std::to_string(told.client) + ":";
    if (!told.keys) line += " all";
    for (const std::string& key : told.keys.value_or(Keys())) line += " " + key;
    lines.push_back(std::move(line));
  }
  return lines;
}

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kAnyNumber = 0;

TEST(Tracking, InvalidatesAtTheFirstChangeOfAKeyThatWasRead) {
  Tracking tracking;
  tracking.Enable(7, {});
  tracking.Remember(7, "a", kAnyNumber);
  tracking.Changed("b", 9);
  EXPECT_THAT(Take(tracking), IsEmpty());
  tracking.Changed("a", 9);
  tracking.Changed("a", 9);
  EXPECT_THAT(Take(tracking), ElementsAre("7: a"));
  EXPECT_THAT(Take(tracking), IsEmpty());
}

TEST(Tracking, NotifiesEveryReaderByItsId) {
  Tracking tracking;
  for (const int64_t client : {9, 7, 8}) {
    tracking.Enable(client, {});
    tracking.Remember(client, "a", kAnyNumber);
  }
  tracking.Changed("a", 7);
  EXPECT_THAT(Take(tracking), ElementsAre("7: a", "8: a", "9: a"));
}

TEST(Tracking, NoLoopLeavesOutOnesOwnChanges) {
  Tracking tracking;
  tracking.Enable(7, {.no_loop = true});
  tracking.Remember(7, "a", kAnyNumber);
  tracking.Changed("a", 7);
  EXPECT_THAT(Take(tracking), IsEmpty());
  EXPECT_EQ(tracking.key_count(), 0u);
}

TEST(Tracking, ForgetsAClientThatNoLongerTracks) {
  Tracking tracking;
  tracking.Enable(7, {});
  tracking.Remember(7, "a", kAnyNumber);
  tracking.Disable(7);
  EXPECT_FALSE(tracking.has_clients());
  EXPECT_EQ(tracking.ModeOf(7), nullptr);
  tracking.Changed("a", 9);
  EXPECT_THAT(Take(tracking), IsEmpty());
}

TEST(Tracking, ATableThatIsFullGivesUpTheFirstOtherKey) {
  Tracking tracking;
  tracking.Enable(7, {});
  tracking.Remember(7, "b", 2);
  tracking.Remember(7, "c", 2);
  EXPECT_THAT(Take(tracking), IsEmpty());
  tracking.Remember(7, "a", 2);
  EXPECT_THAT(Take(tracking), ElementsAre("7: b"));
  EXPECT_EQ(tracking.key_count(), 2u);
  EXPECT_EQ(tracking.reader_count(), 2u);
}

TEST(Tracking, BroadcastsChangesUnderThePrefixes) {
  Tracking tracking;
  tracking.Enable(7, {.broadcasts = true, .prefixes = {"a", "b"}});
  tracking.Enable(8, {.broadcasts = true, .prefixes = {""}});
  tracking.Changed("b1", 9);
  tracking.Changed("a2", 9);
  tracking.Changed("a1", 9);
  tracking.Changed("c", 9);
  EXPECT_THAT(Take(tracking), ElementsAre("7: a1 a2", "7: b1", "8: a1 a2 b1 c"));
}

TEST(Tracking, BroadcastsAgainAfterEveryCommand) {
  Tracking tracking;
  tracking.Enable(7, {.broadcasts = true, .no_loop = true, .prefixes = {"a"}});
  tracking.Changed("a1", 7);
  tracking.Changed("a2", 9);
  EXPECT_THAT(Take(tracking), ElementsAre("7: a2"));
  tracking.Changed("a2", 9);
  EXPECT_THAT(Take(tracking), ElementsAre("7: a2"));
}

TEST(Tracking, PrefixesAreAddedToThoseThereAre) {
  Tracking tracking;
  tracking.Enable(7, {.broadcasts = true, .prefixes = {"a"}});
  tracking.Enable(7, {.broadcasts = true, .prefixes = {"b"}});
  EXPECT_THAT(tracking.ModeOf(7)->prefixes, ElementsAre("a", "b"));
  EXPECT_EQ(tracking.prefix_count(), 2u);
}

TEST(Tracking, NotifiesAllClientsWhenAllKeysAreDeleted) {
  Tracking tracking;
  tracking.Enable(7, {});
  tracking.Enable(8, {.broadcasts = true, .prefixes = {"a"}});
  tracking.Remember(7, "a", kAnyNumber);
  tracking.AllChanged();
  EXPECT_THAT(Take(tracking), ElementsAre("7: all", "8: all"));
  EXPECT_EQ(tracking.key_count(), 0u);
  EXPECT_EQ(tracking.reader_count(), 0u);
}

TEST(Tracking, DoesNotNotifyClientsThatStartAfterTheDeletion) {
  Tracking tracking;
  tracking.AllChanged();
  tracking.Enable(7, {});
  EXPECT_THAT(Take(tracking), ElementsAre());
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
