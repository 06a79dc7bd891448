#include "redouble/core/orchestrator/run/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/orchestrator/graph/patch.h"
#include "redouble/core/orchestrator/testing/orchestrator_for_test.h"
#include "redouble/core/orchestrator/testing/workflow_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using Kind = SignalOutcome::Kind;

constexpr const char* kChain = R"({"version":"1.0","nodes":{
    "fetch":{"id":"fetch","type":"http","dependents":["save"]},
    "save":{"id":"save","type":"function"}}})";
constexpr const char* kDiamond = R"({"nodes":{
    "A":{"id":"A","type":"function","dependents":["B","C"]},
    "B":{"id":"B","type":"function","dependents":["D"]},
    "C":{"id":"C","type":"function","dependents":["D"]},
    "D":{"id":"D","type":"aggregate"}}})";
constexpr const char* kLoop = R"({"nodes":{
    "R":{"id":"R","type":"http","loop":{"enabled":true,"max_iterations":3,"loop_back_to":"R",
         "condition":{"type":"cel","expression":"output.again"},
         "break_path":["B"],"timeout_path":["F"]}},
    "B":{"id":"B","type":"function"},"F":{"id":"F","type":"function"}}})";
// A graph in which only one of H and L runs, and M waits for both.
constexpr const char* kStarved = R"({"nodes":{
    "X":{"id":"X","type":"function","branch":{"enabled":true,
         "rules":[{"condition":{"type":"cel","expression":"output.n > 5"},"next_nodes":["H"]}],
         "default":["L"]}},
    "H":{"id":"H","type":"function","dependents":["M"]},
    "L":{"id":"L","type":"function","dependents":["M"]},
    "M":{"id":"M","type":"function"}}})";
constexpr const char* kApproval = R"({"nodes":{
    "ask":{"id":"ask","type":"function","dependents":["approve"]},
    "approve":{"id":"approve","type":"hitl","dependents":["yes"],"rejection_path":["no"]},
    "yes":{"id":"yes","type":"function"},"no":{"id":"no","type":"function"}}})";

template <typename Backend>
class CoordinatorTest : public OrchestratorTest<Backend> {
 protected:
  void SetUp() override {
    OrchestratorTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_ = std::make_unique<base::VirtualClock>(this->now());
    workflow_ = std::make_unique<WorkflowForTest>(this->store(), *clock_, keys_);
  }

  // The existing keys except the shared ones, such as the streams.
  std::vector<std::string> RunKeys() {
    std::vector<std::string> keys;
    for (const Reply& key : this->Ask({"KEYS", "*"}).elements()) {
      if (!key.text().starts_with("wf.tasks.")) keys.push_back(this->AsDocumented(key.text()));
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }
  // Pushes a completed signal for a token.
  void Signal(std::string_view run_id, std::string_view node, std::string_view job_id) {
    CompletionSignal signal;
    signal.job_id = std::string(job_id);
    signal.run_id = std::string(run_id);
    signal.node_id = std::string(node);
    ASSERT_THAT(this->Run(PushSignal(this->store(), keys_, signal)), IsOk());
  }

  // Runs a workflow whose programs crash at one request, and others that end it.
  void CrashAndRecover(const char* ir, size_t crash, const CoordinatorOptions& options) {
    tests::InterceptedStore broken(this->store());
    broken.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index < crash) return std::nullopt;
      return store::NotSentError("crashed");
    };
    {
      WorkflowForTest crashing(broken, *clock_, keys_, options);
      crashing.Answer("R", R"({"again":true})");
      // The start fails at one of its commands; earlier commands have taken effect.
      (void)this->Run(crashing.coordinator().Start("run_c", ir));
      for (int i = 0; i < 20 && broken.requests() <= crash; ++i) crashing.TryStep();
    }
    WorkflowForTest workflow(this->store(), *clock_, keys_, options);
    workflow.Answer("R", R"({"again":true})");
    if (this->Ask({"EXISTS", "ir:run_c"}) == Reply::Integer(1) || crash == 0) {
      workflow.Start("run_c", ir);
    }
    ASSERT_THAT(this->Run(workflow.coordinator().queue().Recover("coordinator")), IsOk());
    workflow.RunAll();
    ASSERT_THAT(RunKeys(), IsEmpty()) << ir << " crash " << crash;
  }

  const Keys keys_ = this->keys();
  std::unique_ptr<base::VirtualClock> clock_;
  std::unique_ptr<WorkflowForTest> workflow_;
};
TYPED_TEST_SUITE(CoordinatorTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(CoordinatorTest, StartsARunWithItsKeysAndTokens) {
  const Started started = this->workflow_->Start("run_1", kChain);
  EXPECT_TRUE(started.created);
  EXPECT_EQ(started.tokens, 1);
  EXPECT_EQ(this->Value("counter:run_1"), "1");
  EXPECT_EQ(this->Value("ir:run_1"), kChain);
  EXPECT_EQ(this->Ttl("counter:run_1"), 86400);
  EXPECT_EQ(this->Ttl("ir:run_1"), 86400);
  EXPECT_EQ(this->Ask({"XLEN", "wf.tasks.http"}), Reply::Integer(1));
  EXPECT_EQ(this->Ask({"EXISTS", "applied:run_1", "context:run_1"}), Reply::Integer(0));
}

TYPED_TEST(CoordinatorTest, ARepeatedStartPublishesAgainWhatIsNotConsumed) {
  this->workflow_->Start("run_1", kChain);
  const Started again = this->workflow_->Start("run_1", kChain);
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.tokens, 1);
  EXPECT_EQ(this->Value("counter:run_1"), "1");
  this->workflow_->RunAll();
  EXPECT_EQ(this->workflow_->completions(), 1);
  EXPECT_THAT(this->workflow_->executed(), ElementsAre("fetch", "save"));
}

