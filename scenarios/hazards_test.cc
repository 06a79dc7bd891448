// Every world of the catalogue breaks as it says, under a schedule that is found here, and does not
// when it is hardened.

#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "scenarios/listing.h"
#include "sim/cli/systems.h"
#include "sim/explore/explore.h"
#include "sim/explore/world_experiment.h"
#include "sim/explore/world_file.h"

namespace redouble::scenarios {
namespace {

namespace fs = std::filesystem;

// The catalogue itself is made with 20,000 schedules each; a run of the tests looks less far.
constexpr int64_t kSchedules = 20'000;
constexpr int64_t kHardenedSchedules = 300;

sim::WorldFile ReadWorld(const std::string& name) {
  absl::StatusOr<sim::WorldFile> world =
      sim::ParseWorldFile(ReadSource(name), name, sim::AllSystems());
  if (!world.ok()) ADD_FAILURE() << world.status();
  return *std::move(world);
}

std::vector<std::string> HardenedWorldNames() {
  std::vector<std::string> names = AllWorldNames();
  std::erase_if(names,
                [](const std::string& name) { return !ReadWorld(name).hardened.is_object(); });
  return names;
}

sim::Exploration Explore(const sim::WorldFile& world, sim::WorldVariant variant,
                         int64_t schedules) {
  const sim::WorldExperiment experiment(world, variant);
  return sim::Explore(experiment.experiment(), experiment.Options({.schedules = schedules}));
}

class EveryHazard : public testing::TestWithParam<std::string> {};

TEST_P(EveryHazard, IsFound) {
  const sim::WorldFile world = ReadWorld(GetParam());
  const sim::Exploration found = Explore(world, {}, kSchedules);
  ASSERT_TRUE(found.violation.has_value());
  const std::string broken(sim::BrokenInvariant(found.violation->status));
  EXPECT_NE(broken, "setup") << found.violation->status;
}

TEST_P(EveryHazard, StandsInTheFolderOfItsSystem) {
  EXPECT_EQ(fs::path(GetParam()).parent_path(),
            fs::path("scenarios/hazards") / ReadWorld(GetParam()).system);
}

INSTANTIATE_TEST_SUITE_P(Files, EveryHazard, testing::ValuesIn(AllWorldNames()),
                         [](const auto& info) { return CaseName(info.param); });

class EveryRemedy : public testing::TestWithParam<std::string> {};

TEST_P(EveryRemedy, LeavesNothingToFind) {
  const sim::Exploration found =
      Explore(ReadWorld(GetParam()), {.hardened = true}, kHardenedSchedules);
  EXPECT_FALSE(found.violation.has_value()) << found.violation->status;
}

INSTANTIATE_TEST_SUITE_P(Files, EveryRemedy, testing::ValuesIn(HardenedWorldNames()),
                         [](const auto& info) { return CaseName(info.param); });

}  // namespace
}  // namespace redouble::scenarios
