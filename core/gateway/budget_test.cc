#include "redouble/core/gateway/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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
using Outcome = BudgetDecision::Outcome;

constexpr std::string_view kKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";
constexpr std::string_view kOtherKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99102";
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

absl::Time At(std::string_view text) { return base::ParseRfc3339(text).value(); }

template <typename Backend>
class BudgetTest : public tests::LayoutTest<Backend> {
 protected:
  // Operations on the request "req-1" at the time of the backend.
  absl::Status Add(double cost) {
    return this->Run(
        BudgetStore(this->store(), {}, this->keys_).AddBudgetSpend(kKey, cost, this->now()));
  }
  absl::Status Reserve(double cost) {
    return this->Run(
        BudgetStore(this->store(), {}, this->keys_).ReserveBudget(request_, cost, this->now()));
  }
  absl::Status Reconcile(double actual) {
    return this->Run(BudgetStore(this->store(), {}, this->keys_)
                         .ReconcileBudgetReservation(request_, actual, this->now()));
  }
  absl::Status Release() {
    return this->Run(BudgetStore(this->store(), {}, this->keys_)
                         .ReleaseBudgetReservation(request_, this->now()));
  }
  BudgetDecision Check(BudgetLimits limits) {
    const auto decision = this->Run(
        BudgetStore(this->store(), {}, this->keys_).CheckBudget(kKey, limits, this->now()));
    EXPECT_THAT(decision, IsOk());
    return decision.value_or(BudgetDecision());
  }

  // The counters of the first day, and their TTLs.
  void ExpectCounters(std::string_view value, int64_t daily_ttl = 172800,
                      int64_t monthly_ttl = 5356800) {
    EXPECT_EQ(this->Value(daily_), value);
    EXPECT_EQ(this->Value(monthly_), value);
    EXPECT_EQ(this->Ttl(daily_), daily_ttl);
    EXPECT_EQ(this->Ttl(monthly_), monthly_ttl);
  }

  std::string Daily(std::string_view day) const {
    return "budget:daily:" + this->Tag(kKey) + ":" + std::string(day);
  }
  std::string Monthly(std::string_view month) const {
    return "budget:monthly:" + this->Tag(kKey) + ":" + std::string(month);
  }
  std::string Held(std::string_view request_id) const {
    return "budget:reservation:" + this->Tag(kKey) + ":" + std::string(request_id);
  }

