#include "redouble/core/orchestrator/app/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/orchestrator/app/engine.h"
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
using ::testing::SizeIs;

constexpr const char* kOne = R"({"nodes":{"work":{"id":"work","type":"http"}}})";
constexpr const char* kApproval = R"({"nodes":{
    "ask":{"id":"ask","type":"hitl","dependents":["yes"],"rejection_path":["no"],
           "config":{"timeout_seconds":600}},
    "yes":{"id":"yes","type":"http"},"no":{"id":"no","type":"http"}}})";

template <typename Backend>
class ServiceTest : public OrchestratorTest<Backend> {
 protected:
  void SetUp() override {
    OrchestratorTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_ = std::make_unique<base::VirtualClock>(this->now());
    intercepted_ = std::make_unique<tests::InterceptedStore>(this->store());
    EngineSettings settings;
    settings.fail_stuck_runs = true;
    engine_ = Make("blue", settings);
  }

  std::unique_ptr<Engine> Make(std::string_view instance, EngineSettings settings = {}) {
    settings.instance = std::string(instance);
    settings.key_layout = this->layout();
    auto engine = Engine::Create(*intercepted_, *clock_, {runs_, outputs_}, settings);
    EXPECT_TRUE(engine.ok()) << engine.status();
    if (!engine.ok()) return nullptr;
    (*engine)->AddWorker("http", instance,
                         [this](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> {
                           executed_.push_back(token.to_node);
                           if (execution_ > absl::ZeroDuration())
                             co_await clock_->Sleep(execution_);
                           co_return NodeResult();
                         });
    (*engine)->AddApprovalWorker(instance);
    return *std::move(engine);
  }

  void Start(std::string_view run_id, std::string_view ir = kOne) {
    ASSERT_THAT(this->Run(engine_->StartRun(run_id, ir)), IsOk());
  }
  void RunAll() { EXPECT_THAT(this->Run(engine_->RunUntilIdle()), IsOk()); }
  TickReport Tick() {
    absl::StatusOr<TickReport> report = this->Run(engine_->service().Tick());
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *std::move(report) : TickReport();
  }
  RunStatus StatusOf(std::string_view run_id) {
    const auto record = this->Run(runs_.Find(run_id));
    EXPECT_TRUE(record.ok() && *record) << run_id;
    return record.ok() && *record ? (*record)->status : RunStatus::kRunning;
  }
  std::string ApprovalOf(std::string_view run_id) {
    const std::string key = absl::StrCat("pending_approvals:", std::string(run_id));
    const Reply member = this->Ask({"SRANDMEMBER", key});
    EXPECT_TRUE(member.is_bulk()) << member;
    const std::string text = member.is_bulk() ? member.text() : "";
    const auto id = ParseApprovalMember(text);
    return std::string(id.value_or("none"));
  }
  void Pass(absl::Duration time) {
    constexpr absl::Duration kStep = absl::Seconds(10);
    for (const absl::Time end = clock_->Now() + time; clock_->Now() < end;) {
      clock_->Advance(std::min(kStep, end - clock_->Now()));
      this->AdvanceTo(clock_->Now());
    }
  }

  std::unique_ptr<base::VirtualClock> clock_;
  std::unique_ptr<tests::InterceptedStore> intercepted_;
  MemoryRunStore runs_;
  MemoryArtifacts outputs_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::string> executed_;
  absl::Duration execution_ = absl::ZeroDuration();
};
TYPED_TEST_SUITE(ServiceTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ServiceTest, OneOfTwoActs) {
  this->Start("run_1");
  std::unique_ptr<Engine> green = this->Make("green");
  EXPECT_TRUE(this->Tick().leading);
  const auto other = this->Run(green->service().Tick());
  ASSERT_THAT(other, IsOk());
  EXPECT_FALSE(other->leading);
  EXPECT_EQ(other->runs, 0);
  EXPECT_EQ(this->Value("wf.service_lease"), "blue");
  EXPECT_EQ(this->Ttl("wf.service_lease"), 90);
  // The lease of a service that crashed expires.
  this->Pass(absl::Seconds(91));
  EXPECT_TRUE(this->Run(green->service().Tick())->leading);
  EXPECT_FALSE(this->Tick().leading);
  EXPECT_THAT(this->Run(this->engine_->service().Resign()), IsOkAndHolds(false));
  EXPECT_THAT(this->Run(green->service().Resign()), IsOkAndHolds(true));
  EXPECT_TRUE(this->Tick().leading);
}

TYPED_TEST(ServiceTest, DoesNothingToAHealthyRun) {
  this->Start("run_1");
  this->Start("run_2", kApproval);
  this->RunAll();
  const Reply counter = this->Ask({"GET", "counter:run_2"});
  const TickReport report = this->Tick();
  EXPECT_EQ(report.runs, 1);
  EXPECT_EQ(report.decided + report.pushed + report.completed + report.recovered, 0);
  EXPECT_EQ(this->Ask({"GET", "counter:run_2"}), counter);
}

TYPED_TEST(ServiceTest, DecidesOverdueApprovals) {
  this->Start("run_1", kApproval);
  this->RunAll();
  this->Pass(absl::Seconds(590));
  EXPECT_EQ(this->Tick().decided, 0);
  this->Pass(absl::Seconds(10));
  EXPECT_EQ(this->Tick().decided, 1);
  this->RunAll();
  EXPECT_THAT(this->executed_, ElementsAre("no"));
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCompleted);
}

