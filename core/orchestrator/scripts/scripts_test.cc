#include "redouble/core/orchestrator/scripts/scripts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::StartsWith;
using Change = CounterChange::Outcome;

constexpr std::string_view kRun = "run_123";

// A run in the tagged form, started with one token and the TTL of 24 hours.
template <typename Backend>
class ScriptsTest : public tests::BackendTest<Backend> {
 protected:
  void StartRun(std::string_view tokens = "1") {
    this->Ask({"SET", counter_, tokens, "EX", "86400"});
    this->Ask({"SET", "ir:{run_123}", "{}", "EX", "86400"});
  }

  CounterChange Change(std::string_view op, int64_t delta) {
    return this->Run(ApplyDeltaGuarded(this->store(), keys_, {kRun, op, delta})).value();
  }
  PauseRequest Pause(std::string_view token_id = "t1") {
    PauseRequest request;
    request.token_id = token_id;
    request.approval_id = "456";
    request.approval.run_id = kRun;
    request.approval.node_id = "manager_approval";
    request.approval.timeout_at = this->now() + absl::Hours(2);
    return request;
  }
  CounterChange PauseRun(std::string_view token_id = "t1") {
    return this->Run(PauseForApproval(this->store(), keys_, Pause(token_id))).value();
  }
  Decision Decide(ApprovalStatus status) {
    return this->Run(DecideApproval(this->store(), keys_, {kRun, "456", status, this->now()}))
        .value();
  }
  Arrival Arrive(std::string_view predecessor, std::string_view token_id, int64_t needed = 2) {
    const ArrivalRequest request = {kRun, "D", predecessor, token_id, needed};
    return this->Run(ArriveAtJoin(this->store(), keys_, request)).value();
  }
  std::optional<FiredJoin> Quiesce() {
    const std::vector<std::string_view> joins = {"B", "D"};
    return this->Run(QuiesceJoins(this->store(), keys_, {kRun, joins})).value();
  }
  FinishOutcome Finish() {
    const std::vector<std::string_view> nodes = {"B", "D"};
    const std::vector<std::string_view> approvals = {"456"};
    return this->Run(FinishRun(this->store(), keys_, {kRun, nodes, approvals})).value().outcome;
  }
  bool Has(std::string_view key) { return this->Ask({"EXISTS", key}).integer() == 1; }

  const Keys keys_{store::KeyLayout::kCluster};
  const std::string counter_ = "counter:{run_123}";
  const std::string applied_ = "applied:{run_123}";
  const std::string pending_ = "pending_approvals:{run_123}";
  const std::string approval_ = "approval:{run_123}:456";
  const std::string join_ = "pending_tokens:{run_123}:D";
};
TYPED_TEST_SUITE(ScriptsTest, tests::Backends, tests::BackendNames);

TYPED_TEST(ScriptsTest, TheSeedsScriptAnswersAsDocumented) {
  const auto apply = [this](std::string_view op, int64_t delta) {
    return this->Run(ApplyDelta(this->store(), this->keys_, {kRun, op, delta})).value();
  };
  this->StartRun();
  EXPECT_EQ(apply("emit:t", 2), 3);
  EXPECT_EQ(apply("emit:t", 2), 0);  // A duplicate, which the caller cannot distinguish from 0.
  EXPECT_EQ(apply("consume:t", -3), 0);
  EXPECT_EQ(this->Ttl(this->counter_), 86400);
  EXPECT_EQ(this->Ttl(this->applied_), -1);
  this->Ask({"DEL", this->counter_, this->applied_});
  EXPECT_EQ(apply("late", -1), -1);  // A counter that never expires.
  EXPECT_EQ(this->Ttl(this->counter_), -1);
}

