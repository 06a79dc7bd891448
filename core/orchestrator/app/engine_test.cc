#include "redouble/core/orchestrator/app/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/virtual_clock.h"
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
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;

constexpr const char* kChain = R"({"version":"1.0","nodes":{
    "fetch":{"id":"fetch","type":"http","dependents":["save"]},
    "save":{"id":"save","type":"function"}}})";
constexpr const char* kApproval = R"({"nodes":{
    "ask":{"id":"ask","type":"hitl","dependents":["save"],
           "config":{"approver":"boss","timeout_seconds":3600}},
    "save":{"id":"save","type":"function"}}})";

template <typename Backend>
class EngineTest : public OrchestratorTest<Backend> {
 protected:
  void SetUp() override {
    OrchestratorTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_ = std::make_unique<base::VirtualClock>(this->now());
    intercepted_ = std::make_unique<tests::InterceptedStore>(this->store());
    engine_ = Make(*intercepted_);
  }

  std::unique_ptr<Engine> Make(store::Store& store, EngineSettings settings = {}) {
    settings.key_layout = this->layout();
    auto engine = Engine::Create(store, *clock_, {runs_, outputs_}, settings);
    EXPECT_TRUE(engine.ok()) << engine.status();
    if (!engine.ok()) return nullptr;
    const auto execute = [this](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> {
      executed_.push_back(token.to_node);
      if (token.to_node == failing_) co_return absl::InternalError("it broke");
      NodeResult result;
      result.data_json = absl::StrCat("{\"by\":\"", token.to_node, "\"}");
      co_return result;
    };
    (*engine)->AddWorker("http", "w1", execute);
    (*engine)->AddWorker("function", "w1", execute);
    (*engine)->AddApprovalWorker("w1");
    return *std::move(engine);
  }

  RunStart Start(std::string_view run_id, std::string_view ir = kChain) {
    const absl::StatusOr<RunStart> start = this->Run(engine_->StartRun(run_id, ir));
    EXPECT_TRUE(start.ok()) << start.status();
    return start.value_or(RunStart());
  }
  void RunAll() { EXPECT_THAT(this->Run(engine_->RunUntilIdle()), IsOk()); }
  RunView View(std::string_view run_id) {
    const auto view = this->Run(engine_->GetRun(run_id));
    EXPECT_TRUE(view.ok() && *view) << run_id;
    return view.ok() && *view ? **view : RunView();
  }
  // Whether the run has keys in Redis.
  bool HasKeys(std::string_view run_id) {
    for (const char* family : {"ir:", "counter:", "applied:", "context:"}) {
      const std::string key = absl::StrCat(family, base::ToAbsl(run_id));
      if (this->Ask({"EXISTS", key}) != Reply::Integer(0)) return true;
    }
    return false;
  }
  RunStatus StatusOf(std::string_view run_id) { return View(run_id).record.status; }
  void Pass(absl::Duration time) {
    clock_->Advance(time);
    this->AdvanceTo(clock_->Now());
  }

  std::unique_ptr<base::VirtualClock> clock_;
  std::unique_ptr<tests::InterceptedStore> intercepted_;
  MemoryRunStore runs_;
  MemoryArtifacts outputs_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::string> executed_;
  std::string failing_;
};
TYPED_TEST_SUITE(EngineTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(EngineTest, ARunHasStatusAndResultsAtItsEnd) {
  const RunStart start = this->Start("run_1");
  EXPECT_TRUE(start.created);
  EXPECT_EQ(start.tokens, 1);
  EXPECT_EQ(start.status, RunStatus::kRunning);
  EXPECT_EQ(this->View("run_1").counter, 1);
  this->Pass(absl::Seconds(3));
  this->RunAll();
  const RunView view = this->View("run_1");
  EXPECT_EQ(view.record.status, RunStatus::kCompleted);
  EXPECT_EQ(view.record.ir, kChain);
  ASSERT_TRUE(view.record.started_at && view.record.ended_at);
  EXPECT_EQ(*view.record.ended_at - *view.record.started_at, absl::Seconds(3));
  EXPECT_THAT(view.record.outputs,
              ElementsAre(Pair("fetch", R"({"by":"fetch"})"), Pair("save", R"({"by":"save"})")));
  EXPECT_EQ(view.counter, std::nullopt);
  EXPECT_FALSE(this->HasKeys("run_1"));
}

TYPED_TEST(EngineTest, AnEndedRunDoesNotStartAgain) {
  this->Start("run_1");
  this->RunAll();
  const RunStart again = this->Start("run_1");
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.tokens, 0);
  EXPECT_EQ(again.status, RunStatus::kCompleted);
  this->RunAll();
  EXPECT_THAT(this->executed_, ElementsAre("fetch", "save"));
}

// Each request of the start is lost in turn, and the start is repeated.
TYPED_TEST(EngineTest, AnInterruptedStartIsRepeated) {
  for (size_t fail = 0; fail < 3; ++fail) {
    const std::string run_id = absl::StrCat("run_", fail);
    const size_t first = this->intercepted_->requests();
    this->intercepted_->on_request = [=](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == first + fail) return store::NotSentError("gone");
      return std::nullopt;
    };
    EXPECT_THAT(this->Run(this->engine_->StartRun(run_id, kChain)),
                StatusIs(absl::StatusCode::kUnavailable))
        << fail;
    this->intercepted_->on_request = nullptr;
    EXPECT_EQ(this->Start(run_id).status, RunStatus::kRunning);
    this->executed_.clear();
    this->RunAll();
    EXPECT_THAT(this->executed_, ElementsAre("fetch", "save")) << fail;
    EXPECT_EQ(this->StatusOf(run_id), RunStatus::kCompleted);
  }
}

