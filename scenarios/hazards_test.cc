// Explores every world of the catalogue: the plain world must violate its invariant, the hardened
// one must not.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/scenarios/listing.h"
#include "redouble/sim/cli/explore/catalogue.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/world_file/world_experiment.h"
#include "redouble/sim/world_file/world_file.h"

namespace redouble::inline v0_1::scenarios {
namespace {

namespace fs = std::filesystem;

// The catalogue is written with this number of schedules for each world; a hardened world is tested
// with fewer.
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
  std::erase_if(names, [](const std::string& name) { return !ReadWorld(name).has_remedy(); });
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
  ASSERT_TRUE(found.violation.has_value()) << found.mistake;
}

TEST_P(EveryHazard, IsInTheFolderOfItsSystem) {
  EXPECT_EQ(fs::path(GetParam()).parent_path(),
            fs::path("scenarios/hazards") / ReadWorld(GetParam()).system);
}

INSTANTIATE_TEST_SUITE_P(Files, EveryHazard, testing::ValuesIn(AllWorldNames()),
                         [](const auto& info) { return CaseName(info.param); });

class EveryRemedy : public testing::TestWithParam<std::string> {};

TEST_P(EveryRemedy, HardenedHasNoViolation) {
  const sim::Exploration found =
      Explore(ReadWorld(GetParam()), {.hardened = true}, kHardenedSchedules);
  EXPECT_FALSE(found.violation.has_value()) << found.violation->status;
  EXPECT_EQ(found.mistake, absl::OkStatus());
}

INSTANTIATE_TEST_SUITE_P(Files, EveryRemedy, testing::ValuesIn(HardenedWorldNames()),
                         [](const auto& info) { return CaseName(info.param); });

// Reads documented.jsonl of the catalogue.
std::vector<sim::DocumentedHazard> Documented() {
  const auto rows = sim::ParseDocumentedHazards(ReadSource("scenarios/hazards/documented.jsonl"));
  EXPECT_TRUE(rows.ok()) << rows.status();
  return rows.ok() ? *rows : std::vector<sim::DocumentedHazard>();
}

std::set<std::string> SourcesOfWorlds() {
  std::set<std::string> sources;
  for (const std::string& name : AllWorldNames()) sources.insert(ReadWorld(name).source);
  return sources;
}

TEST(DocumentedHazards, AreEachAWorldOrListedWithTheReason) {
  const std::set<std::string> worlds = SourcesOfWorlds();
  for (const sim::DocumentedHazard& row : Documented()) {
    const bool is_world = worlds.contains(row.source);
    const bool is_in_part = row.reason.starts_with("In part: ");
    EXPECT_TRUE(is_world || !row.reason.empty()) << row.source << " is neither";
    EXPECT_EQ(is_world && !row.reason.empty(), is_in_part)
        << row.source << ": a world and a reason mean that the world shows a part";
  }
}

TEST(DocumentedHazards, AreTheSourcesOfAllWorlds) {
  std::set<std::string> documented;
  for (const sim::DocumentedHazard& row : Documented()) documented.insert(row.source);
  EXPECT_GE(documented.size(), 130u);
  for (const std::string& source : SourcesOfWorlds()) {
    EXPECT_TRUE(documented.contains(source)) << source;
  }
}

TEST(DocumentedHazards, AreInTheCatalogue) {
  const std::string readme = ReadSource("scenarios/hazards/README.md");
  for (const sim::DocumentedHazard& row : Documented()) {
    if (row.reason.empty()) continue;
    EXPECT_NE(readme.find("| " + row.source + " | " + row.reason + " |"), std::string::npos)
        << row.source;
  }
  for (const std::string& name : AllWorldNames()) {
    const std::string link = fs::path(name).lexically_relative("scenarios/hazards").string();
    EXPECT_NE(readme.find("](" + link + ") | " + ReadWorld(name).source + " |"), std::string::npos)
        << name << ": the table is not of these files; redouble explore --catalogue writes it";
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::scenarios
