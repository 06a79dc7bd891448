// The effect of each fault on the engine and on a client.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/expiry.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::Task;
using Count = absl::StatusOr<int64_t>;

// A world with one actor that increments "n" three times, and the results that the actor got.
struct Counting {
  explicit Counting(FaultRule rule) : world({.decisions = &quiet, .faults = {std::move(rule)}}) {
    world.Spawn("a", [this](Actor& actor) -> Task<void> {
      told.clear();
      for (int i = 0; i < 3; ++i) {
        told.push_back(co_await store::Incr(actor.store(), "n"));
        times.push_back(actor.clock().Now());
      }
    });
    report = world.Run();
  }

  std::string Read(std::string_view key) {
    const std::unique_ptr<memory::Session> session = world.Connect();
    return base::Run(store::Get(*session, key)).value().value_or("(nil)");
  }

  RecordedDecisions quiet{{}};
  World world;
  std::vector<Count> told;
  std::vector<absl::Time> times;
  RunReport report;
};

void ExpectOutcomeUnknown(const Count& count) {
  EXPECT_EQ(store::ErrorKindOf(count.status()), store::ErrorKind::kOutcomeUnknown);
}

TEST(Fault, DropRequestLosesItBeforeTheServer) {
  Counting run({.fault = Fault::kDropRequest, .nth = 2});
  EXPECT_EQ(run.report.end, RunEnd::kDone);
  ExpectOutcomeUnknown(run.told[1]);
  EXPECT_EQ(*run.told[2], 2);
  EXPECT_EQ(run.world.faults_injected(), 1);
}

TEST(Fault, DropReplyLosesItBehindTheServer) {
  Counting run({.fault = Fault::kDropReply, .nth = 2});
  ExpectOutcomeUnknown(run.told[1]);
  EXPECT_EQ(*run.told[2], 3);
}

TEST(Fault, DelayLetsTheClockMoveFirst) {
  Counting run({.fault = Fault::kDelay, .nth = 2, .duration = absl::Seconds(30)});
  EXPECT_EQ(*run.told[2], 3);
  EXPECT_EQ(run.times[1] - run.times[0], absl::Seconds(30));
  EXPECT_EQ(run.times[2], run.times[1]);
}

TEST(Fault, DelayLetsOthersGoFirst) {
  RecordedDecisions quiet({});
  World world(
      {.decisions = &quiet,
       .faults = {{.fault = Fault::kDelay, .actor = "slow", .duration = absl::Seconds(1)}}});
  for (const char* name : {"slow", "fast"}) {
    world.Spawn(name, [](Actor& actor) -> Task<void> {
      EXPECT_TRUE((co_await store::Set(actor.store(), "last", actor.name())).ok());
    });
  }
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  const std::unique_ptr<memory::Session> session = world.Connect();
  EXPECT_THAT(base::Run(store::Get(*session, "last")),
              IsOkAndHolds(testing::Optional(std::string("slow"))));
}

TEST(Fault, DuplicateExecutesItTwice) {
  Counting run({.fault = Fault::kDuplicate, .nth = 2});
  EXPECT_EQ(*run.told[1], 3);
  EXPECT_EQ(*run.told[2], 4);
}

TEST(Fault, ErrorReplyRefusesIt) {
  Counting run({.fault = Fault::kErrorReply,
                .nth = 2,
                .error = "READONLY You can't write against a read only replica."});
  EXPECT_EQ(store::ServerErrorCode(run.told[1].status()), "READONLY");
  EXPECT_EQ(*run.told[2], 2);
}

