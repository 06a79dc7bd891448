#include "redouble/backends/memory/engine/engine.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::memory {
namespace {

using base::IsOkAndHolds;
using store::Batch;
using store::CommandId;
using store::Expiry;
using ::testing::Eq;
using ::testing::Property;

class EngineTest : public testing::Test {
 protected:
  // The reply of a command, given by its words.
  static store::Reply Send(Session& session, const std::vector<std::string_view>& words) {
    const auto send = [&]() -> base::Task<store::Reply> {
      const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
      absl::StatusOr<store::Reply> reply = co_await session.Execute(command);
      co_return *std::move(reply);
    };
    return base::Run(send());
  }
  store::Reply Send(const std::vector<std::string_view>& words) { return Send(*session_, words); }

  base::VirtualClock clock_{absl::FromUnixMillis(1'778'335'382'000)};
  Engine engine_{clock_};
  std::unique_ptr<Session> session_ = engine_.Connect();
};

TEST_F(EngineTest, KeepsAKeyUpToItsDeadlineAndNotAMillisecondLonger) {
  ASSERT_THAT(base::Run(store::Set(*session_, "k", "v", {.expiry = Expiry::In(absl::Seconds(1))})),
              IsOkAndHolds(true));
  clock_.Advance(absl::Milliseconds(1000));
  EXPECT_THAT(base::Run(store::Get(*session_, "k")), IsOkAndHolds("v"));
  EXPECT_THAT(base::Run(store::TimeToLive(*session_, "k")),
              IsOkAndHolds(Property(&store::Ttl::remaining, absl::ZeroDuration())));
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_THAT(base::Run(store::Get(*session_, "k")), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_THAT(base::Run(store::DbSize(*session_)), IsOkAndHolds(0));
}

TEST_F(EngineTest, LetsTheClockAdvanceDirectlyToAnExpiry) {
  Send({"SET", "far", "v", "PX", "90000000"});
  Send({"SELECT", "3"});
  Send({"SET", "near", "v", "PX", "3600000"});
  const absl::Time start = clock_.Now();
  EXPECT_TRUE(clock_.AdvanceToNext());
  EXPECT_EQ(clock_.Now() - start, absl::Milliseconds(3'600'001));
  EXPECT_TRUE(clock_.AdvanceToNext());
  EXPECT_EQ(clock_.Now() - start, absl::Milliseconds(90'000'001));
  EXPECT_FALSE(clock_.AdvanceToNext());
}

TEST_F(EngineTest, OffersNoDeadlineOfAKeyThatIsGoneOrNeverExpires) {
  Send({"SET", "gone", "v", "PX", "100"});
  Send({"DEL", "gone"});
  EXPECT_EQ(clock_.NextDeadline(), std::nullopt);
  Send({"SET", "kept", "v", "PX", "100"});
  Send({"PEXPIRE", "kept", "200"});
  EXPECT_EQ(clock_.NextDeadline(), clock_.Now() + absl::Milliseconds(201));
  Send({"PERSIST", "kept"});
  EXPECT_FALSE(clock_.AdvanceToNext());
  Send({"SET", "for ever", "v", "PXAT", "9223372036854775807"});
  EXPECT_FALSE(clock_.AdvanceToNext());
}

TEST_F(EngineTest, FiresExpiredEventsInTheOrderOfDeadlines) {
  std::vector<std::string> expired;
  engine_.SetKeyspaceListener([&](const KeyspaceEvent& event) {
    if (event.event_class == EventClass::kExpired) expired.emplace_back(event.key);
  });
  for (const auto& [key, ttl_ms] : {std::pair("c", "300"), std::pair("a", "100"),
                                    std::pair("b2", "200"), std::pair("b1", "200")}) {
    Send({"SET", key, "v", "PX", ttl_ms});
  }
  clock_.Advance(absl::Milliseconds(1000));
  EXPECT_EQ(expired, (std::vector<std::string>{"a", "b2", "b1", "c"}));
  EXPECT_EQ(engine_.expired_keys(), 4);
}

TEST_F(EngineTest, RunsATransactionAndReportsEachReply) {
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kIncr, {"n"});
  batch.Add(CommandId::kExpire, {"n"}).AddInteger(70);
  const absl::StatusOr<std::vector<store::Reply>> replies = base::Run(Execute(*session_, batch));
  ASSERT_TRUE(replies.ok()) << replies.status();
  EXPECT_EQ((*replies)[0], store::Reply::Integer(1));
  EXPECT_EQ((*replies)[1], store::Reply::Integer(1));
}

TEST_F(EngineTest, AbortsATransactionWhoseWatchedKeyExpired) {
  Send({"SET", "k", "v", "PX", "10"});
  Send({"WATCH", "k"});
  clock_.Advance(absl::Milliseconds(11));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kPing);
  EXPECT_EQ(base::Run(Execute(*session_, batch)).status().code(), absl::StatusCode::kAborted);
}

TEST_F(EngineTest, RefusesUnknownCommandsWithTheWordsThatCame) {
  EXPECT_EQ(
      Send({"FOO", "bar", "baz"}),
      store::Reply::Error("ERR unknown command 'FOO', with args beginning with: 'bar' 'baz' "));
}

TEST_F(EngineTest, PublishesEventsInTheOrderOfTheChanges) {
  std::vector<std::string> events;
  engine_.SetKeyspaceListener([&](const KeyspaceEvent& event) {
    events.push_back(std::string(event.event) + " " + std::string(event.key) + " " +
                     std::to_string(event.db));
  });
  Send({"SET", "a", "1", "PX", "100"});
  Send({"RENAME", "a", "b"});
  Send({"MOVE", "b", "1"});
  Send({"SELECT", "1"});
  Send({"PEXPIREAT", "b", "1"});
  Send({"GET", "b"});
  EXPECT_EQ(events,
            (std::vector<std::string>{"set a 0", "expire a 0", "rename_from a 0", "rename_to b 0",
                                      "move_from b 0", "move_to b 1", "del b 1"}));
}

