#include "redouble/core/orchestrator/graph/routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Ir Parsed(const std::string& nodes) {
  const absl::StatusOr<Ir> ir = ParseIr(R"({"nodes":{)" + nodes + "}}");
  EXPECT_THAT(ir, IsOk());
  return ir.ok() ? *ir : Ir();
}

std::vector<std::string> Targets(const Ir& ir, std::string_view node, std::string_view output,
                                 LoopCounts loops = {}) {
  Completion completion;
  completion.node = node;
  completion.output_json = output;
  completion.loops = loops;
  std::vector<std::string> targets;
  for (const Hop& hop : Route(ir, completion).hops) targets.push_back(hop.target);
  return targets;
}

TEST(Routing, FollowsTheDependentsInTheirOrder) {
  const Ir ir = Parsed(R"("A":{"id":"A","type":"http","dependents":["C","B"]},
      "B":{"id":"B","type":"http"},"C":{"id":"C","type":"http"})");
  EXPECT_THAT(Targets(ir, "A", ""), ElementsAre("C", "B"));
  EXPECT_THAT(Targets(ir, "B", ""), IsEmpty());
  EXPECT_THAT(Targets(ir, "nobody", ""), IsEmpty());
  EXPECT_THAT(Targets(ir, "", ""), ElementsAre("A"));
}

TEST(Routing, TheFirstRuleThatHoldsWins) {
  const Ir ir = Parsed(R"("A":{"id":"A","type":"http","branch":{"enabled":true,"rules":[
      {"next_nodes":["D"]},
      {"condition":{"type":"cel","expression":"output.missing"},"next_nodes":["D"]},
      {"condition":{"type":"cel","expression":"output.n > 1"},"next_nodes":["B"]},
      {"condition":{"type":"cel","expression":"output.n > 0"},"next_nodes":["C"]}],
      "default":["D"]},"dependents":["B","C","D"]},
      "B":{"id":"B","type":"http"},"C":{"id":"C","type":"http"},"D":{"id":"D","type":"http"})");
  EXPECT_THAT(Targets(ir, "A", R"({"n":2})"), ElementsAre("B"));
  EXPECT_THAT(Targets(ir, "A", R"({"n":1})"), ElementsAre("C"));
  EXPECT_THAT(Targets(ir, "A", R"({"n":0})"), ElementsAre("D"));
  EXPECT_THAT(Targets(ir, "A", ""), ElementsAre("D"));
  EXPECT_TRUE(NeedsOf(ir, "A").output);
  EXPECT_FALSE(NeedsOf(ir, "A").other_outputs);
  EXPECT_FALSE(NeedsOf(ir, "B").output);
}

TEST(Routing, AnAgentChoosesFromWhatIsOffered) {
  const Ir ir = Parsed(R"("A":{"id":"A","type":"agent","branch":{"enabled":true,
      "type":"agent_driven","available_next_nodes":["B","C"],"default":["D"]}},
      "B":{"id":"B","type":"http"},"C":{"id":"C","type":"http"},"D":{"id":"D","type":"http"})");
  EXPECT_THAT(Targets(ir, "A", R"({"next_nodes":["C"]})"), ElementsAre("C"));
  EXPECT_THAT(Targets(ir, "A", R"({"next_nodes":["C","D"]})"), ElementsAre("D"));
  EXPECT_THAT(Targets(ir, "A", R"({"next_nodes":7})"), ElementsAre("D"));
  EXPECT_THAT(Targets(ir, "A", "{}"), ElementsAre("D"));
  EXPECT_THAT(Targets(ir, "A", ""), ElementsAre("D"));
}