TYPED_TEST(EngineTest, AStartOfNoGraphLeavesNoRecord) {
  EXPECT_THAT(this->Run(this->engine_->StartRun("run_1", "{}")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(this->engine_->StartRun("a:b", kChain)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(this->engine_->ListRuns()), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(this->Run(this->engine_->GetRun("run_1")), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(EngineTest, AFailedRunKeepsItsReasonAndWhatItHasDone) {
  this->failing_ = "save";
  this->Start("run_1");
  this->RunAll();
  const RunRecord record = this->View("run_1").record;
  EXPECT_EQ(record.status, RunStatus::kFailed);
  EXPECT_EQ(record.node_id, "save");
  ASSERT_TRUE(record.failure);
  EXPECT_EQ(record.failure->error_message, "it broke");
  EXPECT_THAT(record.outputs, ElementsAre(Pair("fetch", R"({"by":"fetch"})")));
}

TYPED_TEST(EngineTest, TheContextOutlivesTheKeys) {
  this->Start("run_1");
  ASSERT_THAT(this->Run(this->engine_->workers()[0]->Poll()), IsOk());
  ASSERT_THAT(this->Run(this->engine_->coordinator().Poll()), IsOk());
  const auto running = this->Run(this->engine_->LoadContext("run_1"));
  ASSERT_THAT(running, IsOk());
  EXPECT_EQ(running->size(), 3u);
  EXPECT_THAT(this->Run(this->engine_->NodeOutput("run_1", "fetch")),
              IsOkAndHolds(Optional(std::string(R"({"by":"fetch"})"))));
  EXPECT_THAT(this->Run(this->engine_->NodeOutput("run_1", "save")),
              IsOkAndHolds(Eq(std::nullopt)));
  this->RunAll();
  const auto ended = this->Run(this->engine_->LoadContext("run_1"));
  ASSERT_THAT(ended, IsOk());
  EXPECT_EQ(ended->size(), 6u);
  EXPECT_THAT(this->Run(this->engine_->NodeOutput("run_1", "save")),
              IsOkAndHolds(Optional(std::string(R"({"by":"save"})"))));
  EXPECT_THAT(this->Run(this->engine_->LoadContext("other")), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(this->Run(this->engine_->NodeOutput("other", "save")),
              IsOkAndHolds(Eq(std::nullopt)));
}

// Without stored outputs the record has references, which still lead to the outputs.
TYPED_TEST(EngineTest, CanKeepReferencesOnly) {
  EngineSettings settings;
  settings.store_outputs = false;
  this->engine_ = this->Make(this->store(), settings);
  this->Start("run_1");
  this->RunAll();
  EXPECT_THAT(this->View("run_1").record.outputs, IsEmpty());
  EXPECT_THAT(this->Run(this->engine_->NodeOutput("run_1", "save")),
              IsOkAndHolds(Optional(std::string(R"({"by":"save"})"))));
}

TYPED_TEST(EngineTest, ListsRunsByStatus) {
  this->Start("b");
  this->RunAll();
  this->Start("c");
  this->Start("a");
  RunQuery query;
  query.status = RunStatus::kRunning;
  const auto running = this->Run(this->engine_->ListRuns(query));
  ASSERT_THAT(running, IsOk());
  ASSERT_EQ(running->size(), 2u);
  EXPECT_EQ((*running)[0].run_id, "a");
  EXPECT_EQ((*running)[1].run_id, "c");
}

TYPED_TEST(EngineTest, ACancelledRunLeavesNoKey) {
  this->Start("run_1");
  ASSERT_THAT(this->Run(this->engine_->workers()[0]->Poll()), IsOk());
  EXPECT_THAT(this->Run(this->engine_->CancelRun("run_1", "not needed")),
              IsOkAndHolds(CancelOutcome::kCancelled));
  const RunRecord record = this->View("run_1").record;
  EXPECT_EQ(record.status, RunStatus::kCancelled);
  ASSERT_TRUE(record.failure);
  EXPECT_EQ(record.failure->error_message, "not needed");
  EXPECT_TRUE(record.ended_at);
  EXPECT_FALSE(record.cancel_requested);
  this->RunAll();  // The signal of the node finds no run.
  EXPECT_FALSE(this->HasKeys("run_1"));
  EXPECT_EQ(this->Ask({"EXISTS", "completion_signals"}), Reply::Integer(0));
  EXPECT_THAT(this->executed_, ElementsAre("fetch"));
  EXPECT_THAT(this->Run(this->engine_->CancelRun("run_1")),
              IsOkAndHolds(CancelOutcome::kCancelled));
  EXPECT_EQ(this->Start("run_1").status, RunStatus::kCancelled);
}

TYPED_TEST(EngineTest, ACancellationChangesNoResult) {
  this->Start("run_1");
  this->RunAll();
  EXPECT_THAT(this->Run(this->engine_->CancelRun("run_1")), IsOkAndHolds(CancelOutcome::kEnded));
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCompleted);
  EXPECT_THAT(this->Run(this->engine_->CancelRun("run_2")), IsOkAndHolds(CancelOutcome::kUnknown));
  EXPECT_THAT(this->Run(this->engine_->CancelRun("a:b")),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// Each request of the cancellation is lost in turn. A repeated call finishes it.
TYPED_TEST(EngineTest, AnInterruptedCancellationIsRepeated) {
  bool failed = true;
  for (size_t fail = 0; failed && fail < 20; ++fail) {
    const std::string run_id = absl::StrCat("run_", fail);
    this->Start(run_id, kApproval);
    this->RunAll();
    const size_t first = this->intercepted_->requests();
    this->intercepted_->on_request = [=](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == first + fail) return store::NotSentError("gone");
      return std::nullopt;
    };
    failed = !this->Run(this->engine_->CancelRun(run_id)).ok();
    this->intercepted_->on_request = nullptr;
    EXPECT_THAT(this->Run(this->engine_->CancelRun(run_id)),
                IsOkAndHolds(CancelOutcome::kCancelled));
    EXPECT_EQ(this->StatusOf(run_id), RunStatus::kCancelled) << fail;
    EXPECT_FALSE(this->HasKeys(run_id));
  }
  EXPECT_FALSE(failed);
}

// A run that was cancelled between the record and the keys of its start.
TYPED_TEST(EngineTest, AStartThatWasCancelledMeanwhileEndsAtOnce) {
  const size_t first = this->intercepted_->requests();
  this->intercepted_->on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == first) {
      std::unique_ptr<Engine> other = this->Make(this->store());
      EXPECT_THAT(this->Run(other->CancelRun("run_1")), IsOkAndHolds(CancelOutcome::kCancelled));
    }
    return std::nullopt;
  };
  const RunStart start = this->Start("run_1");
  this->intercepted_->on_request = nullptr;
  EXPECT_FALSE(start.created);
  EXPECT_EQ(start.status, RunStatus::kCancelled);
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCancelled);
  EXPECT_FALSE(this->HasKeys("run_1"));
}

TYPED_TEST(EngineTest, AnExpiredRunDoesNotStartAgain) {
  this->Start("run_1");
  this->Pass(absl::Hours(25));
  EXPECT_EQ(this->Start("run_1").status, RunStatus::kExpired);
  EXPECT_EQ(this->Ask({"EXISTS", "ir:run_1"}), Reply::Integer(0));
}

TYPED_TEST(EngineTest, AnApprovalNodeAsksAndWaits) {
  this->Start("run_1", kApproval);
  this->RunAll();
  const RunView view = this->View("run_1");
  EXPECT_EQ(view.counter, 0);
  EXPECT_EQ(view.pending_approvals, 1);
  const Reply member_reply = this->Ask({"SRANDMEMBER", "pending_approvals:run_1"});
  const std::string member = member_reply.is_bulk() ? member_reply.text() : "";
  const auto approval_id = ParseApprovalMember(member);
  ASSERT_TRUE(approval_id) << member;
  const std::string id(*approval_id);
  const auto approval = this->Run(this->engine_->approvals().Find("run_1", id));
  ASSERT_TRUE(approval.ok() && *approval);
  EXPECT_EQ((*approval)->approver, "boss");
  EXPECT_EQ((*approval)->timeout_at, this->now() + absl::Hours(1));
  ASSERT_THAT(this->Run(this->engine_->approvals().Approve("run_1", id)), IsOk());
  this->RunAll();
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCompleted);
  EXPECT_THAT(this->executed_, ElementsAre("save"));
}

TYPED_TEST(EngineTest, AnApprovalNodeWithAnUnreadableConfigurationFails) {
  this->Start("run_1", R"({"nodes":{"ask":{"id":"ask","type":"hitl",
      "config":{"timeout_seconds":"soon"}}}})");
  this->RunAll();
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kFailed);
  const RunRecord record = this->View("run_1").record;
  ASSERT_TRUE(record.failure);
  EXPECT_EQ(record.failure->error_message,
            "approval: /timeout_seconds: expected a positive number, got \"soon\"");
}

