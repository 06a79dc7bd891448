// How a SentinelMachine finds its master and follows it.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/redis/fsm/sentinel/scripted_sentinels_for_test.h"
#include "redouble/backends/redis/fsm/sentinel/sentinel_machine.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Reply;

// Finding the master.

TEST(SentinelMachine, BelievesASentinelOnceTheServerSaysThatItIsMaster) {
  Watch watch;
  watch.Start();
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
  watch.Sentinel(MasterAt("m1"));
  EXPECT_EQ(watch.TakeLog(), (Log{"s1 watch", "m1 role"}));
  EXPECT_FALSE(watch.machine.master().has_value());
  watch.Role(Master());
  EXPECT_EQ(watch.machine.master(), (TcpAddress{"m1", 6379}));
  EXPECT_THAT(watch.machine.start_status(), IsOk());
}

TEST(SentinelMachine, AsksTheNextSentinelWhenOneFails) {
  Watch watch;
  watch.Start();
  watch.Sentinel(NotConnected());
  EXPECT_EQ(watch.TakeLog(), (Log{"s1 ask", "s2 ask"}));
  watch.Sentinel(MasterAt("m1"));
  watch.Role(Master());
  EXPECT_TRUE(watch.machine.master().has_value());
  // The sentinel that answered is asked first from now on.
  EXPECT_EQ(watch.machine.sentinels(), (std::vector<TcpAddress>{{"s2", 1}, {"s1", 1}}));
}

TEST(SentinelMachine, AsksTheNextSentinelWhenWhatOneNamesIsNoMaster) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterAt("old"));
  watch.Role(Replica());
  watch.TakeLog();
  watch.Sentinel(MasterAt("new"));
  EXPECT_EQ(watch.TakeLog(), (Log{"s2 watch", "new role"}));
  watch.Role(Master());
  EXPECT_EQ(watch.machine.master()->host, "new");
}

TEST(SentinelMachine, LearnsTheSentinelsThatASentinelKnows) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterAt("m1", {Fields("s3", "26379"), Fields("s2", "1"), Fields("", "1"),
                                 Fields("s4", "0"), Reply::Bulk("x")}));
  EXPECT_EQ(watch.machine.sentinels(),
            (std::vector<TcpAddress>{{"s1", 1}, {"s2", 1}, {"s3", 26379}}));
}

TEST(SentinelMachine, ReportsAMasterThatNoSentinelKnows) {
  Watch watch;
  watch.Start();
  watch.Sentinel(NotConnected());
  watch.Sentinel(NoMaster());
  EXPECT_THAT(watch.machine.start_status(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(watch.machine.start_status().message(),
            "the sentinel at s2:1 knows no master named mymaster");
}

TEST(SentinelMachine, ReportsThatNoSentinelCanBeReached) {
  Watch watch;
  watch.Start();
  watch.Sentinel(NotConnected());
  watch.Sentinel(NotConnected());
  EXPECT_EQ(watch.machine.start_status(), NotConnected());
}

TEST(SentinelMachine, ReportsANamedServerThatIsNotAMaster) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterAt("m1"));
  watch.Role(Replica());
  watch.Sentinel(NotConnected());
  EXPECT_EQ(watch.machine.start_status().message(),
            "m1:6379 is no master, though a sentinel says so");
}

TEST(SentinelMachine, ReportsAServerThatIsNotASentinel) {
  Watch watch;
  watch.Start();
  const Reply unknown = Reply::Error("ERR unknown command 'SENTINEL'");
  watch.Sentinel(Reply::Array({unknown, unknown, unknown}));
  watch.Sentinel(NotConnected());
  EXPECT_EQ(watch.machine.start_status().message(),
            "s1:1 did not answer as a sentinel does: (error) ERR unknown command 'SENTINEL'");
}

TEST(SentinelMachine, BeginsAnotherRoundAfterAWhile) {
  Watch watch;
  watch.Start();
  watch.Sentinel(NotConnected());
  watch.Sentinel(NotConnected());
  watch.TakeLog();
  watch.Pass(kRefreshUs - 1);
  EXPECT_EQ(watch.TakeLog(), Log{});
  watch.Pass(kPauseUs);
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
  EXPECT_EQ(watch.machine.counters().rounds, 2u);
}

// Following the master.

