// A scenario, replayed from C++; `redouble replay` does the same with files.
#include <gtest/gtest.h>

#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/sim/operations/gateway/gateway_operations.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/sim/scenario/runner.h"
#include "redouble/sim/scenario/scenario.h"

namespace redouble {
namespace {

TEST(ReplayExample, ReplaysAScenario) {
  // [readme: replay]
  constexpr std::string_view kText = R"({
    "name": "a key expires", "description": "PX 1500", "system": "gateway",
    "start": "2026-05-09T14:03:02Z", "seed": 1, "steps": [
      {"kind": "command", "command": ["SET", "k", "v", "PX", "1500"], "expect": {"status": "OK"}},
      {"kind": "advance", "by": "1501ms"},
      {"kind": "expect_keyspace", "keys": {}}]})";
  const sim::SystemTable systems = {{"gateway", scenarios::GatewayOperations()}};
  absl::StatusOr<sim::Scenario> scenario = sim::ParseScenario(kText, "expiry.json", systems);
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  sim::MemoryBackend backend;
  const sim::ScenarioResult result = sim::RunScenario(*scenario, backend);
  EXPECT_FALSE(result.failure.has_value()) << result.failure->ToString(*scenario);
  // [end]
}

}  // namespace
}  // namespace redouble
