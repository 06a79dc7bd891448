#include "redouble/backends/memory/transactions/watching.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "redouble/backends/memory/keyspace/database.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr bool kIsStored = false;  // Not as an expired key.
constexpr bool kIsExpired = true;
constexpr int64_t kNowMs = 1'000;

TEST(Watchers, FailTheTransactionsOfAllWatchersOfAKey) {
  Watching watching;
  Watcher first;
  Watcher second;
  EXPECT_TRUE(watching.Watch(first, 0, "k", kIsStored));
  EXPECT_FALSE(watching.Watch(first, 0, "k", kIsStored));
  EXPECT_TRUE(watching.Watch(second, 1, "k", kIsStored));
  watching.Touch(0, "other");
  EXPECT_FALSE(first.failed());
  watching.Touch(0, "k");
  EXPECT_TRUE(first.failed());
  EXPECT_FALSE(second.failed());
  watching.Unwatch(first, {0, "k"});
  watching.Unwatch(second, {1, "k"});
  EXPECT_FALSE(watching.has_watchers());
}

TEST(Watchers, FailAtASwapOnlyForKeysThatExistBeforeOrAfter) {
  Watching watching;
  Watcher first;
  Database before;
  Database after;
  watching.Watch(first, 0, "k", kIsStored);
  watching.TouchAll(0, before, nullptr, kNowMs);
  EXPECT_FALSE(first.failed());
  watching.TouchAll(0, before, &after, kNowMs);
  EXPECT_FALSE(first.failed());
  after.Add("k", Value());
  watching.TouchAll(1, before, &after, kNowMs);
  EXPECT_FALSE(first.failed());
  watching.TouchAll(0, before, &after, kNowMs);
  EXPECT_TRUE(first.failed());
  watching.Unwatch(first, {0, "k"});
}

TEST(Watchers, DoNotFailBecauseAKeyIsGoneThatTheySawExpired) {
  Watching watching;
  Watcher first;
  Watcher second;
  watching.Watch(first, 0, "k", kIsExpired);
  watching.Watch(second, 0, "k", kIsStored);
  watching.TouchExpired(0, "k");
  EXPECT_FALSE(first.failed());
  EXPECT_TRUE(second.failed());
  watching.TouchExpired(0, "k");
  EXPECT_TRUE(first.failed()) << "another key of that name has expired";
  watching.Unwatch(first, {0, "k"});
  watching.Unwatch(second, {0, "k"});
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