TEST(SentinelMachine, LooksForTheMasterWhenItIsLost) {
  Watch watch;
  watch.Open();
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
  // The first failed request starts the search.
  watch.LoseMaster();
  EXPECT_EQ(watch.TakeLog(), Log{});
}

TEST(SentinelMachine, GoesWhereASwitchLeads) {
  Watch watch;
  watch.Open();
  watch.Switched("mymaster m1 6379 m2 6380");
  EXPECT_EQ(watch.TakeLog(), Log{"m2 role"});
  watch.Role(Master());
  EXPECT_EQ(watch.machine.master(), (TcpAddress{"m2", 6380}));
  EXPECT_EQ(watch.machine.counters().masters, 2u);
}

TEST(SentinelMachine, AsksTheSentinelsWhenASwitchLeadsNowhere) {
  Watch watch;
  watch.Open();
  watch.Switched("mymaster m1 6379 m2 6380");
  watch.Role(NotConnected());
  EXPECT_EQ(watch.TakeLog(), (Log{"m2 role", "s1 ask"}));
}

TEST(SentinelMachine, IgnoresSwitchesThatAreNotItsOwn) {
  Watch watch;
  watch.Open();
  for (const std::string_view message : {"other m1 6379 m2 6380", "mymaster m2 6379 m1 6379",
                                         "mymaster m1 6379 m2", "mymaster m1 6379 m2 x", ""}) {
    watch.Switched(message);
    EXPECT_EQ(watch.TakeLog(), Log{}) << message;
  }
  EXPECT_TRUE(watch.machine.master().has_value());
}

TEST(SentinelMachine, TakesASwitchForNewerThanTheAnswerThatItGot) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterAt("m1"));
  watch.Switched("mymaster m1 6379 m2 6380");
  watch.TakeLog();
  watch.Role(Master());
  EXPECT_EQ(watch.TakeLog(), Log{"m2 role"});
  watch.Role(Master());
  EXPECT_EQ(watch.machine.master()->host, "m2");
}

TEST(SentinelMachine, WatchesTheSentinelThatAnswers) {
  Watch watch;
  watch.Open();
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  watch.Sentinel(NotConnected());
  watch.TakeLog();
  watch.Sentinel(MasterAt("m1"));
  EXPECT_EQ(watch.TakeLog(), (Log{"s2 watch", "m1 role"}));
}

// A failover and a sentinel that has not heard of it.

TEST(SentinelMachine, PassesOverASentinelThatMissedTheLastFailover) {
  Watch watch;
  watch.FindAndLose(MasterOfEpoch(2, "m2"));
  watch.Sentinel(NotConnected());
  watch.TakeLog();
  watch.Sentinel(MasterOfEpoch(1, "m1"));
  EXPECT_EQ(watch.TakeLog(), Log{}) << "m1 may still say that it is a master";
  watch.Pass(kPauseUs);
  watch.Sentinel(MasterOfEpoch(2, "m2"));
  EXPECT_EQ(watch.TakeLog(), (Log{"s1 ask", "m2 role"}));
}

TEST(SentinelMachine, PassesOverASentinelThatMissedAnAnnouncedFailover) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterOfEpoch(1, "m1"));
  watch.Role(Master());
  watch.Switched("mymaster m1 6379 m2 6379");
  watch.Role(Master());
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  watch.TakeLog();
  watch.Sentinel(MasterOfEpoch(1, "m1"));
  EXPECT_EQ(watch.TakeLog(), Log{"s2 ask"});
  watch.Sentinel(MasterOfEpoch(2, "m2"));
  EXPECT_EQ(watch.TakeLog(), (Log{"s2 watch", "m2 role"}));
}

TEST(SentinelMachine, TakesAFailoverThatIsAnnouncedTwiceForOne) {
  Watch watch;
  watch.FindAndLose(MasterOfEpoch(2, "m2"));
  watch.Switched("mymaster m1 6379 m2 6379");
  watch.Sentinel(NotConnected());
  watch.Role(Master());
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  watch.TakeLog();
  watch.Sentinel(MasterOfEpoch(2, "m2"));
  EXPECT_EQ(watch.TakeLog(), (Log{"m2 role"}));
}

