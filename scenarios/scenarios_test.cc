// Every scenario passes on the memory engine, no file is ignored, and the examples of the README
// run.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/scenarios/listing.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/json/json_diff.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/sim/scenario/runner.h"
#include "redouble/tests/support/json_mistakes.h"

namespace redouble::inline v0_1::scenarios {
namespace {

namespace fs = std::filesystem;

class EveryScenario : public testing::TestWithParam<std::string> {};

TEST_P(EveryScenario, PassesOnTheMemoryEngine) {
  const sim::Scenario scenario = ReadScenario(GetParam());
  sim::MemoryBackend backend;
  const sim::ScenarioResult result = sim::RunScenario(scenario, backend);
  EXPECT_FALSE(result.failure) << result.failure->ToString(scenario);
}

TEST_P(EveryScenario, IsInTheFolderOfItsSystem) {
  EXPECT_EQ(fs::path(GetParam()).parent_path(),
            fs::path("scenarios") / ReadScenario(GetParam()).system);
}

TEST_P(EveryScenario, HasTheSameTraceEachTime) {
  const sim::Scenario scenario = ReadScenario(GetParam());
  sim::MemoryBackend first;
  sim::MemoryBackend second;
  EXPECT_EQ(sim::RunScenario(scenario, first).trace_hash,
            sim::RunScenario(scenario, second).trace_hash);
}

INSTANTIATE_TEST_SUITE_P(Files, EveryScenario, testing::ValuesIn(AllScenarioNames()),
                         [](const auto& info) { return CaseName(info.param); });

// A file that no replay reads, because of a wrong ending or folder, would never run.
TEST(ScenarioFolder, HasOnlyFilesThatReplayReads) {
  const std::vector<std::string> names = AllScenarioNames();
  std::set<std::string> read(names.begin(), names.end());
  for (const std::string& world : AllWorldNames()) read.insert(world);  // hazards_test.cc
  // The last one is this test itself, in its runfiles.
  const std::set<std::string> others = {"BUILD.bazel", "README.md", "hazards/README.md",
                                        "hazards/documented.jsonl", "scenarios_test"};
  for (const auto& entry : fs::recursive_directory_iterator("scenarios")) {
    if (!entry.is_regular_file()) continue;
    const fs::path below = entry.path().lexically_relative("scenarios");
    if (others.contains(below.string())) continue;
    EXPECT_TRUE(read.contains(entry.path().string()))
        << entry.path() << " is no scenario file: those are scenarios/<system>/<name>.json";
  }
}

TEST(ScenarioFolder, HasScenariosOfEachSystem) {
  std::set<std::string> systems;
  for (const std::string& name : AllScenarioNames()) systems.insert(ReadScenario(name).system);
  for (const auto& [system, operations] : sim::AllSystems()) {
    EXPECT_TRUE(systems.contains(system)) << system;
  }
}

// A wrong value anywhere in a file is refused with its path, or the scenario runs to its end.
TEST(MalformedScenario, IsRefusedOrRunsToItsEnd) {
  int refused = 0;
  for (const std::string name :
       {"restart_mid_flight", "check_and_reserve_atomic", "minute_boundary"}) {
    const std::string file = "scenarios/gateway/" + name + ".json";
    tests::ForEachMistake(
        sim::ParseStrictJson(ReadSource(file)).value(), [&](const sim::Json& bad) {
          const auto scenario = sim::ParseScenario(bad.dump(), file, sim::AllSystems());
          if (!scenario.ok()) {
            ++refused;
            EXPECT_EQ(scenario.status().message().find(file + ": "), 0u) << scenario.status();
            return;
          }
          sim::MemoryBackend backend;
          const sim::ScenarioResult result = sim::RunScenario(*scenario, backend);
          EXPECT_TRUE(!result.failure || !result.failure->ToString(*scenario).empty());
        });
  }
  EXPECT_GT(refused, 1000);
}

// Returns the JSON blocks of the README.
std::vector<sim::Json> ReadmeExamples() {
  const std::string readme = ReadSource("scenarios/README.md");
  const std::string begin = "```json\n";
  std::vector<sim::Json> examples;
  for (size_t at = readme.find(begin); at != std::string::npos; at = readme.find(begin, at)) {
    at += begin.size();
    const absl::StatusOr<sim::Json> example =
        sim::ParseStrictJson(readme.substr(at, readme.find("```", at) - at));
    EXPECT_TRUE(example.ok()) << example.status();
    if (example.ok()) examples.push_back(*example);
  }
  return examples;
}

TEST(Readme, ShowsStepsThatRun) {
  std::vector<sim::Json> steps;
  for (const std::string& name : AllScenarioNames()) {
    const sim::Json scenario = sim::ParseStrictJson(ReadSource(name)).value();
    for (const sim::Json& step : scenario.at("steps")) steps.push_back(step);
  }
  for (const sim::Json& example : ReadmeExamples()) {
    bool found = false;
    for (const sim::Json& step : steps) found = found || !sim::FindDifference(example, step, "");
    EXPECT_TRUE(found) << "no scenario has this step of the README: " << example.dump(2);
  }
}

TEST(Readme, ShowsEveryKindOfStepAndFault) {
  std::set<std::string> kinds;
  std::set<std::string> faults;
  for (const sim::Json& example : ReadmeExamples()) {
    kinds.insert(example.at("kind").get<std::string>());
    if (example.contains("fault")) faults.insert(example.at("fault").get<std::string>());
  }
  for (const std::string_view kind : sim::StepKinds()) {
    EXPECT_TRUE(kinds.contains(std::string(kind))) << kind;
  }
  for (const sim::FaultSpec* fault : sim::FaultsOf(sim::FaultSite::kScenario)) {
    EXPECT_TRUE(faults.contains(std::string(fault->name))) << fault->name;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::scenarios
