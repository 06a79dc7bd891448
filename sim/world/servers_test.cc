// Worlds with several servers: independent servers, replicas, WAIT and promotions.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/explore/exhaustive.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::Task;
using store::Command;
using store::CommandId;
using Outcomes = std::set<std::string>;

const std::string kMain(kMainServer);

// The value of a key on a server, by a connection outside of the schedule.
std::string Look(World& world, std::string_view key, std::string_view server = {}) {
  const std::unique_ptr<memory::Session> session = world.Connect(server);
  return base::Run(store::Get(*session, key)).value().value_or("-");
}

Task<std::string> Read(store::Store& store, std::string_view key) {
  const absl::StatusOr<std::optional<std::string>> value = co_await store::Get(store, key);
  co_return value.ok() ? value->value_or("-") : "failed";
}

Task<int64_t> Wait(store::Store& store, std::string_view replicas, std::string_view timeout_ms) {
  const Command wait(CommandId::kWait, {replicas, timeout_ms});
  const absl::StatusOr<store::Reply> reply = co_await store.Execute(wait);
  co_return reply.ok() && reply->is_integer() ? reply->integer() : -1;
}

// Fills a world and returns a function that tells the outcome of the run.
using Filling = std::function<std::function<std::string()>(World&)>;

// The outcomes of all schedules.
Outcomes AllOutcomes(const Filling& fill, WorldOptions options) {
  Outcomes outcomes;
  ExhaustiveDecisions decisions;
  do {
    options.decisions = &decisions;
    World world(options);
    const std::function<std::string()> outcome = fill(world);
    const RunReport report = world.Run();
    if (decisions.redundant()) continue;
    EXPECT_EQ(report.end, RunEnd::kDone) << report.mistake;
    outcomes.insert(outcome());
  } while (decisions.Next());
  return outcomes;
}

WorldOptions WithReplica(std::vector<FaultRule> faults = {}, Events events = Events::kAtomic) {
  return {.servers = {{.name = "replica", .replica_of = kMain}},
          .faults = std::move(faults),
          .events = events};
}

FaultRule Promote(int64_t nth) {
  return {.fault = Fault::kPromote, .nth = nth, .server = "replica"};
}