// The approval service crashed between the decision and its signal.
TYPED_TEST(ServiceTest, DeliversDecisionsAgainAndNotTooOften) {
  this->Start("run_1", kApproval);
  this->RunAll();
  ASSERT_THAT(this->Run(this->engine_->approvals().Approve("run_1", this->ApprovalOf("run_1"))),
              IsOk());
  this->Ask({"DEL", "completion_signals"});
  EXPECT_EQ(this->Tick().pushed, 0);  // The signal may still be on its way.
  this->Pass(absl::Seconds(60));
  EXPECT_EQ(this->Tick().pushed, 1);
  this->Pass(absl::Seconds(30));
  EXPECT_EQ(this->Tick().pushed, 0);
  EXPECT_EQ(this->Ask({"LLEN", "completion_signals"}), Reply::Integer(1));
  this->Pass(absl::Seconds(30));
  EXPECT_EQ(this->Tick().pushed, 1);
  this->RunAll();
  EXPECT_THAT(this->executed_, ElementsAre("yes"));
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCompleted);
}

// A coordinator took a signal and crashed.
TYPED_TEST(ServiceTest, RecoversSignalsThatDoNotMove) {
  this->Start("run_1");
  ASSERT_THAT(this->Run(this->engine_->workers()[0]->Poll()), IsOk());
  this->Ask(
      {"LMOVE", "completion_signals", "completion_signals:processing:crashed", "LEFT", "RIGHT"});
  EXPECT_EQ(this->Tick().recovered, 0);
  this->Pass(absl::Seconds(50));
  EXPECT_EQ(this->Tick().recovered, 0);
  this->Pass(absl::Seconds(10));
  EXPECT_EQ(this->Tick().recovered, 1);
  this->RunAll();
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCompleted);
}

TYPED_TEST(ServiceTest, LeavesACoordinatorThatMovesAlone) {
  for (int i = 0; i < 4; ++i) {
    this->Ask({"DEL", "completion_signals:processing:busy"});
    this->Ask({"RPUSH", "completion_signals:processing:busy", absl::StrCat("{\"n\":", i, "}")});
    EXPECT_EQ(this->Tick().recovered, 0);
    this->Pass(absl::Seconds(50));
  }
}

TYPED_TEST(ServiceTest, ReclaimsWithTheWorkersOfItsProcess) {
  this->Start("run_1");
  this->Ask({"XGROUP", "CREATE", "wf.tasks.http", "workers", "0"});
  this->Ask({"XREADGROUP", "GROUP", "workers", "crashed", "STREAMS", "wf.tasks.http", ">"});
  EXPECT_EQ(this->Tick().reclaimed.executed, 0);
  this->Pass(absl::Seconds(60));
  EXPECT_EQ(this->Tick().reclaimed.executed, 1);
  this->RunAll();
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCompleted);
}

TYPED_TEST(ServiceTest, CompletesARunThatStandsStill) {
  this->Start("run_1");
  this->Ask({"SET", "counter:run_1", "0", "KEEPTTL"});
  EXPECT_EQ(this->Tick().completed, 1);
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCompleted);
}

TYPED_TEST(ServiceTest, EndsARunWithoutProgress) {
  this->Start("run_1");
  this->Ask({"DEL", "wf.tasks.http"});  // The token is lost.
  EXPECT_THAT(this->Tick().stuck, SizeIs(0));
  const absl::Time seen = this->clock_->Now();
  this->Pass(absl::Seconds(290));
  EXPECT_THAT(this->Tick().stuck, SizeIs(0));
  this->Pass(absl::Seconds(10));
  const TickReport report = this->Tick();
  ASSERT_THAT(report.stuck, SizeIs(1));
  EXPECT_EQ(report.stuck[0].run_id, "run_1");
  EXPECT_EQ(report.stuck[0].since, seen);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kFailed);
  const auto record = this->Run(this->runs_.Find("run_1"));
  ASSERT_TRUE(record.ok() && *record && (*record)->failure);
  EXPECT_EQ((*record)->failure->error_type, "stuck");
  EXPECT_EQ(this->Ask({"EXISTS", "ir:run_1"}), Reply::Integer(0));
  EXPECT_EQ(this->Ask({"EXISTS", "counter:run_1"}), Reply::Integer(0));
}

TYPED_TEST(ServiceTest, ReportsStuckRunsAndLeavesThemByDefault) {
  this->engine_ = this->Make("red");
  this->Start("run_1");
  (void)this->Tick();
  this->Pass(absl::Minutes(5));
  for (int i = 0; i < 2; ++i) {
    const TickReport report = this->Tick();
    EXPECT_THAT(report.stuck, SizeIs(1));
    EXPECT_EQ(report.failed, 0);
  }
  this->RunAll();
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCompleted);
}