TYPED_TEST(CoordinatorTest, AStartOfNoGraphSendsNothing) {
  tests::InterceptedStore store(this->store());
  Coordinator coordinator(store, *this->clock_, this->keys_);
  EXPECT_THAT(this->Run(coordinator.Start("run_1", "{}")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(coordinator.Start("a:b", kChain)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(CoordinatorTest, MovesARunToItsEndAndLeavesNoKey) {
  this->workflow_->Start("run_1", kChain);
  this->workflow_->RunAll();
  EXPECT_THAT(this->workflow_->executed(), ElementsAre("fetch", "save"));
  EXPECT_EQ(this->workflow_->completions(), 1);
  EXPECT_THAT(this->RunKeys(), IsEmpty());
}

TYPED_TEST(CoordinatorTest, AHopIsSixRoundTripsInTheOrderOfTheProtocol) {
  this->workflow_->Start("run_1", kChain);
  this->Signal("run_1", "fetch", ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {}));
  tests::InterceptedStore store(this->store());
  CoordinatorOptions options;
  options.queue.consumer = "c1";
  options.queue.block = absl::Seconds(5);
  Coordinator coordinator(store, *this->clock_, this->keys_, options);
  const auto outcome = this->Run(coordinator.Poll());
  ASSERT_TRUE(outcome.ok() && *outcome) << outcome.status();
  EXPECT_EQ((*outcome)->kind, Kind::kCommitted);
  std::vector<std::string> names;
  for (const std::string& line : store.log()) names.push_back(line.substr(0, line.find(' ')));
  // EVAL appears only if the server did not know the script.
  std::erase(names, "EVAL");
  EXPECT_THAT(names, ElementsAre("BLMOVE", "GET", "SISMEMBER", "EVALSHA", "XADD", "EVALSHA",
                                 "PUBLISH", "LREM"));
}

TYPED_TEST(CoordinatorTest, PublishesOnTheShardChannelOfTheRunIfItIsTold) {
  this->workflow_->Start("run_1", kChain);
  this->Signal("run_1", "fetch", ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {}));
  tests::InterceptedStore store(this->store());
  CoordinatorOptions options;
  options.channels = store::ChannelKind::kBoth;
  Coordinator coordinator(store, *this->clock_, this->keys_, options);
  const auto outcome = this->Run(coordinator.Poll());
  ASSERT_TRUE(outcome.ok() && *outcome) << outcome.status();
  std::vector<std::string> published;
  for (const std::string& line : store.log()) {
    if (line.find("PUBLISH run:") != std::string::npos) {
      published.push_back(line.substr(0, line.find(" {\"")));
    }
  }
  EXPECT_THAT(published, ElementsAre("PUBLISH run:run_1", "SPUBLISH run:{run_1}"));
}

TYPED_TEST(CoordinatorTest, StoresOutputsWithTheRunsTimeToLive) {
  this->workflow_->Start("run_1", kChain);
  this->Advance(absl::Seconds(100));
  this->Signal("run_1", "fetch", ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {}));
  this->Ask({"RPUSH", "completion_signals", "no signal"});
  EXPECT_EQ(this->workflow_->Step()->counter, 1);
  EXPECT_EQ(this->Ttl("context:run_1"), 86300);
  EXPECT_EQ(this->Ttl("applied:run_1"), 86300);
  EXPECT_EQ(this->Ask({"HGET", "context:run_1", "fetch:completed_at"}),
            Reply::Bulk("2026-05-09T14:03:02Z"));
  EXPECT_EQ(this->workflow_->Step()->kind, Kind::kMalformed);
}

TYPED_TEST(CoordinatorTest, ARunCanLiveAsLongAsItGoesOn) {
  CoordinatorOptions options;
  options.hardening.extend_on_commit = true;
  WorkflowForTest workflow(this->store(), *this->clock_, this->keys_, options);
  workflow.Start("run_1", kChain);
  this->Advance(absl::Hours(23));
  this->Signal("run_1", "fetch", ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {}));
  EXPECT_EQ(workflow.Step()->counter, 1);
  for (const std::string& key : this->RunKeys()) {
    EXPECT_EQ(this->Ttl(key), absl::ToInt64Seconds(RunTtl())) << key;
  }
  this->Advance(absl::Hours(23));
  workflow.RunAll();
  EXPECT_THAT(this->RunKeys(), IsEmpty()) << "an ended run is not extended";
}

