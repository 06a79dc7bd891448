// Several workers with executions that are longer than `min_idle`: each entry keeps its worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/orchestrator/run/worker.h"
#include "redouble/core/orchestrator/testing/orchestrator_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOkAndHolds;
using store::Reply;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr int kEntries = 10;
constexpr absl::Duration kStep = absl::Seconds(5);

template <typename Backend>
class WorkerClaimsTest : public OrchestratorTest<Backend> {
 protected:
  void SetUp() override {
    OrchestratorTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_ = std::make_unique<base::VirtualClock>(this->now());
    this->Ask({"SET", "counter:run_1", "10"});
    this->Ask({"XGROUP", "CREATE", "wf.tasks.http", "workers", "0", "MKSTREAM"});
  }

  // Adds entries, which a worker reads that then crashes. They are idle for 61 s.
  void LeaveEntriesOfACrashedWorker(int count) {
    for (int i = 0; i < count; ++i) {
      Token token;
      token.id = absl::StrCat("t", i);
      token.run_id = "run_1";
      token.to_node = absl::StrCat("n", i);
      token.created_at = this->now();
      this->Ask({"XADD", "wf.tasks.http", "*", "token", FormatToken(token).value(), "run_id",
                 "run_1", "node_id", token.to_node});
    }
    this->Ask({"XREADGROUP", "GROUP", "workers", "crashed", "STREAMS", "wf.tasks.http", ">"});
    Pass(absl::Seconds(61));
  }

  // Moves the clocks of the workers and of the server.
  void Pass(absl::Duration time) {
    const absl::Time end = clock_->Now() + time;
    while (clock_->Now() < end) {
      clock_->Advance(std::min(kStep, end - clock_->Now()));
      this->AdvanceTo(clock_->Now());
    }
  }

