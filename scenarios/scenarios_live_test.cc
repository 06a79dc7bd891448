// Every scenario has the same outcome and trace on a redis-server whose clock is held.

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "redouble/scenarios/listing.h"
#include "redouble/sim/cli/replay/live_backend.h"
#include "redouble/sim/json/json.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/sim/scenario/runner.h"

namespace redouble::inline v0_1::scenarios {
namespace {

// Whether an event of the trace has a reply whose order Redis does not define: a page of SCAN, or
// several members of a set.
bool HasAnyOrder(std::string_view line) {
  if (line.find(R"(["SCAN",)") != line.npos) return true;
  if (line.find(R"(["SMEMBERS",)") == line.npos) return false;
  return sim::Json::parse(line).at("reply").size() > 1;
}

class EveryScenarioLive : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    auto backend = sim::SpawnedBackend::Start();
    ASSERT_TRUE(backend.ok()) << backend.status();
    backend_ = backend->release();
  }
  static void TearDownTestSuite() {
    delete backend_;
    backend_ = nullptr;
  }

  static sim::SpawnedBackend* backend_;
};

sim::SpawnedBackend* EveryScenarioLive::backend_ = nullptr;

TEST_P(EveryScenarioLive, HasTheOutcomeAndTheTraceOfTheMemoryEngine) {
  ASSERT_NE(backend_, nullptr);
  const sim::Scenario scenario = ReadScenario(GetParam());
  const sim::ScenarioResult live = sim::RunScenario(scenario, *backend_);
  EXPECT_FALSE(live.failure) << live.failure->ToString(scenario);
  sim::MemoryBackend memory;
  bool any_order = false;
  const sim::ScenarioResult embedded =
      sim::RunScenario(scenario, memory, {.trace_listener = [&](std::string_view line) {
                         any_order = any_order || HasAnyOrder(line);
                       }});
  // Only the outcome is compared.
  if (any_order) return;
  EXPECT_EQ(live.trace_hash, embedded.trace_hash);
}

INSTANTIATE_TEST_SUITE_P(Files, EveryScenarioLive, testing::ValuesIn(AllScenarioNames()),
                         [](const auto& info) { return CaseName(info.param); });

}  // namespace
}  // namespace redouble::inline v0_1::scenarios