TYPED_TEST(CoordinatorTest, ADiamondJoinsOnce) {
  this->workflow_->Start("run_d", kDiamond);
  this->workflow_->RunAll();
  EXPECT_THAT(this->workflow_->executed(), UnorderedElementsAre("A", "B", "C", "D"));
  std::vector<int64_t> counters;
  for (const SignalOutcome& outcome : this->workflow_->outcomes()) {
    counters.push_back(outcome.counter);
  }
  EXPECT_THAT(counters, ElementsAre(2, 2, 2, 0));
  EXPECT_EQ(this->workflow_->completions(), 1);
  EXPECT_THAT(this->RunKeys(), IsEmpty());
}

TYPED_TEST(CoordinatorTest, ALoopEndsAtItsCap) {
  this->workflow_->Answer("R", R"({"again":true})");
  this->workflow_->Start("run_l", kLoop);
  this->workflow_->RunAll();
  EXPECT_THAT(this->workflow_->executed(), ElementsAre("R", "R", "R", "F"));
  EXPECT_THAT(this->RunKeys(), IsEmpty());
}

TYPED_TEST(CoordinatorTest, ALoopBreaksWhenItsConditionIsFalseOrCannotBeEvaluated) {
  for (const char* answer : {R"({"again":false})", R"({"other":1})"}) {
    WorkflowForTest workflow(this->store(), *this->clock_, this->keys_);
    workflow.Answer("R", answer);
    workflow.Start("run_l", kLoop);
    workflow.RunAll();
    EXPECT_THAT(workflow.executed(), ElementsAre("R", "B"));
  }
}

TYPED_TEST(CoordinatorTest, TheLoopsIterationIsMirrored) {
  this->workflow_->Answer("R", R"({"again":true})");
  this->workflow_->Start("run_l", kLoop);
  const std::string first = ChildTokenId(TokenIdForm::kHashed, {"run_l", "R"}, {});
  CompletionSignal signal;
  signal.job_id = first;
  signal.run_id = "run_l";
  signal.node_id = "R";
  signal.result_data_json = R"({"again":true})";
  ASSERT_THAT(this->Run(PushSignal(this->store(), this->keys_, signal)), IsOk());
  ASSERT_THAT(this->workflow_->Step()->tokens, SizeIs(1));
  EXPECT_EQ(this->Ask({"HGET", "loop:run_l:R", "current_iteration"}), Reply::Bulk("1"));
  EXPECT_EQ(this->Ttl("loop:run_l:R"), 86400);
}

TYPED_TEST(CoordinatorTest, AStarvedJoinFiresWithWhatItHas) {
  this->workflow_->Answer("X", R"({"n":9})");
  this->workflow_->Start("run_q", kStarved);
  this->workflow_->RunAll();
  EXPECT_THAT(this->workflow_->executed(), ElementsAre("X", "H", "M"));
  EXPECT_THAT(this->RunKeys(), IsEmpty());
}

TYPED_TEST(CoordinatorTest, ADuplicateSignalChangesNothing) {
  this->workflow_->Start("run_1", kChain);
  const std::string id = ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {});
  this->Signal("run_1", "fetch", id);
  this->Signal("run_1", "fetch", id);
  EXPECT_EQ(this->workflow_->Step()->kind, Kind::kCommitted);
  EXPECT_EQ(this->workflow_->Step()->kind, Kind::kDuplicate);
  EXPECT_EQ(this->Value("counter:run_1"), "1");
  EXPECT_EQ(this->Ask({"XLEN", "wf.tasks.function"}), Reply::Integer(1));
}

TYPED_TEST(CoordinatorTest, ALateSignalCreatesNoKey) {
  this->workflow_->Start("run_1", kChain);
  this->workflow_->RunAll();
  this->Signal("run_1", "save", "whatever");
  EXPECT_EQ(this->workflow_->Step()->kind, Kind::kRunGone);
  EXPECT_THAT(this->RunKeys(), IsEmpty());
}

TYPED_TEST(CoordinatorTest, ASignalOfNoTokenIsRefused) {
  this->workflow_->Start("run_1", kChain);
  this->Signal("run_1", "save", "made.k7");
  EXPECT_EQ(this->workflow_->Step()->kind, Kind::kRefused);
  EXPECT_EQ(this->Value("counter:run_1"), "1");
}

TYPED_TEST(CoordinatorTest, ASignalOfANodeThatIsGoneIsConsumed) {
  this->workflow_->Start("run_1", kChain);
  this->Signal("run_1", "nobody", ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {}));
  const SignalOutcome outcome = *this->workflow_->Step();
  EXPECT_TRUE(outcome.unknown_node);
  EXPECT_TRUE(outcome.completed);
}

TYPED_TEST(CoordinatorTest, AFailedNodeEndsTheRun) {
  this->workflow_->Fail("B");
  this->workflow_->Start("run_d", kDiamond);
  this->workflow_->RunAll();
  const auto& outcomes = this->workflow_->outcomes();
  EXPECT_EQ(std::count_if(outcomes.begin(), outcomes.end(),
                          [](const auto& o) { return o.kind == Kind::kRunFailed; }),
            1);
  EXPECT_EQ(this->workflow_->completions(), 0);
  EXPECT_THAT(this->RunKeys(), IsEmpty());
}