TEST(SentinelMachine, BelievesSentinelsThatWereSetUpAnewAfterAWhile) {
  Watch watch;
  watch.FindAndLose(MasterOfEpoch(7, "m1"));
  watch.Sentinel(MasterOfEpoch(0, "m3"));
  watch.Sentinel(MasterOfEpoch(0, "m3"));
  watch.Pass(SentinelMachine::kOutdatedUs);
  EXPECT_EQ(watch.TakeLog(), (Log{"s2 ask", "s1 ask"}));
  watch.Sentinel(MasterOfEpoch(0, "m3"));
  EXPECT_EQ(watch.TakeLog(), (Log{"m3 role"}));
  watch.Role(Master());
  EXPECT_EQ(watch.machine.master()->host, "m3");
}

TEST(SentinelMachine, WaitsForSentinelsAfterEachFailover) {
  Watch watch;
  watch.FindAndLose(MasterOfEpoch(2, "m2"));
  watch.Sentinel(MasterOfEpoch(1, "m1"));
  watch.Sentinel(NotConnected());
  watch.Switched("mymaster m2 6379 m3 6379");
  watch.Role(Master());
  watch.Pass(SentinelMachine::kOutdatedUs);
  watch.LoseMaster();
  watch.TakeLog();
  watch.Sentinel(MasterOfEpoch(1, "m1"));
  EXPECT_EQ(watch.TakeLog(), Log{"s2 ask"});
}

TEST(SentinelMachine, BelievesASentinelThatDoesNotTellItsEpoch) {
  Watch watch;
  watch.FindAndLose(MasterOfEpoch(2, "m2"));
  const Reply refused = Reply::Error("NOPERM");
  watch.Sentinel(Reply::Array(
      {refused, Reply::Array({Reply::Bulk("m1"), Reply::Bulk("6379")}), Reply::EmptyArray()}));
  EXPECT_EQ(watch.TakeLog(), (Log{"m1 role"}));
}

// The subscription, and the sentinels that are known.

TEST(SentinelMachine, WatchesTheNextSentinelWhenASubscriptionFails) {
  Watch watch;
  watch.Open();
  watch.machine.WatchEnded(watch.now_us);
  watch.Pass(kRefreshUs - 1);
  EXPECT_EQ(watch.TakeLog(), Log{});
  watch.Pass(1);
  EXPECT_EQ(watch.TakeLog(), Log{"s2 watch"});
  watch.machine.WatchEnded(watch.now_us);
  watch.Collect();
  watch.Pass(absl::ToInt64Microseconds(TestOptions().backoff_base));
  EXPECT_EQ(watch.TakeLog(), Log{"s1 watch"});
}

TEST(SentinelMachine, VerifiesTheMasterAfterALostSubscription) {
  Watch watch;
  watch.Open();
  watch.Pass(kPauseUs);
  watch.machine.Watching(watch.now_us);
  watch.Collect();
  EXPECT_EQ(watch.TakeLog(), Log{}) << "nothing was missed before the first subscription";
  watch.machine.WatchEnded(watch.now_us);
  watch.Pass(kPauseUs);
  watch.TakeLog();
  watch.machine.Watching(watch.now_us);
  watch.Collect();
  EXPECT_EQ(watch.TakeLog(), Log{"s1 ask"});
}

TEST(SentinelMachine, ForgetsSentinelsThatAreNotNamedAnyMore) {
  Watch watch;
  watch.Start();
  watch.Sentinel(MasterAt("m1", {Fields("s3", "3"), Fields("s4", "4")}));
  watch.Role(Master());
  watch.Pass(kPauseUs);
  watch.LoseMaster();
  watch.Sentinel(MasterAt("m1", {Fields("s4", "4"), Fields("s5", "5")}));
  EXPECT_EQ(watch.machine.sentinels(),
            (std::vector<TcpAddress>{{"s1", 1}, {"s2", 1}, {"s4", 4}, {"s5", 5}}));
}

TEST(SentinelMachine, AsksEachSentinelOnceInARoundThoughTheListChanges) {
  Watch watch;
  watch.Start();
  watch.TakeLog();
  for (const char* const other : {"s3", "s4", "s5", "s6"}) {
    watch.Sentinel(MasterAt("old", {Fields(other, "1")}));
    watch.Role(Replica());
  }
  Log asked;
  for (const std::string& line : watch.TakeLog()) {
    if (line.ends_with(" ask")) asked.push_back(line);
  }
  EXPECT_EQ(asked, (Log{"s2 ask", "s4 ask", "s5 ask", "s6 ask"}));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
