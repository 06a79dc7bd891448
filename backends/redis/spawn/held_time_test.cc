// The effect of a held clock on a real redis-server. These tests also record how Redis 7.0 treats
// the boundaries of expiry and timeouts, to the millisecond, without sleeping.

#include <signal.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/tests/support/target/raw_connection.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Reply;
using tests::RawConnection;

constexpr int64_t kStartMs = 1'700'000'000'000;
const absl::Time kStart = absl::FromUnixMillis(kStartMs);

class HeldTimeTest : public ::testing::Test {
 protected:
  static std::unique_ptr<SpawnedServer> StartServer() {
    SpawnedServerOptions options;
    options.held_time = kStart;
    options.config = {"notify-keyspace-events Ex", "enable-debug-command local"};
    return SpawnedServer::Start(options).value();
  }

  void AdvanceMs(int64_t step_ms) {
    ASSERT_THAT(server_->AdvanceTime(absl::Milliseconds(step_ms)), IsOk());
  }

  std::unique_ptr<RawConnection> Connect() const {
    return RawConnection::ConnectUnix(server_->unix_socket()).value();
  }

  std::string Ask(const RawConnection::Arguments& command) { return tests::Ask(*client_, command); }

  // The reply to TIME.
  static std::string TimeText(int64_t now_us) {
    return absl::StrCat("[\"", now_us / 1'000'000, "\", \"", now_us % 1'000'000, "\"]");
  }

  static std::string StreamId(int64_t now_ms, int sequence) {
    return absl::StrCat("\"", now_ms, "-", sequence, "\"");
  }

  const std::unique_ptr<SpawnedServer> server_ = StartServer();
  const std::unique_ptr<RawConnection> client_ = Connect();
};