TYPED_TEST(CoordinatorTest, AFailureOfAConsumedTokenIsADuplicate) {
  this->workflow_->Start("run_1", kChain);
  const std::string id = ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {});
  this->Signal("run_1", "fetch", id);
  this->workflow_->Step();
  CompletionSignal failed;
  failed.job_id = id;
  failed.run_id = "run_1";
  failed.node_id = "fetch";
  failed.failure = NodeFailure{"type", "message", false};
  ASSERT_THAT(this->Run(PushSignal(this->store(), this->keys_, failed)), IsOk());
  EXPECT_EQ(this->workflow_->Step()->kind, Kind::kDuplicate);
  EXPECT_EQ(this->Value("counter:run_1"), "1");
}

TYPED_TEST(CoordinatorTest, AnApprovalGoesEitherWay) {
  for (const bool approve : {true, false}) {
    WorkflowForTest workflow(this->store(), *this->clock_, this->keys_);
    workflow.Start("run_h", kApproval);
    workflow.RunAll();
    ASSERT_THAT(workflow.approval_ids(), SizeIs(1));
    EXPECT_EQ(this->Value("counter:run_h"), "0");
    EXPECT_EQ(workflow.completions(), 0);
    const std::string id = workflow.approval_ids()[0];
    const auto decided = this->Run(approve ? workflow.approvals().Approve("run_h", id)
                                           : workflow.approvals().Reject("run_h", id));
    EXPECT_THAT(decided, IsOkAndHolds(DecisionOutcome::kDecided));
    workflow.RunAll();
    EXPECT_THAT(workflow.executed(), ElementsAre("ask", "approve", approve ? "yes" : "no"));
    EXPECT_EQ(workflow.completions(), 1);
    EXPECT_THAT(this->RunKeys(), IsEmpty());
  }
}

TYPED_TEST(CoordinatorTest, AFailureCancelsPendingApprovals) {
  constexpr const char* kBoth = R"({"nodes":{
      "A":{"id":"A","type":"function","dependents":["approve","bad"]},
      "approve":{"id":"approve","type":"hitl","dependents":["end"]},
      "bad":{"id":"bad","type":"search"},"end":{"id":"end","type":"function"}}})";
  this->workflow_->Fail("bad");
  this->workflow_->Start("run_f", kBoth);
  this->workflow_->RunAll();
  ASSERT_THAT(this->workflow_->approval_ids(), SizeIs(1));
  const std::string id = this->workflow_->approval_ids()[0];
  EXPECT_THAT(this->RunKeys(), ElementsAre("approval:" + id));
  const std::string key = this->ApprovalKey(id, "run_f");
  EXPECT_EQ(this->Ask({"HGET", key, "status"}), Reply::Bulk("cancelled"));
  EXPECT_GT(this->Ttl(key), 0);
}

TYPED_TEST(CoordinatorTest, AbsorbersAreResolvedOnTheWay) {
  constexpr const char* kAbsorbers = R"({"nodes":{
      "A":{"id":"A","type":"function","dependents":["choose"]},
      "choose":{"id":"choose","type":"task","branch":{"enabled":true,"rules":[
          {"condition":{"type":"cel","expression":"output.n == 1"},"next_nodes":["again"]}],
          "default":["C"]}},
      "again":{"id":"again","type":"task","loop":{"enabled":true,"max_iterations":2,
          "loop_back_to":"A","timeout_path":["B"]}},
      "B":{"id":"B","type":"function"},"C":{"id":"C","type":"function"}},
      "entry_nodes":["A"]})";
  this->workflow_->Answer("A", R"({"n":1})");
  this->workflow_->Start("run_a", kAbsorbers);
  this->workflow_->RunAll();
  EXPECT_THAT(this->workflow_->executed(), ElementsAre("A", "A", "B"));
  EXPECT_EQ(this->workflow_->completions(), 1);
  EXPECT_THAT(this->RunKeys(), IsEmpty());
}

TYPED_TEST(CoordinatorTest, AnEntryThatIsAnAbsorberNeedsNoWorker) {
  constexpr const char* kEntry = R"({"nodes":{
      "choose":{"id":"choose","type":"task","branch":{"enabled":true,"rules":[],"default":["B"]}},
      "B":{"id":"B","type":"function"}}})";
  this->workflow_->Start("run_e", kEntry);
  this->workflow_->RunAll();
  EXPECT_THAT(this->workflow_->executed(), ElementsAre("B"));
  EXPECT_THAT(this->RunKeys(), IsEmpty());
}

