#include "redouble/sim/cluster/slot_mover.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/cluster/slot_move.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/cluster/cluster_store.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using base::Task;

constexpr SpawnOptions kMover = {.daemon = true, .spared = true};

WorldOptions ThreeMasters(uint64_t seed) {
  return {.seed = seed, .servers = {{.name = "b"}, {.name = "c"}}, .cluster = true};
}

// The master that has the key.
std::string ServerOf(World& world, const std::string& key) {
  for (const std::unique_ptr<WorldServer>& server : world.servers()) {
    const auto value = base::Run(store::Get(*world.Connect(server->name()), key));
    if (value.ok() && value->has_value()) return server->name();
  }
  return "";
}

// Increments five counters ten times each, with pauses.
Task<void> Count(Actor& actor) {
  ClusterStore store(actor);
  for (int i = 0; i < 50; ++i) {
    co_await actor.clock().Sleep(absl::Milliseconds(100));
    EXPECT_THAT(co_await store::Incr(store, absl::StrCat("n", i % 5)), IsOk());
  }
}

TEST(MoveSlots, LosesNothing) {
  std::set<std::string> owners;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    World world(ThreeMasters(seed));
    world.Spawn(
        "mover", [](Actor& actor) { return MoveSlots(actor); }, kMover);
    world.Spawn("a", Count);
    world.Spawn("b", Count);
    ASSERT_EQ(world.Run().end, RunEnd::kDone) << seed;
    const std::unique_ptr<store::Store> store = world.ConnectToAll();
    for (int i = 0; i < 5; ++i) {
      const std::string key = absl::StrCat("n", i);
      EXPECT_EQ(base::Run(store::Get(*store, key)).value(), "20") << seed;
    }
    owners.insert(ServerOf(world, "n0"));
  }
  EXPECT_EQ(owners.size(), 3u);
}

// The replica that takes over from a master has not heard all of a move that is under way.
TEST(MoveSlots, GoesOnWhenAMasterIsLost) {
  std::set<std::string> promoted;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    WorldOptions options = ThreeMasters(seed);
    options.servers.push_back({.name = "b2", .replica_of = "b"});
    options.servers.push_back({.name = "c2", .replica_of = "c"});
    options.faults = {{.fault = Fault::kPromote, .probability = 0.02, .limit = 1, .server = "b2"},
                      {.fault = Fault::kPromote, .probability = 0.02, .limit = 1, .server = "c2"}};
    World world(std::move(options));
    world.Spawn(
        "mover", [](Actor& actor) { return MoveSlots(actor); }, kMover);
    for (const char* name : {"a", "b"}) {
      world.Spawn(name, [](Actor& actor) -> Task<void> {
        ClusterStore store(actor);
        for (int i = 0; i < 50; ++i) {
          co_await actor.clock().Sleep(absl::Milliseconds(100));
          (co_await store::Incr(store, absl::StrCat("n", i % 5))).status().IgnoreError();
        }
        // Whatever was lost, the cluster works.
        for (int i = 0; i < 5; ++i) {
          absl::StatusOr<int64_t> left = absl::UnavailableError("");
          while (absl::IsUnavailable(left.status())) {
            left = co_await store::Incr(store, absl::StrCat("n", i));
          }
          EXPECT_THAT(left, IsOk());
        }
      });
    }
    const RunReport report = world.Run();
    ASSERT_EQ(report.end, RunEnd::kDone) << seed << ": " << report.mistake;
    for (const auto& [name, times] : world.injected_faults()) {
      promoted.insert(absl::StrCat(times));
    }
  }
  EXPECT_TRUE(promoted.contains("2"));
}

TEST(MoveSlots, GoesOnAfterARestartOfAServer) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    WorldOptions options = ThreeMasters(seed);
    options.faults = {{.fault = Fault::kRestart, .actor = "a", .probability = 0.2}};
    World world(std::move(options));
    world.Spawn(
        "mover", [](Actor& actor) { return MoveSlots(actor); }, kMover);
    world.Spawn("a", [](Actor& actor) -> Task<void> {
      ClusterStore store(actor);
      for (int i = 0; i < 50; ++i) {
        co_await actor.clock().Sleep(absl::Milliseconds(100));
        (void)co_await store::Incr(store, absl::StrCat("n", i % 5));
      }
    });
    const RunReport report = world.Run();
    EXPECT_EQ(report.end, RunEnd::kDone) << report.mistake;
    EXPECT_GT(world.faults_injected(), 0);
  }
}

TEST(MoveSlots, EndsWhenItIsToldTo) {
  World world(ThreeMasters(1));
  bool ends = false;
  world.Spawn("mover",
              [&](Actor& actor) { return MoveSlots(actor, {.end = [&ends] { return ends; }}); });
  world.Spawn("bounded", [](Actor& actor) { return MoveSlots(actor, {.most = 3}); });
  world.Spawn("a", [&ends](Actor& actor) -> Task<void> {
    co_await actor.clock().Sleep(absl::Minutes(1));
    ends = true;
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
}

TEST(MoveSlots, NeedsACluster) {
  World world({.servers = {{.name = "b"}}});
  world.Spawn("mover", [](Actor& actor) { return MoveSlots(actor); });
  EXPECT_THAT(world.Run().mistake,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "slots are moved between two masters of a cluster at least"));
}

TEST(MoveSlotOf, IsHeardOfByAllMasters) {
  World world(ThreeMasters(1));
  world.Spawn("mover", [](Actor& actor) -> Task<void> {
    std::vector<std::unique_ptr<store::Store>> masters;
    std::vector<store::Store*> all;
    for (const char* name : {"main", "b", "c"}) {
      all.push_back(masters.emplace_back(actor.Connect(name)).get());
    }
    EXPECT_THAT(co_await store::AgreeOnEpochs(all), IsOkAndHolds(true));
    EXPECT_THAT(co_await MoveSlotOf(actor, "{b}", "main", "c"), IsOk());
    // The nodes hear of it before the clock moves.
    co_await actor.clock().Sleep(absl::Milliseconds(1));
    EXPECT_THAT(co_await store::AgreeOnEpochs(all), IsOkAndHolds(true));
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
}

TEST(MoveSlotOf, MovesTheSlotOfAKey) {
  World world(ThreeMasters(1));
  ASSERT_THAT(base::Run(store::Set(*world.ConnectToAll(), "{b}", "1")), IsOk());
  world.Spawn("mover", [](Actor& actor) -> Task<void> {
    EXPECT_THAT(co_await MoveSlotOf(actor, "{b}", "main", "main"),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(co_await MoveSlotOf(actor, "{b}", "main", "d"),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_FALSE((co_await MoveSlotOf(actor, "{b}", "b", "c")).ok()) << "b does not have it";
    EXPECT_THAT(co_await MoveSlotOf(actor, "{b}", "main", "c"), IsOk());
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_EQ(ServerOf(world, "{b}"), "c");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
