#include "redouble/core/orchestrator/graph/ir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/orchestrator/errors.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Recorded graphs: a diamond, a loop, and a graph with metadata.
constexpr std::string_view kDiamond =
    R"({"version":"1.0","nodes":{)"
    R"("A":{"id":"A","type":"function","dependencies":[],"dependents":["B","C"],)"
    R"("wait_for_all":false,"is_terminal":false},)"
    R"("B":{"id":"B","type":"function","dependencies":["A"],"dependents":["D"],)"
    R"("wait_for_all":false,"is_terminal":false},)"
    R"("C":{"id":"C","type":"function","dependencies":["A"],"dependents":["D"],)"
    R"("wait_for_all":false,"is_terminal":false},)"
    R"("D":{"id":"D","type":"aggregate","dependencies":["B","C"],"dependents":[],)"
    R"("wait_for_all":true,"is_terminal":true}},"entry_nodes":["A"]})";
constexpr std::string_view kLoop =
    R"({"version":"1.0","nodes":{)"
    R"("R":{"id":"R","type":"http","dependencies":[],"dependents":[],"wait_for_all":false,)"
    R"("is_terminal":false,"loop":{"enabled":true,"condition":{"type":"cel",)"
    R"("expression":"output.status != 'success'"},"max_iterations":3,"loop_back_to":"R",)"
    R"("break_path":["S"],"timeout_path":["F"]}},)"
    R"("S":{"id":"S","type":"function","dependencies":[],"dependents":[],"wait_for_all":false,)"
    R"("is_terminal":true},)"
    R"("F":{"id":"F","type":"function","dependencies":[],"dependents":[],"wait_for_all":false,)"
    R"("is_terminal":true}},"entry_nodes":["R"]})";
constexpr std::string_view kAgent =
    R"({"version":"1.0","nodes":{)"
    R"("agent":{"id":"agent","type":"agent","dependencies":[],"dependents":["sum"],)"
    R"("wait_for_all":false,"is_terminal":false},)"
    R"("sum":{"id":"sum","type":"function","dependencies":["agent"],"dependents":[],)"
    R"("wait_for_all":false,"is_terminal":true}},"entry_nodes":["agent"],)"
    R"("metadata":{"username":"u","tag":"main"}})";
// Members that the recorded graphs do not have.
constexpr std::string_view kBranch =
    R"({"version":"7","nodes":{)"
    R"("b":{"id":"b","type":"task","config":{"z":1,"a":[null]},"config_ref":"cas://c",)"
    R"("dependencies":[],"dependents":[],"wait_for_all":false,"is_terminal":false,)"
    R"("branch":{"enabled":true,"type":"agent_driven","rules":[{"condition":{"type":"cel",)"
    R"("expression":"true"},"next_nodes":["x"]},{"next_nodes":["y"]}],"default":["y"],)"
    R"("available_next_nodes":["x","y"]}},)"
    R"("x":{"id":"x","type":"function","dependencies":[],"dependents":[],"wait_for_all":false,)"
    R"("is_terminal":true},)"
    R"("y":{"id":"y","type":"function","dependencies":[],"dependents":[],"wait_for_all":false,)"
    R"("is_terminal":true}},"entry_nodes":["b"]})";

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<Ir> ir = ParseIr(text);
  EXPECT_THAT(ir, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  return std::string(ir.status().message());
}

TEST(Ir, IsWrittenAsRecorded) {
  for (const std::string_view text : {kDiamond, kLoop, kAgent, kBranch}) {
    EXPECT_THAT(FormatIr(ParseIr(text).value()), IsOkAndHolds(text));
  }
}

TEST(Ir, KeepsItsPartsInOrder) {
  const Ir ir = ParseIr(kLoop).value();
  EXPECT_EQ(ir.version, "1.0");
  ASSERT_EQ(ir.nodes.size(), 3u);
  EXPECT_EQ(ir.nodes[2].id, "F");
  ASSERT_TRUE(ir.Find("R")->loop.has_value());
  const Loop& loop = *ir.Find("R")->loop;
  EXPECT_TRUE(loop.enabled);
  EXPECT_EQ(loop.condition, (Condition{"cel", "output.status != 'success'"}));
  EXPECT_EQ(loop.max_iterations, 3);
  EXPECT_EQ(loop.loop_back_to, "R");
  EXPECT_THAT(loop.break_path, ElementsAre("S"));
  EXPECT_EQ(ir.Find("Q"), nullptr);
}