// A regression that a property test found: the patched graph has another entry route, but the
// counted tokens belong to the recorded route.
TYPED_TEST(CoordinatorTest, ARepeatedStartGoesWhereTheFirstWentWhateverWasPatched) {
  constexpr const char* kEntry = R"({"nodes":{
      "choose":{"id":"choose","type":"task","branch":{"enabled":true,"rules":[],"default":["B"]}},
      "B":{"id":"B","type":"function"}}})";
  constexpr const char* kPatch = R"([
      {"op":"add","path":"/nodes/-","value":{"id":"more","type":"function"}},
      {"op":"add","path":"/edges/-","value":{"from":"choose","to":"more"}}])";
  this->workflow_->Start("run_e", kEntry);
  ASSERT_THAT(this->Run(PatchRun(this->store(), this->keys_, "run_e", kPatch)), IsOk());
  EXPECT_EQ(this->workflow_->Start("run_e", kEntry).tokens, 1);
  this->workflow_->RunAll();
  // The token is published twice and counted once. The run has ended when the second entry is read.
  EXPECT_EQ(this->Ask({"XLEN", "wf.tasks.function"}), Reply::Integer(2));
  EXPECT_THAT(this->workflow_->executed(), ElementsAre("B"));
  EXPECT_THAT(this->RunKeys(), IsEmpty());
}

TYPED_TEST(CoordinatorTest, ARecordedRouteThatCannotBeReadIsAnError) {
  constexpr const char* kEntry = R"({"nodes":{
      "choose":{"id":"choose","type":"task","branch":{"enabled":true,"rules":[],"default":["B"]}},
      "B":{"id":"B","type":"function"}}})";
  this->workflow_->Start("run_e", kEntry);
  this->Ask({"SADD", "applied:run_e", "route:run_e|//"});
  this->Ask({"SREM", "applied:run_e", "route:run_e|B/choose/"});
  Coordinator coordinator(this->store(), *this->clock_, this->keys_);
  EXPECT_THAT(this->Run(coordinator.Start("run_e", kEntry)), StatusIs(absl::StatusCode::kDataLoss));
}

TYPED_TEST(CoordinatorTest, AnAbsorberThatJoinsWaits) {
  constexpr const char* kJoined = R"({"nodes":{
      "A":{"id":"A","type":"function","dependents":["choose"]},
      "B":{"id":"B","type":"function","dependents":["choose"]},
      "choose":{"id":"choose","type":"task","branch":{"enabled":true,"rules":[],"default":["C"]}},
      "C":{"id":"C","type":"function"}}})";
  this->workflow_->Start("run_j", kJoined);
  this->workflow_->RunAll();
  EXPECT_THAT(this->workflow_->executed(), UnorderedElementsAre("A", "B", "C"));
  EXPECT_EQ(this->workflow_->completions(), 1);
  EXPECT_THAT(this->RunKeys(), IsEmpty());
}

TYPED_TEST(CoordinatorTest, AJoinedApprovalGivesItsTokensBack) {
  constexpr const char* kJoined = R"({"nodes":{
      "A":{"id":"A","type":"function","dependents":["approve"]},
      "B":{"id":"B","type":"function","dependents":["approve"]},
      "approve":{"id":"approve","type":"hitl","dependents":["C"]},
      "C":{"id":"C","type":"function"}}})";
  this->workflow_->Start("run_j", kJoined);
  this->workflow_->RunAll();
  EXPECT_EQ(this->Value("counter:run_j"), "0");
  ASSERT_THAT(this->workflow_->approval_ids(), SizeIs(1));
  const std::string id = this->workflow_->approval_ids()[0];
  ASSERT_THAT(this->Run(this->workflow_->approvals().Approve("run_j", id)), IsOk());
  this->workflow_->RunAll();
  EXPECT_EQ(this->workflow_->completions(), 1);
  EXPECT_THAT(this->RunKeys(), IsEmpty());
}

TYPED_TEST(CoordinatorTest, APatchIsSeenByTheNextSignal) {
  this->workflow_->Start("run_p", kChain);
  constexpr const char* kPatch = R"([
      {"op":"add","path":"/nodes/-","value":{"id":"email","type":"function"}},
      {"op":"add","path":"/edges/-","value":{"from":"save","to":"email"}}])";
  this->Advance(absl::Seconds(10));
  EXPECT_THAT(this->Run(PatchRun(this->store(), this->keys_, "run_p", kPatch)),
              IsOkAndHolds(PatchOutcome::kPatched));
  EXPECT_EQ(this->Ttl("ir:run_p"), 86390);
  this->workflow_->RunAll();
  EXPECT_THAT(this->workflow_->executed(), ElementsAre("fetch", "save", "email"));
  EXPECT_THAT(this->Run(PatchRun(this->store(), this->keys_, "run_p", kPatch)),
              IsOkAndHolds(PatchOutcome::kRunGone));
  EXPECT_THAT(this->RunKeys(), IsEmpty());
}