TEST(Servers, AreIndependent) {
  World world({.servers = {{.name = "b"}, {.name = "c"}}});
  std::string read;
  world.Spawn("a", [&read](Actor& actor) -> Task<void> {
    const std::unique_ptr<store::Store> b = actor.Connect("b");
    const std::unique_ptr<store::Store> main = actor.Connect(kMainServer);
    (void)co_await store::Set(actor.store(), "k", "1");
    (void)co_await store::Set(*b, "k", "2");
    read = absl::StrCat(co_await Read(*main, "k"), co_await Read(*b, "k"));
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_EQ(read, "12");
  EXPECT_EQ(Look(world, "k"), "1");
  EXPECT_EQ(Look(world, "k", "b"), "2");
  EXPECT_EQ(Look(world, "k", "c"), "-");
}

TEST(Servers, AReaderOfAReplicaSeesOldAndNewData) {
  for (const Events events : {Events::kAtomic, Events::kSplit}) {
    const auto outcomes = AllOutcomes(
        [](World& world) {
          const auto read = std::make_shared<std::string>();
          world.Spawn("a", [read](Actor& actor) -> Task<void> {
            const std::unique_ptr<store::Store> replica = actor.Connect("replica");
            (void)co_await store::Set(actor.store(), "k", "1");
            (void)co_await store::Set(actor.store(), "k", "2");
            *read = co_await Read(*replica, "k");
          });
          return [read] { return *read; };
        },
        WithReplica({}, events));
    EXPECT_EQ(outcomes, (Outcomes{"-", "1", "2"}));
  }
}

TEST(Servers, WaitReturnsWhenTheReplicaHasTheWrite) {
  const auto outcomes = AllOutcomes(
      [](World& world) {
        const auto read = std::make_shared<std::string>();
        world.Spawn("a", [read](Actor& actor) -> Task<void> {
          const std::unique_ptr<store::Store> replica = actor.Connect("replica");
          (void)co_await store::Set(actor.store(), "k", "1");
          const int64_t acknowledged = co_await Wait(actor.store(), "1", "0");
          *read = absl::StrCat(acknowledged, " ", co_await Read(*replica, "k"));
        });
        return [read] { return *read; };
      },
      WithReplica());
  EXPECT_EQ(outcomes, Outcomes{"1 1"});
}

TEST(Servers, WaitInAPipelineWaitsForTheWriteBeforeIt) {
  const auto outcomes = AllOutcomes(
      [](World& world) {
        const auto read = std::make_shared<std::string>();
        world.Spawn("a", [read](Actor& actor) -> Task<void> {
          const std::unique_ptr<store::Store> replica = actor.Connect("replica");
          store::Batch batch(store::Batch::Atomicity::kPipeline);
          batch.Add(Command(CommandId::kSet, {"k", "1"}));
          batch.Add(Command(CommandId::kWait, {"1", "0"}));
          (void)co_await actor.store().ExecuteRaw(batch);
          *read = co_await Read(*replica, "k");
        });
        return [read] { return *read; };
      },
      WithReplica());
  EXPECT_EQ(outcomes, Outcomes{"1"});
}

// What another client writes afterwards, the replica need not have.
TEST(Servers, WaitDoesNotWaitForLaterWritesOfOthers) {
  const auto outcomes = AllOutcomes(
      [](World& world) {
        const auto read = std::make_shared<std::string>();
        world.Spawn("a", [read](Actor& actor) -> Task<void> {
          const std::unique_ptr<store::Store> replica = actor.Connect("replica");
          (void)co_await store::Set(actor.store(), "k", "1");
          (void)co_await Wait(actor.store(), "1", "0");
          *read =
              absl::StrCat(co_await Read(actor.store(), "other"), co_await Read(*replica, "other"));
        });
        world.Spawn("b", [](Actor& actor) -> Task<void> {
          (void)co_await store::Set(actor.store(), "other", "x");
        });
        return [read] { return *read; };
      },
      WithReplica());
  EXPECT_EQ(outcomes, (Outcomes{"--", "-x", "x-", "xx"}));
}

TEST(Servers, WaitTellsAtItsTimeoutHowManyHaveTheWrite) {
  RecordedDecisions quiet({});
  World world({.servers = {{.name = "replica", .replica_of = kMain}}, .decisions = &quiet});
  int64_t acknowledged = -1;
  world.Spawn("a", [&acknowledged](Actor& actor) -> Task<void> {
    (void)co_await store::Set(actor.store(), "k", "1");
    acknowledged = co_await Wait(actor.store(), "2", "100");
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_EQ(acknowledged, 1);
}

TEST(Servers, WhatIsWrittenBeforeTheRunIsOnTheReplicas) {
  RecordedDecisions quiet({});
  World world({.servers = {{.name = "replica", .replica_of = kMain}}, .decisions = &quiet});
  EXPECT_THAT(base::Run(store::Set(*world.Connect(), "k", "1")), IsOk());
  std::string read;
  world.Spawn("a", [&read](Actor& actor) -> Task<void> {
    const std::unique_ptr<store::Store> replica = actor.Connect("replica");
    read = co_await Read(*replica, "k");
  });
  world.Run();
  EXPECT_EQ(read, "1");
}

// The acknowledged write is lost in some schedules, and with WAIT in none.
TEST(Servers, APromotedReplicaLacksWhatItHasNotApplied) {
  const auto outcomes = [](bool waits) {
    return AllOutcomes(
        [waits](World& world) {
          world.Spawn("a", [waits](Actor& actor) -> Task<void> {
            (void)co_await store::Set(actor.store(), "k", "1");
            if (waits) (void)co_await Wait(actor.store(), "1", "0");
            (void)co_await store::Del(actor.store(), "other");
          });
          return [&world] { return Look(world, "k"); };
        },
        WithReplica({Promote(waits ? 3 : 2)}));
  };
  EXPECT_EQ(outcomes(false), (Outcomes{"-", "1"}));
  EXPECT_EQ(outcomes(true), Outcomes{"1"});
}

TEST(Servers, StoreLeadsToThePromotedReplica) {
  RecordedDecisions quiet({});
  WorldOptions options = WithReplica({Promote(2)});
  options.decisions = &quiet;
  World world(options);
  std::vector<absl::Status> told;
  world.Spawn("a", [&told](Actor& actor) -> Task<void> {
    for (const char* key : {"a", "b", "c"}) {
      told.push_back((co_await store::Set(actor.store(), key, "1")).status());
    }
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  ASSERT_EQ(told.size(), 3);
  EXPECT_EQ(store::ErrorKindOf(told[1]), store::ErrorKind::kOutcomeUnknown);
  EXPECT_THAT(told[2], IsOk());
  EXPECT_EQ(Look(world, "c", "replica"), "1");
  EXPECT_EQ(&world.engine(), &world.FindServer("replica")->engine());
  EXPECT_EQ(world.injected_faults().at("promote"), 1);
}

TEST(Servers, ConnectionsToThePromotedReplicaStayOpen) {
  for (const Events events : {Events::kAtomic, Events::kSplit}) {
    RecordedDecisions quiet({});
    WorldOptions options = WithReplica({Promote(3)}, events);
    options.decisions = &quiet;
    World world(options);
    absl::Status before;
    absl::Status after;
    world.Spawn("a", [&](Actor& actor) -> Task<void> {
      const std::unique_ptr<store::Store> replica = actor.Connect("replica");
      (void)co_await store::Set(actor.store(), "a", "1");
      before = (co_await store::Set(*replica, "b", "1")).status();
      after = (co_await store::Set(*replica, "b", "1")).status();
    });
    EXPECT_EQ(world.Run().end, RunEnd::kDone);
    EXPECT_TRUE(absl::StrContains(before.message(), "READONLY")) << before;
    EXPECT_THAT(after, IsOk());
    EXPECT_EQ(Look(world, "b"), "1");
  }
}

TEST(Servers, ASecondPromotionDoesNothing) {
  RecordedDecisions quiet({});
  WorldOptions options = WithReplica({Promote(1), Promote(2)});
  options.decisions = &quiet;
  World world(options);
  absl::Status second;
  world.Spawn("a", [&second](Actor& actor) -> Task<void> {
    (void)co_await store::Set(actor.store(), "a", "1");
    second = (co_await store::Set(actor.store(), "a", "2")).status();
  });
  world.Run();
  EXPECT_THAT(second, IsOk());
  EXPECT_EQ(Look(world, "a"), "2");
}

TEST(Servers, FaultsOfTheServerReachTheReplicas) {
  RecordedDecisions quiet({});
  WorldOptions options =
      WithReplica({{.fault = Fault::kRestartLosingTail, .nth = 3, .duration = absl::Seconds(5)}});
  options.decisions = &quiet;
  World world(options);
  world.Spawn("a", [](Actor& actor) -> Task<void> {
    (void)co_await store::Set(actor.store(), "a", "1");
    co_await actor.clock().SleepUntil(actor.clock().Now() + absl::Seconds(10));
    (void)co_await store::Set(actor.store(), "b", "1");
    (void)co_await store::Get(actor.store(), "b");
    (void)co_await Wait(actor.store(), "1", "0");
  });
  world.Run();
  while (world.Step()) continue;
  EXPECT_EQ(Look(world, "a", "replica") + Look(world, "b", "replica"), "1-");
}

TEST(Servers, TheTraceNamesThem) {
  std::vector<std::string> lines;
  RecordedDecisions quiet({});
  World world({.servers = {{.name = "replica", .replica_of = kMain}},
               .decisions = &quiet,
               .trace_listener = [&](std::string_view line) { lines.emplace_back(line); }});
  world.Spawn("a", [](Actor& actor) -> Task<void> {
    const std::unique_ptr<store::Store> replica = actor.Connect("replica");
    (void)co_await store::Set(actor.store(), "k", "1");
    (void)co_await Wait(actor.store(), "1", "0");
    (void)co_await Read(*replica, "k");
  });
  world.Run();
  ASSERT_EQ(lines.size(), 4);
  EXPECT_TRUE(absl::StrContains(lines[0], R"("client":"a","command":["SET")")) << lines[0];
  EXPECT_TRUE(absl::StrContains(lines[1], R"("client":"replica","event":"applies")")) << lines[1];
  EXPECT_TRUE(absl::StrContains(lines[3], R"("client":"a","server":"replica","command":["GET")"))
      << lines[3];
}

// Two actors that write equal keys of different servers commute.
TEST(Servers, EqualKeysOfTwoServersAreDifferent) {
  const auto runs = [](std::string_view server) {
    ExhaustiveDecisions decisions;
    int64_t count = 0;
    do {
      World world({.servers = {{.name = "b"}}, .decisions = &decisions});
      world.Spawn("first", [](Actor& actor) -> Task<void> {
        (void)co_await store::Incr(actor.store(), "k");
      });
      world.Spawn("second", [server](Actor& actor) -> Task<void> {
        const std::unique_ptr<store::Store> store = actor.Connect(server);
        (void)co_await store::Incr(*store, "k");
      });
      world.Run();
      if (!decisions.redundant()) ++count;
    } while (decisions.Next());
    return count;
  };
  EXPECT_EQ(runs("b"), 1);
  EXPECT_EQ(runs(kMainServer), 2);
}

absl::Status MistakeOf(WorldOptions options, std::string_view connects_to = {}) {
  World world(std::move(options));
  world.Spawn("a", [connects_to](Actor& actor) -> Task<void> {
    const std::unique_ptr<store::Store> store = actor.Connect(connects_to);
    (void)co_await store::Incr(*store, "k");
    (void)co_await store::Incr(*store, "k");
  });
  const RunReport report = world.Run();
  EXPECT_EQ(report.end, RunEnd::kMistake);
  return report.mistake;
}

TEST(Servers, WrongOptionsAreMistakes) {
  EXPECT_EQ(MistakeOf({.servers = {{.name = ""}}}).message(),
            "the name of a server must be new, got \"\"");
  EXPECT_EQ(MistakeOf({.servers = {{.name = "main"}}}).message(),
            "the name of a server must be new, got \"main\"");
  EXPECT_EQ(MistakeOf({.servers = {{.name = "b", .replica_of = "c"}}}).message(),
            "there is no server \"c\"");
  EXPECT_EQ(MistakeOf({.servers = {{.name = "b", .replica_of = "b"}}}).message(),
            "there is no server \"b\"");
  EXPECT_EQ(
      MistakeOf({.servers = {{.name = "b", .replica_of = kMain}, {.name = "c", .replica_of = "b"}}})
          .message(),
      "the server \"b\" is a replica; name its master");
  EXPECT_EQ(MistakeOf({}, "b").message(), "there is no server \"b\"");
  EXPECT_EQ(MistakeOf({.faults = {Promote(1)}}).message(),
            "the fault promote: no server \"replica\" has, or is, a replica");
  EXPECT_EQ(MistakeOf(WithReplica({Promote(1), {.fault = Fault::kFailover}})).message(),
            "the fault promote cannot be combined with restart_from_snapshot, "
            "restart_losing_tail or failover: the history of keys is that of the main server");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