// docs/systems/orchestrator.md D3: on the last permitted iteration the condition is not evaluated.
TEST(Routing, ALoopCountsItsIterationsInTheToken) {
  const Ir ir = Parsed(R"("A":{"id":"A","type":"http","dependents":["R"]},
      "R":{"id":"R","type":"http","loop":{"enabled":true,"max_iterations":3,"loop_back_to":"A",
      "condition":{"type":"cel","expression":"output.again"},"break_path":["B"],
      "timeout_path":["T"]}},"B":{"id":"B","type":"http"},"T":{"id":"T","type":"http"})");
  EXPECT_THAT(Targets(ir, "R", R"({"again":true})"), ElementsAre("A"));
  EXPECT_THAT(Targets(ir, "R", R"({"again":true})", {{"R", 1}}), ElementsAre("A"));
  EXPECT_THAT(Targets(ir, "R", R"({"again":false})", {{"R", 1}}), ElementsAre("B"));
  EXPECT_THAT(Targets(ir, "R", R"({"again":false})", {{"R", 2}}), ElementsAre("T"));
  EXPECT_THAT(Targets(ir, "R", ""), ElementsAre("B"));
  Completion completion;
  completion.node = "R";
  completion.output_json = R"({"again":true})";
  completion.loops = {{"R", 1}, {"Outer", 4}};
  const Routing routing = Route(ir, completion);
  EXPECT_EQ(routing.hops[0].loops, (LoopCounts{{"R", 2}, {"Outer", 4}}));
  EXPECT_THAT(routing.loops, ElementsAre(LoopState{"R", 2}));
}

TEST(Routing, AnAbsorberThatLoopsToItselfEndsAtItsCap) {
  const Ir ir = Parsed(R"("A":{"id":"A","type":"http","dependents":["R"]},
      "R":{"id":"R","type":"task","loop":{"enabled":true,"max_iterations":5,"loop_back_to":"R",
      "timeout_path":["T"]}},"T":{"id":"T","type":"http"})");
  EXPECT_THAT(Targets(ir, "A", ""), ElementsAre("T"));
  Completion completion;
  completion.node = "A";
  EXPECT_THAT(Route(ir, completion).absorbers, ElementsAre("R"));
}

TEST(Routing, AnAbsorberThatSpinsForEverEndsTheWay) {
  const Ir ir = Parsed(R"("A":{"id":"A","type":"http","dependents":["R"]},
      "R":{"id":"R","type":"task","loop":{"enabled":true,"max_iterations":1000000000,
      "loop_back_to":"R","timeout_path":["T"]}},"T":{"id":"T","type":"http"})");
  EXPECT_THAT(Targets(ir, "A", ""), IsEmpty());
}

TEST(Routing, ARejectionGoesItsOwnWay) {
  const Ir ir = Parsed(R"("H":{"id":"H","type":"hitl","dependents":["A"],"rejection_path":["B"]},
      "A":{"id":"A","type":"http"},"B":{"id":"B","type":"http"})");
  EXPECT_THAT(Targets(ir, "H", R"({"approved":true})"), ElementsAre("A"));
  EXPECT_THAT(Targets(ir, "H", R"({"approved":false})"), ElementsAre("B"));
  EXPECT_THAT(Targets(ir, "H", "{}"), ElementsAre("A"));
  EXPECT_THAT(Targets(ir, "H", ""), ElementsAre("A"));
}

TEST(Routing, HopsAreOneText) {
  const std::vector<Hop> hops = {
      {"B", "A", {}}, {"C", "", {{"R", 2}, {"S", 1}}}, {"D", "A", {}, 2}};
  EXPECT_EQ(FormatHops(hops), "B/A/,C//.iR:2.iS:1,D/A//2");
  EXPECT_EQ(ParseHops(FormatHops(hops)), hops);
  EXPECT_EQ(ParseHops(""), std::vector<Hop>());
  for (const char* text : {"B", "B/A", "/A/", "B/A/x/y", "B/A//0"}) {
    EXPECT_EQ(ParseHops(text), std::nullopt) << text;
  }
}

TEST(Routing, FindsFiringsThatAreNotConsumed) {
  const std::vector<std::string> applied = {"fire:D:quiesce",
                                            "fire:E:quiesce:2",
                                            "publish:join:E:quiesce:2.k3.iR:1",
                                            "fire:F:quiesce",
                                            "consume:join:F:quiesce",
                                            "fire:G:t0/C",
                                            "fire:broken",
                                            "emit:t0"};
  EXPECT_THAT(FindUnpublished(applied), ElementsAre(FiredToken{"D", "join:D:quiesce"},
                                                    FiredToken{"E", "join:E:quiesce:2.k3.iR:1"}));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
