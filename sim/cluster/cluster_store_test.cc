#include "redouble/sim/cluster/cluster_store.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/cluster/slot_move.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/explore/exhaustive.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::Task;
using store::Command;
using store::CommandId;
using testing::Optional;

// {k}1 and {k}2 are in slot 7629, which `main` has of two masters.
constexpr std::string_view kFirst = "{k}1";
constexpr std::string_view kSecond = "{k}2";

WorldOptions TwoMasters() { return {.servers = {{.name = "b"}}, .cluster = true}; }

Task<std::string> NodeId(store::Store& store) {
  const Command command = Command::Named("CLUSTER", std::vector<std::string_view>{"MYID"});
  const absl::StatusOr<store::Reply> reply = co_await store.Execute(command);
  co_return reply.ok() ? reply->text() : "";
}

// Moves the slot of the keys from `main` to `b`.
Task<absl::Status> MoveSlot(Actor& actor) {
  const std::unique_ptr<store::MessageSource> from = actor.Connect(kMainServer);
  const std::unique_ptr<store::MessageSource> to = actor.Connect("b");
  const std::string source_id = co_await NodeId(*from);
  const std::string target_id = co_await NodeId(*to);
  const store::SlotNode source{from.get(), source_id, kMainServer, 6379};
  const store::SlotNode target{to.get(), target_id, "b", 6379};
  co_return co_await store::MoveSlot(base::KeySlot(kFirst), source, target);
}

Actor::Body Mover() {
  return [](Actor& actor) -> Task<void> { EXPECT_THAT(co_await MoveSlot(actor), IsOk()); };
}

void Set(World& world, std::string_view key, std::string_view value) {
  const std::unique_ptr<memory::Session> session = world.Connect();
  ASSERT_THAT(base::Run(store::Set(*session, key, value)), IsOk());
}

std::optional<std::string> Look(World& world, std::string_view key, std::string_view server) {
  const std::unique_ptr<memory::Session> session = world.Connect(server);
  return base::Run(store::Get(*session, key)).value();
}

TEST(ClusterWorld, SharesTheSlotsOfTheMasters) {
  World world({.servers = {{.name = "b"}, {.name = "c"}}, .cluster = true});
  const std::unique_ptr<memory::Session> session = world.Connect();
  const Command command = Command::Named("CLUSTER", std::vector<std::string_view>{"SLOTS"});
  const absl::StatusOr<store::Reply> slots = base::Run(session->Execute(command));
  ASSERT_THAT(slots, IsOk());
  std::vector<std::string> ranges;
  for (const store::Reply& row : slots->elements()) {
    ranges.push_back(absl::StrCat(row.elements()[0].integer(), "-", row.elements()[1].integer(),
                                  " ", row.elements()[2].elements()[0].text()));
  }
  EXPECT_EQ(ranges, (std::vector<std::string>{"0-5460 main", "5461-10921 b", "10922-16383 c"}));
}

TEST(ClusterWorld, TheOptionsOfOneClusterAreChecked) {
  World world({.servers = {{.name = "b", .replica_of = "x"}}, .cluster = true});
  EXPECT_EQ(world.Run().end, RunEnd::kMistake);
}

