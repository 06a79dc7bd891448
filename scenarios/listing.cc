#include "redouble/scenarios/listing.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>

#include "gtest/gtest.h"
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/cli/support/systems.h"

namespace redouble::inline v0_1::scenarios {

namespace {

std::vector<std::string> NamesOf(sim::ScenarioFileKind kind) {
  // Bazel starts a test at the root of its runfiles.
  const std::filesystem::path root = std::filesystem::current_path();
  const sim::ProgramContext context{std::cout, std::cerr, root, {root}};
  const auto files = sim::FindScenarioFiles({}, context, kind);
  std::vector<std::string> names;
  if (!files.ok()) {
    ADD_FAILURE() << files.status();
    return names;
  }
  for (const sim::ScenarioFile& file : *files) names.push_back(file.name);
  return names;
}

}  // namespace

std::vector<std::string> AllScenarioNames() { return NamesOf(sim::ScenarioFileKind::kScenario); }

std::vector<std::string> AllWorldNames() { return NamesOf(sim::ScenarioFileKind::kWorld); }

sim::Scenario ReadScenario(const std::string& name) {
  absl::StatusOr<sim::Scenario> scenario =
      sim::ParseScenario(ReadSource(name), name, sim::AllSystems());
  EXPECT_TRUE(scenario.ok()) << scenario.status();
  return scenario.ok() ? *std::move(scenario) : sim::Scenario();
}

std::string ReadSource(const std::string& name) {
  const absl::StatusOr<std::string> text = sim::ReadFile(name);
  EXPECT_TRUE(text.ok()) << name << ": " << text.status();
  return text.ok() ? *text : "";
}

std::string CaseName(const std::string& name) {
  std::string result = name;
  std::replace_if(
      result.begin(), result.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return result;
}

}  // namespace redouble::inline v0_1::scenarios
