#include "core/orchestrator/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/base/virtual_clock.h"
#include "core/store/errors.h"
#include "tests/support/backends.h"
#include "tests/support/intercepted_store.h"

namespace redouble::orchestrator {
namespace {

using store::Reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

template <typename Backend>
class WorkerTest : public tests::BackendTest<Backend> {
 protected:
  void SetUp() override {
    tests::BackendTest<Backend>::SetUp();
    if (!this->IsSkipped()) clock_ = std::make_unique<base::VirtualClock>(this->now());
  }

  void Publish(std::string_view id = "t1") {
    Token token;
    token.id = std::string(id);
    token.run_id = "run_1";
    token.to_node = "fetch";
    token.created_at = this->now();
    this->Ask({"XADD", "wf.tasks.http", "*", "token", *FormatToken(token), "run_id", "run_1",
               "node_id", "fetch"});
  }
  WorkerOptions Options(std::string_view consumer = "w1") {
    WorkerOptions options;
    options.type = "http";
    options.consumer = std::string(consumer);
    options.block = std::nullopt;
    return options;
  }
  NodeFunction Function(absl::StatusOr<NodeResult> result) {
    return [this, result](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> {
      executed_.push_back(token.id);
      co_return result;
    };
  }
  Worker Make(WorkerOptions options, absl::StatusOr<NodeResult> result = NodeResult()) {
    return Worker(this->store(), *clock_, Keys(), options, Function(result));
  }
  std::string LastSignal() { return this->Ask({"LINDEX", "completion_signals", "-1"}).text(); }
  int64_t Pending() {
    return this->Ask({"XPENDING", "wf.tasks.http", "workers"}).elements()[0].integer();
  }

  std::unique_ptr<base::VirtualClock> clock_;
  std::vector<std::string> executed_;
};
TYPED_TEST_SUITE(WorkerTest, tests::Backends, tests::BackendNames);

TYPED_TEST(WorkerTest, ExecutesWhatWasPublishedBeforeTheGroupWas) {
  this->Publish();
  Worker worker = this->Make(this->Options(), NodeResult{R"({"a":1})", "cas://x"});
  EXPECT_EQ(this->Run(worker.Poll())->executed, 1);
  EXPECT_EQ(this->LastSignal(),
            R"({"version":"1.0","job_id":"t1","run_id":"run_1","node_id":"fetch",)"
            R"("status":"completed","result_data":{"a":1},"result_ref":"cas://x",)"
            R"("metadata":{"hop":0,"duration_ms":0}})");
  EXPECT_EQ(this->Pending(), 0);
  EXPECT_EQ(this->Run(worker.Poll())->total(), 0);
  EXPECT_TRUE(this->Run(worker.EnsureGroup()).ok());
}

// Hazard of the seed's own example.
TYPED_TEST(WorkerTest, AGroupAtTheEndMissesWhatWasThere) {
  this->Publish();
  WorkerOptions options = this->Options();
  options.group_at_end = true;
  Worker worker = this->Make(options);
  EXPECT_EQ(this->Run(worker.Poll())->total(), 0);
}

TYPED_TEST(WorkerTest, SignalsBeforeItAcknowledges) {
  this->Publish();
  tests::InterceptedStore store(this->store());
  Worker worker(store, *this->clock_, Keys(), this->Options(), this->Function(NodeResult()));
  ASSERT_TRUE(this->Run(worker.EnsureGroup()).ok());
  ASSERT_TRUE(this->Run(worker.Poll()).ok());
  EXPECT_THAT(store.log(),
              ElementsAre(StartsWith("XGROUP create"), StartsWith("XREADGROUP"),
                          StartsWith("SISMEMBER"), StartsWith("RPUSH"), StartsWith("XACK")));
}

TYPED_TEST(WorkerTest, AnErrorBecomesAFailedSignal) {
  this->Publish();
  Worker worker = this->Make(this->Options(), absl::UnavailableError("no route"));
  EXPECT_EQ(this->Run(worker.Poll())->failed, 1);
  EXPECT_THAT(this->LastSignal(),
              HasSubstr(R"("status":"failed","metadata":{"error_type":"UNAVAILABLE",)"
                        R"("error_message":"no route","retryable":true})"));
  EXPECT_EQ(this->Pending(), 0);
}

TYPED_TEST(WorkerTest, SkipsWhatIsConsumedAndDropsWhatIsNoToken) {
  this->Publish();
  this->Ask({"SADD", "applied:run_1", "consume:t1"});
  this->Ask({"XADD", "wf.tasks.http", "*", "token", "{}"});
  Worker worker = this->Make(this->Options());
  EXPECT_EQ(this->Run(worker.Poll())->skipped, 1);
  EXPECT_EQ(this->Run(worker.Poll())->unreadable, 1);
  EXPECT_TRUE(this->executed_.empty());
  EXPECT_EQ(this->Pending(), 0);
}

TYPED_TEST(WorkerTest, AnotherWorkerTakesOverWhatACrashedOneHad) {
  this->Publish();
  Worker first = this->Make(this->Options("w1"), store::NotSentError("crashed"));
  EXPECT_TRUE(absl::IsUnavailable(this->Run(first.Poll()).status()));
  Worker second = this->Make(this->Options("w2"));
  EXPECT_EQ(this->Run(second.Poll())->total(), 0);
  EXPECT_EQ(this->Run(second.Reclaim())->total(), 0);  // Not idle for long enough.
  this->Advance(absl::Seconds(61));
  EXPECT_EQ(this->Run(second.Reclaim())->executed, 1);
  EXPECT_EQ(this->Pending(), 0);
}

TYPED_TEST(WorkerTest, WhatIsDeliveredTooOftenFails) {
  this->Publish();
  Worker crashing = this->Make(this->Options("w1"), store::NotSentError("crashed"));
  (void)this->Run(crashing.Poll());
  for (int i = 0; i < 4; ++i) {
    this->Advance(absl::Seconds(61));
    EXPECT_TRUE(absl::IsUnavailable(this->Run(crashing.Reclaim()).status())) << i;
  }
  EXPECT_EQ(this->executed_.size(), 5u);
  this->Advance(absl::Seconds(61));
  EXPECT_EQ(this->Run(crashing.Reclaim())->dead_lettered, 1);
  EXPECT_THAT(this->LastSignal(), HasSubstr(R"("error_type":"dead_letter")"));
  EXPECT_EQ(this->Pending(), 0);
}

TYPED_TEST(WorkerTest, ReclaimsNothingWithoutAGroup) {
  Worker worker = this->Make(this->Options());
  EXPECT_EQ(this->Run(worker.Reclaim())->total(), 0);
}

TYPED_TEST(WorkerTest, CanRemoveWhatItAcknowledged) {
  this->Publish();
  WorkerOptions options = this->Options();
  options.delete_acknowledged = true;
  Worker worker = this->Make(options);
  ASSERT_TRUE(this->Run(worker.Poll()).ok());
  EXPECT_EQ(this->Ask({"XLEN", "wf.tasks.http"}), Reply::Integer(0));
}

TYPED_TEST(WorkerTest, PassesTheStoresErrorsOn) {
  for (size_t fail = 0; fail < 5; ++fail) {
    this->Publish();
    tests::InterceptedStore store(this->store());
    store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == fail) return store::NotSentError("gone");
      return std::nullopt;
    };
    Worker worker(store, *this->clock_, Keys(), this->Options(), this->Function(NodeResult()));
    absl::Status status = this->Run(worker.EnsureGroup());
    if (status.ok()) status = this->Run(worker.Poll()).status();
    EXPECT_TRUE(absl::IsUnavailable(status)) << fail;
  }
}

}  // namespace
}  // namespace redouble::orchestrator