TYPED_TEST(ScriptsTest, TheSeedsScriptLosesADeltaThatFails) {
  this->Ask({"SET", this->counter_, "many"});
  const auto failed = this->Run(ApplyDelta(this->store(), this->keys_, {kRun, "op", 1}));
  EXPECT_THAT(std::string(failed.status().message()),
              StartsWith("ERR value is not an integer or out of range"));
  this->Ask({"SET", this->counter_, "1"});
  EXPECT_THAT(this->Run(ApplyDelta(this->store(), this->keys_, {kRun, "op", 1})), IsOkAndHolds(0));
  EXPECT_EQ(this->Value(this->counter_), "1");
}

TYPED_TEST(ScriptsTest, ADeltaIsAppliedOnce) {
  this->StartRun();
  EXPECT_EQ(this->Change("emit:t", 2), (CounterChange{Change::kApplied, 3}));
  EXPECT_EQ(this->Change("emit:t", 2), (CounterChange{Change::kDuplicate, 3}));
  EXPECT_EQ(this->Change("consume:t", -3), (CounterChange{Change::kApplied, 0}));
  EXPECT_EQ(this->Change("consume:t", -3), (CounterChange{Change::kDuplicate, 0}));
  EXPECT_EQ(this->Ttl(this->applied_), 86400);
  EXPECT_EQ(this->Ttl(this->counter_), 86400);
}

