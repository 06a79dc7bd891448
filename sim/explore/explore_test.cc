#include "redouble/sim/explore/explore.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/expiry.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::Task;

// The mutants: a counter that loses updates, a lock that two clients can hold, a queue that
// executes a job twice, a marker that never expires. The explorer must find each of them.

std::string Read(World& world, std::string_view key) {
  const std::unique_ptr<memory::Session> session = world.Connect();
  return base::Run(store::Get(*session, key)).value().value_or("(nil)");
}

std::function<absl::Status()> Expect(World& world, std::string_view key, std::string_view value) {
  return [&world, key, value] {
    const std::string got = Read(world, key);
    return got == value ? absl::OkStatus() : absl::InternalError("it is " + got);
  };
}

void AddLostUpdate(World& world) {
  for (const char* name : {"a", "b"}) {
    world.Spawn(name, [](Actor& actor) -> Task<void> {
      const auto count = co_await store::Get(actor.store(), "count");
      const std::string next = std::to_string(std::stoi(count.value().value_or("0")) + 1);
      (void)co_await store::Set(actor.store(), "count", next);
    });
  }
  world.AddFinalInvariant("both count", Expect(world, "count", "2"));
}

// Releases the lock without checking that it still holds it.
void AddLockReleasedByAnother(World& world) {
  const auto holders = std::make_shared<int>(0);
  for (const char* name : {"a", "b", "c"}) {
    world.Spawn(name, [holders](Actor& actor) -> Task<void> {
      store::SetOptions options;
      options.condition = store::SetOptions::Condition::kIfAbsent;
      options.expiry = store::Expiry::In(absl::Seconds(10));
      for (int tries = 0; tries < 5; ++tries) {
        const auto taken = co_await store::Set(actor.store(), "lock", actor.name(), options);
        if (taken.ok() && *taken) {
          ++*holders;
          co_await actor.clock().Sleep(absl::Seconds(actor.rng().Between(5, 15)));
          --*holders;
          (void)co_await store::Del(actor.store(), "lock");
          co_return;
        }
        co_await actor.clock().Sleep(absl::Seconds(4));
      }
    });
  }
  world.AddInvariant("one holds the lock", [holders] {
    return *holders <= 1 ? absl::OkStatus() : absl::InternalError("two do");
  });
}

// Removes a job from the queue only after it was done.
void AddDoubleApply(World& world) {
  const std::unique_ptr<memory::Session> session = world.Connect();
  const std::string_view jobs[] = {"job"};
  (void)base::Run(store::RPush(*session, "queue", jobs));
  for (const char* name : {"a", "b"}) {
    world.Spawn(name, [](Actor& actor) -> Task<void> {
      const auto job = co_await store::LIndex(actor.store(), "queue", 0);
      if (!job.ok() || !job->has_value()) co_return;
      (void)co_await store::Incr(actor.store(), "done");
      (void)co_await store::LPop(actor.store(), "queue");
    });
  }
  world.AddFinalInvariant("done once", Expect(world, "done", "1"));
}

// Crashes between INCR and EXPIRE.
void AddMissingTtl(World& world) {
  world.Spawn("a", [](Actor& actor) -> Task<void> {
    const auto count = co_await store::Incr(actor.store(), "rate");
    if (count.value() == 1) {
      (void)co_await store::ExpireIn(actor.store(), "rate", absl::Seconds(60));
    }
  });
  world.AddFinalInvariant("rate expires", [&world] {
    const std::unique_ptr<memory::Session> session = world.Connect();
    const auto ttl = base::Run(store::TimeToLive(*session, "rate"));
    if (!ttl.value().exists() || ttl.value().expires()) return absl::OkStatus();
    return absl::InternalError("it never does");
  });
}

size_t Preemptions(const Violation& violation) {
  return violation.decisions.size() -
         std::count(violation.decisions.begin(), violation.decisions.end(), 0u);
}

