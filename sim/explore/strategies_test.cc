#include "redouble/sim/explore/strategies.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/explore/exhaustive.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::Task;

// Each actor appends its name `times` times to a key: to "log", or to a key of its own.
void SpawnAppenders(World& world, int actors, int times, bool share_key) {
  for (int i = 0; i < actors; ++i) {
    world.Spawn(std::string(1, static_cast<char>('a' + i)), [=](Actor& actor) -> Task<void> {
      const std::string key = share_key ? "log" : "log:" + actor.name();
      for (int n = 0; n < times; ++n) {
        EXPECT_TRUE((co_await store::Append(actor.store(), key, actor.name())).ok());
      }
    });
  }
}

std::string Log(World& world) {
  const std::unique_ptr<memory::Session> session = world.Connect();
  return base::Run(store::Get(*session, "log")).value().value_or("");
}

struct AllRuns {
  std::vector<std::string> logs;  // From the runs that are not redundant.
  int runs = 0;
};

AllRuns RunAll(int actors, int times, bool share_key) {
  AllRuns all;
  ExhaustiveDecisions decisions;
  do {
    World world({.decisions = &decisions});
    SpawnAppenders(world, actors, times, share_key);
    const RunEnd end = world.Run().end;
    ++all.runs;
    EXPECT_EQ(end, decisions.redundant() ? RunEnd::kStopped : RunEnd::kDone);
    if (!decisions.redundant()) all.logs.push_back(Log(world));
  } while (decisions.Next());
  return all;
}

TEST(ExhaustiveDecisions, TryEveryOrderOfDependentCommandsOnce) {
  // 4! / (2! 2!) orders of aabb, 6! / (2! 2! 2!) of aabbcc.
  for (const auto& [actors, orders] : {std::pair(2, 6u), std::pair(3, 90u)}) {
    const AllRuns all = RunAll(actors, 2, /*share_key=*/true);
    const std::set<std::string> different(all.logs.begin(), all.logs.end());
    EXPECT_EQ(different.size(), orders);
    EXPECT_EQ(all.logs.size(), orders);
  }
}

TEST(ExhaustiveDecisions, TryOneOrderOfIndependentCommands) {
  const AllRuns all = RunAll(3, 2, /*share_key=*/false);
  EXPECT_EQ(all.logs.size(), 1u);
}

TEST(ExhaustiveDecisions, TryBothWaysOfAChance) {
  std::multiset<std::string> logs;
  ExhaustiveDecisions decisions;
  do {
    World world(
        {.decisions = &decisions, .faults = {{.fault = Fault::kDuplicate, .probability = 0.01}}});
    SpawnAppenders(world, 1, 2, /*share_key=*/true);
    world.Run();
    logs.insert(Log(world));
  } while (decisions.Next());
  EXPECT_EQ(logs, (std::multiset<std::string>{"aa", "aaa", "aaa", "aaaa"}));
}

TEST(ExhaustiveDecisions, PickEachKeyToEvict) {
  std::set<std::string> logs;
  ExhaustiveDecisions decisions;
  do {
    World world({.decisions = &decisions, .faults = {{.fault = Fault::kEvict, .nth = 2}}});
    SpawnAppenders(world, 1, 3, /*share_key=*/true);
    const std::unique_ptr<memory::Session> session = world.Connect();
    EXPECT_TRUE(base::Run(store::Set(*session, "other", "1")).ok());
    world.Run();
    logs.insert(Log(world));
  } while (decisions.Next());
  EXPECT_EQ(logs, (std::set<std::string>{"aa", "aaa"}));
}

TEST(ExhaustiveDecisions, RunOnceWhereThereIsNoChoice) {
  EXPECT_EQ(RunAll(1, 3, /*share_key=*/true).runs, 1);
}

TEST(PctDecisions, WithoutPreemptionsRunOneActorAfterTheOther) {
  std::set<std::string> logs;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    PctDecisions decisions(seed, /*preemptions=*/0, /*expected_turns=*/6);
    World world({.decisions = &decisions});
    SpawnAppenders(world, 2, 2, /*share_key=*/true);
    world.Run();
    logs.insert(Log(world));
  }
  EXPECT_EQ(logs, (std::set<std::string>{"aabb", "bbaa"}));
}

TEST(PctDecisions, WithOnePreemptionInterruptAnActorOnce) {
  std::set<std::string> logs;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    PctDecisions decisions(seed, /*preemptions=*/1, /*expected_turns=*/6);
    World world({.decisions = &decisions});
    SpawnAppenders(world, 2, 2, /*share_key=*/true);
    world.Run();
    logs.insert(Log(world));
  }
  EXPECT_EQ(logs, (std::set<std::string>{"aabb", "bbaa", "abba", "baab"}));
}

