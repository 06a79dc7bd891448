#include "redouble/core/orchestrator/run/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/orchestrator/testing/orchestrator_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

template <typename Backend>
class WorkerTest : public OrchestratorTest<Backend> {
 protected:
  void SetUp() override {
    OrchestratorTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_ = std::make_unique<base::VirtualClock>(this->now());
    this->Ask({"SET", "counter:run_1", "1"});
  }

  void Publish(std::string_view id = "t1", std::string_view stream = "wf.tasks.http") {
    Token token;
    token.id = std::string(id);
    token.run_id = "run_1";
    token.to_node = "fetch";
    token.created_at = this->now();
    this->Ask({"XADD", stream, "*", "token", FormatToken(token).value(), "run_id", "run_1",
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
    return Worker(this->store(), *clock_, this->keys(), options, Function(result));
  }
  std::string LastSignal() { return this->Ask({"LINDEX", "completion_signals", "-1"}).text(); }
  std::string FirstPendingId() {
    return this->Ask({"XPENDING", "wf.tasks.http", "workers"}).elements()[1].text();
  }
  int64_t Pending() {
    return this->Ask({"XPENDING", "wf.tasks.http", "workers"}).elements()[0].integer();
  }

  std::unique_ptr<base::VirtualClock> clock_;
  std::vector<std::string> executed_;
};
TYPED_TEST_SUITE(WorkerTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(WorkerTest, ExecutesWhatWasPublishedBeforeTheGroupWas) {
  this->Publish();
  Worker worker = this->Make(this->Options(), NodeResult{R"({"a":1})", "cas://x"});
  EXPECT_EQ(this->Run(worker.Poll()).value().executed, 1);
  EXPECT_EQ(this->LastSignal(),
            R"({"version":"1.0","job_id":"t1","run_id":"run_1","node_id":"fetch",)"
            R"("status":"completed","result_data":{"a":1},"result_ref":"cas://x",)"
            R"("metadata":{"hop":0,"duration_ms":0}})");
  EXPECT_EQ(this->Pending(), 0);
  EXPECT_EQ(this->Run(worker.Poll()).value().total(), 0);
  EXPECT_THAT(this->Run(worker.EnsureGroup()), IsOk());
}

// A busy shard must not keep the tokens of another one waiting.
TYPED_TEST(WorkerTest, ReadsItsShardsInTurn) {
  const Keys keys(this->layout(), /*queue_shards=*/3);
  for (int i = 0; i < 4; ++i) this->Publish(absl::StrCat("a", i));
  this->Publish("b0", *keys.TaskStream("http", 1));
  this->Publish("c0", *keys.TaskStream("http", 2));
  this->Publish("c1", *keys.TaskStream("http", 2));
  Worker worker(this->store(), *this->clock_, keys, this->Options(), this->Function(NodeResult()));
  ASSERT_THAT(this->Run(worker.EnsureGroup()), IsOk());
  for (int i = 0; i < 7; ++i) EXPECT_EQ(this->Run(worker.Poll()).value().executed, 1);
  EXPECT_EQ(this->Run(worker.Poll()).value().total(), 0);
  EXPECT_THAT(this->executed_,
              ::testing::UnorderedElementsAre("a0", "a1", "a2", "a3", "b0", "c0", "c1"));
  // The first three are of three shards.
  EXPECT_THAT(std::vector<std::string>(this->executed_.begin(), this->executed_.begin() + 3),
              ::testing::UnorderedElementsAre("a0", "b0", "c0"));
  // The signals go to the shard of the run, wherever the token was.
  EXPECT_EQ(this->Ask({"LLEN", keys.CompletionSignals(keys.ShardOf("run_1"))}), Reply::Integer(7));
}

TYPED_TEST(WorkerTest, ReclaimsTheEntriesOfAllShards) {
  const Keys keys(this->layout(), /*queue_shards=*/3);
  std::vector<std::string> streams;
  for (int64_t shard = 0; shard < 3; ++shard) streams.push_back(*keys.TaskStream("http", shard));
  for (const std::string& stream : streams) {
    for (int i = 0; i < 2; ++i) this->Publish(absl::StrCat(stream, i), stream);
    this->Ask({"XGROUP", "CREATE", stream, "workers", "0"});
    this->Ask({"XREADGROUP", "GROUP", "workers", "crashed", "STREAMS", stream, ">"});
  }
  this->Advance(absl::Seconds(61));
  Worker worker(this->store(), *this->clock_, keys, this->Options(), this->Function(NodeResult()));
  EXPECT_EQ(this->Run(worker.Reclaim()).value().executed, 6);
  EXPECT_EQ(this->Run(worker.Reclaim()).value().total(), 0);
  for (const std::string& stream : streams) {
    EXPECT_EQ(this->Ask({"XPENDING", stream, "workers"}).elements()[0], Reply::Integer(0));
  }
}

// docs/systems/orchestrator.md D11: why EnsureGroup starts at 0 and not at `$`.
TYPED_TEST(WorkerTest, AGroupAtTheEndMissesEarlierEntries) {
  this->Publish();
  this->Ask({"XGROUP", "CREATE", "wf.tasks.http", "workers", "$"});
  Worker worker = this->Make(this->Options());
  EXPECT_EQ(this->Run(worker.Poll()).value().total(), 0);
}

TYPED_TEST(WorkerTest, SignalsBeforeItAcknowledges) {
  this->Publish();
  tests::InterceptedStore store(this->store());
  Worker worker(store, *this->clock_, this->keys(), this->Options(), this->Function(NodeResult()));
  ASSERT_THAT(this->Run(worker.EnsureGroup()), IsOk());
  ASSERT_THAT(this->Run(worker.Poll()), IsOk());
  EXPECT_THAT(store.log(), ElementsAre(StartsWith("XGROUP create"), StartsWith("XREADGROUP"),
                                       StartsWith("SISMEMBER"), StartsWith("EXISTS"),
                                       StartsWith("RPUSH"), StartsWith("XACK")));
}

// In the cluster layout the option is without effect (hardening.h).
TYPED_TEST(WorkerTest, SignalsAndAcknowledgesInOneStep) {
  if (this->in_cluster_layout()) return;
  this->Publish();
  tests::InterceptedStore store(this->store());
  WorkerOptions options = this->Options();
  options.hardening.atomic_hops = true;
  options.delete_acknowledged = true;
  Worker worker(store, *this->clock_, this->keys(), options, this->Function(NodeResult()));
  ASSERT_THAT(this->Run(worker.EnsureGroup()), IsOk());
  EXPECT_EQ(this->Run(worker.Poll()).value().executed, 1);
  // EVAL follows only if the server did not know the script.
  ASSERT_GE(store.log().size(), 5u);
  EXPECT_THAT(store.log()[4], StartsWith("EVALSHA"));
  EXPECT_EQ(this->Ask({"LLEN", "completion_signals"}), Reply::Integer(1));
  EXPECT_EQ(this->Pending(), 0);
  EXPECT_EQ(this->Ask({"XLEN", "wf.tasks.http"}), Reply::Integer(0));
}

// With the steps one by one, two signals would be pushed.
TYPED_TEST(WorkerTest, PushesNoSignalAfterAnotherWorkerHasClaimedTheEntry) {
  if (this->in_cluster_layout()) return;
  this->Publish();
  WorkerOptions options = this->Options();
  options.hardening.atomic_hops = true;
  Worker worker(
      this->store(), *this->clock_, this->keys(), options,
      [this](const Token&) -> base::Task<absl::StatusOr<NodeResult>> {
        this->Ask({"XCLAIM", "wf.tasks.http", "workers", "other", "0", this->FirstPendingId()});
        co_return NodeResult();
      });
  const WorkReport report = this->Run(worker.Poll()).value();
  EXPECT_EQ(report.lost, 1);
  EXPECT_EQ(report.total(), 1);
  EXPECT_EQ(this->Ask({"EXISTS", "completion_signals"}), Reply::Integer(0));
  EXPECT_EQ(this->Pending(), 1);
}

TYPED_TEST(WorkerTest, AnErrorBecomesAFailedSignal) {
  this->Publish();
  Worker worker = this->Make(this->Options(), absl::UnavailableError("no route"));
  EXPECT_EQ(this->Run(worker.Poll()).value().failed, 1);
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
  EXPECT_EQ(this->Run(worker.Poll()).value().skipped, 1);
  EXPECT_EQ(this->Run(worker.Poll()).value().unreadable, 1);
  EXPECT_TRUE(this->executed_.empty());
  EXPECT_EQ(this->Pending(), 0);
}

TYPED_TEST(WorkerTest, AnotherWorkerTakesOverWhatACrashedOneHad) {
  this->Publish();
  Worker first = this->Make(this->Options("w1"), store::NotSentError("crashed"));
  EXPECT_THAT(this->Run(first.Poll()), StatusIs(absl::StatusCode::kUnavailable));
  Worker second = this->Make(this->Options("w2"));
  EXPECT_EQ(this->Run(second.Poll()).value().total(), 0);
  EXPECT_EQ(this->Run(second.Reclaim()).value().total(), 0);  // Not idle for long enough.
  this->Advance(absl::Seconds(61));
  EXPECT_EQ(this->Run(second.Reclaim()).value().executed, 1);
  EXPECT_EQ(this->Pending(), 0);
}

TYPED_TEST(WorkerTest, ReachesIdleEntriesAfterManyFreshOnes) {
  constexpr int kFresh = 100;
  constexpr int kIdle = 11;
  for (int i = 0; i < kFresh + kIdle; ++i) this->Publish(absl::StrCat("t", i));
  this->Ask({"XGROUP", "CREATE", "wf.tasks.http", "workers", "0"});
  this->Ask({"XREADGROUP", "GROUP", "workers", "w1", "STREAMS", "wf.tasks.http", ">"});
  this->Advance(absl::Seconds(120));
  // The first entries are delivered again, so they are not idle.
  const Reply entries =
      this->Ask({"XRANGE", "wf.tasks.http", "-", "+", "COUNT", absl::StrCat(kFresh)});
  for (const Reply& entry : entries.elements()) {
    this->Ask({"XCLAIM", "wf.tasks.http", "workers", "w1", "0", entry.elements()[0].text()});
  }
  Worker worker = this->Make(this->Options("w2"));
  for (int i = 0; i < 5; ++i) ASSERT_THAT(this->Run(worker.Reclaim()), IsOk());
  EXPECT_EQ(this->executed_.size(), static_cast<size_t>(kIdle));
  EXPECT_EQ(this->Pending(), kFresh);
}

// The owner of an entry is the worker that claimed it last.
TYPED_TEST(WorkerTest, LeavesAnEntryThatAnotherWorkerClaimedMeanwhile) {
  this->Publish();
  Worker crashed = this->Make(this->Options("w1"), store::NotSentError("crashed"));
  (void)this->Run(crashed.Poll());
  this->Advance(absl::Seconds(61));
  this->executed_.clear();
  tests::InterceptedStore store(this->store());
  bool claimed = false;
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 1 && !claimed) {
      claimed = true;
      this->Ask({"XCLAIM", "wf.tasks.http", "workers", "w3", "0", this->FirstPendingId()});
    }
    return std::nullopt;
  };
  Worker worker(store, *this->clock_, this->keys(), this->Options("w2"),
                this->Function(NodeResult()));
  EXPECT_EQ(this->Run(worker.Reclaim()).value().total(), 0);
  EXPECT_THAT(this->executed_, ElementsAre());
  EXPECT_EQ(this->Pending(), 1);
}

// A result that the coordinators could not read would leave the run without a signal.
TYPED_TEST(WorkerTest, AResultThatIsNoObjectFailsTheNode) {
  for (const char* data : {"[1,2]", "7", "\"text\"", "{"}) {
    this->Publish(absl::StrCat("t", this->executed_.size()));
    Worker worker = this->Make(this->Options(), NodeResult{data, ""});
    EXPECT_EQ(this->Run(worker.Poll()).value().failed, 1) << data;
    EXPECT_THAT(this->LastSignal(), HasSubstr(R"("error_type":"INVALID_ARGUMENT")")) << data;
    EXPECT_THAT(ParseSignal(this->LastSignal()), IsOk()) << data;
    EXPECT_EQ(this->Pending(), 0) << data;
  }
}

TYPED_TEST(WorkerTest, ExecutesNothingOfARunThatHasEnded) {
  this->Publish();
  this->Publish("t2");
  this->Ask({"DEL", "counter:run_1"});
  Worker worker = this->Make(this->Options());
  EXPECT_EQ(this->Run(worker.Poll()).value().skipped, 1);
  this->Ask({"XREADGROUP", "GROUP", "workers", "w1", "STREAMS", "wf.tasks.http", ">"});
  this->Advance(absl::Seconds(61));
  EXPECT_EQ(this->Run(worker.Reclaim()).value().skipped, 1);
  EXPECT_TRUE(this->executed_.empty());
  EXPECT_EQ(this->Pending(), 0);
  EXPECT_EQ(this->Ask({"EXISTS", "completion_signals"}), Reply::Integer(0));
}

TYPED_TEST(WorkerTest, WhatIsDeliveredTooOftenFails) {
  this->Publish();
  Worker crashing = this->Make(this->Options("w1"), store::NotSentError("crashed"));
  (void)this->Run(crashing.Poll());
  for (int i = 0; i < 4; ++i) {
    this->Advance(absl::Seconds(61));
    EXPECT_THAT(this->Run(crashing.Reclaim()), StatusIs(absl::StatusCode::kUnavailable)) << i;
  }
  EXPECT_EQ(this->executed_.size(), 5u);
  this->Advance(absl::Seconds(61));
  EXPECT_EQ(this->Run(crashing.Reclaim()).value().dead_lettered, 1);
  EXPECT_THAT(this->LastSignal(), HasSubstr(R"("error_type":"dead_letter")"));
  EXPECT_EQ(this->Pending(), 0);
}

TYPED_TEST(WorkerTest, RepeatsARetryableErrorAsOftenAsTheTokenSays) {
  Token token;
  token.id = "t1";
  token.run_id = "run_1";
  token.to_node = "fetch";
  token.created_at = this->now();
  token.metadata_json = R"({"task":"x","retry":{"max_attempts":3}})";
  const std::string text = FormatToken(token).value();
  this->Ask({"XADD", "wf.tasks.http", "*", "token", text});
  Worker busy = this->Make(this->Options(), absl::ResourceExhaustedError("busy"));
  EXPECT_EQ(this->Run(busy.Poll()).value().failed, 1);
  EXPECT_THAT(this->executed_, ElementsAre("t1", "t1", "t1"));
  EXPECT_THAT(this->LastSignal(), HasSubstr(R"("retryable":true)"));
  this->executed_.clear();
  this->Ask({"XADD", "wf.tasks.http", "*", "token", text});
  Worker wrong = this->Make(this->Options(), absl::NotFoundError("no such page"));
  EXPECT_EQ(this->Run(wrong.Poll()).value().failed, 1);
  EXPECT_THAT(this->executed_, ElementsAre("t1"));
  EXPECT_THAT(this->LastSignal(), HasSubstr(R"("retryable":false)"));
}

TYPED_TEST(WorkerTest, ReclaimsNothingWithoutAGroup) {
  Worker worker = this->Make(this->Options());
  EXPECT_EQ(this->Run(worker.Reclaim()).value().total(), 0);
}

TYPED_TEST(WorkerTest, CanRemoveWhatItAcknowledged) {
  this->Publish();
  WorkerOptions options = this->Options();
  options.delete_acknowledged = true;
  Worker worker = this->Make(options);
  ASSERT_THAT(this->Run(worker.Poll()), IsOk());
  EXPECT_EQ(this->Ask({"XLEN", "wf.tasks.http"}), Reply::Integer(0));
}

TYPED_TEST(WorkerTest, DoesNotBlockUnlessForAPositiveTime) {
  for (const absl::Duration block : {absl::ZeroDuration(), -absl::Seconds(1)}) {
    tests::InterceptedStore store(this->store());
    store.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> { return Reply::Nil(); };
    WorkerOptions options = this->Options();
    options.block = block;
    Worker worker(store, *this->clock_, this->keys(), options, this->Function(NodeResult()));
    EXPECT_EQ(this->Run(worker.Poll()).value().total(), 0);
    EXPECT_THAT(store.log(), ::testing::ElementsAre(::testing::Not(::testing::HasSubstr("BLOCK"))));
  }
}

TYPED_TEST(WorkerTest, PassesTheStoresErrorsOn) {
  for (size_t fail = 0; fail < 5; ++fail) {
    this->Publish();
    tests::InterceptedStore store(this->store());
    store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == fail) return store::NotSentError("gone");
      return std::nullopt;
    };
    Worker worker(store, *this->clock_, this->keys(), this->Options(),
                  this->Function(NodeResult()));
    absl::Status status = this->Run(worker.EnsureGroup());
    if (status.ok()) status = this->Run(worker.Poll()).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable)) << fail;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
