#include "redouble/core/orchestrator/approvals/approvals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "redouble/core/base/status/status_matchers.h"
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
using Outcome = CounterChange::Outcome;

template <typename Backend>
class ApprovalsTest : public OrchestratorTest<Backend> {
 protected:
  void SetUp() override {
    OrchestratorTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_ = std::make_unique<base::VirtualClock>(this->now());
    approvals_ = std::make_unique<Approvals>(this->store(), *clock_, this->keys());
    this->Ask({"SET", "counter:run_1", "1", "EX", "86400"});
    this->Ask(
        {"SET", "ir:run_1", R"({"nodes":{"ask":{"id":"ask","type":"hitl"}}})", "EX", "86400"});
  }

  Token ApprovalToken() {
    Token token;
    token.id = "t1";
    token.run_id = "run_1";
    token.to_node = "ask";
    return token;
  }
  ApprovalRequested Request(std::optional<absl::Duration> timeout = absl::Hours(2)) {
    ApprovalTerms terms;
    terms.approver = "manager@company.com";
    terms.timeout = timeout;
    terms.approval_id = "456";
    return this->Run(approvals_->Request(ApprovalToken(), terms)).value();
  }
  void Pass(absl::Duration duration) {
    this->Advance(duration);
    clock_->AdvanceTo(this->now());
  }

  std::unique_ptr<base::VirtualClock> clock_;
  std::unique_ptr<Approvals> approvals_;
};
TYPED_TEST_SUITE(ApprovalsTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ApprovalsTest, ARequestPausesTheRunOnce) {
  EXPECT_EQ(this->Request().outcome, Outcome::kApplied);
  EXPECT_EQ(this->Request().outcome, Outcome::kDuplicate);
  EXPECT_EQ(this->Value("counter:run_1"), "0");
  EXPECT_EQ(this->Ask({"SMEMBERS", "pending_approvals:run_1"}),
            Reply::Array({Reply::Bulk("approval_456")}));
  EXPECT_EQ(this->Ttl(this->ApprovalKey("456")), 86400);
  EXPECT_EQ(this->Ttl("counter:run_1"), 86400);
  const auto approval = this->Run(this->approvals_->Find("run_1", "456"));
  ASSERT_TRUE(approval.ok() && *approval);
  EXPECT_EQ((*approval)->status, ApprovalStatus::kPending);
  EXPECT_EQ((*approval)->approver, "manager@company.com");
}

TYPED_TEST(ApprovalsTest, AnIdIsMadeFromTheTokenUnlessItIsGiven) {
  const auto requested = this->Run(this->approvals_->Request(this->ApprovalToken(), {}));
  ASSERT_THAT(requested, IsOk());
  EXPECT_EQ(requested->approval_id.size(), 32u);
}

TYPED_TEST(ApprovalsTest, TheDecisionPushesASignal) {
  this->Request();
  DecisionDetails details;
  details.decided_by = "m";
  details.comment = "fine";
  EXPECT_THAT(this->Run(this->approvals_->Approve("run_1", "456", details)),
              IsOkAndHolds(DecisionOutcome::kDecided));
  EXPECT_THAT(this->Run(this->approvals_->Reject("run_1", "456")),
              IsOkAndHolds(DecisionOutcome::kNotPending));
  EXPECT_EQ(this->Value("counter:run_1"), "1");
  EXPECT_EQ(this->Ask({"LRANGE", "completion_signals", "0", "-1"}),
            Reply::Array({Reply::Bulk(
                R"({"version":"1.0","job_id":"approval_456","run_id":"run_1","node_id":"ask",)"
                R"("status":"completed","result_data":{"approved":true,"decision":"approved",)"
                R"("comment":"fine","decided_by":"m","decided_at":"2026-05-09T14:03:02Z"}})")}));
}