// A run that another program started has no record until it ends.
TYPED_TEST(EngineTest, KnowsRunsOfOtherPrograms) {
  ASSERT_THAT(this->Run(this->engine_->coordinator().Start("run_1", kChain)), IsOk());
  EXPECT_EQ(this->View("run_1").counter, 1);
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kRunning);
  EXPECT_THAT(this->Run(this->engine_->CancelRun("run_1")),
              IsOkAndHolds(CancelOutcome::kCancelled));
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCancelled);
}

TYPED_TEST(EngineTest, PatchesARun) {
  this->Start("run_1");
  EXPECT_THAT(this->Run(this->engine_->Patch(
                  "run_1", R"([{"op":"add","path":"/nodes/-","value":{"id":"more","type":"http"}},
                               {"op":"add","path":"/edges/-","value":{"from":"save","to":"more"}}])")),
              IsOkAndHolds(PatchOutcome::kPatched));
  this->RunAll();
  EXPECT_THAT(this->executed_, ElementsAre("fetch", "save", "more"));
}

// The configuration of a token has the outputs that it refers to.
TYPED_TEST(EngineTest, StartsASourceWorkflowWithTemplates) {
  constexpr const char* kSource = R"({"nodes":[
      {"id":"a","type":"http"},{"id":"b","type":"http"},
      {"id":"c","type":"gpu","config":{"from":"$nodes.a.by","note":"${$nodes.b.by}!",
                                       "later":"$nodes.c.by"}}],
      "edges":[{"from":"a","to":"c"},{"from":"b","to":"c"}]})";
  std::string config;
  this->engine_->AddWorker("gpu", "w1",
                           [&](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> {
                             config = token.config_json;
                             co_return NodeResult();
                           });
  ASSERT_THAT(this->Run(this->engine_->StartWorkflow("run_1", kSource)), IsOk());
  this->RunAll();
  EXPECT_EQ(config, R"({"from":"a","note":"b!","later":"$nodes.c.by"})");
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCompleted);
  EXPECT_THAT(this->Run(this->engine_->StartWorkflow("run_2", "{}")),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TYPED_TEST(EngineTest, RunsWithShardsOfItsQueues) {
  EngineSettings settings;
  settings.queue_shards = 4;
  this->engine_ = this->Make(this->store(), settings);
  constexpr int kRuns = 20;
  for (int i = 0; i < kRuns; ++i) this->Start(absl::StrCat("run_", i), i == 0 ? kApproval : kChain);
  const Keys keys(this->layout(), settings.queue_shards);
  for (int shard = 0; shard < 4; ++shard) {
    EXPECT_GT(this->Ask({"XLEN", keys.TaskStream("http", shard).value()}).integer(), 0);
  }
  this->RunAll();
  for (int i = 1; i < kRuns; ++i) {
    EXPECT_EQ(this->StatusOf(absl::StrCat("run_", i)), RunStatus::kCompleted) << i;
  }
  EXPECT_EQ(this->View("run_0").pending_approvals, 1);
  this->Pass(absl::Hours(1));
  const auto report = this->Run(this->engine_->service().Tick());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->decided, 1);
  this->RunAll();
  EXPECT_EQ(this->StatusOf("run_0"), RunStatus::kCompleted);
}

