#include "redouble/core/gateway/app/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "redouble/backends/testing/layout_backends.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::gateway {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Reply;
using ::testing::HasSubstr;
using Outcome = AdmissionDecision::Outcome;

constexpr std::string_view kKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";

template <typename Backend>
class AdmissionFacadeTest : public tests::LayoutTest<Backend> {
 protected:
  void SetUp() override {
    tests::BackendTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_ = std::make_unique<base::VirtualClock>(this->now());
    intercepted_ = std::make_unique<tests::InterceptedStore>(this->store());
    admission_ = Make({.sweep_interval = absl::Seconds(60), .abandoned_after = absl::Minutes(10)});
  }

  std::unique_ptr<Admission> Make(AdmissionSettings settings) {
    settings.key_layout = this->layout();
    auto admission = Admission::Create(*intercepted_, *clock_, settings);
    EXPECT_TRUE(admission.ok()) << admission.status();
    return admission.ok() ? *std::move(admission) : nullptr;
  }
  AdmissionRequest Arriving(std::string_view request_id = "req-1") {
    AdmissionRequest request;
    request.request = {kKey, request_id};
    return request;
  }
  AdmissionDecision Admit(const AdmissionRequest& request) {
    const auto decision = this->Run(admission_->Admit(request));
    EXPECT_THAT(decision, IsOk());
    return decision.value_or(AdmissionDecision());
  }
  void Pass(absl::Duration time) {
    clock_->Advance(time);
    this->AdvanceTo(clock_->Now());
  }
  int64_t Admitted(Outcome outcome) {
    return admission_->metrics().admissions[static_cast<size_t>(outcome)];
  }

  std::unique_ptr<base::VirtualClock> clock_;
  std::unique_ptr<tests::InterceptedStore> intercepted_;
  std::unique_ptr<Admission> admission_;
};
TYPED_TEST_SUITE(AdmissionFacadeTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(AdmissionFacadeTest, AdmitsAndSettlesAtTheTimeOfItsClock) {
  AdmissionRequest request = this->Arriving();
  request.rpm_limit = 5;
  request.budget.daily_usd = 10;
  request.estimated_cost_usd = 0.5;
  const AdmissionDecision decision = this->Admit(request);
  EXPECT_EQ(decision.outcome, Outcome::kAdmitted);
  EXPECT_EQ(RefusalResponse(decision, "req-1"), std::nullopt);
  Settlement end;
  end.request = request.request;
  end.reserved = decision.reserved;
  end.final_cost_usd = 0.75;
  EXPECT_THAT(this->Run(this->admission_->Settle(end)).status, IsOk());
  const auto spend = this->Run(this->admission_->ReadSpend(kKey));
  ASSERT_THAT(spend, IsOk());
  EXPECT_EQ(spend->daily.usd, 0.75);
  EXPECT_EQ(spend->monthly.usd, 0.75);
}

TYPED_TEST(AdmissionFacadeTest, ARefusalIsTheDocumentedResponse) {
  AdmissionRequest request = this->Arriving("req \"1\"\n\xff");
  request.rpm_limit = 0;
  EXPECT_EQ(RefusalResponse(this->Admit(request), request.request.request_id)->body,
            "{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"the request rate limit of "
            "the key is exceeded\",\"request_id\":\"req \\\"1\\\"\\n\xEF\xBF\xBD\","
            "\"retry_after_seconds\":70}}");
  request = this->Arriving();
  request.budget.daily_usd = 0;
  const auto budget = RefusalResponse(this->Admit(request), "req-1");
  EXPECT_EQ(budget,
            (HttpResponse{402, R"({"error":{"code":"budget_exceeded","message":"the budget of )"
                               R"(the key is exceeded","request_id":"req-1"}})"}));
}

// The order of later releases: request rate, token rate, budget.
TYPED_TEST(AdmissionFacadeTest, CountsTokensBetweenTheRequestsAndTheBudget) {
  AdmissionRequest request = this->Arriving();
  request.rpm_limit = 9;
  request.tpm_limit = 1000;
  request.tokens = 600;
  request.budget.daily_usd = 0;
  EXPECT_EQ(this->Admit(request).outcome, Outcome::kBudgetExceeded);
  const AdmissionDecision second = this->Admit(request);
  EXPECT_EQ(second.outcome, Outcome::kTokenRateLimitExceeded);
  EXPECT_EQ(second.rate.count, 2);
  EXPECT_EQ(second.token_rate.count, 1200);
  const auto response = RefusalResponse(second, "req-1");
  EXPECT_EQ(response->status, 429);
  EXPECT_THAT(response->body, HasSubstr(R"("code":"token_rate_limit_exceeded")"));
  EXPECT_THAT(response->body, HasSubstr(R"("retry_after_seconds":70)"));
  const std::string key = "rl:tpm:" + this->Tag(kKey) + ":202605091403";
  EXPECT_EQ(this->Value(key), "1200");
  EXPECT_EQ(this->Ttl(key), 70);
  // Without a limit, or without tokens, nothing is counted.
  request.tokens = 0;
  EXPECT_EQ(this->Admit(request).token_rate.count, 0);
  request.tokens = 5;
  request.tpm_limit.reset();
  EXPECT_EQ(this->Admit(request).token_rate.count, 0);
  EXPECT_EQ(this->Value(key), "1200");
}