  const Keys keys_{this->layout()};
  const BudgetRequest request_{kKey, "req-1"};
  const std::string daily_ = Daily("20260509");
  const std::string monthly_ = Monthly("202605");
  const std::string held_ = Held("req-1");
};
TYPED_TEST_SUITE(BudgetTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(BudgetTest, AddsACostToBothCounters) {
  EXPECT_THAT(this->Add(0.25), IsOk());
  EXPECT_THAT(this->Add(1.0), IsOk());
  this->ExpectCounters("1.25");
}

TYPED_TEST(BudgetTest, AddsByFourCommandsThatAreNoTransaction) {
  InterceptedStore store(this->store());
  ASSERT_THAT(this->Run(BudgetStore(store, {}, this->keys_).AddBudgetSpend(kKey, 1.0, this->now())),
              IsOk());
  EXPECT_THAT(store.log(), ElementsAre("INCRBYFLOAT " + this->daily_ + " 1.0",
                                       "EXPIRE " + this->daily_ + " 172800",
                                       "INCRBYFLOAT " + this->monthly_ + " 1.0",
                                       "EXPIRE " + this->monthly_ + " 5356800"));
  EXPECT_EQ(store.requests(), 4u);
}

TYPED_TEST(BudgetTest, AddsNothingForACostThatIsNotPositive) {
  for (const double cost : {0.0, -0.0, -1.0, -kInfinity}) {
    EXPECT_THAT(this->Add(cost), IsOk());
  }
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(BudgetTest, FailsToAddWhatIsNoNumber) {
  EXPECT_TRUE(IsControlStateUnavailable(this->Add(kNan)));
  EXPECT_TRUE(IsControlStateUnavailable(this->Add(kInfinity)));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(BudgetTest, StopsAddingAtTheFirstErrorWithTheFirstHalfInEffect) {
  this->Ask({"SET", this->monthly_, "abc"});
  const absl::Status status = this->Add(0.5);
  EXPECT_TRUE(IsControlStateUnavailable(status));
  EXPECT_EQ(ControlStateCause(status).message(), "ERR value is not a valid float");
  EXPECT_EQ(this->Value(this->daily_), "0.5");
  EXPECT_EQ(this->Ttl(this->daily_), 172800);
  EXPECT_EQ(this->Value(this->monthly_), "abc");
  EXPECT_EQ(this->Ttl(this->monthly_), -1);
}

TYPED_TEST(BudgetTest, RestartsTheTtlsWithEachCost) {
  ASSERT_THAT(this->Add(1), IsOk());
  this->Advance(absl::Hours(9));
  EXPECT_EQ(this->Ttl(this->daily_), 172800 - 32400);
  this->AdvanceTo(At("2026-05-09T23:59:59Z"));
  ASSERT_THAT(this->Add(1), IsOk());
  this->ExpectCounters("2");
}

TYPED_TEST(BudgetTest, SumsAsRedisDoes) {
  for (int i = 0; i < 10; ++i) {
    ASSERT_THAT(this->Add(0.1), IsOk());
  }
  EXPECT_EQ(this->Value(this->daily_), "1");
  this->Ask({"FLUSHALL"});
  for (const double cost : {1e-7, 123456.789, 1e16}) {
    ASSERT_THAT(this->Add(cost), IsOk());
  }
  EXPECT_EQ(this->Value(this->daily_), "10000000000123456.7890625");
  this->Ask({"FLUSHALL"});
  ASSERT_THAT(this->Add(4e-18), IsOk());
  EXPECT_EQ(this->Value(this->daily_), "0") << "17 decimals are all there is";
}

TYPED_TEST(BudgetTest, KeepsDaysMonthsAndYearsApart) {
  struct Boundary {
    const char* before;
    const char* day_before;
    const char* day_after;
    const char* month_before;
    const char* month_after;
  };
  const Boundary boundaries[] = {
      {"2026-05-09T23:59:59.999Z", "20260509", "20260510", "202605", "202605"},
      {"2026-05-31T23:59:59.999Z", "20260531", "20260601", "202605", "202606"},
      {"2027-02-28T23:59:59.999Z", "20270228", "20270301", "202702", "202703"},
      {"2027-12-31T23:59:59.999Z", "20271231", "20280101", "202712", "202801"},
      {"2028-02-28T23:59:59.999Z", "20280228", "20280229", "202802", "202802"},
      {"2028-02-29T23:59:59.999Z", "20280229", "20280301", "202802", "202803"},
  };
  for (const Boundary& boundary : boundaries) {
    this->Ask({"FLUSHALL"});
    this->AdvanceTo(At(boundary.before));
    ASSERT_THAT(this->Add(1), IsOk());
    this->Advance(absl::Milliseconds(1));
    ASSERT_THAT(this->Add(2), IsOk());
    EXPECT_EQ(this->Value(this->Daily(boundary.day_before)), "1") << boundary.before;
    EXPECT_EQ(this->Value(this->Daily(boundary.day_after)), "2") << boundary.before;
    const bool same_month = std::string_view(boundary.month_before) == boundary.month_after;
    EXPECT_EQ(this->Value(this->Monthly(boundary.month_before)), same_month ? "3" : "1");
    EXPECT_EQ(this->Value(this->Monthly(boundary.month_after)), same_month ? "3" : "2");
  }
}

TYPED_TEST(BudgetTest, KeepsADayTwoDaysAndAMonthSixtyTwo) {
  ASSERT_THAT(this->Add(1), IsOk());
  this->Advance(absl::Hours(48));
  EXPECT_EQ(this->Value(this->daily_), "1");
  this->Advance(absl::Milliseconds(1));
  EXPECT_EQ(this->Value(this->daily_), "nil");
  this->Advance(absl::Hours(60 * 24) - absl::Milliseconds(1));
  EXPECT_EQ(this->Value(this->monthly_), "1");
  this->Advance(absl::Milliseconds(1));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(BudgetTest, ExceedsWhenTheSpendHasReachedEitherLimit) {
  ASSERT_THAT(this->Add(10), IsOk());
  EXPECT_EQ(this->Check({10.0, std::nullopt}).outcome, Outcome::kExceeded);
  EXPECT_EQ(this->Check({10.000001, std::nullopt}).outcome, Outcome::kAllowed);
  EXPECT_EQ(this->Check({11.0, 10.0}).outcome, Outcome::kExceeded);
  EXPECT_EQ(this->Check({std::nullopt, 10.5}).outcome, Outcome::kAllowed);
  EXPECT_EQ(this->Check({std::nullopt, 10.0}).outcome, Outcome::kExceeded);
  const BudgetDecision decision = this->Check({11.0, 12.0});
  EXPECT_EQ(decision.daily_spend_usd, 10.0);
  EXPECT_EQ(decision.monthly_spend_usd, 10.0);
}

TYPED_TEST(BudgetTest, ReadsBothCountersOneByOne) {
  InterceptedStore store(this->store());
  const BudgetLimits limits{1.0, std::nullopt};
  ASSERT_THAT(this->Run(BudgetStore(store, {}, this->keys_).CheckBudget(kKey, limits, this->now())),
              IsOk());
  EXPECT_THAT(store.log(), ElementsAre("GET " + this->daily_, "GET " + this->monthly_));
  EXPECT_EQ(store.requests(), 2u);
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(BudgetTest, ReadsNothingWithoutLimits) {
  ASSERT_THAT(this->Add(10), IsOk());
  InterceptedStore store(this->store());
  const auto decision =
      this->Run(BudgetStore(store, {}, this->keys_).CheckBudget(kKey, BudgetLimits(), this->now()));
  ASSERT_THAT(decision, IsOk());
  EXPECT_EQ(decision->outcome, Outcome::kAllowed);
  EXPECT_EQ(decision->daily_spend_usd, 0);
  EXPECT_EQ(decision->monthly_spend_usd, 0);
  EXPECT_TRUE(store.log().empty());
}

TYPED_TEST(BudgetTest, CountsMissingAndUnreadableCountersAsZero) {
  EXPECT_EQ(this->Check({0.0, std::nullopt}).outcome, Outcome::kExceeded) << "0 has reached 0";
  EXPECT_EQ(this->Check({0.1, 0.1}).outcome, Outcome::kAllowed);
  for (const char* text : {"abc", "", " 5", "5 ", "0x10", "1_0", "caf\xc3\xa9"}) {
    this->Ask({"SET", this->daily_, text});
    const BudgetDecision decision = this->Check({1.0, 1.0});
    EXPECT_EQ(decision.outcome, Outcome::kAllowed) << text;
    EXPECT_EQ(decision.daily_spend_usd, 0) << text;
  }
}

TYPED_TEST(BudgetTest, ReadsSpecialNumbersAsRustDoes) {
  this->Ask({"SET", this->daily_, "inf"});
  EXPECT_EQ(this->Check({1e300, std::nullopt}).outcome, Outcome::kExceeded);
  this->Ask({"SET", this->daily_, "nan"});
  const BudgetDecision decision = this->Check({0.0, std::nullopt});
  EXPECT_EQ(decision.outcome, Outcome::kAllowed);
  EXPECT_TRUE(std::isnan(decision.daily_spend_usd));
  this->Ask({"SET", this->daily_, "-3"});
  EXPECT_EQ(this->Check({-3.0, std::nullopt}).outcome, Outcome::kExceeded);
  EXPECT_EQ(this->Check({kNan, std::nullopt}).outcome, Outcome::kAllowed);
}

TYPED_TEST(BudgetTest, FailsToCheckACounterThatIsNoText) {
  const BudgetLimits limits{1.0, 1.0};
  this->Ask({"SET", this->monthly_, "\xff"});
  const absl::Status not_utf8 =
      this->Run(BudgetStore(this->store(), {}, this->keys_).CheckBudget(kKey, limits, this->now()))
          .status();
  EXPECT_TRUE(IsControlStateUnavailable(not_utf8));
  EXPECT_EQ(ControlStateCause(not_utf8).message(), "the value of a budget counter is not UTF-8");
  this->Ask({"LPUSH", this->daily_, "1"});
  const absl::Status wrong_type =
      this->Run(BudgetStore(this->store(), {}, this->keys_).CheckBudget(kKey, limits, this->now()))
          .status();
  EXPECT_EQ(store::ServerErrorCode(ControlStateCause(wrong_type)), "WRONGTYPE");
}

TYPED_TEST(BudgetTest, ReservesInOneTransaction) {
  InterceptedStore store(this->store());
  ASSERT_THAT(
      this->Run(
          BudgetStore(store, {}, this->keys_).ReserveBudget(this->request_, 1.0, this->now())),
      IsOk());
  EXPECT_THAT(
      store.log(),
      ElementsAre("MULTI",
                  "SET " + this->held_ + " 1|" + this->daily_ + "|" + this->monthly_ + " EX 3600",
                  "INCRBYFLOAT " + this->daily_ + " 1.0", "EXPIRE " + this->daily_ + " 172800",
                  "INCRBYFLOAT " + this->monthly_ + " 1.0", "EXPIRE " + this->monthly_ + " 5356800",
                  "EXEC"));
  EXPECT_EQ(store.requests(), 1u);
  this->ExpectCounters("1");
  EXPECT_EQ(this->Value(this->held_), "1|" + this->daily_ + "|" + this->monthly_);
  EXPECT_EQ(this->Ttl(this->held_), 3600);
}

TYPED_TEST(BudgetTest, WritesAmountsWithoutExponentIntoTheReservation) {
  ASSERT_THAT(this->Reserve(1e-7), IsOk());
  EXPECT_TRUE(this->Value(this->held_).starts_with("0.0000001|"));
  ASSERT_THAT(this->Reserve(1e21), IsOk());
  EXPECT_TRUE(this->Value(this->held_).starts_with("1000000000000000000000|"));
}

TYPED_TEST(BudgetTest, ReservesNothingForACostThatIsNotPositive) {
  for (const double cost : {0.0, -0.0, -0.5}) {
    EXPECT_THAT(this->Reserve(cost), IsOk());
  }
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(BudgetTest, OverwritesAReservationOfTheSameIdAndChargesAgain) {
  ASSERT_THAT(this->Reserve(0.5), IsOk());
  this->Advance(absl::Minutes(30));
  ASSERT_THAT(this->Reserve(0.25), IsOk());
  EXPECT_EQ(this->Value(this->daily_), "0.75");
  EXPECT_EQ(this->Ttl(this->held_), 3600);
  ASSERT_THAT(this->Release(), IsOk());
  EXPECT_EQ(this->Value(this->daily_), "0.5") << "the first amount is lost";
}

TYPED_TEST(BudgetTest, LeavesTheReservationOfNanBehind) {
  EXPECT_TRUE(IsControlStateUnavailable(this->Reserve(kNan)));
  EXPECT_EQ(this->Value(this->held_), "NaN|" + this->daily_ + "|" + this->monthly_);
  EXPECT_EQ(this->KeyCount(), 1);
}

TYPED_TEST(BudgetTest, ChargesTheOtherCounterAgainWithEachFailedReservation) {
  this->Ask({"SET", this->daily_, "abc"});
  EXPECT_TRUE(IsControlStateUnavailable(this->Reserve(0.5)));
  EXPECT_TRUE(IsControlStateUnavailable(this->Reserve(0.5)));
  EXPECT_EQ(this->Value(this->daily_), "abc");
  EXPECT_EQ(this->Ttl(this->daily_), 172800);
  EXPECT_EQ(this->Value(this->monthly_), "1");
  EXPECT_EQ(this->Ttl(this->held_), 3600);
}

TYPED_TEST(BudgetTest, ReconcilesUpDownAndEven) {
  for (const auto& [actual, sum] :
       {std::pair(0.75, "0.75"), std::pair(0.2, "0.2"), std::pair(0.5, "0.5"), std::pair(0.0, "0"),
        std::pair(-1.0, "0"), std::pair(kNan, "0")}) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Reserve(0.5), IsOk());
    EXPECT_THAT(this->Reconcile(actual), IsOk());
    this->ExpectCounters(sum);
    EXPECT_EQ(this->KeyCount(), 2) << "the reservation is gone";
  }
}

TYPED_TEST(BudgetTest, SettlesByAReadAndATransactionWithoutExpire) {
  ASSERT_THAT(this->Reserve(0.5), IsOk());
  InterceptedStore store(this->store());
  ASSERT_THAT(this->Run(BudgetStore(store, {}, this->keys_)
                            .ReconcileBudgetReservation(this->request_, 0.5, this->now())),
              IsOk());
  ASSERT_THAT(this->Run(BudgetStore(store, {}, this->keys_)
                            .ReleaseBudgetReservation(this->request_, this->now())),
              IsOk());
  EXPECT_THAT(store.log(),
              ElementsAre("GET " + this->held_, "MULTI", "INCRBYFLOAT " + this->daily_ + " 0.0",
                          "INCRBYFLOAT " + this->monthly_ + " 0.0", "DEL " + this->held_, "EXEC",
                          "GET " + this->held_, "MULTI", "INCRBYFLOAT " + this->daily_ + " -0.0",
                          "INCRBYFLOAT " + this->monthly_ + " -0.0", "DEL " + this->held_, "EXEC"));
  EXPECT_EQ(store.requests(), 4u);
}

TYPED_TEST(BudgetTest, KeepsTheTtlsWhenItSettles) {
  ASSERT_THAT(this->Reserve(0.5), IsOk());
  this->Advance(absl::Seconds(100));
  ASSERT_THAT(this->Reconcile(0.75), IsOk());
  this->ExpectCounters("0.75", 172700, 5356700);
}

TYPED_TEST(BudgetTest, CreatesImmortalCountersWhenItSettlesWithoutAny) {
  EXPECT_THAT(this->Reconcile(0.3), IsOk());
  this->ExpectCounters("0.3", -1, -1);
  this->Ask({"FLUSHALL"});
  EXPECT_THAT(this->Release(), IsOk());
  this->ExpectCounters("0", -1, -1);
  this->Ask({"FLUSHALL"});
  EXPECT_THAT(this->Reconcile(0.0), IsOk());
  this->ExpectCounters("0", -1, -1);
  ASSERT_THAT(this->Add(1), IsOk());
  this->ExpectCounters("1");
}

TYPED_TEST(BudgetTest, KeepsTheTtlsOfCountersWhoseReservationIsMissing) {
  ASSERT_THAT(this->Add(1), IsOk());
  this->Advance(absl::Seconds(100));
  ASSERT_THAT(this->Reconcile(0.3), IsOk());
  this->ExpectCounters("1.3", 172700, 5356700);
}

TYPED_TEST(BudgetTest, SettlesInTheCountersThatWereCharged) {
  this->AdvanceTo(At("2026-05-31T23:59:59Z"));
  ASSERT_THAT(this->Reserve(0.25), IsOk());
  this->AdvanceTo(At("2026-06-01T00:00:01Z"));
  ASSERT_THAT(this->Reconcile(0.4), IsOk());
  EXPECT_EQ(this->Value(this->Daily("20260531")), "0.40000000000000002") << "0.4 - 0.25 in double";
  EXPECT_EQ(this->Value(this->Monthly("202605")), "0.40000000000000002");
  EXPECT_EQ(this->KeyCount(), 2) << "nothing in June";
}

TYPED_TEST(BudgetTest, ChargesLateCostsToTheCountersOfTheSettlement) {
  this->AdvanceTo(At("2026-05-31T23:30:00Z"));
  ASSERT_THAT(this->Reserve(0.5), IsOk());
  this->Advance(absl::Hours(1) + absl::Milliseconds(1));
  EXPECT_EQ(this->Value(this->held_), "nil") << "the reservation has expired";
  ASSERT_THAT(this->Reconcile(0.75), IsOk());
  EXPECT_EQ(this->Value(this->Monthly("202605")), "0.5") << "the estimate stays charged";
  EXPECT_EQ(this->Value(this->Daily("20260601")), "0.75");
  EXPECT_EQ(this->Ttl(this->Daily("20260601")), -1);
}

TYPED_TEST(BudgetTest, ReleasesAndKeepsTheCounters) {
  ASSERT_THAT(this->Reserve(0.5), IsOk());
  EXPECT_THAT(this->Release(), IsOk());
  this->ExpectCounters("0");
  EXPECT_THAT(this->Release(), IsOk());
  this->ExpectCounters("0");
  EXPECT_EQ(this->KeyCount(), 2);
}

TYPED_TEST(BudgetTest, TakesBackMoreThanIsThereWhenACounterWasLost) {
  ASSERT_THAT(this->Reserve(0.5), IsOk());
  this->Ask({"DEL", this->daily_});
  ASSERT_THAT(this->Release(), IsOk());
  EXPECT_EQ(this->Value(this->daily_), "-0.5");
  EXPECT_EQ(this->Ttl(this->daily_), -1);
  EXPECT_EQ(this->Value(this->monthly_), "0");
}

TYPED_TEST(BudgetTest, ChargesTwiceWhenItReconcilesTwice) {
  ASSERT_THAT(this->Reserve(0.5), IsOk());
  ASSERT_THAT(this->Reconcile(0.75), IsOk());
  ASSERT_THAT(this->Reconcile(0.75), IsOk());
  this->ExpectCounters("1.5");
}

TYPED_TEST(BudgetTest, ChargesALateReconciliationBehindARelease) {
  ASSERT_THAT(this->Reserve(0.5), IsOk());
  ASSERT_THAT(this->Release(), IsOk());
  ASSERT_THAT(this->Reconcile(0.75), IsOk());
  this->ExpectCounters("0.75");
  ASSERT_THAT(this->Release(), IsOk());
  this->ExpectCounters("0.75");
}

TYPED_TEST(BudgetTest, AppliesASettlementTwiceWhenTwoReadTheReservation) {
  ASSERT_THAT(this->Reserve(0.5), IsOk());
  const std::unique_ptr<store::Store> other = this->Connect();
  InterceptedStore store(this->store());
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 1) {
      BudgetStore budgets(*other, {}, this->keys_);
      EXPECT_THAT(this->Run(budgets.ReconcileBudgetReservation(this->request_, 0.75, this->now())),
                  IsOk());
    }
    return std::nullopt;
  };
  BudgetStore budgets(store, {}, this->keys_);
  EXPECT_THAT(this->Run(budgets.ReconcileBudgetReservation(this->request_, 0.75, this->now())),
              IsOk());
  this->ExpectCounters("1");
}

TYPED_TEST(BudgetTest, LetsRequestsPassBetweenCheckAndReservation) {
  ASSERT_THAT(this->Add(0.9), IsOk());
  const BudgetLimits limits{1.0, std::nullopt};
  const std::unique_ptr<store::Store> other = this->Connect();
  InterceptedStore store(this->store());
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 2) {
      const BudgetRequest request{kKey, "other"};
      BudgetStore budgets(*other, {}, this->keys_);
      const auto decision =
          this->Run(budgets.CheckAndReserveBudget(request, limits, 0.5, this->now()));
      EXPECT_EQ(decision.value().outcome, Outcome::kAllowed);
    }
    return std::nullopt;
  };
  BudgetStore budgets(store, {}, this->keys_);
  const auto decision =
      this->Run(budgets.CheckAndReserveBudget(this->request_, limits, 0.5, this->now()));
  ASSERT_THAT(decision, IsOk());
  EXPECT_EQ(decision->outcome, Outcome::kAllowed);
  EXPECT_EQ(this->Value(this->daily_), "1.9");
}

