#include "redouble/sim/testing/explore.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::testing {
namespace {

using base::Task;
using ::testing::HasSubstr;
using ::testing::StartsWith;

bool CountIs(sim::World& world, std::string_view expected) {
  const std::unique_ptr<memory::Session> session = world.Connect();
  return base::Run(store::Get(*session, "count")).value() == expected;
}

void AddOneUnsafely(sim::World& world) {
  for (const char* name : {"a", "b"}) {
    world.Spawn(name, [](sim::Actor& actor) -> Task<void> {
      const auto count = co_await store::Get(actor.store(), "count");
      const std::string next = std::to_string(std::stoi(count.value().value_or("0")) + 1);
      (void)co_await store::Set(actor.store(), "count", next);
    });
  }
  world.AddFinalInvariant("both count", [&world] { return CountIs(world, "2"); });
}

REDOUBLE_EXPLORE(ExploreMacro, PassesWhenTheInvariantHolds, .schedules = 50) {
  for (const char* name : {"a", "b"}) {
    world.Spawn(name, [](sim::Actor& actor) -> Task<void> {
      (void)co_await store::Incr(actor.store(), "count");
    });
  }
  world.AddFinalInvariant("both count", [&world] { return CountIs(world, "2"); });
}

using Variables = std::map<std::string, std::string, std::less<>>;

std::string Explored(const Variables& variables, sim::ExploreOptions options = {}) {
  return ExploreCase("Counter.LosesNoUpdate", AddOneUnsafely, options,
                     [&](std::string_view name) -> std::optional<std::string> {
                       const auto found = variables.find(name);
                       if (found == variables.end()) return std::nullopt;
                       return found->second;
                     });
}

TEST(ExploreCase, TellsTheInvariantTheInterleavingAndHowToRepeatIt) {
  const std::string failure = Explored({});
  EXPECT_THAT(failure, StartsWith("The invariant is violated: both count: does not hold\n"
                                  "  a  [\"GET\",\"count\"] -> null\n"
                                  "  b  [\"GET\",\"count\"] -> null\n"
                                  "  b  [\"SET\",\"count\",\"1\"] -> {\"status\":\"OK\"}\n"
                                  "  a  [\"SET\",\"count\",\"1\"] -> {\"status\":\"OK\"}\n"
                                  "Repeat this run: REDOUBLE_REPLAY="));
  EXPECT_THAT(failure, HasSubstr(" with --gtest_filter=Counter.LosesNoUpdate\n"));
}

// The text between REDOUBLE_REPLAY= and the next space.
std::string ScheduleIn(const std::string& failure) {
  const size_t start =
      failure.find("REDOUBLE_REPLAY=") + std::string_view("REDOUBLE_REPLAY=").size();
  return failure.substr(start, failure.find(' ', start) - start);
}

TEST(ExploreCase, RepeatsOneSchedule) {
  const std::string failure = Explored({});
  EXPECT_EQ(Explored({{"REDOUBLE_REPLAY", ScheduleIn(failure)}}), failure);
  EXPECT_EQ(Explored({{"REDOUBLE_REPLAY", "1:"}}), "");
}

TEST(ExploreCase, TakesSeedAndSchedulesFromTheEnvironment) {
  EXPECT_EQ(Explored({{"REDOUBLE_SCHEDULES", "0"}}), "");
  EXPECT_THAT(ScheduleIn(Explored({{"REDOUBLE_SEED", "1000"}}, {.shrinking_runs = 0})),
              StartsWith("10"));
}

TEST(ExploreCase, GoesOnWithFurtherSeedsUntilTheTimeIsOver) {
  const Variables one_at_a_time = {{"REDOUBLE_SCHEDULES", "1"}, {"REDOUBLE_SECONDS", "600"}};
  EXPECT_THAT(Explored(one_at_a_time), StartsWith("The invariant is violated"));
}

// Counts the runs that this process sees.
TEST(ExploreCase, DividesTheRunsAmongProcesses) {
  int runs = 0;
  const auto explored = [&](const Variables& variables) {
    runs = 0;
    return ExploreCase(
        "Counter.LosesNoUpdate",
        [&](sim::World& world) {
          ++runs;
          AddOneUnsafely(world);
        },
        {.strategy = sim::Strategy::kUniform, .shrinking_runs = 0},
        [&](std::string_view name) -> std::optional<std::string> {
          const auto found = variables.find(name);
          if (found == variables.end()) return std::nullopt;
          return found->second;
        });
  };
  const std::string one = explored({{"REDOUBLE_JOBS", "1"}});
  const int runs_of_parent = runs;
  EXPECT_THAT(one, StartsWith("The invariant is violated"));
  EXPECT_EQ(explored({{"REDOUBLE_JOBS", "3"}}), one);
  EXPECT_EQ(runs, runs_of_parent);
  EXPECT_EQ(explored({}), one);
  EXPECT_GT(runs, runs_of_parent);
}

TEST(ExploreCase, RefusesValuesThatCannotBeRead) {
  EXPECT_EQ(Explored({{"REDOUBLE_REPLAY", "seven"}}),
            "REDOUBLE_REPLAY is \"seven\"; expected a seed and decisions, such as \"7:0,0,1\"");
  EXPECT_EQ(Explored({{"REDOUBLE_REPLAY", "7:0,x"}}),
            "REDOUBLE_REPLAY is \"7:0,x\"; expected a seed and decisions, such as \"7:0,0,1\"");
  EXPECT_EQ(Explored({{"REDOUBLE_SEED", "-1"}}),
            "REDOUBLE_SEED is \"-1\"; expected a number that is not negative");
  EXPECT_EQ(Explored({{"REDOUBLE_SCHEDULES", "many"}}),
            "REDOUBLE_SCHEDULES is \"many\"; expected a number that is not negative");
  EXPECT_EQ(Explored({{"REDOUBLE_SECONDS", "-3"}}),
            "REDOUBLE_SECONDS is \"-3\"; expected a number that is not negative");
  EXPECT_EQ(Explored({{"REDOUBLE_JOBS", "-2"}}),
            "REDOUBLE_JOBS is \"-2\"; expected a number that is not negative");
}

std::string Content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ExploreCase, WritesThePageAndTheSchedule) {
  const std::string folder = std::getenv("TEST_TMPDIR");
  const std::string failure = Explored({{"TEST_UNDECLARED_OUTPUTS_DIR", folder}});
  const std::string file = folder + "/Counter.LosesNoUpdate";
  EXPECT_THAT(failure, HasSubstr("Page of the run: " + file + ".html\n"));
  EXPECT_EQ(Content(file + ".schedule"), ScheduleIn(failure) + "\n");
  EXPECT_THAT(Content(file + ".html"), HasSubstr("both count: does not hold"));
}

TEST(RunExploreCase, ReportsTheFailureOfTheCurrentTest) {
  EXPECT_NONFATAL_FAILURE(RunExploreCase("counter_test.cc", 7, AddOneUnsafely, {}),
                          "--gtest_filter=RunExploreCase.ReportsTheFailureOfTheCurrentTest");
}

}  // namespace
}  // namespace redouble::inline v0_1::testing