TEST(Ir, ReadsABranch) {
  const Ir ir = ParseIr(kBranch).value();
  const Branch& branch = *ir.Find("b")->branch;
  EXPECT_EQ(branch.type, BranchType::kAgentDriven);
  ASSERT_EQ(branch.rules.size(), 2u);
  EXPECT_EQ(branch.rules[0].condition->expression, "true");
  EXPECT_FALSE(branch.rules[1].condition.has_value());
  EXPECT_THAT(branch.default_nodes, ElementsAre("y"));
}

TEST(Ir, DerivesWhatTheSeedsFormLeavesOut) {
  const Ir ir = ParseIr(R"({
    "nodes": {
      "fetch": {"id": "fetch", "type": "http", "dependents": ["process"]},
      "process": {"id": "process", "type": "function", "dependents": ["save"]},
      "save": {"id": "save", "type": "function", "dependents": []}
    },
    "entry_nodes": ["fetch"],
    "version": "1.2"
  })")
                    .value();
  EXPECT_EQ(ir.version, "1.2");
  EXPECT_THAT(ir.Find("fetch")->dependencies, IsEmpty());
  EXPECT_THAT(ir.Find("process")->dependencies, ElementsAre("fetch"));
  EXPECT_FALSE(ir.Find("process")->is_terminal);
  EXPECT_FALSE(ir.Find("process")->wait_for_all);
  EXPECT_TRUE(ir.Find("save")->is_terminal);
}

TEST(Ir, DerivesJoinsAndEntriesButNoTargetOfALoop) {
  const Ir ir = ParseIr(R"({"nodes":{
      "a":{"id":"a","type":"http","dependents":["j"]},
      "b":{"id":"b","type":"http","dependents":["j","j"]},
      "j":{"id":"j","type":"task","loop":{"enabled":true,"max_iterations":2,"loop_back_to":"b",
           "break_path":["s"],"timeout_path":["f"]}},
      "s":{"id":"s","type":"function"},
      "f":{"id":"f","type":"function"}}})")
                    .value();
  EXPECT_EQ(ir.version, "1.0");
  EXPECT_THAT(ir.entry_nodes, ElementsAre("a", "b"));
  EXPECT_THAT(ir.Find("j")->dependencies, ElementsAre("a", "b"));
  EXPECT_TRUE(ir.Find("j")->wait_for_all);
  EXPECT_FALSE(ir.Find("j")->is_terminal);
  EXPECT_TRUE(ir.Find("s")->is_terminal);
}

TEST(Ir, CountsANodeNamedTwiceOnce) {
  const Ir ir = ParseIr(R"({"nodes":{
      "a":{"id":"a","type":"http","dependents":["b","b"]},
      "b":{"id":"b","type":"http","dependencies":["a","a"]}},"entry_nodes":["a","a"]})")
                    .value();
  EXPECT_THAT(ir.Find("a")->dependents, ElementsAre("b"));
  EXPECT_THAT(ir.Find("b")->dependencies, ElementsAre("a"));
  EXPECT_FALSE(ir.Find("b")->wait_for_all);
  EXPECT_THAT(ir.entry_nodes, ElementsAre("a"));
}

// A graph with the single entry a, which has the given members, and the terminal nodes s and t.
std::string With(std::string_view members) {
  return R"({"nodes":{"a":{"id":"a","type":"task","dependents":["s","t"],)" + std::string(members) +
         R"(},"s":{"id":"s","type":"http"},"t":{"id":"t","type":"http"}},"entry_nodes":["a"]})";
}