TYPED_TEST(BudgetTest, ReservesOnlyWhatTheCheckAllows) {
  ASSERT_THAT(this->Add(1), IsOk());
  BudgetStore budgets(this->store(), {}, this->keys_);
  const BudgetLimits reached{1.0, std::nullopt};
  const auto refused =
      this->Run(budgets.CheckAndReserveBudget(this->request_, reached, 0.5, this->now()));
  ASSERT_THAT(refused, IsOk());
  EXPECT_EQ(refused->outcome, Outcome::kExceeded);
  this->ExpectCounters("1");
  const auto free =
      this->Run(budgets.CheckAndReserveBudget(this->request_, BudgetLimits(), 0.5, this->now()));
  ASSERT_THAT(free, IsOk());
  EXPECT_EQ(free->outcome, Outcome::kAllowed);
  this->ExpectCounters("1.5");
}

TYPED_TEST(BudgetTest, TrustsTheCountersThatAReservationNames) {
  if (this->in_cluster_layout()) return;  // The next test has what holds there.
  this->Ask({"SET", this->held_, "0.5|foreign-day|"});
  EXPECT_THAT(this->Release(), IsOk());
  EXPECT_EQ(this->Value("foreign-day"), "-0.5");
  EXPECT_EQ(this->Value(""), "-0.5");
  EXPECT_EQ(this->KeyCount(), 2);
}