TEST_F(HeldTimeTest, TimeEqualsTheHeldTimeToTheMicrosecond) {
  EXPECT_EQ(Ask({"TIME"}), "[\"1700000000\", \"0\"]");
  ASSERT_THAT(server_->SetTime(absl::FromUnixMicros(1'700'000'000'999'999)), IsOk());
  EXPECT_EQ(Ask({"TIME"}), "[\"1700000000\", \"999999\"]");
  ASSERT_THAT(server_->AdvanceTime(absl::Microseconds(1)), IsOk());
  EXPECT_EQ(Ask({"TIME"}), "[\"1700000001\", \"0\"]");
  EXPECT_EQ(server_->held_time(), absl::FromUnixSeconds(1'700'000'001));
}

TEST_F(HeldTimeTest, StandsStillUntilItIsMoved) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(server_->Settle(), IsOk());
    EXPECT_EQ(Ask({"TIME"}), "[\"1700000000\", \"0\"]");
  }
}

// Redis caches the time once per turn of its event loop; the next command must still see the new
// time.
TEST_F(HeldTimeTest, EveryCommandSeesTheTimeSetBeforeIt) {
  for (int i = 1; i <= 2000; ++i) {
    const int64_t now_us = kStartMs * 1000 + i * 1'000'003;
    ASSERT_THAT(server_->SetTime(absl::FromUnixMicros(now_us)), IsOk());
    ASSERT_EQ(Ask({"TIME"}), TimeText(now_us));
    ASSERT_EQ(Ask({"EVAL", "return redis.call('TIME')", "0"}), TimeText(now_us));
  }
}

TEST_F(HeldTimeTest, AKeyIsStillThereAtItsDeadlineAndGoneAMillisecondLater) {
  EXPECT_EQ(Ask({"SET", "key", "value", "PX", "1000"}), "OK");
  EXPECT_EQ(Ask({"PTTL", "key"}), "1000");
  AdvanceMs(999);
  EXPECT_EQ(Ask({"PTTL", "key"}), "1");
  AdvanceMs(1);
  EXPECT_EQ(Ask({"PTTL", "key"}), "0");
  EXPECT_EQ(Ask({"TTL", "key"}), "0");
  EXPECT_EQ(Ask({"GET", "key"}), "\"value\"");
  ASSERT_THAT(server_->Settle(), IsOk());
  EXPECT_EQ(Ask({"DBSIZE"}), "1");
  AdvanceMs(1);
  EXPECT_EQ(Ask({"GET", "key"}), "nil");
  EXPECT_EQ(Ask({"PTTL", "key"}), "-2");
}

// Expiry uses whole milliseconds: the microseconds of the clock are truncated.
TEST_F(HeldTimeTest, ADeadlineIsPassedByAWholeMillisecondOnly) {
  EXPECT_EQ(Ask({"SET", "key", "value", "PX", "1000"}), "OK");
  ASSERT_THAT(server_->SetTime(kStart + absl::Milliseconds(1001) - absl::Microseconds(1)), IsOk());
  EXPECT_EQ(Ask({"EXISTS", "key"}), "1");
  ASSERT_THAT(server_->AdvanceTime(absl::Microseconds(1)), IsOk());
  EXPECT_EQ(Ask({"EXISTS", "key"}), "0");
}

TEST_F(HeldTimeTest, DeadlinesAreReckonedFromTheHeldTime) {
  EXPECT_EQ(Ask({"SET", "key", "value", "EX", "100"}), "OK");
  EXPECT_EQ(Ask({"PEXPIRETIME", "key"}), absl::StrCat(kStartMs + 100'000));
  EXPECT_EQ(Ask({"EXPIRETIME", "key"}), absl::StrCat(kStartMs / 1000 + 100));
  AdvanceMs(500);
  EXPECT_EQ(Ask({"PEXPIRE", "key", "999"}), "1");
  EXPECT_EQ(Ask({"PEXPIRETIME", "key"}), absl::StrCat(kStartMs + 1499));
  // EXPIRETIME and TTL round to the nearest second, half up.
  EXPECT_EQ(Ask({"EXPIRETIME", "key"}), absl::StrCat(kStartMs / 1000 + 1));
  EXPECT_EQ(Ask({"PEXPIREAT", "key", absl::StrCat(kStartMs + 1500)}), "1");
  EXPECT_EQ(Ask({"EXPIRETIME", "key"}), absl::StrCat(kStartMs / 1000 + 2));
  EXPECT_EQ(Ask({"TTL", "key"}), "1");
  EXPECT_EQ(Ask({"PEXPIREAT", "key", absl::StrCat(kStartMs + 499)}), "1");
  EXPECT_EQ(Ask({"EXISTS", "key"}), "0");
}

TEST_F(HeldTimeTest, AStepBackwardsLengthensATtl) {
  EXPECT_EQ(Ask({"SET", "key", "value", "PX", "1000"}), "OK");
  ASSERT_THAT(server_->AdvanceTime(-absl::Hours(1)), IsOk());
  EXPECT_EQ(Ask({"PTTL", "key"}), "3601000");
  EXPECT_EQ(Ask({"TIME"}), "[\"1699996400\", \"0\"]");
  ASSERT_THAT(server_->Settle(), IsOk());
  ASSERT_THAT(server_->SetTime(kStart + absl::Milliseconds(1001)), IsOk());
  ASSERT_THAT(server_->Settle(), IsOk());
  EXPECT_EQ(Ask({"DBSIZE"}), "0");
}

TEST_F(HeldTimeTest, LeapsOverTenYears) {
  const int64_t leap_ms = int64_t{3653} * 24 * 3600 * 1000;
  EXPECT_EQ(Ask({"SET", "until-then", "1", "PX", absl::StrCat(leap_ms)}), "OK");
  EXPECT_EQ(Ask({"SET", "until-just-before", "1", "PX", absl::StrCat(leap_ms - 1)}), "OK");
  EXPECT_EQ(Ask({"SET", "for-ever", "1"}), "OK");
  AdvanceMs(leap_ms);
  ASSERT_THAT(server_->Settle(), IsOk());
  EXPECT_EQ(Ask({"MGET", "until-then", "until-just-before", "for-ever"}), "[\"1\", nil, \"1\"]");
  EXPECT_EQ(Ask({"TIME"}), TimeText((kStartMs + leap_ms) * 1000));
}

// DBSIZE counts expired keys until they are removed.
TEST_F(HeldTimeTest, SettleLetsTheServerRemoveEveryKeyThatIsDue) {
  EXPECT_EQ(Ask({"SET", "kept", "1", "PX", "2000"}), "OK");
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(Ask({"SET", absl::StrCat("due-", i), "1", "PX", "1000"}), "OK");
  }
  AdvanceMs(1001);
  ASSERT_THAT(server_->Settle(), IsOk());
  EXPECT_EQ(Ask({"DBSIZE"}), "1");
}

// A thousand keys that expire at once leave a sparse table, in which Redis searches no keys until
// it has shrunk it.
TEST_F(HeldTimeTest, SettleFindsTheFewDueKeysOfATableThatWasLarge) {
  for (int round = 1; round <= 20; ++round) {
    std::vector<RawConnection::Arguments> commands;
    for (int i = 0; i < 1000; ++i)
      commands.push_back({"SET", absl::StrCat(i), "1", "PX", "100000"});
    commands.push_back({"SET", "due", "1", "PX", "5"});
    for (int i = 0; i < 1000; ++i) commands.push_back({"DEL", absl::StrCat(i)});
    ASSERT_EQ(client_->CallAll(commands).value().back(), Reply::Integer(1));
    AdvanceMs(6);
    ASSERT_THAT(server_->Settle(), IsOk());
    ASSERT_EQ(Ask({"DBSIZE"}), "0") << "round " << round;
  }
}

TEST_F(HeldTimeTest, SettleReachesEveryDatabase) {
  for (int db = 0; db < 16; ++db) {
    EXPECT_EQ(Ask({"SELECT", absl::StrCat(db)}), "OK");
    EXPECT_EQ(Ask({"SET", "due", "1", "PX", "5"}), "OK");
  }
  AdvanceMs(6);
  ASSERT_THAT(server_->Settle(), IsOk());
  EXPECT_EQ(Ask({"INFO", "keyspace"}), "\"# Keyspace\\r\\n\"");
}

TEST_F(HeldTimeTest, AFullScanRemovesADueKeyAmongThousandsThatAreNot) {
  std::vector<RawConnection::Arguments> commands;
  for (int i = 0; i < 3000; ++i) commands.push_back({"SET", absl::StrCat(i), "1", "PX", "9000"});
  ASSERT_THAT(client_->CallAll(commands), IsOk());
  EXPECT_EQ(Ask({"SET", "due", "1", "PX", "5"}), "OK");
  AdvanceMs(6);
  EXPECT_FALSE(absl::StrContains(Ask({"SCAN", "0", "COUNT", "100000"}), "due"));
  EXPECT_EQ(Ask({"DBSIZE"}), "3000");
}

TEST_F(HeldTimeTest, ExpiredMessagesHaveArrivedOnceSettled) {
  const auto subscriber = Connect();
  EXPECT_EQ(tests::Ask(*subscriber, {"SUBSCRIBE", "__keyevent@0__:expired"}),
            "[\"subscribe\", \"__keyevent@0__:expired\", 1]");
  for (int i = 0; i < 100; ++i) {
    const std::string key = absl::StrCat("key-", i);
    EXPECT_EQ(Ask({"SET", key, "1", "PX", "10"}), "OK");
    AdvanceMs(10);
    ASSERT_THAT(server_->Settle(), IsOk());
    ASSERT_EQ(subscriber->TryReceive().value(), std::nullopt);
    AdvanceMs(1);
    ASSERT_THAT(server_->Settle(), IsOk());
    ASSERT_EQ(subscriber->TryReceive().value().value_or(Reply()).DebugString(),
              absl::StrCat("[\"message\", \"__keyevent@0__:expired\", \"", key, "\"]"));
  }
}

TEST_F(HeldTimeTest, ABlockedCallGivesUpAMillisecondAfterItsTimeOut) {
  const auto blocked = Connect();
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(blocked->Send({"BLPOP", "list", "1"}), IsOk());
    // The timeout starts when the server reads the command.
    ASSERT_THAT(client_->Synchronize(), IsOk());
    AdvanceMs(1000);
    ASSERT_THAT(server_->Settle(), IsOk());
    ASSERT_EQ(blocked->TryReceive().value(), std::nullopt);
    AdvanceMs(1);
    ASSERT_THAT(server_->Settle(), IsOk());
    ASSERT_EQ(blocked->TryReceive().value(), Reply::Nil());
  }
}

TEST_F(HeldTimeTest, StreamIdsFollowTheHeldTimeAndNeverGoBack) {
  EXPECT_EQ(Ask({"XADD", "stream", "*", "a", "1"}), StreamId(kStartMs, 0));
  EXPECT_EQ(Ask({"XADD", "stream", "*", "a", "1"}), StreamId(kStartMs, 1));
  AdvanceMs(1);
  EXPECT_EQ(Ask({"XADD", "stream", "*", "a", "1"}), StreamId(kStartMs + 1, 0));
  AdvanceMs(-1000);
  EXPECT_EQ(Ask({"XADD", "stream", "*", "a", "1"}), StreamId(kStartMs + 1, 1));
}

TEST_F(HeldTimeTest, PendingEntriesAreIdleByTheHeldTime) {
  EXPECT_EQ(Ask({"XADD", "stream", "1-1", "a", "1"}), "\"1-1\"");
  EXPECT_EQ(Ask({"XGROUP", "CREATE", "stream", "group", "0"}), "OK");
  Ask({"XREADGROUP", "GROUP", "group", "consumer", "STREAMS", "stream", ">"});
  AdvanceMs(86'400'000);
  EXPECT_EQ(Ask({"XPENDING", "stream", "group", "-", "+", "1"}),
            "[[\"1-1\", \"consumer\", 86400000, 1]]");
}

// Redis keeps the time constant inside a script and inside a transaction.
TEST_F(HeldTimeTest, AScriptSeesNoKeyExpireWhileItRuns) {
  EXPECT_EQ(Ask({"SET", "key", "value", "PX", "10"}), "OK");
  AdvanceMs(10);
  EXPECT_EQ(Ask({"EVAL", "return {redis.call('PTTL','key'), redis.call('GET','key')}", "1", "key"}),
            "[0, \"value\"]");
  AdvanceMs(1);
  EXPECT_EQ(Ask({"EVAL", "return redis.call('PTTL', 'key')", "1", "key"}), "-2");
}

TEST_F(HeldTimeTest, KeepsItsTimeOverARestart) {
  AdvanceMs(5000);
  ASSERT_THAT(server_->Restart(), IsOk());
  const auto again = Connect();
  EXPECT_EQ(tests::Ask(*again, {"TIME"}), "[\"1700000005\", \"0\"]");
  server_->Kill();
  AdvanceMs(1000);
  ASSERT_THAT(server_->Restart(), IsOk());
  const auto third = Connect();
  EXPECT_EQ(tests::Ask(*third, {"TIME"}), "[\"1700000006\", \"0\"]");
}

TEST_F(HeldTimeTest, CannotSettleAServerThatDoesNotRun) {
  server_->Kill();
  EXPECT_THAT(server_->Settle(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(HeldTimeTest, SettleEndsWhenTheServerDies) {
  // The server sleeps, so no turn of its event loop ends before it is killed.
  ASSERT_THAT(client_->Send({"DEBUG", "SLEEP", "1000"}), IsOk());
  std::thread killer([pid = server_->pid()] { kill(pid, SIGKILL); });
  const absl::Status status = server_->Settle();
  killer.join();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
}

TEST(HeldTime, SettleGivesUpOnAServerThatIsNeverIdle) {
  SpawnedServerOptions options;
  options.held_time = kStart;
  options.patience = absl::Seconds(1);
  const auto server = SpawnedServer::Start(options).value();
  ASSERT_EQ(kill(server->pid(), SIGSTOP), 0);
  EXPECT_THAT(server->Settle(), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(HeldTimeTest, RefusesATimeThatNoClockShows) {
  EXPECT_THAT(server_->SetTime(absl::FromUnixMicros(-1)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(server_->AdvanceTime(absl::InfiniteDuration()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(Ask({"TIME"}), "[\"1700000000\", \"0\"]");
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