TEST(Fault, DisconnectForgetsWhatBelongedToTheConnection) {
  World world({.faults = {{.fault = Fault::kDisconnect, .nth = 3}}});
  std::vector<absl::Status> told;
  world.Spawn("a", [&](Actor& actor) -> Task<void> {
    const store::Command select(store::CommandId::kSelect, {"1"});
    told.push_back((co_await actor.store().Execute(select)).status());
    told.push_back((co_await store::Set(actor.store(), "k", "1")).status());
    told.push_back((co_await store::Set(actor.store(), "k", "2")).status());
    told.push_back((co_await store::Set(actor.store(), "k", "3")).status());
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_TRUE(told[0].ok() && told[1].ok() && told[3].ok());
  EXPECT_EQ(store::ErrorKindOf(told[2]), store::ErrorKind::kNotSent);
  const std::unique_ptr<memory::Session> session = world.Connect();
  EXPECT_THAT(base::Run(store::Get(*session, "k")),
              IsOkAndHolds(testing::Optional(std::string("3"))));
  session->Select(1);
  EXPECT_THAT(base::Run(store::Get(*session, "k")),
              IsOkAndHolds(testing::Optional(std::string("1"))));
}

TEST(Fault, CrashForEverEndsTheActorBeforeItsRequest) {
  Counting run({.fault = Fault::kCrash, .nth = 2, .duration = absl::InfiniteDuration()});
  EXPECT_EQ(run.report.end, RunEnd::kDone);
  EXPECT_EQ(run.told.size(), 1u);
  EXPECT_TRUE(run.world.actors()[0]->crashed());
  EXPECT_EQ(run.Read("n"), "1");
}

TEST(Fault, CrashForAWhileStartsTheActorAnew) {
  Counting run({.fault = Fault::kCrash, .nth = 2, .duration = absl::Seconds(9)});
  EXPECT_EQ(run.report.end, RunEnd::kDone);
  EXPECT_EQ(run.world.actors()[0]->incarnation(), 1);
  ASSERT_EQ(run.told.size(), 3u);
  EXPECT_EQ(*run.told[2], 4);
  EXPECT_EQ(run.times[1] - run.times[0], absl::Seconds(9));
}

TEST(Fault, SkewClockSetsTheActorsClockAgainstTheServers) {
  Counting run({.fault = Fault::kSkewClock, .nth = 2, .duration = absl::Seconds(-5)});
  EXPECT_EQ(*run.told[2], 3);
  EXPECT_EQ(run.times[1] - run.times[0], absl::Seconds(-5));
}

TEST(Fault, StepClockMovesTheActorsClock) {
  Counting run({.fault = Fault::kStepClock, .limit = 2, .duration = absl::Seconds(2)});
  EXPECT_EQ(run.times[1] - run.times[0], absl::Seconds(2));
  EXPECT_EQ(run.times[2], run.times[1]);
  EXPECT_EQ(run.world.actors()[0]->clock().skew(), absl::Seconds(4));
}

TEST(Fault, FlushRemovesAllKeysAndKeepsConnections) {
  Counting run({.fault = Fault::kFlush, .nth = 3});
  EXPECT_EQ(*run.told[1], 2);
  EXPECT_EQ(*run.told[2], 1);
}

TEST(Fault, RestartComesBackEmptyAndBreaksConnections) {
  Counting run({.fault = Fault::kRestart, .nth = 2});
  ExpectOutcomeUnknown(run.told[1]);
  EXPECT_EQ(*run.told[2], 1);
}

TEST(Fault, RestartBreaksWhoIsBlocked) {
  RecordedDecisions quiet({});
  World world({.decisions = &quiet, .faults = {{.fault = Fault::kRestart, .actor = "b"}}});
  absl::Status told;
  world.Spawn("blocked", [&](Actor& actor) -> Task<void> {
    const std::string_view queues[] = {"queue"};
    told = (co_await store::BLPop(actor.store(), queues, absl::InfiniteDuration())).status();
  });
  world.Spawn("b",
              [](Actor& actor) -> Task<void> { (void)co_await store::Incr(actor.store(), "n"); });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_EQ(store::ErrorKindOf(told), store::ErrorKind::kOutcomeUnknown);
}

// The waiter's coroutine ends, and with it the connection, while the connection breaks.
TEST(Fault, RestartBreaksAConnectionThatItsWaiterDestroys) {
  RecordedDecisions quiet({});
  World world({.decisions = &quiet, .faults = {{.fault = Fault::kRestart, .actor = "b"}}});
  absl::Status told;
  world.Spawn("blocked", [&](Actor& actor) -> Task<void> {
    const std::unique_ptr<store::MessageSource> own = actor.Connect();
    const std::string_view queues[] = {"queue"};
    told = (co_await store::BLPop(*own, queues, absl::InfiniteDuration())).status();
  });
  world.Spawn("b",
              [](Actor& actor) -> Task<void> { (void)co_await store::Incr(actor.store(), "n"); });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_EQ(store::ErrorKindOf(told), store::ErrorKind::kOutcomeUnknown);
}

// One actor writes "n" = 1, 2, 3, 4 one second apart; the fault is injected into the last write.
std::string LeftAfter(FaultRule rule) {
  rule.nth = 4;
  World world({.faults = {std::move(rule)}});
  world.Spawn("a", [](Actor& actor) -> Task<void> {
    for (const std::string_view value : {"1", "2", "3", "4"}) {
      (void)co_await store::Set(actor.store(), "n", value);
      co_await actor.clock().Sleep(absl::Seconds(1));
    }
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  const std::unique_ptr<memory::Session> session = world.Connect();
  return base::Run(store::Get(*session, "n")).value().value_or("(nil)");
}

TEST(Fault, RestartFromSnapshotComesBackAsOfThatMoment) {
  const absl::Time start = WorldOptions().start;
  const auto left = [](absl::Time snapshot) {
    return LeftAfter({.fault = Fault::kRestartFromSnapshot, .snapshot = snapshot});
  };
  EXPECT_EQ(left(start - absl::Microseconds(1)), "(nil)");
  EXPECT_EQ(left(start), "1");
  EXPECT_EQ(left(start + absl::Milliseconds(1500)), "2");
}

TEST(Fault, RestartLosingTailLosesTheLastWhile) {
  const auto left = [](absl::Duration lost) {
    return LeftAfter({.fault = Fault::kRestartLosingTail, .duration = lost});
  };
  EXPECT_EQ(left(absl::Milliseconds(500)), "3");
  EXPECT_EQ(left(absl::Milliseconds(1500)), "2");
  EXPECT_EQ(left(absl::Hours(1)), "(nil)");
}

TEST(Fault, FailoverLosesTheLastWrites) {
  EXPECT_EQ(LeftAfter({.fault = Fault::kFailover, .count = 1}), "2");
  EXPECT_EQ(LeftAfter({.fault = Fault::kFailover, .count = 3}), "(nil)");
  EXPECT_EQ(LeftAfter({.fault = Fault::kFailover, .count = 99}), "(nil)");
}

TEST(Fault, EvictRemovesSomeKeys) {
  World world({.faults = {{.fault = Fault::kEvict, .command = "PING", .count = 2}}});
  const std::unique_ptr<memory::Session> session = world.Connect();
  for (const std::string_view key : {"a", "b", "c"}) {
    EXPECT_THAT(base::Run(store::Set(*session, key, "v")), IsOk());
  }
  world.Spawn("a", [](Actor& actor) -> Task<void> {
    EXPECT_TRUE((co_await store::Ping(actor.store())).ok());
    EXPECT_TRUE((co_await store::Ping(actor.store())).ok());
  });
  EXPECT_TRUE(world.Step());
  EXPECT_TRUE(world.Step());
  EXPECT_THAT(base::Run(store::DbSize(*session)), IsOkAndHolds(1));
  EXPECT_EQ(world.Run().end, RunEnd::kDone);  // The second eviction finds only one key left.
  EXPECT_THAT(base::Run(store::DbSize(*session)), IsOkAndHolds(0));
}

TEST(Fault, IsTraced) {
  std::vector<std::string> lines;
  World world({.faults = {{.fault = Fault::kDropRequest}},
               .trace_listener = [&](std::string_view line) { lines.emplace_back(line); }});
  world.Spawn("a",
              [](Actor& actor) -> Task<void> { (void)co_await store::Incr(actor.store(), "n"); });
  world.Run();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], R"({"index":0,"us":1767225600000000,"fault":"drop_request","client":"a"})");
  EXPECT_EQ(lines[1], R"({"index":1,"us":1767225600000000,"client":"a","command":["INCR","n"],)"
                      R"("reply":{"failure":"outcome unknown"}})");
}

TEST(World, HealsAndComesToAnEnd) {
  World world({.faults = {{.fault = Fault::kDropRequest}}});
  world.Spawn("a", [](Actor& actor) -> Task<void> {
    while (!(co_await store::Incr(actor.store(), "n")).ok()) {
    }
  });
  EXPECT_EQ(world.Run({.max_steps = 100}).end, RunEnd::kStepLimit);
  world.Heal();
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
