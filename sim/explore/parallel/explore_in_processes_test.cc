#include "redouble/sim/explore/parallel/explore_in_processes.h"

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::StatusIs;
using base::Task;
using testing::HasSubstr;

constexpr int64_t kNumbers = 1'000'000'000;

// An actor that draws a number. `judge` tells what is wrong with it: nothing, a violation, or, with
// InvalidArgument, a mistake.
Experiment DrawsANumber(std::function<absl::Status(int64_t)> judge) {
  return [judge = std::move(judge)](World& world) {
    const auto drawn = std::make_shared<int64_t>(0);
    world.Spawn("a", [drawn](Actor& actor) -> Task<void> {
      *drawn = actor.rng().Between(0, kNumbers);
      (void)co_await store::Incr(actor.store(), "n");
    });
    world.AddFinalInvariant("the number is good", [=] { return judge(*drawn); });
    world.AddProbe("even", [drawn] { return *drawn % 2 == 0; });
  };
}

// What the actor draws with this seed.
int64_t NumberOf(uint64_t seed) {
  int64_t number = 0;
  RecordedDecisions quiet({});
  (void)RunOnce(DrawsANumber([&](int64_t drawn) {
                  number = drawn;
                  return absl::OkStatus();
                }),
                {}, seed, quiet);
  return number;
}

// Everything that an exploration tells.
auto Told(const Exploration& found) {
  std::string violation;
  if (found.violation) {
    violation = found.violation->status.ToString() + found.violation->trace_hash +
                testing::PrintToString(std::tuple(found.violation->seed, found.violation->decisions,
                                                  found.violation->steps,
                                                  found.violation->cause.ToString()));
  }
  return std::tuple(found.schedules, found.violations, found.schedules_to_first, violation,
                    found.complete, found.depends_on_seed, found.complete_bound, found.probes,
                    found.fault_matches, found.mistake.ToString());
}

Exploration InProcesses(const Experiment& experiment, const ExploreOptions& options, int jobs) {
  absl::StatusOr<Exploration> found = ExploreInProcesses(experiment, options, jobs);
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? *std::move(found) : Exploration();
}