TYPED_TEST(ScriptsTest, ADeltaOfARunThatIsGoneLeavesNoKey) {
  EXPECT_EQ(this->Change("consume:t", -1), (CounterChange{Change::kRunGone, 0}));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(ScriptsTest, ADeltaBelowZeroIsRefusedAndNotRemembered) {
  this->StartRun();
  EXPECT_EQ(this->Change("consume:t", -2), (CounterChange{Change::kRefused, 1}));
  EXPECT_FALSE(this->Has(this->applied_));
  EXPECT_EQ(this->Change("consume:t", -1), (CounterChange{Change::kApplied, 0}));
}

TYPED_TEST(ScriptsTest, ADeltaThatFailsLeavesNoEffect) {
  this->Ask({"SET", this->counter_, "9223372036854775807"});
  auto failed = this->Run(ApplyDeltaGuarded(this->store(), this->keys_, {kRun, "op", 1}));
  EXPECT_EQ(store::ErrorKindOf(failed.status()), store::ErrorKind::kServer);
  EXPECT_FALSE(this->Has(this->applied_));
  this->Ask({"SET", this->counter_, "many"});
  failed = this->Run(ApplyDeltaGuarded(this->store(), this->keys_, {kRun, "op", 1}));
  EXPECT_THAT(failed, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_FALSE(this->Has(this->applied_));
  this->Ask({"SET", this->counter_, "1"});
  this->Ask({"SET", this->applied_, "text"});
  failed = this->Run(ApplyDeltaGuarded(this->store(), this->keys_, {kRun, "op", 1}));
  EXPECT_THAT(failed, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(this->Value(this->counter_), "1");
}

TYPED_TEST(ScriptsTest, IsOneRoundTripOnceTheServerKnowsTheScript) {
  this->StartRun();
  tests::InterceptedStore store(this->store());
  ASSERT_THAT(this->Run(ApplyDeltaGuarded(store, this->keys_, {kRun, "a", 1})), IsOk());
  EXPECT_EQ(store.requests(), 2u);
  ASSERT_THAT(this->Run(ApplyDeltaGuarded(store, this->keys_, {kRun, "b", 1})), IsOk());
  EXPECT_EQ(store.requests(), 3u);
  EXPECT_THAT(store.log().back(), StartsWith("EVALSHA "));
}

TYPED_TEST(ScriptsTest, APauseTradesATokenForAnApproval) {
  this->StartRun();
  EXPECT_EQ(this->PauseRun(), (CounterChange{Change::kApplied, 0}));
  EXPECT_EQ(this->Ask({"SMEMBERS", this->pending_}), Reply::Array({Reply::Bulk("approval_456")}));
  EXPECT_EQ(this->Ask({"HMGET", this->approval_, "run_id", "node_id", "status", "timeout_at"}),
            Reply::Array({Reply::Bulk("run_123"), Reply::Bulk("manager_approval"),
                          Reply::Bulk("pending"), Reply::Bulk("2026-05-09T16:03:02Z")}));
  for (const std::string& key : {this->applied_, this->pending_, this->approval_}) {
    EXPECT_EQ(this->Ttl(key), 86400) << key;
  }
  EXPECT_EQ(this->Finish(), FinishOutcome::kNotFinished);
}

TYPED_TEST(ScriptsTest, ARepeatedPauseChangesNothing) {
  this->StartRun("2");
  EXPECT_EQ(this->PauseRun(), (CounterChange{Change::kApplied, 1}));
  this->Decide(ApprovalStatus::kApproved);
  EXPECT_EQ(this->PauseRun(), (CounterChange{Change::kDuplicate, 2}));
  EXPECT_FALSE(this->Has(this->pending_));
  EXPECT_EQ(this->Ask({"HGET", this->approval_, "status"}), Reply::Bulk("approved"));
}

TYPED_TEST(ScriptsTest, APauseWithoutATokenOrARunTouchesNothing) {
  EXPECT_EQ(this->PauseRun(), (CounterChange{Change::kRunGone, 0}));
  EXPECT_EQ(this->KeyCount(), 0);
  this->Ask({"SET", this->counter_, "0"});
  EXPECT_EQ(this->PauseRun(), (CounterChange{Change::kRefused, 0}));
  EXPECT_EQ(this->KeyCount(), 1);
}

TYPED_TEST(ScriptsTest, APauseThatFailsLeavesNoEffect) {
  this->StartRun();
  for (const std::string& key : {this->pending_, this->approval_}) {
    this->Ask({"SET", key, "text"});
    const auto failed = this->Run(PauseForApproval(this->store(), this->keys_, this->Pause()));
    EXPECT_THAT(failed, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_EQ(this->Value(this->counter_), "1");
    EXPECT_FALSE(this->Has(this->applied_));
    this->Ask({"DEL", key});
  }
}

TYPED_TEST(ScriptsTest, TheFirstDecisionWins) {
  this->StartRun();
  this->PauseRun();
  EXPECT_EQ(this->Decide(ApprovalStatus::kApproved), (Decision{Decision::Outcome::kDecided, 1}));
  EXPECT_EQ(this->Decide(ApprovalStatus::kTimeout), (Decision{Decision::Outcome::kNotPending, 0}));
  EXPECT_EQ(this->Value(this->counter_), "1");
  EXPECT_FALSE(this->Has(this->pending_));
  EXPECT_EQ(this->Ask({"HMGET", this->approval_, "status", "decided_at"}),
            Reply::Array({Reply::Bulk("approved"), Reply::Bulk("2026-05-09T14:03:02Z")}));
  EXPECT_EQ(this->Change("resume:approval_456", 1).outcome, Change::kDuplicate);
}

TYPED_TEST(ScriptsTest, ADecisionOnAnUnknownApprovalCreatesNothing) {
  EXPECT_EQ(this->Decide(ApprovalStatus::kRejected).outcome, Decision::Outcome::kNotPending);
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(ScriptsTest, ADecisionThatOutlivedItsRunIsRefused) {
  this->StartRun();
  this->PauseRun();
  this->Ask({"DEL", this->counter_});
  EXPECT_EQ(this->Decide(ApprovalStatus::kApproved), (Decision{Decision::Outcome::kRunGone, 0}));
  EXPECT_FALSE(this->Has(this->counter_));
  EXPECT_EQ(this->Ask({"HGET", this->approval_, "status"}), Reply::Bulk("pending"));
}

TYPED_TEST(ScriptsTest, ADecisionMustDecide) {
  const DecisionRequest request = {kRun, "456", ApprovalStatus::kPending, this->now()};
  tests::InterceptedStore store(this->store());
  EXPECT_THAT(this->Run(DecideApproval(store, this->keys_, request)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(ScriptsTest, TheLastArrivalFiresTheJoinEvenWhenItComesAgain) {
  using Outcome = Arrival::Outcome;

  this->StartRun();
  this->Change("emit:t0", 2);
  EXPECT_EQ(this->Arrive("B", "t1"), (Arrival{Outcome::kParked, 1, false}));
  EXPECT_EQ(this->Ttl(this->join_), 86400);
  EXPECT_EQ(this->Arrive("B", "t1"), (Arrival{Outcome::kDuplicate, 1, false}));
  EXPECT_EQ(this->Arrive("B", "t9"), (Arrival{Outcome::kPredecessorTwice, 1, false}));
  EXPECT_EQ(this->Arrive("C", "t2"), (Arrival{Outcome::kParked, 2, true}));
  EXPECT_FALSE(this->Has(this->join_));
  EXPECT_EQ(this->Arrive("C", "t2"), (Arrival{Outcome::kDuplicate, 2, true}));
  EXPECT_EQ(this->Arrive("B", "t1"), (Arrival{Outcome::kDuplicate, 0, false}));
}

TYPED_TEST(ScriptsTest, AnArrivalInARunThatIsGoneLeavesNoKey) {
  EXPECT_EQ(this->Arrive("B", "t1"), (Arrival{Arrival::Outcome::kRunGone, 0, false}));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(ScriptsTest, AJoinNeedsAPredecessor) {
  const ArrivalRequest request = {kRun, "D", "B", "t1", 0};
  EXPECT_THAT(this->Run(ArriveAtJoin(this->store(), this->keys_, request)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TYPED_TEST(ScriptsTest, QuiescenceFiresAJoinThatNothingElseCanReach) {
  this->StartRun();
  EXPECT_EQ(this->Quiesce(), std::nullopt);
  this->Change("emit:t0", 1);
  this->Arrive("B", "t1");
  EXPECT_EQ(this->Quiesce(), std::nullopt);  // A token is still in flight.
  this->Change("consume:t0", -1);
  EXPECT_EQ(this->Quiesce(), (FiredJoin{1, 1, "join:D:quiesce"}));
  EXPECT_EQ(this->Quiesce(), std::nullopt);
  EXPECT_EQ(this->Ask({"SISMEMBER", this->applied_, "fire:D:quiesce"}), Reply::Integer(1));
}

TYPED_TEST(ScriptsTest, QuiescenceWaitsForApprovals) {
  this->StartRun("2");
  this->PauseRun();
  this->Arrive("B", "t2");
  EXPECT_EQ(this->Quiesce(), std::nullopt);
  this->Decide(ApprovalStatus::kApproved);
  this->Change("consume:approval_456", -1);
  EXPECT_EQ(this->Quiesce(), (FiredJoin{1, 1, "join:D:quiesce"}));
}

TYPED_TEST(ScriptsTest, QuiescenceOfARunWithoutJoinsIsNothing) {
  this->StartRun();
  EXPECT_THAT(this->Run(QuiesceJoins(this->store(), this->keys_, {kRun, {}})),
              IsOkAndHolds(::testing::Eq(std::nullopt)));
}

TYPED_TEST(ScriptsTest, OneOfTwoFinishersDeletesTheRun) {
  this->StartRun();
  this->PauseRun();
  this->Decide(ApprovalStatus::kApproved);
  this->Ask({"HSET", "context:{run_123}", "fetch:output", "cas://x"});
  this->Ask({"HSET", "loop:{run_123}:B", "current_iteration", "1"});
  this->Ask({"SET", "ir:{run_12}", "another run's"});
  EXPECT_EQ(this->Finish(), FinishOutcome::kNotFinished);
  this->Change("consume:approval_456", -1);
  const std::vector<std::string_view> nodes = {"B"};
  const std::vector<std::string_view> approvals = {"456"};
  EXPECT_THAT(this->Run(FinishRun(this->store(), this->keys_, {kRun, nodes, approvals})),
              IsOkAndHolds(Finish{FinishOutcome::kFinished, {{"fetch:output", "cas://x"}}}));
  EXPECT_EQ(this->Finish(), FinishOutcome::kRunGone);
  EXPECT_EQ(this->Ask({"KEYS", "*"}), Reply::Array({Reply::Bulk("ir:{run_12}")}));
}

TYPED_TEST(ScriptsTest, ALargeRunIsDeletedWhole) {
  this->Ask({"SET", this->counter_, "0"});
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i) names.push_back("n" + std::to_string(i));
  const std::vector<std::string_view> nodes(names.begin(), names.end());
  this->Ask({"SADD", "pending_tokens:{run_123}:n4999", "x"});
  EXPECT_THAT(this->Run(FinishRun(this->store(), this->keys_, {kRun, nodes, {}})),
              IsOkAndHolds(Finish{FinishOutcome::kFinished}));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(ScriptsTest, AnIdThatIsNoneIsRefusedBeforeAnythingIsSent) {
  tests::InterceptedStore store(this->store());
  const Keys& keys = this->keys_;
  const std::vector<std::string_view> bad = {"a:b"};
  PauseRequest pause = this->Pause();
  pause.approval_id = "4 5";
  const ArrivalRequest arrival = {kRun, "D*", "B", "t", 1};
  const DecisionRequest decision = {"", "456", ApprovalStatus::kApproved, this->now()};
  for (const absl::Status& status :
       {this->Run(ApplyDelta(store, keys, {"{x}", "op", 1})).status(),
        this->Run(ApplyDeltaGuarded(store, keys, {"a:b", "op", 1})).status(),
        this->Run(PauseForApproval(store, keys, pause)).status(),
        this->Run(DecideApproval(store, keys, decision)).status(),
        this->Run(ArriveAtJoin(store, keys, arrival)).status(),
        this->Run(QuiesceJoins(store, keys, {kRun, bad})).status(),
        this->Run(FinishRun(store, keys, {kRun, bad, {}})).status(),
        this->Run(FinishRun(store, keys, {kRun, {}, bad})).status()}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(ScriptsTest, AnAnswerOfAnotherShapeIsAProtocolError) {
  tests::InterceptedStore store(this->store());
  const Keys& keys = this->keys_;
  const ArrivalRequest arrival = {kRun, "D", "B", "t", 1};
  const DecisionRequest decision = {kRun, "456", ApprovalStatus::kApproved, this->now()};
  const std::vector<std::string_view> joins = {"D"};
  for (const Reply& answer :
       {Reply::Bulk("x"), Reply::Integer(7), Reply::Array({Reply::Integer(1)}),
        Reply::Array({Reply::Integer(7), Reply::Integer(0)}),
        Reply::Array({Reply::Integer(7), Reply::Array({})}),
        Reply::Array({Reply::Integer(7), Reply::Integer(0), Reply::Integer(0)}),
        Reply::Array({Reply::Nil(), Reply::Nil()})}) {
    store.on_request = [&](size_t) { return std::optional<absl::StatusOr<Reply>>(answer); };
    for (const absl::Status& status :
         {this->Run(ApplyDeltaGuarded(store, keys, {kRun, "op", 1})).status(),
          this->Run(PauseForApproval(store, keys, this->Pause())).status(),
          this->Run(DecideApproval(store, keys, decision)).status(),
          this->Run(ArriveAtJoin(store, keys, arrival)).status(),
          this->Run(QuiesceJoins(store, keys, {kRun, joins})).status(),
          this->Run(FinishRun(store, keys, {kRun, {}, {}})).status()}) {
      EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kProtocol) << answer << status;
    }
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