TEST(PctDecisions, ContinueInterruptedActorsInAnyOrder) {
  std::set<std::string> logs;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    PctDecisions decisions(seed, /*preemptions=*/2, /*expected_turns=*/9);
    World world({.decisions = &decisions});
    SpawnAppenders(world, 3, 2, /*share_key=*/true);
    world.Run();
    logs.insert(Log(world));
  }
  EXPECT_TRUE(logs.contains("abccab"));
  EXPECT_TRUE(logs.contains("abccba"));
}

TEST(PctDecisions, DrawChances) {
  PctDecisions decisions(1, 0, 1);
  int happened = 0;
  for (int i = 0; i < 1000; ++i) happened += decisions.Chance(0.5) ? 1 : 0;
  EXPECT_GT(happened, 400);
  EXPECT_LT(happened, 600);
}

// "a" sends ten commands on a key of its own before each of its two appends, "b" sends none.
void SpawnBusyAndIdle(World& world) {
  for (const auto& [name, others] : {std::pair("a", 10), std::pair("b", 0)}) {
    world.Spawn(name, [others = others](Actor& actor) -> Task<void> {
      for (int n = 0; n < 2; ++n) {
        for (int i = 0; i < others; ++i) (void)co_await store::Incr(actor.store(), actor.name());
        EXPECT_TRUE((co_await store::Append(actor.store(), "log", actor.name())).ok());
      }
    });
  }
}

std::string LogOf(DecisionSource& decisions) {
  World world({.decisions = &decisions});
  SpawnBusyAndIdle(world);
  world.Run();
  return Log(world);
}

constexpr int kDrawn = 600;
// How often each of the six orders of the appends is expected.
constexpr int kFair = kDrawn / 6;

TEST(WalkDecisions, DrawAllOrdersOfConflictingTurnsEquallyOften) {
  RunMemory memory;
  // The first run shows what the turns share, the second one how many of them conflict.
  for (int run = 0; run < 2; ++run) {
    RecordedDecisions quiet({});
    RememberingDecisions remembering(quiet, memory);
    (void)LogOf(remembering);
    remembering.Finish();
  }
  std::map<std::string, int> logs;
  for (uint64_t seed = 0; seed < kDrawn; ++seed) {
    WalkDecisions decisions(seed, memory);
    ++logs[LogOf(decisions)];
  }
  EXPECT_EQ(logs.size(), 6u);
  for (const auto& [log, times] : logs) {
    EXPECT_GT(times, kFair / 2) << log;
    EXPECT_LT(times, kFair * 2) << log;
  }
}

TEST(PartialOrderDecisions, DrawEveryOrder) {
  std::set<std::string> logs;
  for (uint64_t seed = 0; seed < kDrawn; ++seed) {
    PartialOrderDecisions decisions(seed);
    World world({.decisions = &decisions});
    SpawnAppenders(world, 2, 2, /*share_key=*/true);
    world.Run();
    logs.insert(Log(world));
  }
  EXPECT_EQ(logs, (std::set<std::string>{"aabb", "abab", "abba", "baab", "baba", "bbaa"}));
}

// The length of the longest text that is left of both if characters are removed.
size_t CommonLength(std::string_view one, std::string_view other) {
  std::vector<size_t> row(other.size() + 1);
  for (const char letter : one) {
    size_t diagonal = 0;
    for (size_t i = 0; i < other.size(); ++i) {
      const size_t above = row[i + 1];
      row[i + 1] = letter == other[i] ? diagonal + 1 : std::max(row[i], above);
      diagonal = above;
    }
  }
  return row.back();
}

TEST(MutatedDecisions, MoveUpToThreeTurnsOfTheRun) {
  constexpr int kTimes = 5;
  // A turn to start, and the appends.
  RunMemory::Run run;
  run.actors.assign(1 + kTimes, 0);
  run.actors.insert(run.actors.end(), 1 + kTimes, 1);
  std::set<size_t> unmoved;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    MutatedDecisions decisions(seed, run);
    World world({.decisions = &decisions});
    SpawnAppenders(world, 2, kTimes, /*share_key=*/true);
    world.Run();
    unmoved.insert(CommonLength(Log(world), "aaaaabbbbb"));
  }
  EXPECT_EQ(unmoved, (std::set<size_t>{7, 8, 9, 10}));
}

TEST(MutatedDecisions, ChangeSomeDecisionsAboutFaultsAndRepeatTheOthers) {
  constexpr size_t kAnswers = 100;
  RunMemory::Run run;
  for (size_t i = 0; i < kAnswers; ++i) run.answers.push_back(i % 2 == 0 ? 1 : 0);
  MutatedDecisions decisions(/*seed=*/1, run);
  size_t happened = 0;
  for (size_t i = 0; i < kAnswers; ++i) {
    // A decision that is drawn again is "no".
    const bool happens = decisions.Chance(1e-9);
    EXPECT_TRUE(i % 2 == 0 || !happens) << i;
    happened += happens ? 1 : 0;
  }
  EXPECT_GT(happened, kAnswers / 4);
  EXPECT_LT(happened, kAnswers / 2);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
