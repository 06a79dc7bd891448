#include "redouble/core/orchestrator/graph/workflow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Ir Compile(std::string_view source) {
  absl::StatusOr<Ir> ir = CompileWorkflow(source);
  EXPECT_TRUE(ir.ok()) << ir.status();
  return ir.ok() ? *std::move(ir) : Ir();
}

TEST(CompileWorkflow, MakesTheDependentsOfEdgesOnce) {
  const Ir ir = Compile(R"({"nodes":[{"id":"A","type":"http","config":{"u":1},"timeout_ms":500,
      "retry":{"max_attempts":2}},{"id":"C","type":"function"},{"id":"B","type":"parallel"},
      {"id":"D","type":"gpu"}],
      "edges":[{"from":"A","to":"B"},{"from":"A","to":"C"},{"from":"A","to":"B"},
               {"from":"B","to":"D"},{"from":"C","to":"D"}],
      "metadata":{"username":"alice"}})");
  EXPECT_EQ(FormatIr(ir).value(),
            R"({"version":"1.0","nodes":{)"
            R"("A":{"id":"A","type":"http","config":{"u":1},"dependencies":[],)"
            R"("dependents":["B","C"],"wait_for_all":false,"is_terminal":false,)"
            R"("timeout_ms":500,"retry":{"max_attempts":2}},)"
            R"("C":{"id":"C","type":"function","dependencies":["A"],"dependents":["D"],)"
            R"("wait_for_all":false,"is_terminal":false},)"
            R"("B":{"id":"B","type":"task","dependencies":["A"],"dependents":["D"],)"
            R"("wait_for_all":false,"is_terminal":false},)"
            R"("D":{"id":"D","type":"gpu","dependencies":["C","B"],"dependents":[],)"
            R"("wait_for_all":true,"is_terminal":true}},)"
            R"("entry_nodes":["A"],"metadata":{"username":"alice"}})");
}

TEST(CompileWorkflow, MakesRulesOfConditionsInOrder) {
  const Ir ir = Compile(R"({"nodes":[{"id":"X","type":"conditional"},{"id":"A","type":"http"},
      {"id":"B","type":"http"},{"id":"C","type":"http"},{"id":"D","type":"http"}],
      "edges":[{"from":"X","to":"D"},{"from":"X","to":"A","condition":"output.n > 1"},
               {"from":"X","to":"B","condition":"output.n < 0"},
               {"from":"X","to":"C","condition":"output.n > 1"}]})");
  const Node& node = *ir.Find("X");
  EXPECT_EQ(node.type, "task");
  EXPECT_TRUE(node.IsAbsorber());
  ASSERT_TRUE(node.branch);
  ASSERT_EQ(node.branch->rules.size(), 2u);
  EXPECT_EQ(node.branch->rules[0].condition->expression, "output.n > 1");
  EXPECT_THAT(node.branch->rules[0].next_nodes, ElementsAre("A", "C"));
  EXPECT_THAT(node.branch->rules[1].next_nodes, ElementsAre("B"));
  EXPECT_THAT(node.branch->default_nodes, ElementsAre("D"));
  EXPECT_THAT(ir.entry_nodes, ElementsAre("X"));
}

TEST(CompileWorkflow, AConditionMakesABranchOfAnyNode) {
  const Ir ir = Compile(R"({"nodes":[{"id":"H","type":"hitl"},{"id":"A","type":"http"},
      {"id":"P","type":"hitl"}],
      "edges":[{"from":"H","to":"A","condition":"output.approved"},{"from":"H","to":"P"}]})");
  ASSERT_TRUE(ir.Find("H")->branch);
  EXPECT_EQ(ir.Find("H")->type, "hitl");
  EXPECT_THAT(ir.Find("H")->branch->default_nodes, ElementsAre("P"));
  EXPECT_FALSE(ir.Find("P")->branch);
}

TEST(CompileWorkflow, MakesALoopOfItsConfiguration) {
  const Ir ir = Compile(R"({"nodes":[{"id":"work","type":"http"},
      {"id":"again","type":"loop","config":{"max_iterations":3,"loop_back_to":"work",
       "condition":"output.more","timeout_path":["late"]}},
      {"id":"done","type":"http"},{"id":"late","type":"http"}],
      "edges":[{"from":"work","to":"again"},{"from":"again","to":"work"},
               {"from":"again","to":"done"}]})");
  const Node& node = *ir.Find("again");
  EXPECT_EQ(node.type, "task");
  ASSERT_TRUE(node.HasLoop());
  EXPECT_EQ(node.loop->condition->expression, "output.more");
  EXPECT_EQ(node.loop->max_iterations, 3);
  EXPECT_THAT(node.loop->break_path, ElementsAre("done"));
  EXPECT_THAT(node.loop->timeout_path, ElementsAre("late"));
  EXPECT_THAT(node.dependents, IsEmpty());
  EXPECT_THAT(ir.entry_nodes, ElementsAre("work"));
}

TEST(CompileWorkflow, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"[]", "workflow: "},
      {R"({"nodes":{}})", "workflow: /nodes: expected an array"},
      {R"({"nodes":[],"edges":3})", "workflow: /edges: expected an array"},
      {R"({"nodes":[]})", "workflow: IR: /nodes: there is no node"},
      {R"({"nodes":[7]})", "workflow: /nodes/0: expected an object, got 7"},
      {R"({"nodes":[{"id":"a:b","type":"x"}]})", "workflow: /nodes/0/id: "},
      {R"({"nodes":[{"id":"a"}]})", "workflow: /nodes/0/type: is missing"},
      {R"({"nodes":[{"id":"a","type":"x"},{"id":"a","type":"x"}]})",
       "workflow: /nodes/1/id: there are two nodes a"},
      {R"({"nodes":[{"id":"a","type":"x"}],"edges":[{"from":"a","to":"b"}]})",
       "workflow: /edges/0: there is no node b"},
      {R"({"nodes":[{"id":"a","type":"x"}],"edges":[{"from":1,"to":"a"}]})",
       "workflow: /edges/0/from: "},
      {R"({"nodes":[{"id":"a","type":"x"}],"edges":["a"]})", "workflow: /edges/0: expected"},
      {R"({"nodes":[{"id":"a","type":"loop"}]})", "max_iterations: expected an integer"},
      {R"({"nodes":[{"id":"a","type":"conditional"}]})", "there is neither a rule nor a default"},
      {R"({"nodes":[{"id":"a","type":"x"},{"id":"b","type":"x"}],
           "edges":[{"from":"a","to":"b"},{"from":"b","to":"a"}]})",
       "workflow: IR: "},
  };
  for (const auto& [source, message] : rows) {
    EXPECT_THAT(CompileWorkflow(source).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)))
        << source;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