TEST(Explore, FindsAndShrinksALostUpdate) {
  const Exploration found = Explore(AddLostUpdate, {.schedules = 1000});
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(found.schedules, found.schedules_to_first);
  EXPECT_EQ(found.violation->status, absl::InternalError("both count: it is 1"));
  EXPECT_EQ(Preemptions(*found.violation), 1u);
  EXPECT_LE(found.violation->steps, 6);
}

TEST(Explore, FindsALockThatTwoHold) {
  const Exploration found = Explore(AddLockReleasedByAnother, {.schedules = 1000});
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(BrokenInvariant(found.violation->status), "one holds the lock");
}

TEST(Explore, FindsAndShrinksAJobDoneTwice) {
  const Exploration found = Explore(AddDoubleApply, {.schedules = 1000});
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(Preemptions(*found.violation), 1u);
}

TEST(Explore, FindsAMissingTtlByACrash) {
  ExploreOptions options{.schedules = 1000};
  EXPECT_FALSE(Explore(AddMissingTtl, options).violation.has_value());
  options.world.faults = {
      {.fault = Fault::kCrash, .probability = 0.2, .duration = absl::InfiniteDuration()}};
  const Exploration found = Explore(AddMissingTtl, options);
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(found.violation->decisions, (std::vector<uint32_t>{0, 1}));
}

TEST(Explore, DrawsFaultsPerRunWhenItSwarms) {
  ExploreOptions options{.swarm = true, .schedules = 1000};
  options.world.faults = {
      {.fault = Fault::kCrash, .probability = 0.2, .duration = absl::InfiniteDuration()}};
  const Exploration found = Explore(AddMissingTtl, options);
  ASSERT_TRUE(found.violation.has_value());
  const RunOutcome again =
      Replay(AddMissingTtl, options, found.violation->seed, found.violation->decisions);
  EXPECT_EQ(again.violation, found.violation->status);
}