  Worker& Add(absl::Duration execution, bool keep_claims = true) {
    stores_.push_back(this->Connect());
    return Add(*stores_.back(), execution, keep_claims);
  }
  Worker& Add(store::Store& store, absl::Duration execution, bool keep_claims) {
    WorkerOptions options;
    options.type = "http";
    options.consumer = absl::StrCat("w", workers_.size());
    options.keep_claims = keep_claims;
    const auto execute = [this,
                          execution](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> {
      ++begun_[token.to_node];
      co_await clock_->Sleep(execution);
      ++ended_[token.to_node];
      co_return NodeResult();
    };
    workers_.push_back(std::make_unique<Worker>(store, *clock_, this->keys(), options, execute));
    return *workers_.back();
  }

  // Runs all workers for `time`: each reclaims, and pauses for a moment if there was nothing.
  void RunWorkers(absl::Duration time) {
    const absl::Time end = clock_->Now() + time;
    std::vector<base::Task<void>> loops;
    for (const auto& worker : workers_) loops.push_back(Loop(*worker, end));
    for (base::Task<void>& loop : loops) loop.Start();
    Pass(time + absl::Minutes(10));
    for (const base::Task<void>& loop : loops) EXPECT_TRUE(loop.done());
  }
  base::Task<void> Loop(Worker& worker, absl::Time end) {
    while (clock_->Now() < end) {
      const absl::StatusOr<WorkReport> report = co_await worker.Reclaim();
      EXPECT_TRUE(report.ok()) << report.status();
      if (!report.ok()) co_return;
      executed_ += report->executed;
      dead_lettered_ += report->dead_lettered;
      lost_ += report->lost;
      if (report->total() == 0) co_await clock_->Sleep(kStep);
    }
  }

  int64_t Pending() {
    return this->Ask({"XPENDING", "wf.tasks.http", "workers"}).elements()[0].integer();
  }

  std::unique_ptr<base::VirtualClock> clock_;
  std::vector<std::unique_ptr<store::Store>> stores_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::map<std::string, int> begun_;
  std::map<std::string, int> ended_;
  int64_t executed_ = 0;
  int64_t dead_lettered_ = 0;
  int64_t lost_ = 0;
};
TYPED_TEST_SUITE(WorkerClaimsTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(WorkerClaimsTest, TwoWorkersExecuteEachLongNodeOnce) {
  this->LeaveEntriesOfACrashedWorker(kEntries);
  for (int i = 0; i < 2; ++i) this->Add(absl::Seconds(90));
  this->RunWorkers(absl::Minutes(30));
  EXPECT_THAT(this->begun_, SizeIs(kEntries));
  EXPECT_THAT(this->begun_, Each(Pair(::testing::_, 1)));
  EXPECT_EQ(this->executed_, kEntries);
  EXPECT_EQ(this->dead_lettered_, 0);
  EXPECT_EQ(this->Ask({"LLEN", "completion_signals"}), Reply::Integer(kEntries));
  EXPECT_EQ(this->Pending(), 0);
}

TYPED_TEST(WorkerClaimsTest, EightWorkersExecuteEachLongNodeOnce) {
  this->LeaveEntriesOfACrashedWorker(kEntries);
  for (int i = 0; i < 8; ++i) this->Add(absl::Seconds(200));
  this->RunWorkers(absl::Minutes(30));
  EXPECT_THAT(this->begun_, SizeIs(kEntries));
  EXPECT_THAT(this->begun_, Each(Pair(::testing::_, 1)));
  EXPECT_EQ(this->executed_, kEntries);
  EXPECT_EQ(this->dead_lettered_, 0);
  EXPECT_EQ(this->Pending(), 0);
}

// The executions of the report: shorter than `min_idle`, but ten of them are longer.
TYPED_TEST(WorkerClaimsTest, ClaimsAnEntryOnlyWhenItExecutesIt) {
  this->LeaveEntriesOfACrashedWorker(kEntries);
  for (int i = 0; i < 2; ++i) this->Add(absl::Seconds(50), /*keep_claims=*/false);
  this->RunWorkers(absl::Minutes(30));
  EXPECT_THAT(this->begun_, SizeIs(kEntries));
  EXPECT_THAT(this->begun_, Each(Pair(::testing::_, 1)));
  EXPECT_EQ(this->Pending(), 0);
}

// What `keep_claims` prevents.
TYPED_TEST(WorkerClaimsTest, WithoutHeartbeatsALongNodeIsExecutedTwice) {
  this->LeaveEntriesOfACrashedWorker(1);
  for (int i = 0; i < 2; ++i) this->Add(absl::Seconds(90), /*keep_claims=*/false);
  this->RunWorkers(absl::Minutes(10));
  EXPECT_GT(this->begun_["n0"], 1);
}

// A heartbeat does not count as a delivery, so a long execution is no reason for a dead letter.
TYPED_TEST(WorkerClaimsTest, AHeartbeatIsNoDelivery) {
  this->LeaveEntriesOfACrashedWorker(1);
  this->Add(absl::Minutes(20));
  base::Task<void> loop = this->Loop(*this->workers_[0], this->clock_->Now() + kStep);
  loop.Start();
  this->Pass(absl::Minutes(19));
  const Reply pending = this->Ask({"XPENDING", "wf.tasks.http", "workers", "-", "+", "10"});
  ASSERT_THAT(pending.elements(), SizeIs(1));
  EXPECT_EQ(pending.elements()[0].elements()[1].text(), "w0");
  EXPECT_LE(pending.elements()[0].elements()[2].integer(), 20'000);  // Idle, in milliseconds.
  EXPECT_EQ(pending.elements()[0].elements()[3].integer(), 2);       // Deliveries.
  this->Pass(absl::Minutes(2));
  EXPECT_TRUE(loop.done());
  EXPECT_EQ(this->executed_, 1);
}

// A worker that could not reach the server for long loses its claim, and gives its execution up.
TYPED_TEST(WorkerClaimsTest, AWorkerThatLostItsClaimEndsItsExecution) {
  this->LeaveEntriesOfACrashedWorker(1);
  tests::InterceptedStore store(this->store());
  Worker& slow = this->Add(store, absl::Seconds(200), /*keep_claims=*/true);
  base::Task<void> loop = this->Loop(slow, this->clock_->Now() + kStep);
  loop.Start();
  store.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return store::NotSentError("unplugged");
  };
  this->Pass(absl::Seconds(70));
  Worker& other = this->Add(absl::Seconds(10));
  base::Task<void> second = this->Loop(other, this->clock_->Now() + kStep);
  second.Start();
  store.on_request = nullptr;
  this->Pass(absl::Seconds(60));
  EXPECT_TRUE(second.done());
  EXPECT_TRUE(loop.done());
  EXPECT_EQ(this->lost_, 1);
  EXPECT_EQ(this->executed_, 1);
  EXPECT_EQ(this->begun_["n0"], 2);
  EXPECT_EQ(this->ended_["n0"], 1);
  EXPECT_EQ(this->Ask({"LLEN", "completion_signals"}), Reply::Integer(1));
}

// Two attempts of 30 s that time out, with pauses of 60 s and 120 s, and a third of 10 s.
TYPED_TEST(WorkerClaimsTest, AttemptsAreRepeatedAfterPausesUnderOneClaim) {
  this->LeaveEntriesOfACrashedWorker(1);
  WorkerOptions options;
  options.type = "http";
  options.consumer = "w";
  options.policy = {.timeout = absl::Seconds(30),
                    .max_attempts = 3,
                    .backoff = absl::Seconds(60),
                    .backoff_multiplier = 2};
  int attempts = 0;
  std::vector<absl::Duration> begun;
  const absl::Time start = this->clock_->Now();
  const auto execute = [&](const Token&) -> base::Task<absl::StatusOr<NodeResult>> {
    begun.push_back(this->clock_->Now() - start);
    co_await this->clock_->Sleep(++attempts < 3 ? absl::Hours(9) : absl::Seconds(10));
    co_return NodeResult();
  };
  this->workers_.push_back(
      std::make_unique<Worker>(this->store(), *this->clock_, this->keys(), options, execute));
  Worker& other = this->Add(absl::Seconds(1));
  base::Task<void> loop = this->Loop(*this->workers_[0], start + kStep);
  base::Task<void> second = this->Loop(other, start + absl::Seconds(200));
  loop.Start();
  second.Start();
  this->Pass(absl::Seconds(300));
  EXPECT_TRUE(loop.done() && second.done());
  EXPECT_THAT(begun, ElementsAre(absl::ZeroDuration(), absl::Seconds(90), absl::Seconds(240)));
  EXPECT_EQ(this->executed_, 1);
  EXPECT_THAT(this->begun_, SizeIs(0));
  EXPECT_EQ(this->Ask({"LLEN", "completion_signals"}), Reply::Integer(1));
}

TYPED_TEST(WorkerClaimsTest, KeepsNoClaimBetweenExecutions) {
  Worker& worker = this->Add(absl::Seconds(1));
  EXPECT_THAT(this->Run(worker.KeepClaim()), IsOkAndHolds(false));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