// One transaction cannot settle them in a cluster, so such a reservation is malformed.
TYPED_TEST(BudgetTest, TakesOnlyCountersOfItsTagInTheClusterLayout) {
  const std::string other(kOtherKey);
  const std::string tagged = "budget:daily:{" + other + "}:20260509";
  const std::string documented = "budget:daily:" + std::string(kKey) + ":20260509";
  const std::string foreign = "{" + std::string(kKey) + "}";
  for (const std::string& counter : {tagged, documented, foreign, std::string()}) {
    this->Ask({"FLUSHALL"});
    this->Ask({"SET", this->held_, "0.5|" + counter + "|" + this->monthly_});
    EXPECT_THAT(this->Reconcile(0.75), IsOk());
    EXPECT_EQ(this->Value(this->held_), "nil");
    if (this->in_cluster_layout()) {
      this->ExpectCounters("0.75", -1, -1);
      EXPECT_EQ(this->KeyCount(), 2);
    } else {
      EXPECT_EQ(this->Value(counter), "0.25");
    }
  }
}

TYPED_TEST(BudgetTest, ChargesTheWholeCostOverAMalformedReservation) {
  for (const char* value : {"", "garbage", "0.5|two", "x|d|m", "-0.5|d|m", "nan|d|m", "inf|d|m",
                            " 0.5|d|m", "1|2|3|4"}) {
    this->Ask({"FLUSHALL"});
    this->Ask({"SET", this->held_, value});
    EXPECT_THAT(this->Reconcile(0.25), IsOk());
    this->ExpectCounters("0.25", -1, -1);
    EXPECT_EQ(this->KeyCount(), 2) << "the malformed reservation is deleted";
  }
}