TEST(Explore, ReplaysAViolationWithTheSameTrace) {
  const Exploration found = Explore(AddLostUpdate);
  ASSERT_TRUE(found.violation.has_value());
  std::vector<std::string> lines;
  const RunOutcome again =
      Replay(AddLostUpdate, {}, found.violation->seed, found.violation->decisions,
             [&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(again.violation, found.violation->status);
  EXPECT_EQ(again.trace_hash, found.violation->trace_hash);
  EXPECT_EQ(again.commands, 4);
  EXPECT_EQ(lines.size(), 4u);
}

TEST(Explore, TracesOnlyTheRunThatItReports) {
  std::set<std::string> hashes;
  const auto experiment = [&](World& world) {
    AddLostUpdate(world);
    world.AddProbe("end", [&world, &hashes] {
      hashes.insert(world.TraceHash());
      return false;
    });
  };
  const Exploration found =
      Explore(experiment, {.strategy = Strategy::kUniform, .schedules = 100, .shrinking_runs = 0});
  ASSERT_TRUE(found.violation.has_value());
  RecordedDecisions recorded(found.violation->decisions);
  EXPECT_EQ(found.violation->trace_hash,
            RunOnce(AddLostUpdate, {}, found.violation->seed, recorded).trace_hash);
  // One hash of all runs without a trace, and those that grow with the reported run.
  EXPECT_EQ(hashes.size(), 5u);

  hashes.clear();
  ExploreOptions listens{.strategy = Strategy::kUniform, .schedules = 1};
  int lines = 0;
  listens.world.trace_listener = [&](std::string_view) { ++lines; };
  (void)Explore(experiment, listens);
  EXPECT_GE(lines, 4);
}

TEST(Explore, CountsTheRunsThatReachEachProbe) {
  const auto experiment = [](World& world) {
    AddLostUpdate(world);
    world.AddProbe("one on the way", [&] { return Read(world, "count") == "1"; });
    world.AddProbe("never", [] { return false; });
  };
  const Exploration found = Explore(experiment, {.strategy = Strategy::kMixed,
                                                 .schedules = 100,
                                                 .stop_at_first = false,
                                                 .shrinking_runs = 0});
  EXPECT_EQ(found.probes, (std::map<std::string, int64_t>{{"never", 0}, {"one on the way", 100}}));
}

TEST(Explore, IsDeterministic) {
  const Exploration once = Explore(AddLockReleasedByAnother, {.schedules = 300});
  const Exploration twice = Explore(AddLockReleasedByAnother, {.schedules = 300});
  ASSERT_TRUE(once.violation.has_value() && twice.violation.has_value());
  EXPECT_EQ(once.violation->seed, twice.violation->seed);
  EXPECT_EQ(once.violation->decisions, twice.violation->decisions);
  EXPECT_EQ(once.violation->trace_hash, twice.violation->trace_hash);
}

class EveryStrategy : public testing::TestWithParam<StrategyName> {
 protected:
  static Exploration ExploreWith(const Experiment& experiment, std::vector<FaultRule> faults = {}) {
    return Explore(experiment, {.world = {.faults = std::move(faults)},
                                .strategy = GetParam().strategy,
                                .schedules = 1000});
  }
};

TEST_P(EveryStrategy, FindsAPreemption) {
  const Exploration found = ExploreWith(AddLostUpdate);
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(Preemptions(*found.violation), 1u);
}

TEST_P(EveryStrategy, FindsAFault) {
  const Exploration found = ExploreWith(
      AddMissingTtl,
      {{.fault = Fault::kCrash, .probability = 0.05, .duration = absl::InfiniteDuration()}});
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(found.violation->decisions, (std::vector<uint32_t>{0, 1}));
}

TEST_P(EveryStrategy, IsDeterministic) {
  const Exploration once = ExploreWith(AddDoubleApply);
  const Exploration twice = ExploreWith(AddDoubleApply);
  ASSERT_TRUE(once.violation.has_value() && twice.violation.has_value());
  EXPECT_EQ(once.schedules, twice.schedules);
  EXPECT_EQ(once.violation->seed, twice.violation->seed);
  EXPECT_EQ(once.violation->decisions, twice.violation->decisions);
  EXPECT_EQ(once.violation->trace_hash, twice.violation->trace_hash);
}

std::string CaseName(const testing::TestParamInfo<StrategyName>& info) {
  std::string name(info.param.name);
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategy, testing::ValuesIn(AllStrategies()), CaseName);

TEST(Explore, CountsAllViolationsWhenAsked) {
  const Exploration found = Explore(
      AddLostUpdate, {.strategy = Strategy::kMixed, .schedules = 200, .stop_at_first = false});
  EXPECT_EQ(found.schedules, 200);
  EXPECT_GT(found.violations, 20);
  EXPECT_LT(found.violations, 200);
  EXPECT_LT(found.schedules_to_first, 200);
}

TEST(Explore, ShowsTheAbsenceOfARaceInASmallWorld) {
  const auto add_safely = [](World& world) {
    for (const char* name : {"a", "b", "c"}) {
      world.Spawn(name, [](Actor& actor) -> Task<void> {
        (void)co_await store::Incr(actor.store(), "count");
        (void)co_await store::Incr(actor.store(), "count");
      });
    }
    world.AddFinalInvariant("all count", Expect(world, "count", "6"));
  };
  const Exploration all = Explore(add_safely, {.strategy = Strategy::kExhaustive});
  EXPECT_TRUE(all.complete);
  EXPECT_FALSE(all.violation.has_value());
  EXPECT_GE(all.schedules, 90);

  const Exploration racy = Explore(AddLostUpdate, {.strategy = Strategy::kExhaustive});
  EXPECT_TRUE(racy.violation.has_value());
  EXPECT_FALSE(racy.complete);
}

TEST(Explore, TellsHowFarItWasComplete) {
  // 16 commands of 4 actors on one key have 63 million orders.
  const auto many = [](World& world) {
    for (const char* name : {"a", "b", "c", "d"}) {
      world.Spawn(name, [](Actor& actor) -> Task<void> {
        for (int i = 0; i < 4; ++i) (void)co_await store::Incr(actor.store(), "count");
      });
    }
  };
  const Exploration all = Explore(many, {.strategy = Strategy::kExhaustive, .schedules = 2000});
  EXPECT_FALSE(all.complete);
  EXPECT_EQ(all.schedules, 2000);
  EXPECT_EQ(all.complete_bound, 0);
  EXPECT_FALSE(all.depends_on_seed);
}

TEST(Explore, TriesFurtherSeedsWhereActorsDrawNumbers) {
  const auto draws = [](World& world) {
    const auto drawn = std::make_shared<int64_t>(0);
    world.Spawn("a", [drawn](Actor& actor) -> Task<void> {
      *drawn = actor.rng().Between(0, 99);
      co_return;
    });
    world.AddFinalInvariant("it is not 7", [drawn] { return *drawn != 7; });
  };
  const Exploration found = Explore(draws);
  EXPECT_TRUE(found.depends_on_seed);
  EXPECT_TRUE(found.violation.has_value());
}

TEST(Explore, EndsAtAMistake) {
  const Exploration reported = Explore([](World& world) {
    world.Spawn("a", [&world](Actor& actor) -> Task<void> {
      (void)co_await store::Incr(actor.store(), "count");
      world.ReportMistake(absl::NotFoundError("no such file"));
    });
    world.AddFinalInvariant("never", [] { return false; });
  });
  EXPECT_EQ(reported.mistake, absl::NotFoundError("no such file"));
  EXPECT_FALSE(reported.violation.has_value());
  EXPECT_EQ(reported.schedules, 1);

  const Exploration checked = Explore([](World& world) {
    AddLostUpdate(world);
    world.AddInvariant("errs", [] { return absl::InvalidArgumentError("no such key"); });
  });
  EXPECT_EQ(checked.mistake, absl::InvalidArgumentError("errs: no such key"));
  EXPECT_FALSE(checked.violation.has_value());
}

TEST(Explore, TakesAFaultThatMatchesNothingForAMistake) {
  ExploreOptions options;
  options.world.faults = {
      {.fault = Fault::kDelay, .command = "INCR", .probability = 0.2, .duration = absl::Seconds(1)},
      {.fault = Fault::kDelay, .command = "SADD", .nth = 1}};
  const Exploration found = Explore(AddMissingTtl, options);
  EXPECT_FALSE(found.violation.has_value());
  EXPECT_EQ(found.mistake.message(), absl::StrCat("faults/1: no request matches this rule in ",
                                                  found.schedules, " schedules: delay"));
}

// The commands commute, so that only the variable shows that two are inside.
TEST(Explore, KeepsTheOrdersThatAnInvariantOnVariablesSees) {
  const auto two_inside = [](World& world) {
    const auto inside = std::make_shared<int>(0);
    for (const char* name : {"a", "b"}) {
      world.Spawn(name, [inside](Actor& actor) -> Task<void> {
        (void)co_await store::Incr(actor.store(), actor.name());
        ++*inside;
        (void)co_await store::Incr(actor.store(), actor.name());
        --*inside;
      });
    }
    world.AddInvariant("one inside", [inside] {
      return *inside <= 1 ? absl::OkStatus() : absl::InternalError("two are");
    });
  };
  const Exploration found = Explore(two_inside, {.strategy = Strategy::kExhaustive});
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(BrokenInvariant(found.violation->status), "one inside");
}

TEST(Explore, TakesARunThatDoesNotEndForAViolation) {
  const Exploration stuck = Explore(
      [](World& world) {
        world.Spawn("a", [](Actor& actor) -> Task<void> {
          const std::string_view queues[] = {"queue"};
          (void)co_await store::BLPop(actor.store(), queues, absl::InfiniteDuration());
        });
      },
      {.schedules = 1});
  EXPECT_EQ(stuck.violation->status,
            absl::DeadlineExceededError("ends: an actor is blocked, and no step or timer is left"));

  const Exploration endless = Explore(
      [](World& world) {
        world.Spawn("a", [](Actor& actor) -> Task<void> {
          while (true) (void)co_await store::Incr(actor.store(), "n");
        });
      },
      {.limits = {.max_steps = 50}, .schedules = 1});
  EXPECT_EQ(endless.violation->status, absl::DeadlineExceededError("ends: it goes on and on"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
