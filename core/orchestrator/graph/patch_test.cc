#include "redouble/core/orchestrator/graph/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/orchestrator/testing/orchestrator_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kIr = R"({"version":"1.2","nodes":{
    "agent":{"id":"agent","type":"agent","dependents":["sum","log"]},
    "sum":{"id":"sum","type":"function","config":{"a":1}},
    "log":{"id":"log","type":"function","dependents":["end"]},
    "end":{"id":"end","type":"function"}},"entry_nodes":["agent"],"metadata":{"tag":"main"}})";

absl::StatusOr<Ir> Patched(std::string_view operations) {
  return ApplyPatch(ParseIr(kIr).value(), operations);
}

TEST(Patch, AddsNodesAndEdges) {
  const auto ir = Patched(R"([
      {"op":"add","path":"/nodes/-","value":{"id":"email","type":"function"}},
      {"op":"add","path":"/edges/-","value":{"from":"sum","to":"email"}}])");
  ASSERT_THAT(ir, IsOk());
  EXPECT_EQ(ir->version, "1.3");
  EXPECT_THAT(ir->Find("sum")->dependents, ElementsAre("email"));
  EXPECT_FALSE(ir->Find("sum")->is_terminal);
  EXPECT_TRUE(ir->Find("email")->is_terminal);
  EXPECT_EQ(ir->metadata_json, R"({"tag":"main"})");
  EXPECT_THAT(ir->entry_nodes, ElementsAre("agent"));
}

TEST(Patch, ReplacesAndRemoves) {
  const auto ir = Patched(R"([
      {"op":"replace","path":"/nodes/sum/config/a","value":2},
      {"op":"replace","path":"/edges/2","value":{"from":"sum","to":"end"}},
      {"op":"remove","path":"/nodes/log"}])");
  ASSERT_THAT(ir, IsOk());
  EXPECT_EQ(ir->Find("sum")->config_json, R"({"a":2})");
  EXPECT_EQ(ir->Find("log"), nullptr);
  EXPECT_THAT(ir->Find("agent")->dependents, ElementsAre("sum"));
  EXPECT_THAT(ir->Find("end")->dependencies, ElementsAre("sum"));
}

TEST(Patch, ASecondEdgeMakesAJoin) {
  const auto ir = Patched(R"([{"op":"add","path":"/edges/-","value":{"from":"sum","to":"end"}}])");
  ASSERT_THAT(ir, IsOk());
  EXPECT_TRUE(ir->Find("end")->wait_for_all);
}

TEST(Patch, AConditionalEdgeBecomesARule) {
  const auto ir = Patched(R"([{"op":"add","path":"/edges/-",
      "value":{"from":"log","to":"sum","condition":"output.n > 1"}}])");
  ASSERT_THAT(ir, IsOk());
  const Branch& branch = *ir->Find("log")->branch;
  EXPECT_THAT(branch.default_nodes, ElementsAre("end"));
  ASSERT_EQ(branch.rules.size(), 1u);
  EXPECT_EQ(branch.rules[0].condition->expression, "output.n > 1");
  EXPECT_THAT(branch.rules[0].next_nodes, ElementsAre("sum"));
}

TEST(Patch, RefusesWhatIsNoPatch) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "expected an array"},
      {R"([{"op":"move","path":"/nodes/a"}])", "expected add, remove or replace, got move"},
      {R"([{"op":"add","path":"/version","value":1}])", "expected a path in /nodes/ or /edges/"},
      {R"([{"op":"add","path":"/nodes/-"}])", "the value is missing"},
      {R"([{"op":"add","path":"/nodes/-","value":{"type":"x"}}])", "/id"},
      {R"([{"op":"add","path":"/nodes/-","value":{"id":"x","type":"y","config":1}}])", "config"},
      {R"([{"op":"add","path":"/nodes/-","value":{"id":"sum","type":"y"}}])", "already"},
      {R"([{"op":"remove","path":"/nodes/nobody"}])", "/0: "},
      {R"([{"op":"remove","path":"/edges/9"}])", "/0: "},
      {R"([{"op":"add","path":"/edges/-","value":{"from":"sum","to":"x"}}])", "no node x"},
      {R"([{"op":"add","path":"/edges/-","value":{"from":"end","to":"log"}}])", "cycle"},
      {R"([{"op":"remove","path":"/nodes/agent"}])", "entry_nodes"},
      {R"([{"op":"replace","path":"/nodes/sum","value":{"id":"sun","type":"x"}}])", "name"}};
  for (const auto& [operations, message] : cases) {
    const auto ir = Patched(operations);
    EXPECT_THAT(ir, StatusIs(absl::StatusCode::kInvalidArgument)) << operations;
    EXPECT_THAT(std::string(ir.status().message()), HasSubstr(message)) << operations;
  }
}

TEST(Patch, AddsFiveAgentsAtMost) {
  std::string operations;
  for (int i = 0; i < 6; ++i) {
    const std::string id = "a" + std::to_string(i);
    operations +=
        std::string(i == 0 ? "[" : ",") + R"({"op":"add","path":"/nodes/-","value":{"id":")" + id +
        R"(","type":"agent"}},{"op":"add","path":"/edges/-","value":{"from":"sum","to":")" + id +
        R"("}})";
    const auto ir = Patched(operations + "]");
    EXPECT_EQ(ir.ok(), i < 5) << ir.status();
  }
}