// A coordinator crashes before each of its commands in turn, and recovery completes the run.
TYPED_TEST(CoordinatorTest, ACrashBeforeAnyCommandIsMadeGood) {
  for (const bool atomic : {false, true}) {
    const CoordinatorOptions options = {.hardening = {.atomic_hops = atomic}};
    for (const char* ir : {kChain, kDiamond, kStarved, kLoop}) {
      for (size_t crash = 0; crash < 60; ++crash) {
        this->CrashAndRecover(ir, crash, options);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(CoordinatorTest, ASweepCompletesARunThatStandsStill) {
  this->workflow_->Start("run_1", kChain);
  EXPECT_THAT(this->Run(this->workflow_->coordinator().Sweep("run_1")), IsOkAndHolds(false));
  this->Ask({"SET", "counter:run_1", "0", "KEEPTTL"});
  const auto report = this->Run(this->workflow_->coordinator().SweepAll());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->swept, 1);
  EXPECT_EQ(report->completed, 1);
  EXPECT_THAT(this->RunKeys(), IsEmpty());
  EXPECT_THAT(this->Run(this->workflow_->coordinator().Sweep("run_1")), IsOkAndHolds(false));
}

TYPED_TEST(CoordinatorTest, ErrorsOfTheStoreLeaveTheSignalForRecovery) {
  this->workflow_->Start("run_1", kChain);
  this->Signal("run_1", "fetch", ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {}));
  for (size_t fail = 0; fail < 7; ++fail) {
    tests::InterceptedStore store(this->store());
    store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index != fail) return std::nullopt;
      return store::NotSentError("gone");
    };
    Coordinator coordinator(store, *this->clock_, this->keys_);
    EXPECT_THAT(this->Run(coordinator.Poll()), StatusIs(absl::StatusCode::kUnavailable)) << fail;
    EXPECT_THAT(this->Run(coordinator.queue().Recover("coordinator")),
                IsOkAndHolds(fail == 0 ? 0 : 1))
        << fail;
  }
  this->workflow_->RunAll();
  EXPECT_EQ(this->workflow_->completions(), 1);
}

TYPED_TEST(CoordinatorTest, ASweepOfAllRunsSkipsThoseThatItCannotRead) {
  this->Ask({"SET", "ir:run_0", "{}", "EX", "100"});
  this->Ask({"RPUSH", "ir:run_1", "no text"});
  this->workflow_->Start("run_2", kChain);
  this->Ask({"SET", "counter:run_2", "0", "KEEPTTL"});
  const auto report = this->Run(this->workflow_->coordinator().SweepAll());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->swept, 1);
  EXPECT_EQ(report->completed, 1);
  ASSERT_EQ(report->skipped.size(), 2u);
  EXPECT_EQ(report->skipped[0].run_id, "run_0");
  EXPECT_THAT(report->skipped[0].error, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(report->skipped[1].run_id, "run_1");
  EXPECT_THAT(report->skipped[1].error, StatusIs(absl::StatusCode::kFailedPrecondition));

  tests::InterceptedStore store(this->store());
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index > 0) return store::NotSentError("gone");
    return std::nullopt;
  };
  Coordinator coordinator(store, *this->clock_, this->keys_);
  EXPECT_THAT(this->Run(coordinator.SweepAll()), StatusIs(absl::StatusCode::kUnavailable));
}

TYPED_TEST(CoordinatorTest, APollOfAnEmptyQueueReturnsNothing) {
  Coordinator coordinator(this->store(), *this->clock_, this->keys_);
  EXPECT_THAT(this->Run(coordinator.Poll()), IsOkAndHolds(::testing::Eq(std::nullopt)));
}

TYPED_TEST(CoordinatorTest, TheNextPollContinuesAfterAnErrorOfTheStore) {
  for (const bool reliable : {true, false}) {
    for (size_t fail = 1; fail < 6; ++fail) {
      const std::string run_id = absl::StrCat("run_", reliable ? "r" : "p", fail);
      this->workflow_->Start(run_id, kChain);
      this->Signal(run_id, "fetch", ChildTokenId(TokenIdForm::kHashed, {run_id, "fetch"}, {}));
      tests::InterceptedStore store(this->store());
      store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
        if (index != fail) return std::nullopt;
        return store::NotSentError("gone");
      };
      CoordinatorOptions options;
      options.hardening.reliable_pop = reliable;
      Coordinator coordinator(store, *this->clock_, this->keys_, options);
      EXPECT_THAT(this->Run(coordinator.Poll()), StatusIs(absl::StatusCode::kUnavailable)) << fail;
      const auto outcome = this->Run(coordinator.Poll());
      ASSERT_TRUE(outcome.ok() && *outcome) << fail << outcome.status();
      EXPECT_EQ((*outcome)->run_id, run_id);
      EXPECT_EQ(this->Value("counter:" + run_id), "1");
      EXPECT_EQ(this->Ask({"EXISTS", "completion_signals:processing:coordinator"}),
                Reply::Integer(0));
      EXPECT_THAT(this->Run(coordinator.Poll()), IsOkAndHolds(::testing::Eq(std::nullopt)));
    }
  }
}