TEST(ClusterStore, SendsEachKeyToItsNode) {
  World world(TwoMasters());
  world.Spawn("a", [](Actor& actor) -> Task<void> {
    ClusterStore store(actor);
    EXPECT_THAT(co_await store::Set(store, kFirst, "1"), IsOk());
    EXPECT_THAT(co_await store::Set(store, "a", "2"), IsOk());
    EXPECT_EQ(store.counters().moved, 0u);
    EXPECT_EQ(store.counters().map_reads, 1u);
    const std::string_view keys[] = {kFirst, "a"};
    EXPECT_EQ((co_await store::MGet(store, keys)).status().code(),
              absl::StatusCode::kFailedPrecondition);
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_THAT(Look(world, kFirst, kMainServer), Optional(std::string("1")));
  EXPECT_THAT(Look(world, "a", "b"), Optional(std::string("2")));
}

// Whatever the order of the steps, a client that uses the slot while it moves notices nothing.
TEST(ClusterStore, NoticesNothingOfASlotThatMoves) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    WorldOptions options = TwoMasters();
    options.seed = seed;
    options.events = seed % 2 == 0 ? Events::kSplit : Events::kAtomic;
    World world(std::move(options));
    Set(world, kFirst, "0");
    Set(world, kSecond, "0");
    world.Spawn("mover", Mover());
    for (const char* name : {"a", "b"}) {
      world.Spawn(name, [](Actor& actor) -> Task<void> {
        ClusterStore store(actor);
        for (int i = 0; i < 3; ++i) {
          EXPECT_THAT(co_await store::Incr(store, kFirst), IsOk());
          store::Batch batch(store::Batch::Atomicity::kTransaction);
          batch.Add(CommandId::kIncr, {kFirst});
          batch.Add(CommandId::kIncr, {kSecond});
          EXPECT_THAT(co_await store::Execute(store, batch), IsOk());
        }
      });
    }
    ASSERT_EQ(world.Run().end, RunEnd::kDone) << seed;
    EXPECT_THAT(Look(world, kFirst, "b"), Optional(std::string("12"))) << seed;
    EXPECT_THAT(Look(world, kSecond, "b"), Optional(std::string("6"))) << seed;
    EXPECT_EQ(testing::Test::HasFailure(), false) << seed;
  }
}

TEST(ClusterStore, MeetsEachRedirection) {
  redis::ClusterCounters met;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    WorldOptions options = TwoMasters();
    options.seed = seed;
    World world(std::move(options));
    Set(world, kFirst, "0");
    Set(world, kSecond, "0");
    world.Spawn("mover", Mover());
    world.Spawn("a", [&met](Actor& actor) -> Task<void> {
      ClusterStore store(actor);
      for (int i = 0; i < 4; ++i) {
        EXPECT_THAT(co_await store::Set(store, "{k}new", "x"), IsOk());
        const std::string_view keys[] = {kFirst, "{k}new"};
        EXPECT_THAT(co_await store::MGet(store, keys), IsOk());
        EXPECT_THAT(co_await store::Del(store, std::span(&keys[1], 1)), IsOk());
      }
      met.moved += store.counters().moved;
      met.asked += store.counters().asked;
      met.waited += store.counters().waited;
    });
    ASSERT_EQ(world.Run().end, RunEnd::kDone) << seed;
  }
  EXPECT_GT(met.moved, 0u);
  EXPECT_GT(met.asked, 0u);
  EXPECT_GT(met.waited, 0u);
}

