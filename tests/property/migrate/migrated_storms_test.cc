// Databases that storms have made are moved to the cluster layout and back: programs read there
// what they read before, and the way back gives the same keyspace.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/migrate/key_move.h"
#include "redouble/sim/migrate/migration.h"
#include "redouble/sim/storm/gateway/gateway_storm.h"
#include "redouble/sim/storm/korvet/korvet_storm.h"
#include "redouble/sim/storm/orchestrator/orchestrator_storm.h"
#include "redouble/sim/storm/relayna/relayna_storm.h"
#include "redouble/sim/storm/storm_run.h"
#include "redouble/sim/storm/studio/studio_storm.h"
#include "redouble/sim/storm/threescale/threescale_storm.h"
#include "redouble/tests/property/migrate/readings.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using sim::CopyReport;
using sim::Migration;
using sim::StormSystem;
using sim::World;
using store::KeyLayout;
using store::Reply;

Reply Ask(store::Store& store, std::initializer_list<std::string_view> words) {
  const std::vector<std::string_view> all(words);
  const auto command = store::Command::Named(all[0], std::span(all).subspan(1));
  const auto send = [&]() -> base::Task<absl::StatusOr<Reply>> {
    co_return co_await store.Execute(command);
  };
  return base::Run(send()).value();
}

// The prefixes of the keys that a system's storm writes.
std::span<const store::KeyBinding> BindingsOfStorm(std::string_view system) {
  // The storm of Relayna writes with the direct prefix.
  static constexpr store::KeyBinding kRelayna[] = {{"status_prefix", "task"},
                                                   {"observation_prefix", "relayna-observations"},
                                                   {"feed_prefix", "relayna-service-events"},
                                                   {"dlq_prefix", "relayna"},
                                                   {"workflow_prefix", "relayna"}};
  if (system == "relayna") return kRelayna;
  return (*sim::FindMovedSystem(system))->defaults;
}

using LookAtWorld = std::function<void(World&)>;

class WatchedStorm final : public sim::Storm {
 public:
  WatchedStorm(World& world, std::unique_ptr<sim::Storm> inner, int64_t every, LookAtWorld look)
      : world_(world), inner_(std::move(inner)), every_(every), look_(std::move(look)) {}

  base::Task<void> Act(sim::Actor& actor, store::Store& store, size_t role,
                       sim::StormWork& work) override {
    return inner_->Act(actor, store, role, work);
  }
  base::Task<void> Drain(sim::Actor& actor, store::Store& store) override {
    return inner_->Drain(actor, store);
  }
  void Observe() override {
    inner_->Observe();
    if (++steps_ % every_ == 0) look_(world_);
  }
  void Judge(sim::Verdicts& verdicts) override {
    inner_->Judge(verdicts);
    look_(world_);
  }

 private:
  World& world_;
  const std::unique_ptr<sim::Storm> inner_;
  const int64_t every_;
  const LookAtWorld look_;
  int64_t steps_ = 0;
};

// The system, with `look` called after every so many steps of each world and at its end.
StormSystem Watched(StormSystem system, int64_t every, LookAtWorld look) {
  const auto make = system.make;
  system.make = [=](World& world, const sim::StormVariant& variant) -> std::unique_ptr<sim::Storm> {
    return std::make_unique<WatchedStorm>(world, make(world, variant), every, look);
  };
  return system;
}

struct Case {
  StormSystem (*system)();
  // Some families whose moves are more than another spelling, or that matter most.
  std::set<std::string> families;
};

class MigratedStormTest : public ::testing::TestWithParam<Case> {
 protected:
  MigratedStormTest() : system_(GetParam().system()) {
    const sim::MovedSystem& moved = **sim::FindMovedSystem(system_.name);
    bindings_ = BindingsOfStorm(system_.name);
    EXPECT_THAT(families_.Add(moved.families(KeyLayout::kDocumented), bindings_), IsOk());
  }

  Migration Between(KeyLayout from, KeyLayout to) const {
    return Migration::Create(system_.name, {from, to}, bindings_).value();
  }

  Ids IdsOf(store::Store& store) {
    Ids ids;
    const std::vector<std::string> keys = base::Run(store::ScanAll(store)).value();
    for (const std::string& key : keys) {
      for (const store::KeyMatch& match : families_.Recognise(key).matches) {
        for (size_t i = 0; i < match.values.size(); ++i) {
          ids[match.pattern->placeholders()[i].name].emplace(match.values[i]);
        }
      }
    }
    return ids;
  }

  Reading Read(World& world, store::Store& store, KeyLayout layout, const Ids& ids) {
    return ReadSystem(system_.name, store, world.clock(), layout, ids);
  }

  static std::unique_ptr<memory::Engine> MakeCluster(World& world) {
    memory::EngineOptions options;
    options.cluster = memory::ClusterOptions();
    return std::make_unique<memory::Engine>(world.clock(), options);
  }