TEST_F(EngineTest, RemovesAKeyWhoseDeadlineIsInThePastInsideATransaction) {
  Send({"SET", "k", "v"});
  Send({"MULTI"});
  Send({"PEXPIREAT", "k", "1"});
  Send({"EXISTS", "k"});
  const store::Reply replies = Send({"EXEC"});
  EXPECT_EQ(replies.elements()[1], store::Reply::Integer(0));
}

TEST_F(EngineTest, FailsWatchersOfKeysThatFlushingOrSwappingTouches) {
  const std::unique_ptr<Session> other = engine_.Connect();
  for (const std::vector<std::string_view>& change :
       {std::vector<std::string_view>{"FLUSHDB"}, {"FLUSHALL"}, {"SWAPDB", "0", "1"}}) {
    Send({"SET", "k", "v"});
    Send({"WATCH", "k", "missing"});
    Send(*other, change);
    Send({"MULTI"});
    EXPECT_EQ(Send({"EXEC"}), store::Reply::Nil()) << change[0];
  }
}

// Whether the clock stops at every deadline or passes all of them at once, the visible results are
// equal.
TEST_F(EngineTest, ExpiresTheSameKeysInOneLeapAsInManySteps) {
  base::VirtualClock clock(clock_.Now());
  Engine stepwise(clock);
  const std::unique_ptr<Session> session = stepwise.Connect();
  std::vector<std::string> leap_order;
  std::vector<std::string> step_order;
  engine_.SetKeyspaceListener([&](const KeyspaceEvent& event) {
    if (event.event_class == EventClass::kExpired) leap_order.emplace_back(event.key);
  });
  stepwise.SetKeyspaceListener([&](const KeyspaceEvent& event) {
    if (event.event_class == EventClass::kExpired) step_order.emplace_back(event.key);
  });
  for (int i = 0; i < 500; ++i) {
    const std::string key = std::to_string(i);
    const std::string ttl_ms = std::to_string(1 + i * 7919 % 1000);
    Send({"SET", key, "v", "PX", ttl_ms});
    Send(*session, {"SET", key, "v", "PX", ttl_ms});
  }
  clock_.Advance(absl::Milliseconds(700));
  for (int i = 0; i < 700; ++i) clock.Advance(absl::Milliseconds(1));
  EXPECT_EQ(leap_order, step_order);
  EXPECT_FALSE(leap_order.empty());
  EXPECT_EQ(Send({"DBSIZE"}), Send(*session, {"DBSIZE"}));
}

TEST_F(EngineTest, DrawsTheSameKeysForTheSameSeed) {
  Engine twin(clock_);
  const std::unique_ptr<Session> session = twin.Connect();
  for (const char* key : {"a", "b", "c", "d"}) {
    Send({"SET", key, "v"});
    Send(*session, {"SET", key, "v"});
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Send({"RANDOMKEY"}), Send(*session, {"RANDOMKEY"}));
}

TEST_F(EngineTest, ExpiresKeysWhenAPauseOfAllCommandsEnds) {
  std::vector<std::string> events;
  Send({"SET", "k", "v", "PX", "10"});
  Send({"CLIENT", "PAUSE", "100", "ALL"});
  engine_.SetKeyspaceListener(
      [&](const KeyspaceEvent& event) { events.emplace_back(event.event); });
  clock_.Advance(absl::Milliseconds(100));
  EXPECT_TRUE(events.empty());
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(events, std::vector<std::string>{"expired"});
  EXPECT_EQ(Send({"DBSIZE"}), store::Reply::Integer(0));
}

// A redis-server 7.0 does not finish the command.
TEST_F(EngineTest, DrawsAnExpiredKeyInAPauseInWhichThereIsNoOther) {
  Send({"SET", "k", "v", "PX", "10"});
  Send({"CLIENT", "PAUSE", "1000", "WRITE"});
  clock_.Advance(absl::Milliseconds(11));
  EXPECT_EQ(Send({"RANDOMKEY"}), store::Reply::Bulk("k"));
  EXPECT_EQ(Send({"DBSIZE"}), store::Reply::Integer(1));
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Send({"DBSIZE"}), store::Reply::Integer(0));
}

TEST_F(EngineTest, DrawsPastManyExpiredKeys) {
  engine_.set_active_expire(false);
  for (int i = 0; i < 1000; ++i) Send({"SET", std::to_string(i), "v", "PX", "10"});
  clock_.Advance(absl::Milliseconds(11));
  EXPECT_EQ(Send({"DBSIZE"}), store::Reply::Integer(1000));
  EXPECT_EQ(Send({"RANDOMKEY"}), store::Reply::Nil());
  EXPECT_EQ(Send({"DBSIZE"}), store::Reply::Integer(0));
}

TEST_F(EngineTest, ReloadsOnlyWhatItCanWithoutAFile) {
  Send({"SET", "k", "v"});
  EXPECT_EQ(Send({"DEBUG", "RELOAD", "NOSAVE"}),
            store::Reply::Error("ERR Error trying to load the RDB dump"));
  EXPECT_EQ(Send({"DEBUG", "RELOAD", "NOFLUSH"}),
            store::Reply::Error("ERR Error trying to load the RDB dump: the key \"k\" exists in "
                                "database 0"));
  EXPECT_EQ(Send({"GET", "k"}), store::Reply::Bulk("v"));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
