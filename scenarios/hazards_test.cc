// Explores every world of the catalogue: the plain world must violate its invariant in some
// schedules and not in others, the hardened one in none.

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/scenarios/listing.h"
#include "redouble/sim/cli/explore/catalogue.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/explore/observed_run.h"
#include "redouble/sim/world_file/world_experiment.h"
#include "redouble/sim/world_file/world_file.h"
#include "redouble/sim/world_file/world_survey.h"

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

// The search for the schedule with the fewest preemptions and faults.
constexpr sim::SurveyLimits kFewest = {.random = 0, .bounded = 3'000, .all = 0};

class EveryHazard : public testing::TestWithParam<std::string> {};

TEST_P(EveryHazard, IsFound) {
  const sim::WorldFile world = ReadWorld(GetParam());
  const sim::Exploration found = Explore(world, {}, kSchedules);
  ASSERT_TRUE(found.violation.has_value()) << found.mistake;
}

// Counts the faults that a source chooses.
class CountedFaults final : public sim::DecisionSource {
 public:
  explicit CountedFaults(std::vector<uint32_t> decisions) : recorded_(std::move(decisions)) {}

  size_t ChooseNext(std::span<const sim::ScheduleOption> options) override {
    return recorded_.ChooseNext(options);
  }
  size_t Pick(size_t count) override { return recorded_.Pick(count); }
  bool Chance(double probability) override {
    const bool happens = recorded_.Chance(probability);
    faults_ += happens ? 1 : 0;
    return happens;
  }

  int faults() const { return faults_; }

 private:
  sim::RecordedDecisions recorded_;
  int faults_ = 0;
};

TEST_P(EveryHazard, IsShrunkToTheFewestPreemptionsAndFaults) {
  const sim::WorldFile world = ReadWorld(GetParam());
  const sim::Exploration found = Explore(world, {}, kSchedules);
  ASSERT_TRUE(found.violation.has_value()) << found.mistake;
  const sim::WorldExperiment experiment(world, {});
  CountedFaults faults(found.violation->decisions);
  sim::ObservedDecisions observed(faults);
  const sim::RunOutcome again =
      sim::RunOnce(experiment.experiment(), experiment.Options(), found.violation->seed, observed);
  EXPECT_EQ(again.violation, found.violation->status);
  const sim::WorldSurvey survey = sim::SurveyWorld(world, {}, kFewest);
  ASSERT_TRUE(survey.fewest.has_value());
  EXPECT_LE(observed.preemptions() + faults.faults(), *survey.fewest);
}

TEST_P(EveryHazard, IsInTheFolderOfItsSystem) {
  EXPECT_EQ(fs::path(GetParam()).parent_path(),
            fs::path("scenarios/hazards") / ReadWorld(GetParam()).system);
}

INSTANTIATE_TEST_SUITE_P(Files, EveryHazard, testing::ValuesIn(AllWorldNames()),
                         [](const auto& info) { return CaseName(info.param); });

// The survey that the catalogue prints has more schedules.
constexpr sim::SurveyLimits kSurvey = {.random = 40, .bounded = 3'000, .all = 0};

class EveryWorld : public testing::TestWithParam<std::string> {};

// A world that breaks in every schedule is a scenario in disguise.
TEST_P(EveryWorld, FailsInSomeSchedulesAndNotInOthers) {
  const sim::WorldSurvey survey = sim::SurveyWorld(ReadWorld(GetParam()), {}, kSurvey);
  EXPECT_EQ(survey.mistake, absl::OkStatus());
  EXPECT_TRUE(survey.some_pass);
  EXPECT_TRUE(survey.some_fail());
}

INSTANTIATE_TEST_SUITE_P(Files, EveryWorld, testing::ValuesIn(AllWorldNames()),
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

// What the catalogue says about the remedy of a hazard.
std::string DocumentedRemedy(const std::string& source) {
  for (const sim::DocumentedHazard& row : Documented()) {
    if (row.source == source) return row.option + row.no_option;
  }
  return "";
}

std::vector<sim::OperationCall> CallsOf(const sim::WorldFile& world, const std::string& operation) {
  std::vector<sim::OperationCall> calls;
  const auto collect = [&](const sim::CallStep& step) {
    if (step.call.name == operation) calls.push_back(step.call);
  };
  sim::VisitCalls(world.setup, collect);
  for (const sim::WorldActor& actor : world.actors) sim::VisitCalls(actor.steps, collect);
  return calls;
}

// In a hardened world the same actors call the same operations, with an option on that the
// catalogue names and that was off. Only the worlds of Redis patterns have no operations: there the
// remedy is other commands.
TEST_P(EveryRemedy, IsAnOptionOfTheSameOperations) {
  const sim::WorldFile world = ReadWorld(GetParam());
  if (world.system == "redis") return;
  EXPECT_TRUE(world.hardened_actors.empty()) << "other steps are no option";
  const std::string remedy = DocumentedRemedy(world.source);
  for (const auto& [operation, options] : world.hardened.items()) {
    const std::vector<sim::OperationCall> calls = CallsOf(world, operation);
    EXPECT_FALSE(calls.empty()) << "no actor calls " << operation;
    for (const auto& [option, on] : options.items()) {
      EXPECT_NE(remedy.find("`" + option + "`"), std::string::npos)
          << world.source << " does not name " << option << ": " << remedy;
      EXPECT_TRUE(!on.is_null() && on != sim::Json(false)) << option << " is off";
      for (const sim::OperationCall& call : calls) {
        const sim::Json before = call.arguments.value(option, sim::Json());
        EXPECT_TRUE(before.is_null() || before == sim::Json(false))
            << option << " is not off before, but " << before;
      }
    }
  }
}

std::set<std::string> SourcesOfWorlds() {
  std::set<std::string> sources;
  for (const std::string& name : AllWorldNames()) sources.insert(ReadWorld(name).source);
  return sources;
}

std::string ScenarioOf(const std::string& link) {
  return (fs::path("scenarios/hazards") / link).lexically_normal().string();
}

TEST(DocumentedHazards, AreEachShownOrListedWithTheReason) {
  const std::set<std::string> worlds = SourcesOfWorlds();
  for (const sim::DocumentedHazard& row : Documented()) {
    const bool is_shown = worlds.contains(row.source) || !row.scenarios.empty();
    const bool is_in_part = row.reason.starts_with("In part: ");
    EXPECT_TRUE(is_shown || !row.reason.empty()) << row.source << " is neither";
    EXPECT_EQ(is_shown && !row.reason.empty(), is_in_part)
        << row.source << ": evidence and a reason mean that the evidence shows a part";
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

// A scenario names the hazards that it shows: "(R6)", or "Hazard R10 with ...".
TEST(DocumentedHazards, AreNamedByTheirScenarios) {
  for (const sim::DocumentedHazard& row : Documented()) {
    const std::string id = row.source.substr(row.source.rfind(' ') + 1);
    for (const std::string& link : row.scenarios) {
      const sim::Scenario scenario = ReadScenario(ScenarioOf(link));
      EXPECT_NE(row.source.find("/" + scenario.system + ".md "), std::string::npos) << link;
      EXPECT_TRUE(std::regex_search(scenario.description, std::regex("\\b" + id + "\\b")))
          << link << " does not name " << id;
    }
  }
}

// If an option removes a hazard, a world of the hazard shows that it does.
TEST(DocumentedHazards, ThatAnOptionRemovesHaveAWorldWithIt) {
  std::map<std::string, bool> has_remedy;
  for (const std::string& name : AllWorldNames()) {
    const sim::WorldFile world = ReadWorld(name);
    has_remedy[world.source] = has_remedy[world.source] || world.has_remedy();
  }
  for (const sim::DocumentedHazard& row : Documented()) {
    const auto found = has_remedy.find(row.source);
    if (row.option.empty() || found == has_remedy.end()) continue;
    EXPECT_TRUE(found->second) << row.source << ": no world is hardened with " << row.option;
  }
}

TEST(DocumentedHazards, AreInTheCatalogue) {
  const std::string readme = ReadSource("scenarios/hazards/README.md");
  EXPECT_EQ(readme.find("FOUND after"), std::string::npos) << "a remedy does not remove its hazard";
  for (const sim::DocumentedHazard& row : Documented()) {
    const std::string remedy = row.option.empty() ? "none: " + row.no_option : row.option;
    EXPECT_NE(readme.find(" | " + remedy + " |\n"), std::string::npos) << row.source;
    for (const std::string& link : row.scenarios) {
      EXPECT_NE(readme.find("](" + link + ")"), std::string::npos) << row.source;
    }
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