TYPED_TEST(BudgetTest, ReadsTheOldFormatOfAReservation) {
  ASSERT_THAT(this->Add(0.5), IsOk());
  this->Ask({"SET", this->held_, "0.5"});
  EXPECT_THAT(this->Reconcile(0.75), IsOk());
  this->ExpectCounters("0.75");
}

TYPED_TEST(BudgetTest, WritesNothingOverAReservationThatIsNoText) {
  this->Ask({"SET", this->held_, "0.5|\xff|m"});
  EXPECT_EQ(ControlStateCause(this->Reconcile(1)).message(),
            "the value of a reservation is not UTF-8");
  this->Ask({"DEL", this->held_});
  this->Ask({"LPUSH", this->held_, "x"});
  EXPECT_EQ(store::ServerErrorCode(ControlStateCause(this->Reconcile(1))), "WRONGTYPE");
  EXPECT_EQ(store::ServerErrorCode(ControlStateCause(this->Release())), "WRONGTYPE");
  EXPECT_EQ(this->KeyCount(), 1);
}

TYPED_TEST(BudgetTest, DeletesTheReservationWhenACounterCannotBeSettled) {
  ASSERT_THAT(this->Reserve(0.5), IsOk());
  this->Ask({"SET", this->daily_, "abc"});
  EXPECT_TRUE(IsControlStateUnavailable(this->Reconcile(0.75)));
  EXPECT_EQ(this->Value(this->daily_), "abc");
  EXPECT_EQ(this->Value(this->monthly_), "0.75");
  EXPECT_EQ(this->Value(this->held_), "nil");
}

