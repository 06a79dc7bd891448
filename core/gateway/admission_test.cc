#include "redouble/core/gateway/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "redouble/backends/testing/layout_backends.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/gateway/errors.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::gateway {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Reply;
using ::testing::ElementsAre;
using tests::InterceptedStore;
using Outcome = AdmissionDecision::Outcome;
using Action = SettlementReport::Action;

constexpr std::string_view kKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";

template <typename Backend>
class AdmissionTest : public tests::LayoutTest<Backend> {
 protected:
  AdmissionRequest Arriving(std::string_view request_id = "req-1") const {
    AdmissionRequest request;
    request.request = {kKey, request_id};
    request.now = this->now();
    return request;
  }
  Settlement Over(bool reserved, std::optional<double> final_cost_usd,
                  bool completed = true) const {
    Settlement settlement;
    settlement.request = {kKey, "req-1"};
    settlement.reserved = reserved;
    settlement.completed = completed;
    settlement.final_cost_usd = final_cost_usd;
    settlement.now = this->now();
    return settlement;
  }

  AdmissionDecision Admit(const AdmissionRequest& request) {
    AdmissionControl admission(this->store(), {}, this->keys_);
    const auto decision = this->Run(admission.Admit(request));
    EXPECT_THAT(decision, IsOk());
    return decision.value_or(AdmissionDecision());
  }
  Action Settle(const Settlement& settlement) {
    AdmissionControl admission(this->store(), {}, this->keys_);
    const SettlementReport report = this->Run(admission.Settle(settlement));
    EXPECT_THAT(report.status, IsOk());
    return report.action;
  }

  const Keys keys_{this->layout()};
  const std::string rate_ = "rl:req:" + this->Tag(kKey) + ":202605091403";
  const std::string daily_ = "budget:daily:" + this->Tag(kKey) + ":20260509";
  const std::string monthly_ = "budget:monthly:" + this->Tag(kKey) + ":202605";
  const std::string held_ = "budget:reservation:" + this->Tag(kKey) + ":req-1";
};
TYPED_TEST_SUITE(AdmissionTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(AdmissionTest, AsksNothingForAPolicyWithoutLimits) {
  InterceptedStore store(this->store());
  AdmissionControl admission(store, {}, this->keys_);
  const auto decision = this->Run(admission.Admit(this->Arriving()));
  ASSERT_THAT(decision, IsOk());
  EXPECT_EQ(decision->outcome, Outcome::kAdmitted);
  EXPECT_EQ(decision->refusal(), std::nullopt);
  EXPECT_FALSE(decision->reserved);
  EXPECT_TRUE(store.log().empty());
}

TYPED_TEST(AdmissionTest, CountsThenChecksThenReserves) {
  AdmissionRequest request = this->Arriving();
  request.rpm_limit = 60;
  request.budget = {10.0, 100.0};
  request.estimated_cost_usd = 0.5;
  InterceptedStore store(this->store());
  AdmissionControl admission(store, {}, this->keys_);
  const auto decision = this->Run(admission.Admit(request));
  ASSERT_THAT(decision, IsOk());
  EXPECT_EQ(decision->outcome, Outcome::kAdmitted);
  EXPECT_TRUE(decision->reserved);
  EXPECT_EQ(decision->rate.count, 1);
  EXPECT_EQ(decision->budget.daily_spend_usd, 0);
  EXPECT_EQ(store.requests(), 4u);
  EXPECT_THAT(
      store.log(),
      ElementsAre("MULTI", "INCR " + this->rate_, "EXPIRE " + this->rate_ + " 70", "EXEC",
                  "GET " + this->daily_, "GET " + this->monthly_, "MULTI",
                  "SET " + this->held_ + " 0.5|" + this->daily_ + "|" + this->monthly_ + " EX 3600",
                  "INCRBYFLOAT " + this->daily_ + " 0.5", "EXPIRE " + this->daily_ + " 172800",
                  "INCRBYFLOAT " + this->monthly_ + " 0.5", "EXPIRE " + this->monthly_ + " 5356800",
                  "EXEC"));
}

TYPED_TEST(AdmissionTest, RefusesBeyondTheRateLimitBeforeItLooksAtTheBudget) {
  AdmissionRequest request = this->Arriving();
  request.rpm_limit = 0;
  request.budget = {0.0, 0.0};
  const AdmissionDecision decision = this->Admit(request);
  EXPECT_EQ(decision.outcome, Outcome::kRateLimitExceeded);
  const std::optional<Refusal> refusal = decision.refusal();
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->http_status, 429);
  EXPECT_EQ(refusal->code, "rate_limit_exceeded");
  EXPECT_EQ(refusal->retry_after_seconds, 70);
}

TYPED_TEST(AdmissionTest, RefusesBeyondTheBudgetWithTheRequestCounted) {
  AdmissionRequest request = this->Arriving();
  request.rpm_limit = 5;
  request.budget.daily_usd = 0.0;
  request.estimated_cost_usd = 0.5;
  const AdmissionDecision decision = this->Admit(request);
  EXPECT_EQ(decision.outcome, Outcome::kBudgetExceeded);
  EXPECT_EQ(decision.refusal()->http_status, 402);
  EXPECT_EQ(decision.refusal()->code, "budget_exceeded");
  EXPECT_EQ(decision.refusal()->retry_after_seconds, std::nullopt);
  EXPECT_FALSE(decision.reserved);
  EXPECT_EQ(this->Value(this->rate_), "1");
  EXPECT_EQ(this->KeyCount(), 1);
}