TEST(Ir, SaysWhatIsWrong) {
  for (const auto& [text, message] : std::initializer_list<std::pair<std::string, std::string>>{
           {"nonsense", "the text is not JSON"},
           {"[]", "expected an object, got []"},
           {"{}", "/nodes: is missing"},
           {R"({"nodes":[]})", "/nodes: expected an object, got []"},
           {R"({"nodes":{}})", "/nodes: there is no node"},
           {R"({"nodes":{"a":7}})", "/nodes/a: expected an object, got 7"},
           {R"({"nodes":{"a":{}}})", "/nodes/a/id: is missing"},
           {R"({"nodes":{"a":{"id":"b"}}})", "/nodes/a/id: is not the node's name a"},
           {R"({"nodes":{"a/b":{"id":"a/b"}}})",
            "/nodes/a~1b/id: expected an id of letters, digits, _ and -, got \"a/b\""},
           {R"({"nodes":{"a~b":{"id":1}}})", "/nodes/a~0b/id: expected a text, got 1"},
           {R"({"nodes":{"a":{"id":"a"}}})", "/nodes/a/type: is missing"},
           {R"({"nodes":{"a":{"id":"a","type":""}}})", "/nodes/a/type: is empty"},
           {R"({"nodes":{"a":{"id":"a","type":"t","dependents":"b"}}})",
            "/nodes/a/dependents: expected an array of texts, got \"b\""},
           {R"({"nodes":{"a":{"id":"a","type":"t","dependencies":[1]}}})",
            "/nodes/a/dependencies: expected an array of texts, got [1]"},
           {R"({"nodes":{"a":{"id":"a","type":"t","dependents":["b"]}}})",
            "/nodes/a/dependents/0: there is no node \"b\""},
           {R"({"nodes":{"a":{"id":"a","type":"t","dependencies":["b"]}}})",
            "/nodes/a/dependencies/0: there is no node \"b\""},
           {R"({"nodes":{"a":{"id":"a","type":"t"}},"entry_nodes":["a","b"]})",
            "/entry_nodes/1: there is no node \"b\""},
           {R"({"nodes":{"a":{"id":"a","type":"t"}},"entry_nodes":[]})",
            "/entry_nodes: no node begins the run"},
           {R"({"nodes":{"a":{"id":"a","type":"t","is_terminal":false}}})",
            "/nodes: no node is terminal"},
           {R"({"nodes":{"a":{"id":"a","type":"t"}},"metadata":1})",
            "/metadata: expected an object, got 1"},
           {With(R"("is_terminal":"no")"),
            "/nodes/a/is_terminal: expected true or false, got \"no\""},
           {With(R"("loop":[])"), "/nodes/a/loop: expected an object, got []"},
           {With(R"("loop":{"condition":"x"})"),
            "/nodes/a/loop/condition: expected an object, got \"x\""},
           {With(R"("loop":{"condition":{"type":"cel"}})"),
            "/nodes/a/loop/condition/expression: is missing"},
           {With(R"("loop":{"enabled":true,"loop_back_to":"a"})"),
            "/nodes/a/loop/max_iterations: expected an integer of at least 1, got 0"},
           {With(R"("loop":{"max_iterations":-1})"),
            "/nodes/a/loop/max_iterations: expected an integer of at least 0, got -1"},
           {With(R"("loop":{"enabled":true,"max_iterations":1})"),
            "/nodes/a/loop/loop_back_to: there is no node \"\""},
           {With(R"("loop":{"break_path":["s","x"]})"),
            "/nodes/a/loop/break_path/1: there is no node \"x\""},
           {With(R"("loop":{"timeout_path":["x"]})"),
            "/nodes/a/loop/timeout_path/0: there is no node \"x\""},
           {With(R"("branch":{"enabled":true})"),
            "/nodes/a/branch: there is neither a rule nor a default"},
           {With(R"("branch":{"type":"random"})"),
            "/nodes/a/branch/type: expected conditional or agent_driven, got \"random\""},
           {With(R"("branch":{"rules":{}})"), "/nodes/a/branch/rules: expected an array, got {}"},
           {With(R"("branch":{"rules":[{},7]})"),
            "/nodes/a/branch/rules/1: expected an object, got 7"},
           {With(R"("branch":{"rules":[{"next_nodes":["x"]}]})"),
            "/nodes/a/branch/rules/0/next_nodes/0: there is no node \"x\""},
           {With(R"("branch":{"default":["x"]})"),
            "/nodes/a/branch/default/0: there is no node \"x\""},
           {With(R"("branch":{"available_next_nodes":["x"]})"),
            "/nodes/a/branch/available_next_nodes/0: there is no node \"x\""}}) {
    EXPECT_EQ(ErrorOf(text), "IR: " + message) << text;
  }
}