TYPED_TEST(BudgetTest, SharesOneReservationBetweenRequestsOfOneId) {
  ASSERT_THAT(this->Reserve(0.5), IsOk());
  ASSERT_THAT(this->Reserve(0.5), IsOk());
  ASSERT_THAT(this->Reconcile(0.1), IsOk());
  ASSERT_THAT(this->Reconcile(0.1), IsOk());
  this->ExpectCounters("0.7");
}

// Clients choose request ids, so two requests can share one (docs/systems/gateway.md R7).
TYPED_TEST(BudgetTest, TakesRequestIdsHoweverOddOrLong) {
  BudgetStore budgets(this->store(), {}, this->keys_);
  for (const std::string& id : {std::string(), std::string("a:b|c d"), std::string("\r\n$-1\r\n"),
                                std::string("\xff\0\xfe", 3), std::string(1 << 20, 'i')}) {
    const BudgetRequest request{kKey, id};
    ASSERT_THAT(this->Run(budgets.ReserveBudget(request, 0.5, this->now())), IsOk());
    EXPECT_EQ(this->Value(this->Held(id)), "0.5|" + this->daily_ + "|" + this->monthly_);
    ASSERT_THAT(this->Run(budgets.ReconcileBudgetReservation(request, 0.0, this->now())), IsOk());
    this->ExpectCounters("0");
    EXPECT_EQ(this->KeyCount(), 2);
  }
}