// The signal of a coordinator that crashed returns to the shard that it came from.
TYPED_TEST(EngineTest, RecoversTheSignalsOfAllShards) {
  EngineSettings settings;
  settings.queue_shards = 4;
  this->engine_ = this->Make(this->store(), settings);
  const Keys keys(this->layout(), settings.queue_shards);
  for (int i = 0; i < 8; ++i) this->Start(absl::StrCat("run_", i));
  for (int i = 0; i < 8; ++i) {
    ASSERT_THAT(this->Run(this->engine_->workers()[0]->Poll()), IsOk());
  }
  SignalQueue crashed(this->store(), keys, {.consumer = "crashed"});
  for (int i = 0; i < 8; ++i) {
    const auto taken = this->Run(crashed.TakeNow());
    ASSERT_TRUE(taken.ok() && *taken) << i;
  }
  ASSERT_THAT(this->Run(this->engine_->service().Tick()), IsOk());
  this->Pass(absl::Minutes(2));
  const auto report = this->Run(this->engine_->service().Tick());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->recovered, 8);
  this->RunAll();
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(this->StatusOf(absl::StrCat("run_", i)), RunStatus::kCompleted) << i;
  }
}

TYPED_TEST(EngineTest, RefusesANumberOfShardsThatIsTooGreat) {
  EngineSettings settings;
  settings.queue_shards = 65;
  EXPECT_THAT(Engine::Create(this->store(), *this->clock_, {this->runs_, this->outputs_}, settings),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TYPED_TEST(EngineTest, RefusesAnInstanceThatIsNoId) {
  EngineSettings settings;
  settings.instance = "a:b";
  EXPECT_THAT(Engine::Create(this->store(), *this->clock_, {this->runs_, this->outputs_}, settings),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