TYPED_TEST(AdmissionFacadeTest, CorrectsTheSpendOfAKey) {
  EXPECT_THAT(this->Run(this->admission_->SetSpend(kKey, {.daily_usd = 3, .monthly_usd = 30})),
              IsOk());
  EXPECT_THAT(this->Run(this->admission_->AdjustSpend(kKey, -1)), IsOk());
  const auto spend = this->Run(this->admission_->ReadSpend(kKey));
  ASSERT_THAT(spend, IsOk());
  EXPECT_EQ(spend->daily.usd, 2);
  EXPECT_EQ(spend->monthly.usd, 29);
}

TYPED_TEST(AdmissionFacadeTest, TheLoopReleasesAbandonedReservations) {
  AdmissionRequest request = this->Arriving();
  request.estimated_cost_usd = 0.5;
  this->Admit(request);
  base::Task<void> loop = this->admission_->SweepLoop();
  loop.Start();
  this->intercepted_->on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return store::NotSentError("unplugged");
  };
  this->Pass(absl::Seconds(60));
  this->intercepted_->on_request = nullptr;
  for (int i = 0; i < 10; ++i) this->Pass(absl::Seconds(60));
  const AdmissionMetrics& metrics = this->admission_->metrics();
  EXPECT_EQ(metrics.failed_sweeps, 1);
  EXPECT_EQ(metrics.sweeps, 10);
  EXPECT_EQ(metrics.released_reservations, 1);
  EXPECT_EQ(metrics.released_usd, 0.5);
  const auto spend = this->Run(this->admission_->ReadSpend(kKey));
  ASSERT_THAT(spend, IsOk());
  EXPECT_EQ(spend->daily.text, "0");
  EXPECT_FALSE(loop.done());
}

TYPED_TEST(AdmissionFacadeTest, SweepsNothingUnlessAsked) {
  this->admission_ = this->Make({});
  base::Task<void> loop = this->admission_->SweepLoop();
  loop.Start();
  EXPECT_TRUE(loop.done());
}

TYPED_TEST(AdmissionFacadeTest, CountsWhatItDoes) {
  AdmissionRequest request = this->Arriving();
  request.rpm_limit = 1;
  this->Admit(request);
  this->Admit(request);
  Settlement end;
  end.request = request.request;
  end.final_cost_usd = 0.25;
  (void)this->Run(this->admission_->Settle(end));
  this->intercepted_->on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return store::NotSentError("unplugged");
  };
  this->Admit(request);
  (void)this->Run(this->admission_->Settle(end));
  EXPECT_EQ(this->Admitted(Outcome::kAdmitted), 1);
  EXPECT_EQ(this->Admitted(Outcome::kRateLimitExceeded), 1);
  EXPECT_EQ(this->Admitted(Outcome::kControlStateUnavailable), 1);
  EXPECT_EQ(MetricsText(this->admission_->metrics()),
            "# TYPE gateway_admissions_total counter\n"
            "gateway_admissions_total{outcome=\"admitted\"} 1\n"
            "gateway_admissions_total{outcome=\"rate_limit_exceeded\"} 1\n"
            "gateway_admissions_total{outcome=\"token_rate_limit_exceeded\"} 0\n"
            "gateway_admissions_total{outcome=\"budget_exceeded\"} 0\n"
            "gateway_admissions_total{outcome=\"control_state_unavailable\"} 1\n"
            "# TYPE gateway_settlements_total counter\n"
            "gateway_settlements_total{action=\"none\"} 0\n"
            "gateway_settlements_total{action=\"reconciled\"} 0\n"
            "gateway_settlements_total{action=\"spend_added\"} 1\n"
            "gateway_settlements_total{action=\"released\"} 0\n"
            "# TYPE gateway_failed_settlements_total counter\n"
            "gateway_failed_settlements_total{action=\"none\"} 0\n"
            "gateway_failed_settlements_total{action=\"reconciled\"} 0\n"
            "gateway_failed_settlements_total{action=\"spend_added\"} 1\n"
            "gateway_failed_settlements_total{action=\"released\"} 0\n"
            "# TYPE gateway_sweeps_total counter\n"
            "gateway_sweeps_total 0\n"
            "# TYPE gateway_failed_sweeps_total counter\n"
            "gateway_failed_sweeps_total 0\n"
            "# TYPE gateway_released_reservations_total counter\n"
            "gateway_released_reservations_total 0\n"
            "# TYPE gateway_released_usd_total counter\n"
            "gateway_released_usd_total 0\n");
}

TYPED_TEST(AdmissionFacadeTest, IsReadyWhenBothStoresAre) {
  EXPECT_EQ(this->Run(this->admission_->Ready(absl::OkStatus())),
            (HttpResponse{200, R"({"status":"ready"})"}));
  EXPECT_EQ(this->Run(this->admission_->Ready(absl::UnavailableError(""))).status, 503);
}

TYPED_TEST(AdmissionFacadeTest, RefusesASweepThatComesTooLate) {
  EXPECT_THAT(Admission::Create(this->store(), *this->clock_, {.abandoned_after = absl::Hours(1)}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(
      Admission::Create(this->store(), *this->clock_, {.sweep_interval = absl::Minutes(10)}),
      StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
