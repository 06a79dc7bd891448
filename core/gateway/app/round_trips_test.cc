// Measures the round trips of the table in docs/systems/gateway.md 4.17.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "redouble/backends/testing/layout_backends.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/gateway/app/admission.h"
#include "redouble/core/gateway/rate_limiter.h"
#include "redouble/tests/support/intercepted_store.h"
#include "redouble/tests/support/round_trip_table.h"

namespace redouble::inline v0_1::gateway {
namespace {

using base::IsOk;

constexpr std::string_view kKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";
constexpr BudgetLimits kLimits = {.daily_usd = 100, .monthly_usd = 1000};

template <typename Backend>
class GatewayRoundTripsTest : public tests::LayoutTest<Backend> {
 protected:
  // Runs an operation twice, so that the server knows its scripts, and counts the second one.
  template <typename Operation>
  void Measure(const std::string& name, Operation operation) {
    for (int i = 0; i < 2; ++i) {
      this->Ask({"FLUSHALL"});
      BudgetStore budgets(this->store(), {}, this->keys_);
      const BudgetRequest request = {kKey, "held"};
      ASSERT_THAT(this->Run(budgets.ReserveBudget(request, 0.5, this->now())), IsOk());
      tests::InterceptedStore counted(this->store());
      const absl::Status status = operation(counted);
      ASSERT_THAT(status, IsOk()) << name;
      measured_[name] = static_cast<int>(counted.requests());
    }
  }
  absl::Status Admit(store::Store& store, Hardening hardening) {
    AdmissionControl control(store, hardening, this->keys_);
    AdmissionRequest request;
    request.request = {kKey, "r"};
    request.rpm_limit = 60;
    request.budget = kLimits;
    request.estimated_cost_usd = 0.5;
    request.now = this->now();
    return this->Run(control.Admit(request)).status();
  }

  // What operators and probes do.
  void MeasureOperators() {
    const absl::Time now = this->now();
    this->Measure("probe readiness",
                  [&](store::Store& store) { return this->Run(ProbeControlState(store)); });
    this->Measure("show spend", [&](store::Store& store) {
      return this->Run(ReadKeySpend(store, kKey, now, this->keys_)).status();
    });
    this->Measure("adjust spend", [&](store::Store& s) {
      return this->Run(AdjustKeySpend(s, kKey, 1, now, this->keys_));
    });
    this->Measure("set spend", [&](store::Store& s) {
      return this->Run(SetKeySpend(s, kKey, {}, now, this->keys_));
    });
    this->Measure("sweep one abandoned reservation", [&](store::Store& store) {
      BudgetStore budgets(store, {}, this->keys_);
      return this->Run(budgets.SweepReservations(absl::ZeroDuration())).status();
    });
  }

  const Keys keys_{this->layout()};
  tests::RoundTripTable::Counts measured_;
};
TYPED_TEST_SUITE(GatewayRoundTripsTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(GatewayRoundTripsTest, AreThoseOfThePage) {
  const absl::Time now = this->now();
  const BudgetRequest held = {kKey, "held"};
  Hardening atomic;
  atomic.atomic_check_and_reserve = true;
  atomic.atomic_spend = true;
  Hardening idempotent;
  idempotent.idempotent_settlement = true;
  const auto rate = [&](int32_t limit) {
    return [this, now, limit](store::Store& store) {
      RateLimiter limiter(store, this->keys_);
      return this->Run(limiter.CheckRequestRateLimit(kKey, limit, now)).status();
    };
  };
  const auto reserve = [&](Hardening hardening) {
    return [this, now, hardening](store::Store& store) {
      BudgetStore budgets(store, hardening, this->keys_);
      const BudgetRequest request = {kKey, "r"};
      return this->Run(budgets.CheckAndReserveBudget(request, kLimits, 0.5, now)).status();
    };
  };
  const auto settle = [&](Hardening hardening, bool release) {
    return [this, now, hardening, release, held](store::Store& store) {
      BudgetStore budgets(store, hardening, this->keys_);
      return release ? this->Run(budgets.ReleaseBudgetReservation(held, now))
                     : this->Run(budgets.ReconcileBudgetReservation(held, 0.75, now));
    };
  };
  this->Measure("check the request rate, allowed", rate(60));
  this->Measure("check the request rate, exceeded", rate(0));
  this->Measure("check the token rate, allowed", [&](store::Store& store) {
    RateLimiter limiter(store, this->keys_);
    return this->Run(limiter.CheckTokenRateLimit(kKey, 1000, 10, now)).status();
  });
  this->Measure("check a budget", [&](store::Store& store) {
    BudgetStore budgets(store, {}, this->keys_);
    return this->Run(budgets.CheckBudget(kKey, kLimits, now)).status();
  });
  const auto add_spend = [&](Hardening hardening) {
    return [this, now, hardening](store::Store& store) {
      BudgetStore budgets(store, hardening, this->keys_);
      return this->Run(budgets.AddBudgetSpend(kKey, 0.5, now));
    };
  };
  this->Measure("add spend", add_spend({}));
  this->Measure("add spend, `atomic_spend`", add_spend(atomic));
  this->Measure("reserve", [&](store::Store& store) {
    BudgetStore budgets(store, {}, this->keys_);
    const BudgetRequest request = {kKey, "r"};
    return this->Run(budgets.ReserveBudget(request, 0.5, now));
  });
  this->Measure("check and reserve", reserve({}));
  this->Measure("check and reserve, `atomic_check_and_reserve`", reserve(atomic));
  this->Measure("reconcile", settle({}, false));
  this->Measure("reconcile, `idempotent_settlement`", settle(idempotent, false));
  this->Measure("release", settle({}, true));
  this->Measure("admit with an estimate", [&](store::Store& s) { return this->Admit(s, {}); });
  this->Measure("admit with an estimate, `atomic_check_and_reserve`",
                [&](store::Store& s) { return this->Admit(s, atomic); });
  this->Measure("settle an admitted request", [&](store::Store& store) {
    AdmissionControl control(store, {}, this->keys_);
    return this->Run(control.Settle({held, true, true, 0.75, now})).status;
  });
  this->MeasureOperators();
  tests::RoundTripTable("docs/systems/gateway.md").ExpectToday(this->measured_);
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
