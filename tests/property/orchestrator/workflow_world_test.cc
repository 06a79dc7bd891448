#include "redouble/tests/property/orchestrator/workflow_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace redouble::inline v0_1::orchestrator {
namespace {

using scenarios::Unguarded;

// Set ORCHESTRATOR_RUNS=10000 for the full run.
int Runs(int otherwise) {
  const char* const runs = std::getenv("ORCHESTRATOR_RUNS");
  return runs == nullptr ? otherwise : std::atoi(runs);
}

// Returns one combination of options after the other.
WorkflowWorldOptions Mixture(int seed) {
  constexpr Deciders kDeciders[] = {Deciders::kApprove, Deciders::kReject, Deciders::kTimeOut,
                                    Deciders::kRace};
  WorkflowWorldOptions options;
  options.seed = static_cast<uint64_t>(seed);
  options.patches = seed % 5 == 0;
  options.failures = seed % 7 == 0;
  options.crash_probability = seed % 3 == 0 ? 0 : 0.01;
  options.key_layout = seed % 2 == 0 ? store::KeyLayout::kDocumented : store::KeyLayout::kCluster;
  options.queue_shards = seed % 4 < 2 ? 1 : 3;
  options.deciders = kDeciders[(seed / 2) % 4];
  return options;
}

WorkflowWorldOptions Undisturbed(WorkflowWorldOptions options) {
  options.crash_probability = 0;
  options.duplicates = false;
  return options;
}

TEST(WorkflowWorld, KeepsItsInvariantsWhateverCrashes) {
  const int runs = Runs(1000);
  int64_t commands = 0;
  int64_t crashes = 0;
  int64_t compared = 0;
  int64_t repeated = 0;
  for (int seed = 1; seed <= runs; ++seed) {
    const WorkflowWorldOptions options = Mixture(seed);
    const WorldReport report = RunWorkflowWorld(options);
    ASSERT_EQ(report.text, "") << "seed " << seed;
    commands += report.commands;
    crashes += report.crashes;
    compared += report.compared;
    if (!report.repeatable) continue;
    ++repeated;
    const WorldReport undisturbed = RunWorkflowWorld(Undisturbed(options));
    ASSERT_EQ(undisturbed.text, "") << "seed " << seed;
    for (size_t run = 0; run < report.runs.size(); ++run) {
      for (const Violation& violation : CompareRuns(report.runs[run], undisturbed.runs[run])) {
        ADD_FAILURE() << violation.invariant << ": " << violation.what << ", seed " << seed;
      }
    }
  }
  std::printf(
      "%d runs of two workflows, %ld commands, %ld crashes; %ld outcomes held against the "
      "model's, %ld runs against undisturbed ones\n",
      runs, static_cast<long>(commands), static_cast<long>(crashes), static_cast<long>(compared),
      static_cast<long>(repeated));
  // The oracle was consulted often.
  EXPECT_GE(compared, runs);
  EXPECT_GE(repeated * 5, runs);
}

// Systematically: before each command of a run, its sender crashes once.
TEST(WorkflowWorld, SurvivesACrashBeforeEachOfItsCommands) {
  for (const int seed : {1, 2, 6, 11}) {
    WorkflowWorldOptions options = Mixture(seed);
    options.duplicates = false;
    int64_t commands = 1;
    for (int64_t n = 1; n <= commands; ++n) {
      options.crash_before = n;
      const WorldReport report = RunWorkflowWorld(options);
      ASSERT_EQ(report.text, "") << "seed " << seed << ", crash before command " << n;
      commands = std::min<int64_t>(report.commands, 1500);
    }
    EXPECT_GT(commands, 100);
  }
}

WorkflowWorldOptions InACluster(store::KeyLayout key_layout, int seed) {
  WorkflowWorldOptions options = Mixture(seed);
  options.key_layout = key_layout;
  options.cluster = true;
  return options;
}

TEST(WorkflowWorld, CrossesNoSlotWhenItsKeysAreTagged) {
  const int runs = Runs(100);
  for (int seed = 1; seed <= runs; ++seed) {
    ASSERT_EQ(RunWorkflowWorld(InACluster(store::KeyLayout::kCluster, seed)).text, "")
        << "seed " << seed;
  }
}

TEST(WorkflowWorld, CrossesSlotsWhenItsKeysAreNot) {
  EXPECT_NE(RunWorkflowWorld(InACluster(store::KeyLayout::kDocumented, 1)).text, "");
}

struct MutationCase {
  const char* name;
  const char* invariant;  // The invariant that must detect it.
  WorkflowWorldOptions options;
};

WorkflowWorldOptions Mutated(Unguarded mutation) {
  WorkflowWorldOptions options;
  options.mutation = mutation;
  return options;
}

WorkflowWorldOptions Healthy(WorkflowWorldOptions options) {
  options.mutation = Unguarded::kNone;
  options.plain_pop = false;
  options.reclaims = true;
  return options;
}

class CaughtMutation : public ::testing::TestWithParam<MutationCase> {};

// The ten mutations of docs/systems/orchestrator.md 7.2. Each must break its invariant, and the
// same world without the mutation must keep all of them.
TEST_P(CaughtMutation, BreaksOnlyItsInvariant) {
  constexpr int kMostSeeds = 2000;
  const MutationCase& mutation = GetParam();
  WorkflowWorldOptions options = mutation.options;
  for (int seed = 1; seed <= kMostSeeds; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    const WorldReport report = RunWorkflowWorld(options);
    if (!report.Broke(mutation.invariant)) continue;
    RecordProperty("seed", seed);
    RecordProperty("caught_by", report.violations.front().what.substr(0, 80));
    EXPECT_EQ(RunWorkflowWorld(Healthy(options)).text, "") << "seed " << seed;
    return;
  }
  FAIL() << mutation.name << " does not break " << mutation.invariant;
}

INSTANTIATE_TEST_SUITE_P(
    All, CaughtMutation,
    ::testing::Values(
        MutationCase{"SwapEmitAndConsume", "I7", Mutated(Unguarded::kConsumeBeforeEmit)},
        MutationCase{"DropTheCounterGuard", "I2", Mutated(Unguarded::kNoCounterGuard)},
        MutationCase{"FreshEmitKey", "I1", Mutated(Unguarded::kFreshEmitKey)},
        MutationCase{"NodeConsumeKey", "L2", Mutated(Unguarded::kNodeConsumeKey)},
        MutationCase{"TwoStepCheck", "I4", Mutated(Unguarded::kTwoStepCheck)},
        MutationCase{"RemoveApprovalFirst", "I6", Mutated(Unguarded::kDecideStepByStep)},
        MutationCase{"PlainPop", "L1", {.plain_pop = true}},
        MutationCase{
            "SetWithoutKeepTtl", "I12", {.patches = true, .mutation = Unguarded::kPatchBySet}},
        MutationCase{"GroupAtTheEnd", "L2", Mutated(Unguarded::kGroupAtTheEnd)},
        MutationCase{"NoReclaim", "L5", {.reclaims = false}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