TEST(ClusterWorld, AMoveThatHasEndedCanBeCalledAgain) {
  World world(TwoMasters());
  Set(world, kFirst, "1");
  world.Spawn("mover", [](Actor& actor) -> Task<void> {
    EXPECT_THAT(co_await MoveSlot(actor), IsOk());
    EXPECT_THAT(co_await MoveSlot(actor), IsOk());
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_THAT(Look(world, kFirst, "b"), Optional(std::string("1")));
}

TEST(ClusterStore, AWaitMovesWithItsSlot) {
  World world(TwoMasters());
  std::string popped;
  world.Spawn("waiting", [&popped](Actor& actor) -> Task<void> {
    ClusterStore store(actor);
    const std::string_view keys[] = {kFirst};
    const auto element = co_await store::BLPop(store, keys, absl::InfiniteDuration());
    EXPECT_THAT(element, IsOk());
    if (element.ok() && element->has_value()) popped = (*element)->element;
  });
  world.Spawn("mover", [](Actor& actor) -> Task<void> {
    co_await actor.clock().Sleep(absl::Seconds(1));
    EXPECT_THAT(co_await MoveSlot(actor), IsOk());
    ClusterStore store(actor);
    const std::string_view elements[] = {"x"};
    EXPECT_THAT(co_await store::RPush(store, kFirst, elements), IsOk());
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_EQ(popped, "x");
}

// The classic bug: a connection to one node instead of a cluster's client.
TEST(ClusterWorld, AConnectionToOneNodeIsSentAway) {
  std::set<std::string> errors;
  ExhaustiveDecisions decisions;
  do {
    WorldOptions options = TwoMasters();
    options.decisions = &decisions;
    World world(std::move(options));
    Set(world, kFirst, "0");
    world.Spawn("mover", Mover());
    world.Spawn("a", [&errors](Actor& actor) -> Task<void> {
      const Command get(CommandId::kGet, {kFirst});
      const absl::StatusOr<store::Reply> reply = co_await actor.store().Execute(get);
      EXPECT_THAT(reply, IsOk());
      errors.insert(reply.ok() ? reply->text() : "");
    });
    const RunReport report = world.Run();
    if (decisions.redundant()) continue;
    EXPECT_EQ(report.end, RunEnd::kDone);
  } while (decisions.Next());
  EXPECT_EQ(errors, (std::set<std::string>{"0", "ASK 7629 b:6379", "MOVED 7629 b:6379"}));
}

// A master is lost with what its replica has not applied; clients use the replica then.
TEST(ClusterStore, FollowsAFailover) {
  std::set<std::string> outcomes;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    World world(
        {.seed = seed,
         .servers = {{.name = "b"}, {.name = "replica", .replica_of = kMainServer}},
         .cluster = true,
         .faults = {
             {.fault = Fault::kPromote, .probability = 0.3, .limit = 1, .server = "replica"}}});
    int acknowledged = 0;
    world.Spawn("a", [&acknowledged](Actor& actor) -> Task<void> {
      ClusterStore store(actor);
      for (int i = 0; i < 4; ++i) {
        acknowledged += (co_await store::Incr(store, kFirst)).ok() ? 1 : 0;
      }
    });
    ASSERT_EQ(world.Run().end, RunEnd::kDone) << seed;
    const std::string left = Look(world, kFirst, {}).value_or("0");
    EXPECT_LE(std::stoi(left), acknowledged) << seed;
    outcomes.insert(absl::StrCat(acknowledged, " acknowledged, ", left, " left"));
  }
  EXPECT_TRUE(outcomes.contains("4 acknowledged, 4 left"));
  EXPECT_TRUE(outcomes.contains("3 acknowledged, 2 left")) << testing::PrintToString(outcomes);
}

TEST(ClusterStore, AnActorMayEndWhenItsConnectionBreaks) {
  World world({.servers = {{.name = "b"}},
               .cluster = true,
               .faults = {{.fault = Fault::kRestart, .limit = 1}}});
  world.Spawn("a", [](Actor& actor) -> Task<void> {
    ClusterStore store(actor);
    (void)co_await store::Get(store, kFirst);
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
}

// The server has received what a crashed actor sent, and can execute it later.
TEST(ClusterStore, WhatWasSentIsExecutedAfterACrash) {
  const std::string key = std::string(kFirst) + std::string(50, 'k');
  const std::string value(100, 'v');
  std::set<std::string> left;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    World world({.seed = seed,
                 .servers = {{.name = "b"}},
                 .cluster = true,
                 .faults = {{.fault = Fault::kCrashInFlight, .command = "SET"}},
                 .events = Events::kSplit});
    world.Spawn("a", [&key, &value](Actor& actor) -> Task<void> {
      if (actor.incarnation() > 0) co_return;
      ClusterStore store(actor);
      store::Batch batch(store::Batch::Atomicity::kTransaction);
      batch.Add(CommandId::kSet, {key, value});
      batch.Add(CommandId::kExpire, {key, "100"});
      (void)co_await store::Execute(store, batch);
    });
    world.Run();
    const std::unique_ptr<store::Store> store = world.ConnectToAll();
    const std::vector<std::string> keys = base::Run(store::Keys(*store, "*")).value();
    for (const std::string& found : keys) {
      const auto text = base::Run(store::Get(*store, found)).value();
      left.insert(absl::StrCat(found, "=", text.value_or("")));
    }
  }
  EXPECT_EQ(left, std::set<std::string>{absl::StrCat(key, "=", value)});
}

TEST(ClusterWorld, EqualSeedsHaveEqualTraces) {
  const auto hash = [](uint64_t seed) {
    WorldOptions options = TwoMasters();
    options.seed = seed;
    World world(std::move(options));
    Set(world, kFirst, "0");
    world.Spawn("mover", Mover());
    world.Spawn("a", [](Actor& actor) -> Task<void> {
      ClusterStore store(actor);
      for (int i = 0; i < 3; ++i) (void)co_await store::Incr(store, kFirst);
    });
    EXPECT_EQ(world.Run().end, RunEnd::kDone);
    return world.TraceHash();
  };
  EXPECT_EQ(hash(7), hash(7));
  EXPECT_NE(hash(7), hash(8));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