// The result of a completed run must reach the caller although the signal could not be removed.
TYPED_TEST(CoordinatorTest, TheNextPollReturnsAnOutcomeWhoseSignalWasNotRemoved) {
  this->workflow_->Start("run_1", R"({"nodes":{"a":{"id":"a","type":"http"}}})");
  this->Signal("run_1", "a", ChildTokenId(TokenIdForm::kHashed, {"run_1", "a"}, {}));
  tests::InterceptedStore store(this->store());
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    if (store.log().back().starts_with("LREM")) return store::NotSentError("gone");
    return std::nullopt;
  };
  Coordinator coordinator(store, *this->clock_, this->keys_);
  EXPECT_THAT(this->Run(coordinator.Poll()), StatusIs(absl::StatusCode::kUnavailable));
  store.on_request = nullptr;
  const auto outcome = this->Run(coordinator.Poll());
  ASSERT_TRUE(outcome.ok() && *outcome) << outcome.status();
  EXPECT_TRUE((*outcome)->completed);
  EXPECT_THAT((*outcome)->context, SizeIs(1));
  EXPECT_EQ(this->Ask({"EXISTS", "completion_signals:processing:coordinator"}), Reply::Integer(0));
}

TYPED_TEST(CoordinatorTest, TheNextPollFindsASignalWhoseTakeHadNoReply) {
  this->workflow_->Start("run_1", kChain);
  this->Signal("run_1", "fetch", ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {}));
  tests::InterceptedStore store(this->store());
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index > 1) return std::nullopt;
    if (index == 1) return store::NotSentError("gone");  // The recovery fails once.
    this->Ask({"LMOVE", "completion_signals", "completion_signals:processing:coordinator", "LEFT",
               "RIGHT"});
    return store::OutcomeUnknownError("no reply");
  };
  Coordinator coordinator(store, *this->clock_, this->keys_);
  EXPECT_THAT(this->Run(coordinator.Poll()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(this->Run(coordinator.Poll()), StatusIs(absl::StatusCode::kUnavailable));
  const auto outcome = this->Run(coordinator.Poll());
  ASSERT_TRUE(outcome.ok() && *outcome) << outcome.status();
  EXPECT_EQ((*outcome)->kind, Kind::kCommitted);
}

// A run that cannot be read must not keep a coordinator from the signals of the others.
TYPED_TEST(CoordinatorTest, TheNextPollTakesAnotherSignalAfterALastingError) {
  this->workflow_->Start("run_1", kChain);
  this->workflow_->Start("run_2", kChain);
  this->Ask({"SET", "ir:run_1", "{}", "KEEPTTL"});
  this->Signal("run_1", "fetch", ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {}));
  this->Signal("run_2", "fetch", ChildTokenId(TokenIdForm::kHashed, {"run_2", "fetch"}, {}));
  Coordinator coordinator(this->store(), *this->clock_, this->keys_);
  EXPECT_THAT(this->Run(coordinator.Poll()), StatusIs(absl::StatusCode::kInvalidArgument));
  const auto outcome = this->Run(coordinator.Poll());
  ASSERT_TRUE(outcome.ok() && *outcome) << outcome.status();
  EXPECT_EQ((*outcome)->run_id, "run_2");
}

TYPED_TEST(CoordinatorTest, TheCallThatCompletesARunHasItsContext) {
  this->workflow_->Start("run_1", kChain);
  this->workflow_->RunAll();
  const SignalOutcome& last = this->workflow_->outcomes().back();
  EXPECT_TRUE(last.completed);
  EXPECT_THAT(last.context, ::testing::IsSupersetOf(HashFields{{"fetch:output", "cas://fetch"},
                                                               {"save:output", "cas://save"}}));
  EXPECT_TRUE(std::is_sorted(last.context.begin(), last.context.end()));
  EXPECT_THAT(this->workflow_->outcomes().front().context, IsEmpty());
}

// The results exist in Redis until they are stored: a crash between the two loses nothing.
TYPED_TEST(CoordinatorTest, ReportsTheResultBeforeItDeletesTheRun) {
  std::vector<RunResult> results;
  std::vector<Reply> contexts;
  absl::Status status = absl::UnavailableError("the database is down");
  CoordinatorOptions options;
  options.on_finish = [&](const RunResult& result) -> base::Task<absl::Status> {
    results.push_back(result);
    contexts.push_back(this->Ask({"EXISTS", "context:" + result.run_id}));
    co_return status;
  };
  WorkflowForTest workflow(this->store(), *this->clock_, this->keys_, options);
  workflow.Start("run_1", kChain);
  this->Signal("run_1", "fetch", ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {}));
  ASSERT_TRUE(workflow.Step());
  EXPECT_TRUE(results.empty());
  const std::string fetch = ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {});
  this->Signal("run_1", "save", ChildTokenId(TokenIdForm::kHashed, {fetch, "save"}, {}));
  EXPECT_THAT(this->Run(workflow.coordinator().Poll()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(this->Value("counter:run_1"), "0");
  status = absl::OkStatus();
  EXPECT_THAT(this->Run(workflow.coordinator().Sweep("run_1")), IsOkAndHolds(true));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[1].status, RunResult::Status::kCompleted);
  EXPECT_EQ(results[1].run_id, "run_1");
  EXPECT_THAT(results[1].context, ::testing::SizeIs(2));  // completed_at of both nodes.
  EXPECT_THAT(contexts, ::testing::Each(Reply::Integer(1)));
  EXPECT_EQ(this->Ask({"EXISTS", "context:run_1", "ir:run_1"}), Reply::Integer(0));
}

