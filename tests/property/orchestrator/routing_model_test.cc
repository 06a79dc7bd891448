#include "redouble/tests/property/orchestrator/routing_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/random/rng.h"
#include "redouble/core/orchestrator/graph/ir.h"
#include "redouble/core/orchestrator/graph/routing.h"
#include "redouble/tests/property/orchestrator/workflow_graph.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::string_view kDiamond = R"({"nodes":{
    "A":{"id":"A","type":"http","dependents":["B","C"]},
    "B":{"id":"B","type":"http","dependencies":["A"],"dependents":["D"]},
    "C":{"id":"C","type":"http","dependencies":["A"],"dependents":["D"]},
    "D":{"id":"D","type":"http","dependencies":["B","C"],"wait_for_all":true}},
    "entry_nodes":["A"]})";

std::string Loop(const std::string& condition) {
  return R"({"nodes":{"A":{"id":"A","type":"http","loop":{"enabled":true,"max_iterations":3,)" +
         condition + R"("loop_back_to":"A","break_path":["B"],"timeout_path":["C"]}},)" +
         R"("B":{"id":"B","type":"http"},"C":{"id":"C","type":"http"}},"entry_nodes":["A"]})";
}

TEST(RoutingModel, AJoinIsExecutedOnce) {
  const auto outcomes = RoutingModel(kDiamond).Outcomes({}, 1000);
  ASSERT_TRUE(outcomes);
  ASSERT_EQ(outcomes->size(), 1);
  EXPECT_THAT(outcomes->begin()->executed,
              ElementsAre(Pair("A", 1), Pair("B", 1), Pair("C", 1), Pair("D", 1)));
}

TEST(RoutingModel, ALoopEndsAtItsLimitOrByItsCondition) {
  const auto capped = RoutingModel(Loop("")).Outcomes({}, 1000);
  ASSERT_TRUE(capped);
  EXPECT_THAT(capped->begin()->executed, ElementsAre(Pair("A", 3), Pair("C", 1)));
  // A condition that cannot be evaluated also ends the loop.
  const auto broken =
      RoutingModel(Loop(R"("condition":{"type":"cel","expression":"output.missing"},)"))
          .Outcomes({}, 1000);
  ASSERT_TRUE(broken);
  EXPECT_THAT(broken->begin()->executed, ElementsAre(Pair("A", 1), Pair("B", 1)));
}

TEST(RoutingModel, AFailureMayComeBeforeOrAfterOtherNodes) {
  ModelRun run;
  run.failing = "B";
  const auto outcomes = RoutingModel(kDiamond).Outcomes(run, 1000);
  ASSERT_TRUE(outcomes);
  // D never gets both arrivals, so no order completes the run.
  for (const ModelOutcome& outcome : *outcomes) EXPECT_TRUE(outcome.failed);
}

TEST(RoutingModel, GivesUpAGraphThatIsTooLarge) {
  EXPECT_FALSE(RoutingModel(kDiamond).Outcomes({}, 3));
}

// The production code and the model were written independently. They must agree on every random
// graph, from every node, in every state of its loops.
TEST(RoutingModel, AgreesWithTheCoordinatorsRouting) {
  base::Rng rng(20261121);
  for (int i = 0; i < 10'000; ++i) {
    const Ir ir = DrawGraph(rng, GraphOptions());
    const std::string text = *FormatIr(ir);
    const RoutingModel model(text);
    const bool approved = rng.Chance(0.5);
    for (const Node& node : ir.nodes) {
      const std::string output =
          node.type == "hitl" ? OutputOfApproval(approved) : OutputOf(node.id);
      Completion completion;
      completion.node = node.id;
      completion.output_json = output;
      ModelLoops loops;
      for (const Node& loop : ir.nodes) {
        if (!loop.HasLoop() || rng.Chance(0.5)) continue;
        loops[loop.id] = rng.Between(1, loop.loop->max_iterations);
      }
      completion.loops = LoopCounts(loops.begin(), loops.end());
      std::vector<ModelHop> ways;
      for (const Hop& hop : Route(ir, completion).hops) {
        ways.push_back({hop.target, hop.via, {hop.loops.begin(), hop.loops.end()}, hop.needed});
      }
      ASSERT_EQ(ways, model.Next(node.id, output, loops).hops) << node.id << " of " << text;
    }
    std::vector<ModelHop> entries;
    for (const Hop& hop : Route(ir, Completion()).hops) {
      entries.push_back({hop.target, hop.via, {}, hop.needed});
    }
    ASSERT_EQ(entries, model.Begin().hops) << text;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