// A graph with an entry, a terminal node, and a cycle between a and b.
std::string Cycle(std::string_view members_of_a) {
  return R"({"nodes":{"e":{"id":"e","type":"http","dependents":["a"]},
      "a":{"id":"a","type":"http","dependents":["b"])" +
         std::string(members_of_a) + R"(},
      "b":{"id":"b","type":"http","dependents":["a","s"]},
      "s":{"id":"s","type":"http"}},"entry_nodes":["e"]})";
}

TEST(Ir, PermitsACycleOnlyThroughALoop) {
  EXPECT_EQ(ErrorOf(Cycle("")), "IR: /nodes/a: is on or behind a cycle that no loop permits");
  EXPECT_EQ(ErrorOf(Cycle(R"(,"loop":{"enabled":false})")),
            "IR: /nodes/a: is on or behind a cycle that no loop permits");
  EXPECT_THAT(ParseIr(Cycle(R"(,"loop":{"enabled":true,"max_iterations":1,"loop_back_to":"a"})")),
              IsOk());
}

TEST(Ir, IsValidatedAsBuiltByAProgram) {
  Ir ir = ParseIr(kDiamond).value();
  EXPECT_THAT(ValidateIr(ir), IsOk());
  ir.nodes.push_back(ir.nodes[0]);
  EXPECT_EQ(ValidateIr(ir), MakeError(ErrorCode::kInvalidIr, "/nodes: there are two nodes \"A\""));
  ir.nodes.back().id = "a:b";
  EXPECT_EQ(ValidateIr(ir),
            MakeError(ErrorCode::kInvalidIr,
                      "/nodes: expected ids of letters, digits, _ and -, got \"a:b\""));
}

TEST(Ir, IsNotWrittenWhenItIsNoJson) {
  Ir ir = ParseIr(kDiamond).value();
  ir.nodes[0].config_json = "{";
  EXPECT_EQ(FormatIr(ir).status(), absl::InvalidArgumentError("/config: expected JSON, got \"{\""));
  ir = ParseIr(kDiamond).value();
  ir.metadata_json = "}";
  EXPECT_EQ(FormatIr(ir).status(),
            absl::InvalidArgumentError("/metadata: expected JSON, got \"}\""));
  ir = ParseIr(kDiamond).value();
  ir.version = "\xff";
  EXPECT_THAT(FormatIr(ir), StatusIs(absl::StatusCode::kInvalidArgument));
}

// A graph in which each node is followed by some of the nodes after it.
RC_GTEST_PROP(Ir, SurvivesTheRoundTripOverAnyForwardGraph, ()) {
  const int size = *rc::gen::inRange(1, 12);
  Ir ir;
  ir.version = "1";
  for (int i = 0; i < size; ++i) {
    Node node;
    node.id = "n" + std::to_string(i);
    node.type = "function";
    ir.nodes.push_back(std::move(node));
  }
  for (int from = 0; from < size; ++from) {
    for (int to = from + 1; to < size; ++to) {
      if (!*rc::gen::arbitrary<bool>()) continue;
      ir.nodes[from].dependents.push_back(ir.nodes[to].id);
      ir.nodes[to].dependencies.push_back(ir.nodes[from].id);
    }
  }
  for (Node& node : ir.nodes) {
    node.is_terminal = node.dependents.empty();
    node.wait_for_all = node.dependencies.size() > 1;
    if (node.dependencies.empty()) ir.entry_nodes.push_back(node.id);
  }
  const std::string text = FormatIr(ir).value();
  RC_ASSERT(ValidateIr(ir).ok());
  RC_ASSERT(FormatIr(ParseIr(text).value()).value() == text);
}

TEST(Ir, KeepsTheTimeoutAndTheAttemptsOfANode) {
  constexpr const char* kText =
      R"({"version":"1.0","nodes":{"A":{"id":"A","type":"http","dependencies":[],"dependents":[],)"
      R"("wait_for_all":false,"is_terminal":true,"timeout_ms":500,"retry":{"max_attempts":2}}},)"
      R"("entry_nodes":["A"]})";
  const absl::StatusOr<Ir> ir = ParseIr(kText);
  ASSERT_TRUE(ir.ok()) << ir.status();
  EXPECT_EQ(ir->nodes[0].policy.timeout, absl::Milliseconds(500));
  EXPECT_EQ(ir->nodes[0].policy.max_attempts, 2);
  EXPECT_EQ(FormatIr(*ir).value(), kText);
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