TYPED_TEST(CoordinatorTest, ReportsTheFailureOfARun) {
  std::vector<RunResult> results;
  CoordinatorOptions options;
  options.on_finish = [&](const RunResult& result) -> base::Task<absl::Status> {
    results.push_back(result);
    co_return absl::OkStatus();
  };
  WorkflowForTest workflow(this->store(), *this->clock_, this->keys_, options);
  workflow.Fail("save");
  workflow.Start("run_1", kChain);
  workflow.RunAll();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].status, RunResult::Status::kFailed);
  EXPECT_EQ(results[0].node_id, "save");
  ASSERT_TRUE(results[0].failure.has_value());
  EXPECT_EQ(results[0].failure->error_message, "it broke");
  EXPECT_THAT(results[0].context,
              ::testing::Contains(::testing::Pair("fetch:output", "cas://fetch")));
}

// An approval is pending and no token is in flight: the run has no result yet.
TYPED_TEST(CoordinatorTest, ReportsNothingOfARunThatWaits) {
  int results = 0;
  CoordinatorOptions options;
  options.on_finish = [&](const RunResult&) -> base::Task<absl::Status> {
    ++results;
    co_return absl::OkStatus();
  };
  WorkflowForTest workflow(this->store(), *this->clock_, this->keys_, options);
  workflow.Start("run_1", R"({"nodes":{"approve":{"id":"approve","type":"hitl"}}})");
  workflow.RunAll();
  EXPECT_EQ(this->Value("counter:run_1"), "0");
  EXPECT_THAT(this->Run(workflow.coordinator().Sweep("run_1")), IsOkAndHolds(false));
  EXPECT_EQ(results, 0);
}

TYPED_TEST(CoordinatorTest, PublishesEachTypeToItsOwnStream) {
  this->workflow_->Start("run_1", R"({"nodes":{"a":{"id":"a","type":"gpu","dependents":["b"]},
      "b":{"id":"b","type":"video.encode"}}})");
  EXPECT_EQ(this->Ask({"XLEN", "wf.tasks.gpu"}), Reply::Integer(1));
  this->Signal("run_1", "a", ChildTokenId(TokenIdForm::kHashed, {"run_1", "a"}, {}));
  ASSERT_TRUE(this->workflow_->Step());
  EXPECT_EQ(this->Ask({"XLEN", "wf.tasks.video.encode"}), Reply::Integer(1));
  EXPECT_EQ(this->Ask({"EXISTS", "wf.tasks.default"}), Reply::Integer(0));
}

TYPED_TEST(CoordinatorTest, ATokenCarriesTheTimeoutAndTheAttemptsOfItsNode) {
  this->workflow_->Start("run_1", R"({"nodes":{"a":{"id":"a","type":"http","timeout_ms":500,
      "retry":{"max_attempts":2}}}})");
  const Reply entries = this->Ask({"XRANGE", "wf.tasks.http", "-", "+"});
  const std::string text = entries.elements()[0].elements()[1].elements()[1].text();
  EXPECT_EQ(ParseToken(text)->metadata_json, R"({"timeout_ms":500,"retry":{"max_attempts":2}})");
}

TYPED_TEST(CoordinatorTest, AGraphThatCannotBeReadLeavesTheSignalForRecovery) {
  this->workflow_->Start("run_1", kChain);
  this->Ask({"SET", "ir:run_1", "{}", "KEEPTTL"});
  this->Signal("run_1", "fetch", ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {}));
  Coordinator coordinator(this->store(), *this->clock_, this->keys_);
  EXPECT_THAT(this->Run(coordinator.Poll()), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(coordinator.Sweep("run_1")), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(coordinator.queue().Recover("coordinator")), IsOkAndHolds(1));
  EXPECT_EQ(this->Value("counter:run_1"), "1");
}

TYPED_TEST(CoordinatorTest, AFailureIsAnnouncedOnceWhateverRequestOfItFails) {
  int ended = 0;
  for (size_t fail = 0; fail < 5; ++fail) {
    this->workflow_->Start("run_1", kChain);
    tests::InterceptedStore store(this->store());
    store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == fail) return store::NotSentError("gone");
      return std::nullopt;
    };
    CompletionSignal failed;
    failed.job_id = ChildTokenId(TokenIdForm::kHashed, {"run_1", "fetch"}, {});
    failed.run_id = "run_1";
    failed.node_id = "fetch";
    failed.failure = NodeFailure{"e", "m", false};
    const std::string text = FormatSignal(failed).value();
    Coordinator coordinator(store, *this->clock_, this->keys_);
    EXPECT_THAT(this->Run(coordinator.ProcessSignal(text)),
                StatusIs(absl::StatusCode::kUnavailable))
        << fail;
    Coordinator healthy(this->store(), *this->clock_, this->keys_);
    const auto again = this->Run(healthy.ProcessSignal(text));
    ASSERT_THAT(again, IsOk());
    // After the run is deleted, a lost end event cannot be detected.
    if (again->kind == Kind::kRunFailed) ++ended;
    EXPECT_THAT(this->RunKeys(), IsEmpty());
  }
  EXPECT_EQ(ended, 4);
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
