#include "backends/memory/blocking.h"

#include <memory>
#include <string>
#include <vector>

#include "backends/memory/engine.h"
#include "backends/memory/watching.h"
#include "gtest/gtest.h"

namespace redouble::memory {
namespace {

// Sessions that only stand for themselves.
class WaitersTest : public testing::Test {
 protected:
  base::VirtualClock clock_;
  Engine engine_{clock_};
  std::unique_ptr<Session> first_ = engine_.Connect();
  std::unique_ptr<Session> second_ = engine_.Connect();
  Blocking blocking_;
};

TEST_F(WaitersTest, StandInTheOrderOfTheirComing) {
  blocking_.Wait(*second_, 0, "k");
  blocking_.Wait(*first_, 0, "k");
  EXPECT_EQ(blocking_.Waiters({0, "k"}), (std::vector<Session*>{second_.get(), first_.get()}));
  EXPECT_TRUE(blocking_.Waiters({1, "k"}).empty());
  blocking_.StopWaiting(*second_, 0, "k");
  EXPECT_EQ(blocking_.Waiters({0, "k"}), std::vector<Session*>({first_.get()}));
  blocking_.StopWaiting(*first_, 0, "k");
  blocking_.StopWaiting(*first_, 0, "k");
  EXPECT_FALSE(blocking_.anybody_waits());
}

TEST_F(WaitersTest, HearOfKeysInTheOrderOfTheirChangesAndOnce) {
  blocking_.Wait(*first_, 0, "a");
  blocking_.Wait(*first_, 0, "b");
  blocking_.MarkReady(0, "b");
  blocking_.MarkReady(0, "nobody waits for this");
  blocking_.MarkReady(0, "a");
  blocking_.MarkReady(0, "b");
  EXPECT_EQ(blocking_.TakeReady(), (std::vector<Blocking::Key>{{0, "b"}, {0, "a"}}));
  EXPECT_FALSE(blocking_.any_ready());
  blocking_.MarkReady(0, "b");
  EXPECT_EQ(blocking_.TakeReady(), std::vector<Blocking::Key>({{0, "b"}}));
}

TEST_F(WaitersTest, HearOfAllKeysOfADatabaseInTheirOrder) {
  for (const char* key : {"c", "a", "b"}) blocking_.Wait(*first_, 1, key);
  blocking_.Wait(*first_, 0, "other");
  blocking_.MarkAllReady(1);
  EXPECT_EQ(blocking_.TakeReady(), (std::vector<Blocking::Key>{{1, "a"}, {1, "b"}, {1, "c"}}));
}

TEST_F(WaitersTest, FailTheTransactionsOfAllWhoWatchAKey) {
  Watching watching;
  EXPECT_TRUE(watching.Watch(*first_, 0, "k"));
  EXPECT_FALSE(watching.Watch(*first_, 0, "k"));
  EXPECT_TRUE(watching.Watch(*second_, 1, "k"));
  watching.Touch(0, "other");
  EXPECT_FALSE(first_->watch_failed());
  watching.Touch(0, "k");
  EXPECT_TRUE(first_->watch_failed());
  EXPECT_FALSE(second_->watch_failed());
  watching.Unwatch(*first_, {0, "k"});
  watching.Unwatch(*second_, {1, "k"});
  EXPECT_FALSE(watching.anybody_watches());
}

TEST_F(WaitersTest, FailWhenADatabaseGoesOnlyForKeysThatAreOrWillBe) {
  Watching watching;
  Database before;
  Database after;
  watching.Watch(*first_, 0, "k");
  watching.TouchAll(0, before, nullptr);
  EXPECT_FALSE(first_->watch_failed());
  watching.TouchAll(0, before, &after);
  EXPECT_FALSE(first_->watch_failed());
  after.Add("k", Value());
  watching.TouchAll(1, before, &after);
  EXPECT_FALSE(first_->watch_failed());
  watching.TouchAll(0, before, &after);
  EXPECT_TRUE(first_->watch_failed());
  watching.Unwatch(*first_, {0, "k"});
}

}  // namespace
}  // namespace redouble::memory