TYPED_TEST(BudgetTest, RefusesAKeyIdThatIsNoUuidBeforeItSendsAnything) {
  InterceptedStore store(this->store());
  BudgetStore budgets(store, {}, this->keys_);
  const BudgetRequest request{"sk-live-1", "r"};
  const BudgetLimits limits{1.0, 1.0};
  const absl::Time now = this->now();
  for (const absl::Status& status :
       {this->Run(budgets.CheckBudget("sk-live-1", limits, now)).status(),
        this->Run(budgets.AddBudgetSpend("sk-live-1", 1, now)),
        this->Run(budgets.ReserveBudget(request, 1, now)),
        this->Run(budgets.CheckAndReserveBudget(request, limits, 1, now)).status(),
        this->Run(budgets.ReconcileBudgetReservation(request, 1, now)),
        this->Run(budgets.ReleaseBudgetReservation(request, now))}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_TRUE(store.log().empty());
}

// If any request fails, the operation fails with the single error and sends no further request.
class BudgetFaultTest : public BudgetTest<tests::MemoryBackend> {
 protected:
  // Runs `operation` with each of its requests failing in turn. Returns the number of requests.
  template <typename Operation>
  size_t FailEach(Operation operation) {
    for (size_t failing = 0;; ++failing) {
      Ask({"FLUSHALL"});
      InterceptedStore store(this->store());
      store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
        if (index == failing) return store::OutcomeUnknownError("reset");
        return std::nullopt;
      };
      BudgetStore budgets(store, {}, this->keys_);
      const absl::Status status = operation(budgets);
      if (status.ok()) return failing;
      EXPECT_TRUE(IsControlStateUnavailable(status)) << status;
      EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kOutcomeUnknown);
      EXPECT_EQ(store.requests(), failing + 1);
    }
  }
};