TYPED_TEST(AdmissionTest, IgnoresTheEstimateWhenItChecksTheBudget) {
  AdmissionRequest request = this->Arriving();
  request.budget.daily_usd = 1.0;
  request.estimated_cost_usd = 100.0;
  EXPECT_EQ(this->Admit(request).outcome, Outcome::kAdmitted);
  EXPECT_EQ(this->Admit(request).outcome, Outcome::kBudgetExceeded);
  EXPECT_EQ(this->Value(this->daily_), "100");
}

TYPED_TEST(AdmissionTest, RefusesWhenRedisCannotAnswer) {
  AdmissionRequest request = this->Arriving();
  request.rpm_limit = 5;
  request.budget.daily_usd = 1.0;
  request.estimated_cost_usd = 0.5;
  this->Ask({"SET", this->rate_, "abc"});
  const AdmissionDecision at_rate = this->Admit(request);
  EXPECT_EQ(at_rate.outcome, Outcome::kControlStateUnavailable);
  EXPECT_EQ(at_rate.refusal()->http_status, 503);
  EXPECT_EQ(at_rate.refusal()->code, "control_state_unavailable");
  EXPECT_TRUE(IsControlStateUnavailable(at_rate.error));

  this->Ask({"DEL", this->rate_});
  this->Ask({"SET", this->daily_, "abc"});
  const AdmissionDecision at_reservation = this->Admit(request);
  EXPECT_EQ(at_reservation.outcome, Outcome::kControlStateUnavailable);
  EXPECT_FALSE(at_reservation.reserved);
  EXPECT_EQ(at_reservation.rate.count, 1);
  EXPECT_EQ(this->Value(this->monthly_), "0.5") << "charged although refused";
}

TYPED_TEST(AdmissionTest, CallsAnEstimateOfNothingReservedToo) {
  AdmissionRequest request = this->Arriving();
  request.estimated_cost_usd = 0.0;
  EXPECT_TRUE(this->Admit(request).reserved);
  EXPECT_EQ(this->KeyCount(), 0);
  EXPECT_EQ(this->Settle(this->Over(true, 0.0)), Action::kReconciled);
  EXPECT_EQ(this->Value(this->daily_), "0");
  EXPECT_EQ(this->Ttl(this->daily_), -1) << "an immortal counter";
}

TYPED_TEST(AdmissionTest, SettlesByWhatIsKnown) {
  AdmissionRequest request = this->Arriving();
  request.estimated_cost_usd = 0.5;
  ASSERT_TRUE(this->Admit(request).reserved);
  EXPECT_EQ(this->Settle(this->Over(true, 0.75)), Action::kReconciled);
  EXPECT_EQ(this->Value(this->daily_), "0.75");

  ASSERT_TRUE(this->Admit(request).reserved);
  EXPECT_EQ(this->Settle(this->Over(true, std::nullopt)), Action::kReleased);
  EXPECT_EQ(this->Value(this->daily_), "0.75");

  ASSERT_TRUE(this->Admit(request).reserved);
  EXPECT_EQ(this->Settle(this->Over(true, 9.0, /*completed=*/false)), Action::kReleased);
  EXPECT_EQ(this->Value(this->daily_), "0.75");

  EXPECT_EQ(this->Settle(this->Over(false, 0.25)), Action::kSpendAdded);
  EXPECT_EQ(this->Value(this->daily_), "1");

  EXPECT_EQ(this->Settle(this->Over(false, std::nullopt)), Action::kNothing);
  EXPECT_EQ(this->Settle(this->Over(false, 9.0, /*completed=*/false)), Action::kNothing);
  EXPECT_EQ(this->Value(this->daily_), "1");
}

TYPED_TEST(AdmissionTest, SettlesAtTheTimeOfItsEnd) {
  EXPECT_EQ(this->Settle(this->Over(false, 0.25)), Action::kSpendAdded);
  this->Advance(absl::Hours(10));
  EXPECT_EQ(this->Settle(this->Over(false, 0.5)), Action::kSpendAdded);
  EXPECT_EQ(this->Value(this->daily_), "0.25");
  EXPECT_EQ(this->Value(this->monthly_), "0.75");
}

TYPED_TEST(AdmissionTest, ReportsASettlementThatFailed) {
  this->Ask({"SET", this->daily_, "abc"});
  AdmissionControl admission(this->store(), {}, this->keys_);
  for (const auto& [settlement, action] :
       {std::pair(this->Over(true, 1.0), Action::kReconciled),
        std::pair(this->Over(false, 1.0), Action::kSpendAdded),
        std::pair(this->Over(true, std::nullopt), Action::kReleased)}) {
    const SettlementReport report = this->Run(admission.Settle(settlement));
    EXPECT_EQ(report.action, action);
    EXPECT_TRUE(IsControlStateUnavailable(report.status)) << report.status;
  }
}

TYPED_TEST(AdmissionTest, FailsOnAKeyIdThatIsNoUuid) {
  AdmissionRequest request = this->Arriving();
  request.request.key_id = "sk-live-1";
  AdmissionControl admission(this->store(), {}, this->keys_);
  EXPECT_THAT(this->Run(admission.Admit(request)), StatusIs(absl::StatusCode::kInvalidArgument));
  Settlement settlement = this->Over(true, 1.0);
  settlement.request.key_id = "sk-live-1";
  EXPECT_THAT(this->Run(admission.Settle(settlement)).status,
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TYPED_TEST(AdmissionTest, PassesItsOptionsOn) {
  Hardening hardening;
  hardening.heal_counter_ttl = true;
  AdmissionControl admission(this->store(), hardening, this->keys_);
  EXPECT_THAT(this->Run(admission.Settle(this->Over(true, 1.0))).status, IsOk());
  EXPECT_EQ(this->Ttl(this->daily_), 172800);
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
