// The guide to scenario replays: a test that replays a file.
// [readme: a scenario file]
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/statusor.h"
#include "redouble/sim.h"

namespace sim = redouble::sim;

constexpr char kFile[] = "tests/examples/cart.scenario.json";

TEST(Scenarios, ACartIsForgotten) {
  std::ifstream file(kFile);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const sim::SystemTable systems;  // A scenario of plain commands uses no operations.
  const absl::StatusOr<sim::Scenario> scenario = sim::ParseScenario(text, kFile, systems);
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  sim::MemoryBackend backend;
  const sim::ScenarioResult result = sim::RunScenario(*scenario, backend);
  EXPECT_FALSE(result.failure.has_value()) << result.failure->ToString(*scenario);
  EXPECT_EQ(result.end - result.start, absl::Minutes(50) + absl::Milliseconds(1));
}
// [end]