TYPED_TEST(ApprovalsTest, AnUnknownApprovalIsNotPending) {
  EXPECT_THAT(this->Run(this->approvals_->Approve("run_1", "404")),
              IsOkAndHolds(DecisionOutcome::kNotPending));
  EXPECT_EQ(this->Ask({"EXISTS", this->ApprovalKey("404")}), Reply::Integer(0));
  EXPECT_THAT(this->Run(this->approvals_->Find("run_1", "404")),
              IsOkAndHolds(::testing::Eq(std::nullopt)));
  EXPECT_THAT(this->Run(this->approvals_->Approve("run_1", "*")),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TYPED_TEST(ApprovalsTest, TimesOutAtItsMoment) {
  this->Request();
  this->Pass(absl::Hours(2) - absl::Seconds(1));
  EXPECT_THAT(this->Run(this->approvals_->DecideOverdue("run_1")), IsOkAndHolds(0));
  this->Pass(absl::Seconds(1));
  EXPECT_THAT(this->Run(this->approvals_->DecideOverdue("run_1")), IsOkAndHolds(1));
  EXPECT_THAT(this->Run(this->approvals_->Approve("run_1", "456")),
              IsOkAndHolds(DecisionOutcome::kNotPending));
  EXPECT_EQ(this->Ask({"HGET", this->ApprovalKey("456"), "status"}), Reply::Bulk("timeout"));
  EXPECT_THAT(this->Run(this->approvals_->DecideOverdue("run_1")), IsOkAndHolds(0));
}

// docs/systems/orchestrator.md H21: a late decision creates no key.
TYPED_TEST(ApprovalsTest, ADecisionBehindTheFailsafeIsCancelled) {
  this->Pass(absl::Hours(1));
  this->Request(std::nullopt);
  this->Pass(absl::Hours(23) + absl::Seconds(1));
  EXPECT_THAT(this->Run(this->approvals_->Approve("run_1", "456")),
              IsOkAndHolds(DecisionOutcome::kRunGone));
  EXPECT_EQ(this->Ask({"HGET", this->ApprovalKey("456"), "status"}), Reply::Bulk("cancelled"));
  for (const char* key : {"counter:run_1", "completion_signals"}) {
    EXPECT_EQ(this->Ask({"EXISTS", key}), Reply::Integer(0)) << key;
  }
}

TYPED_TEST(ApprovalsTest, ALongTimeoutKeepsTheRunAlive) {
  this->Request(absl::Hours(48));
  for (const char* key :
       {"counter:run_1", "ir:run_1", "applied:run_1", "pending_approvals:run_1"}) {
    EXPECT_EQ(this->Ttl(key), 72 * 3600) << key;
  }
  EXPECT_EQ(this->Ttl(this->ApprovalKey("456")), 49 * 3600);
  this->Pass(absl::Hours(48));
  EXPECT_THAT(this->Run(this->approvals_->DecideOverdue("run_1")), IsOkAndHolds(1));
}

TYPED_TEST(ApprovalsTest, PushesAgainWhatWasDecidedAndNotDelivered) {
  this->Request();
  ASSERT_THAT(this->Run(this->approvals_->Approve("run_1", "456")), IsOk());
  this->Ask({"DEL", "completion_signals"});
  EXPECT_THAT(this->Run(this->approvals_->PushUndelivered("run_1")), IsOkAndHolds(1));
  EXPECT_EQ(this->Ask({"LLEN", "completion_signals"}), Reply::Integer(1));
  this->Ask({"SADD", "applied:run_1", "consume:approval_456"});
  EXPECT_THAT(this->Run(this->approvals_->PushUndelivered("run_1")), IsOkAndHolds(0));
}

// docs/systems/orchestrator.md H27.
TYPED_TEST(ApprovalsTest, PushesAgainWhoDecidedAndTheComment) {
  Approvals approvals(this->store(), *this->clock_, this->keys(),
                      {.hardening = {.keep_decision_details = true}});
  this->Request();
  DecisionDetails details;
  details.decided_by = "m";
  details.comment = "fine";
  ASSERT_THAT(this->Run(approvals.Approve("run_1", "456", details)), IsOk());
  EXPECT_EQ(this->Ask({"HMGET", this->ApprovalKey("456"), "decided_by", "comment"}),
            Reply::Array({Reply::Bulk("m"), Reply::Bulk("fine")}));
  const Reply first = this->Ask({"LPOP", "completion_signals"});
  EXPECT_THAT(this->Run(this->approvals_->PushUndelivered("run_1")), IsOkAndHolds(1));
  EXPECT_EQ(this->Ask({"LPOP", "completion_signals"}), first);
}

TYPED_TEST(ApprovalsTest, StoresNoDetailsUnlessAsked) {
  this->Request();
  DecisionDetails details;
  details.decided_by = "m";
  ASSERT_THAT(this->Run(this->approvals_->Approve("run_1", "456", details)), IsOk());
  EXPECT_EQ(this->Ask({"HEXISTS", this->ApprovalKey("456"), "decided_by"}), Reply::Integer(0));
}

TYPED_TEST(ApprovalsTest, ExtendsTheRunByTheConfiguredTimeToLive) {
  constexpr absl::Duration kWeek = absl::Hours(24 * 7);
  Approvals approvals(this->store(), *this->clock_, this->keys(), {.run_ttl = kWeek});
  ApprovalTerms terms;
  terms.approval_id = "456";
  terms.timeout = absl::Hours(48);
  ASSERT_THAT(this->Run(approvals.Request(this->ApprovalToken(), terms)), IsOk());
  EXPECT_EQ(this->Ttl(this->ApprovalKey("456")), absl::ToInt64Seconds(kWeek));
  EXPECT_EQ(this->Ttl("counter:run_1"), absl::ToInt64Seconds(absl::Hours(48) + kWeek));
  EXPECT_EQ(this->Ttl("ir:run_1"), absl::ToInt64Seconds(absl::Hours(48) + kWeek));
}

TYPED_TEST(ApprovalsTest, ARequestOfARunThatIsGoneCreatesNoApproval) {
  this->Ask({"FLUSHALL"});
  EXPECT_EQ(this->Request().outcome, Outcome::kRunGone);
  Token joined = this->ApprovalToken();
  joined.id = "t1.k2";
  EXPECT_EQ(this->Run(this->approvals_->Request(joined, {})).value().outcome, Outcome::kRunGone);
  EXPECT_EQ(this->KeyCount(), 0);
}

// Each request of an operation fails in turn. The error is returned, and the effects of the failed
// attempts do not change the result of the last one.
TYPED_TEST(ApprovalsTest, PassesTheStoresErrorsOn) {
  const auto fails_each_time = [&](const std::function<absl::Status(Approvals&)>& operation) {
    for (size_t fail = 0; fail < 20; ++fail) {
      tests::InterceptedStore store(this->store());
      store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
        if (index == fail) return store::NotSentError("gone");
        return std::nullopt;
      };
      Approvals approvals(store, *this->clock_, this->keys());
      const absl::Status status = operation(approvals);
      if (store.requests() <= fail) {
        EXPECT_THAT(status, IsOk());
        EXPECT_GT(fail, 0u);
        return;
      }
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
    }
    FAIL() << "it never succeeds";
  };
  ApprovalTerms terms;
  terms.timeout = absl::Hours(48);
  terms.approval_id = "456";
  fails_each_time([&](Approvals& approvals) {
    return this->Run(approvals.Request(this->ApprovalToken(), terms)).status();
  });
  EXPECT_EQ(this->Value("counter:run_1"), "0");
  this->Pass(absl::Hours(48));
  fails_each_time(
      [&](Approvals& approvals) { return this->Run(approvals.DecideOverdue("run_1")).status(); });
  fails_each_time(
      [&](Approvals& approvals) { return this->Run(approvals.PushUndelivered("run_1")).status(); });
  EXPECT_EQ(this->Value("counter:run_1"), "1");
}

TYPED_TEST(ApprovalsTest, AnApprovalThatCannotBeReadIsAnError) {
  this->Request();
  this->Ask({"HSET", this->ApprovalKey("456"), "timeout_at", "soon"});
  EXPECT_THAT(this->Run(this->approvals_->Find("run_1", "456")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(this->approvals_->DecideOverdue("run_1")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(this->approvals_->DecideOverdue("*")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(this->approvals_->PushUndelivered("*")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(this->Value("counter:run_1"), "0");
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