  // Moves what the storm has written so far in the documented layout.
  void MoveToClusterAndBack(World& world) {
    ++checks_;
    const auto from = world.Connect();
    const auto cluster_engine = MakeCluster(world);
    const auto cluster = cluster_engine->Connect();
    memory::Engine restored_engine(world.clock());
    const auto restored = restored_engine.Connect();

    const Migration forth = Between(KeyLayout::kDocumented, KeyLayout::kCluster);
    const auto copied = base::Run(forth.Copy(*from, *cluster, {}));
    ASSERT_THAT(copied, IsOk());
    CheckCopy(*copied, forth, *from, *cluster);

    const Ids ids = IdsOf(*from);
    const Reading before = Read(world, *from, KeyLayout::kDocumented, ids);
    EXPECT_EQ(Read(world, *cluster, KeyLayout::kCluster, ids), before);
    lines_ += before.size();

    const Migration back = Between(KeyLayout::kCluster, KeyLayout::kDocumented);
    ASSERT_THAT(base::Run(back.Copy(*cluster, *restored, {})), IsOk());
    EXPECT_TRUE(base::Run(back.Verify(*cluster, *restored)).value().is_equal());
    EXPECT_EQ(Ask(*restored, {"DEBUG", "DIGEST"}), Ask(*from, {"DEBUG", "DIGEST"}));
  }

  // All keys were of the system, and both stores have them.
  void CheckCopy(const CopyReport& copied, const Migration& migration, store::Store& from,
                 store::Store& to) {
    EXPECT_EQ(copied.other_keys, 0);
    for (const auto& [family, keys] : copied.keys) moved_.insert(family);
    EXPECT_TRUE(base::Run(migration.Verify(from, to)).value().is_equal());
  }

  // The same of a storm in the cluster layout, up to the second cluster.
  void MoveToDocumentedAndBack(World& world) {
    const auto from = world.Connect();
    memory::Engine documented_engine(world.clock());
    const auto documented = documented_engine.Connect();
    const auto cluster_engine = MakeCluster(world);
    const auto cluster = cluster_engine->Connect();

    const Migration back = Between(KeyLayout::kCluster, KeyLayout::kDocumented);
    const auto copied = base::Run(back.Copy(*from, *documented, {}));
    if (!copied.ok()) {
      // A topic in the middle of a change.
      EXPECT_THAT(copied.status().message(), ::testing::HasSubstr("has not ended"));
      return;
    }
    ++checks_;
    CheckCopy(*copied, back, *from, *documented);

    const Ids ids = IdsOf(*documented);
    const Reading before = Read(world, *from, KeyLayout::kCluster, ids);
    EXPECT_EQ(Read(world, *documented, KeyLayout::kDocumented, ids), before);
    lines_ += before.size();

    const Migration forth = Between(KeyLayout::kDocumented, KeyLayout::kCluster);
    ASSERT_THAT(base::Run(forth.Copy(*documented, *cluster, {})), IsOk());
    EXPECT_EQ(Read(world, *cluster, KeyLayout::kCluster, ids), before);
  }

  void RunStorms(KeyLayout layout, const LookAtWorld& check) {
    constexpr int64_t kStepsBetween = 150;
    for (const bool hardened : {false, true}) {
      sim::StormVariant variant;
      variant.hardened = hardened;
      variant.key_layout = layout;
      const sim::StormRunner runner(Watched(GetParam().system(), kStepsBetween, check), variant,
                                    /*seed=*/1);
      for (int64_t run = 0; run < 12 && !HasFailure(); ++run) {
        SCOPED_TRACE(run);
        EXPECT_THAT(runner.Run(run).mistake, IsOk());
      }
    }
    EXPECT_GE(checks_, 24);
    EXPECT_GT(lines_, 100u);
    EXPECT_THAT(moved_, ::testing::IsSupersetOf(GetParam().families));
  }

  const StormSystem system_;
  std::span<const store::KeyBinding> bindings_;
  store::FamilyTable families_;
  int64_t checks_ = 0;
  size_t lines_ = 0;
  std::set<std::string> moved_;
};

TEST_P(MigratedStormTest, MovesToAClusterAndBack) {
  RunStorms(KeyLayout::kDocumented, [this](World& world) { MoveToClusterAndBack(world); });
}

TEST_P(MigratedStormTest, MovesFromAClusterAndBack) {
  RunStorms(KeyLayout::kCluster, [this](World& world) { MoveToDocumentedAndBack(world); });
}

INSTANTIATE_TEST_SUITE_P(
    Systems, MigratedStormTest,
    ::testing::Values(
        Case{sim::GatewayStorm, {"gateway.reservation", "gateway.daily_budget"}},
        Case{sim::KorvetStorm, {"korvet.stream", "korvet.topic", "korvet.group_members"}},
        Case{sim::OrchestratorStorm,
             {"orchestrator.approval", "orchestrator.tasks", "orchestrator.processing"}},
        Case{sim::RelaynaStorm, {"relayna.history", "relayna.feed", "relayna.workflow_inflight"}},
        Case{sim::StudioStorm, {"studio.event", "studio.task_history", "studio.task_document"}},
        Case{sim::ThreescaleStorm,
             {"threescale.events_queue", "threescale.application_state",
              "threescale.stats_cinstance_metric_period"}}),
    [](const auto& info) { return info.param.system().name; });

}  // namespace
}  // namespace redouble::inline v0_1::tests