TEST_F(BudgetFaultTest, FailsClosedAtEveryStep) {
  const BudgetLimits limits{1.0, 1.0};
  EXPECT_EQ(FailEach([&](BudgetStore& budgets) {
              return Run(budgets.CheckBudget(kKey, limits, now())).status();
            }),
            2u);
  EXPECT_EQ(FailEach([&](BudgetStore& b) { return Run(b.AddBudgetSpend(kKey, 1, now())); }), 4u);
  EXPECT_EQ(FailEach([&](BudgetStore& b) { return Run(b.ReserveBudget(request_, 1, now())); }), 1u);
  EXPECT_EQ(FailEach([&](BudgetStore& budgets) {
              return Run(budgets.CheckAndReserveBudget(request_, limits, 1, now())).status();
            }),
            3u);
  EXPECT_EQ(FailEach([&](BudgetStore& budgets) {
              return Run(budgets.ReconcileBudgetReservation(request_, 1, now()));
            }),
            2u);
  EXPECT_EQ(
      FailEach([&](BudgetStore& b) { return Run(b.ReleaseBudgetReservation(request_, now())); }),
      2u);
}

TEST_F(BudgetFaultTest, FailsOnRepliesOfTheWrongKind) {
  InterceptedStore store(this->store());
  store.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return Reply::Integer(1);
  };
  BudgetStore budgets(store, {}, this->keys_);
  const BudgetLimits limits{1.0, 1.0};
  EXPECT_TRUE(IsControlStateUnavailable(Run(budgets.CheckBudget(kKey, limits, now())).status()));
  EXPECT_TRUE(IsControlStateUnavailable(Run(budgets.AddBudgetSpend(kKey, 1, now()))));
  EXPECT_TRUE(IsControlStateUnavailable(Run(budgets.ReserveBudget(request_, 1, now()))));
  EXPECT_TRUE(IsControlStateUnavailable(Run(budgets.ReleaseBudgetReservation(request_, now()))));
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
