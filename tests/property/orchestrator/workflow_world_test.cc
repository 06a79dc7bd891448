#include "tests/property/orchestrator/workflow_world.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace redouble::orchestrator {
namespace {

// ORCHESTRATOR_RUNS=10000 for the whole evidence; the default is for every day.
int Runs(int otherwise) {
  const char* const runs = std::getenv("ORCHESTRATOR_RUNS");
  return runs == nullptr ? otherwise : std::atoi(runs);
}

TEST(WorkflowWorld, KeepsItsInvariantsWhateverCrashes) {
  const int runs = Runs(1000);
  for (int seed = 1; seed <= runs; ++seed) {
    WorkflowWorldOptions options;
    options.seed = static_cast<uint64_t>(seed);
    options.patches = seed % 4 == 0;
    options.crash_probability = seed % 3 == 0 ? 0 : 0.01;
    options.key_form = seed % 2 == 0 ? KeyForm::kPlain : KeyForm::kHashTagged;
    const absl::Status status = RunWorkflowWorld(options);
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status;
  }
}

WorkflowWorldOptions InACluster(KeyForm key_form, int seed) {
  WorkflowWorldOptions options;
  options.seed = static_cast<uint64_t>(seed);
  options.patches = seed % 2 == 0;
  options.key_form = key_form;
  options.cluster = true;
  return options;
}

TEST(WorkflowWorld, CrossesNoSlotWhenItsKeysAreTagged) {
  const int runs = Runs(100);
  for (int seed = 1; seed <= runs; ++seed) {
    const absl::Status status = RunWorkflowWorld(InACluster(KeyForm::kHashTagged, seed));
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status;
  }
}

TEST(WorkflowWorld, CrossesSlotsWhenItsKeysAreNot) {
  EXPECT_FALSE(RunWorkflowWorld(InACluster(KeyForm::kPlain, 1)).ok());
}

struct MutationCase {
  const char* name;
  WorkflowWorldOptions options;
};

WorkflowWorldOptions Mutated(Mutation mutation) {
  WorkflowWorldOptions options;
  options.mutation = mutation;
  return options;
}

class CaughtMutation : public ::testing::TestWithParam<MutationCase> {};

// The ten of reference/orchestrator.md 13: a test that none of them breaks would prove nothing.
TEST_P(CaughtMutation, BreaksAnInvariant) {
  constexpr int kMostSeeds = 2000;
  WorkflowWorldOptions options = GetParam().options;
  for (int seed = 1; seed <= kMostSeeds; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    const absl::Status status = RunWorkflowWorld(options);
    if (status.ok()) continue;
    RecordProperty("seed", seed);
    RecordProperty("caught_by", std::string(status.message()).substr(0, 60));
    return;
  }
  FAIL() << GetParam().name << " was not caught";
}

INSTANTIATE_TEST_SUITE_P(
    All, CaughtMutation,
    ::testing::Values(MutationCase{"SwapEmitAndConsume", Mutated(Mutation::kConsumeBeforeEmit)},
                      MutationCase{"DropTheCounterGuard", Mutated(Mutation::kNoCounterGuard)},
                      MutationCase{"FreshEmitKey", Mutated(Mutation::kFreshEmitKey)},
                      MutationCase{"NodeConsumeKey", Mutated(Mutation::kNodeConsumeKey)},
                      MutationCase{"TwoStepCheck", Mutated(Mutation::kTwoStepCheck)},
                      MutationCase{"RemoveApprovalFirst", Mutated(Mutation::kRemoveApprovalFirst)},
                      MutationCase{"PlainPop", {.plain_pop = true}},
                      MutationCase{"SetWithoutKeepTtl",
                                   {.patches = true, .mutation = Mutation::kPatchLosesTimeToLive}},
                      MutationCase{"GroupAtTheEnd", {.group_at_end = true}},
                      MutationCase{"NoReclaim", {.reclaims = false}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace redouble::orchestrator