TYPED_TEST(ServiceTest, ARunThatWaitsForAPersonIsNotStuck) {
  this->Start("run_1", R"({"nodes":{"ask":{"id":"ask","type":"hitl"}}})");
  this->RunAll();
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(this->Tick().stuck, SizeIs(0));
    this->Pass(absl::Minutes(5));
  }
}

// A long execution: its worker keeps the claim of the token.
TYPED_TEST(ServiceTest, ARunInExecutionIsNotStuck) {
  this->execution_ = absl::Minutes(30);
  this->Start("run_1");
  base::Task<absl::StatusOr<WorkReport>> work = this->engine_->workers()[0]->Poll();
  work.Start();
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(this->Tick().stuck, SizeIs(0)) << i;
    this->Pass(absl::Minutes(5));
  }
  this->Pass(absl::Minutes(6));
  EXPECT_TRUE(work.done());
}

// The engine crashed after it had noted the cancellation.
TYPED_TEST(ServiceTest, FinishesACancellation) {
  this->Start("run_1");
  ASSERT_THAT(this->Run(this->runs_.Update(
                  "run_1", [](RunRecord& record) { record.cancel_requested = true; })),
              IsOk());
  EXPECT_EQ(this->Tick().cancelled, 1);
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCancelled);
  EXPECT_EQ(this->Ask({"EXISTS", "ir:run_1"}), Reply::Integer(0));
  EXPECT_EQ(this->Ask({"EXISTS", "counter:run_1"}), Reply::Integer(0));
}

TYPED_TEST(ServiceTest, EndsARunThatAStartBroughtBackAfterItsFailure) {
  this->Start("run_1");
  ASSERT_THAT(this->Run(this->runs_.Update(
                  "run_1", [](RunRecord& record) { record.status = RunStatus::kFailed; })),
              IsOk());
  this->Tick();
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kFailed);
  EXPECT_EQ(this->Ask({"EXISTS", "ir:run_1"}), Reply::Integer(0));
  EXPECT_EQ(this->Ask({"EXISTS", "counter:run_1"}), Reply::Integer(0));
}

TYPED_TEST(ServiceTest, MarksTheRecordsOfExpiredRuns) {
  this->Start("run_1");
  this->Ask({"DEL", "ir:run_1"});
  this->Ask({"DEL", "counter:run_1"});
  EXPECT_EQ(this->Tick().expired, 0);  // It may be starting.
  this->Pass(absl::Seconds(60));
  EXPECT_EQ(this->Tick().expired, 1);
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kExpired);
  EXPECT_EQ(this->Tick().expired, 0);
}

TYPED_TEST(ServiceTest, SkipsARunThatCannotBeRead) {
  this->Start("bad");
  this->Start("good");
  this->Ask({"SET", "ir:bad", "{}", "KEEPTTL"});
  this->Ask({"SET", "counter:good", "0", "KEEPTTL"});
  const TickReport report = this->Tick();
  ASSERT_THAT(report.skipped, SizeIs(1));
  EXPECT_EQ(report.skipped[0].run_id, "bad");
  EXPECT_EQ(report.completed, 1);
}

// A round of each length is cut off by an error of the store; the next round does its work.
TYPED_TEST(ServiceTest, ARoundThatFailsIsMadeAgain) {
  bool failed = true;
  size_t fail = 0;
  for (; failed && fail < 60; ++fail) {
    const std::string run_id = absl::StrCat("run_", fail);
    this->Start(run_id);
    this->Ask({"SET", "counter:" + run_id, "0", "KEEPTTL"});
    const size_t first = this->intercepted_->requests();
    this->intercepted_->on_request = [=](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == first + fail) return store::NotSentError("gone");
      return std::nullopt;
    };
    failed = !this->Run(this->engine_->service().Tick()).ok();
    this->intercepted_->on_request = nullptr;
    (void)this->Tick();
    EXPECT_EQ(this->StatusOf(run_id), RunStatus::kCompleted) << fail;
  }
  EXPECT_FALSE(failed);
  EXPECT_GT(fail, 8u);
}

TYPED_TEST(ServiceTest, TheLoopGoesOnAfterErrors) {
  this->Start("run_1");
  this->Ask({"SET", "counter:run_1", "0", "KEEPTTL"});
  this->intercepted_->on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return store::NotSentError("unplugged");
  };
  base::Task<void> loop = this->engine_->service().Run();
  loop.Start();
  this->Pass(absl::Seconds(60));
  EXPECT_EQ(this->engine_->service().failed_ticks(), 3);
  EXPECT_THAT(this->engine_->service().last_error(), StatusIs(absl::StatusCode::kUnavailable));
  this->intercepted_->on_request = nullptr;
  this->Pass(absl::Seconds(30));
  EXPECT_EQ(this->StatusOf("run_1"), RunStatus::kCompleted);
  EXPECT_FALSE(loop.done());
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