template <typename Backend>
class PatchRunTest : public OrchestratorTest<Backend> {
 protected:
  absl::StatusOr<PatchOutcome> Patch(std::string_view operations) {
    return this->Run(PatchRun(this->store(), this->keys(), "run_p", operations));
  }
  static constexpr const char* kRemoveLog = R"([{"op":"remove","path":"/nodes/log"},
      {"op":"add","path":"/edges/-","value":{"from":"sum","to":"end"}}])";
};
TYPED_TEST_SUITE(PatchRunTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(PatchRunTest, ChangesTheGraphAndNothingElse) {
  this->Ask({"SET", "ir:run_p", kIr, "EX", "1000"});
  EXPECT_EQ(this->Patch(this->kRemoveLog).value(), PatchOutcome::kPatched);
  EXPECT_EQ(this->Ttl("ir:run_p"), 1000);
  EXPECT_THAT(this->Value("ir:run_p"), HasSubstr(R"({"version":"1.3")"));
  EXPECT_EQ(this->KeyCount(), 1);
}

TYPED_TEST(PatchRunTest, AnInvalidPatchChangesNothing) {
  this->Ask({"SET", "ir:run_p", kIr});
  EXPECT_THAT(this->Patch(R"([{"op":"replace","path":"/nodes/sum/type","value":"http"},
                      {"op":"remove","path":"/nodes/nobody"}])"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(this->Value("ir:run_p"), kIr);
}

TYPED_TEST(PatchRunTest, APatchOfARunThatIsGoneCreatesNothing) {
  EXPECT_EQ(this->Patch(this->kRemoveLog).value(), PatchOutcome::kRunGone);
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(PatchRunTest, TakesAwayOnlyWhatTheRunHasNotComeBy) {
  this->Ask({"SET", "ir:run_p", kIr});
  EXPECT_THAT(this->Patch(R"([{"op":"replace","path":"/nodes/agent/type","value":"http"}])"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  this->Ask({"HSET", "context:run_p", "agent:output", "cas://x"});
  EXPECT_THAT(this->Patch(this->kRemoveLog), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(this->Value("ir:run_p"), kIr);
}

TYPED_TEST(PatchRunTest, LosesNoOtherPatch) {
  this->Ask({"SET", "ir:run_p", kIr});
  tests::InterceptedStore store(this->store());
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index != 1) return std::nullopt;
    EXPECT_EQ(
        this->Patch(R"([{"op":"replace","path":"/nodes/sum/config","value":{"b":2}}])").value(),
        PatchOutcome::kPatched);
    return std::nullopt;
  };
  EXPECT_THAT(this->Run(PatchRun(store, this->keys(), "run_p", this->kRemoveLog)),
              IsOkAndHolds(PatchOutcome::kPatched));
  ASSERT_OK_AND_ASSIGN(const Ir ir, ParseIr(this->Value("ir:run_p")));
  ASSERT_NE(ir.Find("sum"), nullptr);
  EXPECT_EQ(ir.Find("sum")->config_json, R"({"b":2})");
  EXPECT_EQ(ir.Find("log"), nullptr);
  EXPECT_EQ(ir.version, "1.4");
}

TYPED_TEST(PatchRunTest, GivesUpWhenTheGraphChangesAllTheTime) {
  this->Ask({"SET", "ir:run_p", kIr});
  tests::InterceptedStore store(this->store());
  int changes = 0;
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    this->Ask({"APPEND", "ir:run_p", " "});
    ++changes;
    return std::nullopt;
  };
  EXPECT_THAT(this->Run(PatchRun(store, this->keys(), "run_p", this->kRemoveLog)),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_GE(changes, 20);
}

TEST(Patch, KnowsWhatItTakesAway) {
  const Ir before = ParseIr(kIr).value();
  EXPECT_THAT(RemovedOrRetypedNodes(before, before), IsEmpty());
}

TYPED_TEST(PatchRunTest, AGraphThatCannotBeReadIsAnErrorAndStays) {
  this->Ask({"SET", "ir:run_p", "{}"});
  EXPECT_THAT(this->Patch(this->kRemoveLog), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(this->Value("ir:run_p"), "{}");
  EXPECT_THAT(this->Run(PatchRun(this->store(), this->keys(), "*", this->kRemoveLog)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TYPED_TEST(PatchRunTest, PassesTheStoresErrorsOn) {
  this->Ask({"SET", "ir:run_p", kIr});
  for (size_t fail = 0; fail < 2; ++fail) {
    tests::InterceptedStore store(this->store());
    store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == fail) return store::NotSentError("gone");
      return std::nullopt;
    };
    EXPECT_THAT(this->Run(PatchRun(store, this->keys(), "run_p", this->kRemoveLog)),
                StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_EQ(this->Value("ir:run_p"), kIr);
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