TEST(ExploreInProcesses, FindsTheSameWithAnyNumberOfThem) {
  // The schedule that fails is in a part after the first one, whatever the strategy.
  const int64_t bad = NumberOf(3'456);
  const Experiment experiment = DrawsANumber([bad](int64_t drawn) {
    return drawn == bad ? absl::InternalError("bad") : absl::OkStatus();
  });
  for (const StrategyName& row : AllStrategies()) {
    const ExploreOptions options{.strategy = row.strategy, .schedules = 5'000};
    const Exploration one = InProcesses(experiment, options, 1);
    EXPECT_EQ(Told(InProcesses(experiment, options, 3)), Told(one)) << row.name;
    if (row.strategy == Strategy::kExhaustive) continue;
    ASSERT_TRUE(one.violation.has_value()) << row.name;
    EXPECT_EQ(one.violation->seed, 3'456u) << row.name;
    if (row.strategy == Strategy::kCombined) continue;  // It has run other schedules before.
    EXPECT_EQ(one.schedules_to_first, 3'456) << row.name;
  }
}

// Actors that count in one key with GET and SET. A command without a reply ends its actor. The sum
// `bad` violates an invariant.
Experiment Counts(int actors, int times, std::optional<std::string> bad) {
  return [=](World& world) {
    for (int i = 0; i < actors; ++i) {
      world.Spawn("actor" + std::to_string(i), [times](Actor& actor) -> Task<void> {
        for (int time = 0; time < times; ++time) {
          const auto count = co_await store::Get(actor.store(), "n");
          if (!count.ok()) co_return;
          const std::string next = std::to_string(std::stoi(count->value_or("0")) + 1);
          (void)co_await store::Set(actor.store(), "n", next);
        }
      });
    }
    world.AddFinalInvariant("the sum is good", [&world, bad] {
      const std::unique_ptr<memory::Session> session = world.Connect();
      return base::Run(store::Get(*session, "n")).value() != bad;
    });
  };
}

TEST(ExploreInProcesses, DividesAnExhaustiveSearchWithAnyNumberOfThem) {
  // Small units, so that there are many rounds.
  const DivisionOptions division = {.units = 6, .first_runs = 3, .runs = 10, .kept_decisions = 1};
  struct Case {
    std::string_view name;
    Experiment experiment;
    ExploreOptions options;
    bool finds = false;
    bool completes = false;
  };
  const ExploreOptions unbounded{.strategy = Strategy::kExhaustive, .max_bound = 0};
  ExploreOptions few = unbounded;
  few.schedules = 57;
  ExploreOptions faulty = unbounded;
  faulty.world.faults = {{.fault = Fault::kDropReply, .probability = 0.5, .limit = 2}};
  ExploreOptions all = unbounded;
  all.stop_at_first = false;
  ExploreOptions combined = few;
  combined.strategy = Strategy::kCombined;
  combined.schedules = 300;
  const std::vector<Case> cases = {
      {"complete", Counts(3, 2, std::nullopt), unbounded, false, true},
      {"found", Counts(3, 2, "2"), unbounded, true, false},
      {"found deep in the search", Counts(2, 3, "2"), unbounded, true, false},
      {"all violations", Counts(2, 3, "3"), all, true, true},
      {"out of schedules", Counts(3, 2, std::nullopt), few, false, false},
      {"with faults", Counts(2, 2, "none"), faulty, false, true},
      {"combined", Counts(3, 3, "none"), combined, false, false},
  };
  for (const Case& row : cases) {
    const auto explore = [&](int jobs) {
      auto found = ExploreInProcesses(row.experiment, row.options, jobs, division);
      EXPECT_TRUE(found.ok()) << row.name << ": " << found.status();
      return found.ok() ? *std::move(found) : Exploration();
    };
    const Exploration one = explore(1);
    EXPECT_EQ(one.violation.has_value(), row.finds) << row.name;
    EXPECT_EQ(one.complete, row.completes) << row.name;
    for (const int jobs : {2, 3, 4}) EXPECT_EQ(Told(explore(jobs)), Told(one)) << row.name;
    // The search in one piece comes to the same verdict.
    const Exploration whole = Explore(row.experiment, row.options);
    EXPECT_EQ(one.violation.has_value(), whole.violation.has_value()) << row.name;
    EXPECT_EQ(one.complete, whole.complete) << row.name;
    std::cout << row.name << ": " << one.schedules << " schedules, in one piece " << whole.schedules
              << "\n";
  }
}

// A turn that a unit has run without its fault only: with the fault, it depends on more.
TEST(ExploreInProcesses, TriesNoOptionBeforeAllFaultsOfTheLastOne) {
  const Experiment experiment = [](World& world) {
    const auto read = std::make_shared<std::optional<std::string>>();
    world.Spawn("flushed", [](Actor& actor) -> Task<void> {
      (void)co_await store::Set(actor.store(), "x", "1");
    });
    world.Spawn("other", [read](Actor& actor) -> Task<void> {
      (void)co_await store::Set(actor.store(), "y", "1");
      const auto got = co_await store::Get(actor.store(), "x");
      *read = got.value_or(std::nullopt);
    });
    world.AddFinalInvariant("no flush between two commands", [&world, read] {
      const std::unique_ptr<memory::Session> session = world.Connect();
      const bool is_gone = !base::Run(store::Get(*session, "y")).value().has_value();
      return !(is_gone && read->has_value());
    });
  };
  ExploreOptions options{.strategy = Strategy::kExhaustive, .max_bound = 0};
  options.world.faults = {{.fault = Fault::kFlush, .actor = "flushed", .probability = 0.5}};
  const DivisionOptions division = {.units = 6, .first_runs = 1, .runs = 1, .kept_decisions = 0};
  const auto found = ExploreInProcesses(experiment, options, 2, division);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(found->violation.has_value());
}

// What the invariant reads is known only from a run in a unit, so the units before it have let
// turns commute that do not.
TEST(ExploreInProcesses, BeginsAgainWhenAnInvariantReadsMore) {
  const Experiment experiment = [](World& world) {
    world.Spawn("a", [](Actor& actor) -> Task<void> {
      (void)co_await store::Set(actor.store(), "x", "1");
      (void)co_await store::Set(actor.store(), "x", "2");
    });
    for (const char* key : {"y", "z"}) {
      world.Spawn(key, [key](Actor& actor) -> Task<void> {
        (void)co_await store::Set(actor.store(), key, "1");
      });
    }
    const auto is_one = [&world](const char* key) {
      const std::unique_ptr<memory::Session> session = world.Connect();
      return base::Run(store::Get(*session, key)).value() == "1";
    };
    const auto check = [is_one] {
      const bool all = is_one("x") && is_one("y") && is_one("z");
      return all ? absl::InternalError("all are 1") : absl::OkStatus();
    };
    world.AddInvariant("not all are 1", check, InvariantReads::kServerOnly);
  };
  const ExploreOptions options{.strategy = Strategy::kExhaustive, .max_bound = 0};
  const DivisionOptions division = {.units = 6, .first_runs = 1, .runs = 1, .kept_decisions = 0};
  const auto found = ExploreInProcesses(experiment, options, 2, division);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(found->violation.has_value());
}

TEST(ExploreInProcesses, AddsUpWhatTheProcessesFound) {
  const Experiment experiment = DrawsANumber(
      [](int64_t drawn) { return drawn % 7 == 0 ? absl::InternalError("bad") : absl::OkStatus(); });
  // Uniform schedules do not depend on earlier ones, and so not on the parts.
  const ExploreOptions options{
      .strategy = Strategy::kUniform, .schedules = 2'500, .stop_at_first = false};
  const Exploration found = InProcesses(experiment, options, 2);
  EXPECT_EQ(Told(found), Told(Explore(experiment, options)));
  EXPECT_EQ(found.schedules, 2'500);
  EXPECT_GT(found.violations, 250);
}

TEST(ExploreInProcesses, DoesNotTellWhatHappenedAfterTheFirstViolation) {
  // The part with the second thousand schedules ends at once, the first part after 900 schedules.
  const int64_t bad = NumberOf(900);
  const int64_t wrong = NumberOf(1'001);
  const Experiment experiment = DrawsANumber([=](int64_t drawn) {
    if (drawn == wrong) return absl::InvalidArgumentError("wrong");
    return drawn == bad ? absl::InternalError("bad") : absl::OkStatus();
  });
  const ExploreOptions options{.strategy = Strategy::kUniform, .schedules = 2'000};
  for (const int jobs : {1, 2}) {
    const Exploration found = InProcesses(experiment, options, jobs);
    EXPECT_EQ(found.mistake, absl::OkStatus());
    EXPECT_EQ(found.schedules, 900);
    EXPECT_TRUE(found.violation.has_value());
  }
}

TEST(ExploreInProcesses, ReportsAMistake) {
  const int64_t wrong = NumberOf(1'001);
  const Experiment experiment = DrawsANumber([=](int64_t drawn) {
    return drawn == wrong ? absl::InvalidArgumentError("wrong") : absl::OkStatus();
  });
  const ExploreOptions options{.strategy = Strategy::kUniform, .schedules = 5'000};
  const Exploration found = InProcesses(experiment, options, 2);
  EXPECT_EQ(found.mistake, absl::InvalidArgumentError("the number is good: wrong"));
  EXPECT_EQ(found.schedules, 1'001);
}

TEST(ExploreInProcesses, TakesAFaultThatMatchesInNoPartForAMistake) {
  const Experiment experiment = DrawsANumber([](int64_t) { return absl::OkStatus(); });
  ExploreOptions options{.strategy = Strategy::kUniform, .schedules = 2'000};
  options.world.faults = {{.fault = Fault::kDelay, .command = "SADD", .probability = 0.5}};
  EXPECT_THAT(InProcesses(experiment, options, 2).mistake,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("in 2000 schedules: delay")));
}

TEST(ExploreInProcesses, BeginsNoPartWhenTheSearchIsOver) {
  const Experiment experiment = DrawsANumber([](int64_t) { return absl::OkStatus(); });
  const ExploreOptions options{.strategy = Strategy::kUniform,
                               .schedules = int64_t{1} << 60,
                               .is_over = [] { return true; }};
  const Exploration found = InProcesses(experiment, options, 2);
  EXPECT_EQ(found.schedules, 0);
  EXPECT_FALSE(found.complete);
}

TEST(ExploreInProcesses, RefusesAViolationThatDoesNotRepeatItself) {
  const pid_t parent = getpid();
  const Experiment experiment = DrawsANumber([parent](int64_t) {
    return getpid() == parent ? absl::OkStatus() : absl::InternalError("in a child");
  });
  EXPECT_THAT(ExploreInProcesses(experiment, {}, 2).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("violates an invariant in one run and not in the next")));
}

TEST(ExploreInProcesses, ShrinksWhatItFound) {
  const Experiment experiment = [](World& world) {
    for (const char* name : {"a", "b", "c"}) {
      world.Spawn(name, [](Actor& actor) -> Task<void> {
        const auto count = co_await store::Get(actor.store(), "n");
        const std::string next = std::to_string(std::stoi(count.value().value_or("0")) + 1);
        (void)co_await store::Set(actor.store(), "n", next);
      });
    }
    world.AddFinalInvariant("all count", [&world] {
      const std::unique_ptr<memory::Session> session = world.Connect();
      return base::Run(store::Get(*session, "n")).value() == "3";
    });
  };
  const Exploration found = InProcesses(experiment, {.strategy = Strategy::kUniform}, 2);
  ASSERT_TRUE(found.violation.has_value());
  int64_t preemptions = 0;
  for (const uint32_t decision : found.violation->decisions) preemptions += decision == 0 ? 0 : 1;
  EXPECT_EQ(preemptions, 1);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
