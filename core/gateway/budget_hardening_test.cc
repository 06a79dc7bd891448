// The options of hardening.h: each option removes its hazards and changes nothing else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/testing/layout_backends.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/gateway/budget.h"
#include "redouble/core/gateway/budget_commands.h"
#include "redouble/core/gateway/errors.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::gateway {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::StartsWith;
using tests::InterceptedStore;
using Outcome = BudgetDecision::Outcome;

constexpr std::string_view kKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Hardening HealTtl() {
  Hardening hardening;
  hardening.heal_counter_ttl = true;
  return hardening;
}
Hardening Idempotent() {
  Hardening hardening;
  hardening.idempotent_settlement = true;
  return hardening;
}
Hardening Atomic() {
  Hardening hardening;
  hardening.atomic_check_and_reserve = true;
  return hardening;
}

template <typename Backend>
class HardeningTest : public tests::LayoutTest<Backend> {
 protected:
  // Operations on the request "req-1" at the time of the backend.
  absl::Status Add(double cost) {
    return this->Run(
        BudgetStore(this->store(), {}, this->keys_).AddBudgetSpend(kKey, cost, this->now()));
  }
  absl::Status Reserve(Hardening hardening, double cost) {
    BudgetStore budgets(this->store(), hardening, this->keys_);
    return this->Run(budgets.ReserveBudget(request_, cost, this->now()));
  }
  absl::Status Reconcile(Hardening hardening, double actual) {
    return Reconcile(hardening, actual, this->store());
  }
  absl::Status Reconcile(Hardening hardening, double actual, store::Store& store) {
    BudgetStore budgets(store, hardening, this->keys_);
    return this->Run(budgets.ReconcileBudgetReservation(request_, actual, this->now()));
  }
  absl::Status Release(Hardening hardening) { return Release(hardening, this->store()); }
  absl::Status Release(Hardening hardening, store::Store& store) {
    BudgetStore budgets(store, hardening, this->keys_);
    return this->Run(budgets.ReleaseBudgetReservation(request_, this->now()));
  }
  absl::StatusOr<BudgetDecision> CheckAndReserve(Hardening hardening, BudgetLimits limits,
                                                 double cost) {
    BudgetStore budgets(this->store(), hardening, this->keys_);
    return this->Run(budgets.CheckAndReserveBudget(request_, limits, cost, this->now()));
  }

  // Both counters, the reservation and all TTLs as one text.
  std::string State() {
    std::string state;
    for (const std::string& key : {daily_, monthly_, held_}) {
      state += this->Value(key) + " " + std::to_string(this->Ttl(key)) + "; ";
    }
    return state + std::to_string(this->KeyCount()) + " keys";
  }
  void Clear() { this->Ask({"FLUSHALL"}); }

  const Keys keys_{this->layout()};
  const BudgetRequest request_{kKey, "req-1"};
  const std::string daily_ = "budget:daily:" + this->Tag(kKey) + ":20260509";
  const std::string monthly_ = "budget:monthly:" + this->Tag(kKey) + ":202605";
  const std::string held_ = "budget:reservation:" + this->Tag(kKey) + ":req-1";
};

template <typename Backend>
class AtomicSpendTest : public HardeningTest<Backend> {};
TYPED_TEST_SUITE(AtomicSpendTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(AtomicSpendTest, AddsToBothCountersOrToNone) {
  Hardening hardening;
  hardening.atomic_spend = true;
  InterceptedStore store(this->store());
  BudgetStore budgets(store, hardening, this->keys_);
  ASSERT_THAT(this->Run(budgets.AddBudgetSpend(kKey, 0.25, this->now())), IsOk());
  EXPECT_EQ(store.requests(), 1u);
  EXPECT_EQ(this->State(), "0.25 172800; 0.25 5356800; nil -2; 2 keys");
  ASSERT_THAT(this->Run(budgets.AddBudgetSpend(kKey, 0, this->now())), IsOk());
  EXPECT_EQ(store.requests(), 1u);
  // A counter that Redis cannot add to fails the operation.
  this->Ask({"SET", this->daily_, "many"});
  EXPECT_TRUE(
      IsControlStateUnavailable(this->Run(budgets.AddBudgetSpend(kKey, 0.25, this->now()))));
}

template <typename Backend>
class HealingTest : public HardeningTest<Backend> {};
TYPED_TEST_SUITE(HealingTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(HealingTest, GivesCountersThatASettlementCreatesTheirTtl) {
  ASSERT_THAT(this->Reconcile(HealTtl(), 0.3), IsOk());
  EXPECT_EQ(this->State(), "0.3 172800; 0.3 5356800; nil -2; 2 keys");
  this->Clear();
  ASSERT_THAT(this->Release(HealTtl()), IsOk());
  EXPECT_EQ(this->State(), "0 172800; 0 5356800; nil -2; 2 keys");
}

TYPED_TEST(HealingTest, HealsCountersThatHaveLostTheirTtl) {
  this->Ask({"SET", this->daily_, "1"});
  ASSERT_THAT(this->Reconcile(HealTtl(), 0.25), IsOk());
  EXPECT_EQ(this->State(), "1.25 172800; 0.25 5356800; nil -2; 2 keys");
}

TYPED_TEST(HealingTest, LeavesTtlsAloneThatAreThere) {
  ASSERT_THAT(this->Reserve(HealTtl(), 0.5), IsOk());
  this->Advance(absl::Seconds(100));
  ASSERT_THAT(this->Reconcile(HealTtl(), 0.75), IsOk());
  EXPECT_EQ(this->State(), "0.75 172700; 0.75 5356700; nil -2; 2 keys");
}

TYPED_TEST(HealingTest, LeavesKeysAloneThatAreNoCounters) {
  if (this->in_cluster_layout()) return;  // There a reservation names no other keys.
  this->Ask({"SET", this->held_, "0.5|foreign|" + this->monthly_});
  ASSERT_THAT(this->Release(HealTtl()), IsOk());
  EXPECT_EQ(this->Value("foreign"), "-0.5");
  EXPECT_EQ(this->Ttl("foreign"), -1);
  EXPECT_EQ(this->Ttl(this->monthly_), 5356800);
}

TYPED_TEST(HealingTest, SettlesInTheSameTwoRoundTrips) {
  InterceptedStore store(this->store());
  ASSERT_THAT(this->Release(HealTtl(), store), IsOk());
  EXPECT_THAT(store.log(),
              ElementsAre("GET " + this->held_, "MULTI", "INCRBYFLOAT " + this->daily_ + " -0.0",
                          "INCRBYFLOAT " + this->monthly_ + " -0.0", "DEL " + this->held_,
                          "EXPIRE " + this->daily_ + " 172800 NX",
                          "EXPIRE " + this->monthly_ + " 5356800 NX", "EXEC"));
}

TYPED_TEST(HealingTest, StillChargesTwiceWhenItReconcilesTwice) {
  ASSERT_THAT(this->Reserve(HealTtl(), 0.5), IsOk());
  ASSERT_THAT(this->Reconcile(HealTtl(), 0.75), IsOk());
  ASSERT_THAT(this->Reconcile(HealTtl(), 0.75), IsOk());
  EXPECT_EQ(this->Value(this->daily_), "1.5");
}

template <typename Backend>
class IdempotentSettlementTest : public HardeningTest<Backend> {};
TYPED_TEST_SUITE(IdempotentSettlementTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(IdempotentSettlementTest, ChargesOnceHoweverOftenItReconciles) {
  ASSERT_THAT(this->Reserve(Idempotent(), 0.5), IsOk());
  ASSERT_THAT(this->Reconcile(Idempotent(), 0.75), IsOk());
  const std::string settled = this->State();
  EXPECT_EQ(settled, "0.75 172800; 0.75 5356800; settled 3600; 3 keys");
  ASSERT_THAT(this->Reconcile(Idempotent(), 0.75), IsOk());
  ASSERT_THAT(this->Reconcile(Idempotent(), 9), IsOk());
  ASSERT_THAT(this->Release(Idempotent()), IsOk());
  EXPECT_EQ(this->State(), settled);
}

TYPED_TEST(IdempotentSettlementTest, ChargesOnceWithoutAReservation) {
  ASSERT_THAT(this->Reconcile(Idempotent(), 0.3), IsOk());
  ASSERT_THAT(this->Reconcile(Idempotent(), 0.3), IsOk());
  EXPECT_EQ(this->State(), "0.3 -1; 0.3 -1; settled 3600; 3 keys");
}

TYPED_TEST(IdempotentSettlementTest, ForgetsAfterAnHour) {
  ASSERT_THAT(this->Reconcile(Idempotent(), 0.25), IsOk());
  this->Advance(absl::Hours(1) + absl::Milliseconds(1));
  ASSERT_THAT(this->Reconcile(Idempotent(), 0.25), IsOk());
  EXPECT_EQ(this->Value(this->daily_), "0.5");
}

TYPED_TEST(IdempotentSettlementTest, AppliesOneOfTwoThatReadTheReservation) {
  const std::unique_ptr<store::Store> other = this->Connect();
  const auto reconcile = [&] { return this->Reconcile(Idempotent(), 0.75, *other); };
  const auto release = [&] { return this->Release(Idempotent(), *other); };
  const std::vector<std::function<absl::Status()>> others = {reconcile, release};
  for (const auto& other : others) {
    this->Clear();
    ASSERT_THAT(this->Reserve(Idempotent(), 0.5), IsOk());
    InterceptedStore store(this->store());
    store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == 1) {
        EXPECT_THAT(other(), IsOk());
      }
      return std::nullopt;
    };
    ASSERT_THAT(this->Reconcile(Idempotent(), 0.75, store), IsOk());
    EXPECT_EQ(this->State(), "0.75 172800; 0.75 5356800; settled 3600; 3 keys");
  }
}

TYPED_TEST(IdempotentSettlementTest, ReleasesNothingBehindAReconciliationThatGotAhead) {
  ASSERT_THAT(this->Reserve(Idempotent(), 0.5), IsOk());
  const std::unique_ptr<store::Store> other = this->Connect();
  InterceptedStore store(this->store());
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 1) {
      EXPECT_THAT(this->Reconcile(Idempotent(), 0.75, *other), IsOk());
    }
    return std::nullopt;
  };
  ASSERT_THAT(this->Release(Idempotent(), store), IsOk());
  EXPECT_EQ(this->Value(this->daily_), "0.75");
}

TYPED_TEST(IdempotentSettlementTest, StillChargesALateReconciliationBehindARelease) {
  ASSERT_THAT(this->Reserve(Idempotent(), 0.5), IsOk());
  ASSERT_THAT(this->Release(Idempotent()), IsOk());
  EXPECT_EQ(this->State(), "0 172800; 0 5356800; nil -2; 2 keys");
  ASSERT_THAT(this->Reconcile(Idempotent(), 0.75), IsOk());
  EXPECT_EQ(this->Value(this->daily_), "0.75");
}

TYPED_TEST(IdempotentSettlementTest, LetsTheNextReservationOfTheIdBegin) {
  ASSERT_THAT(this->Reserve(Idempotent(), 0.5), IsOk());
  ASSERT_THAT(this->Reconcile(Idempotent(), 0.75), IsOk());
  ASSERT_THAT(this->Reserve(Idempotent(), 0.5), IsOk());
  ASSERT_THAT(this->Reconcile(Idempotent(), 0.25), IsOk());
  EXPECT_EQ(this->Value(this->daily_), "1");
}

TYPED_TEST(IdempotentSettlementTest, IsASettlementLikeAnyOtherToTheOriginal) {
  ASSERT_THAT(this->Reserve(Idempotent(), 0.5), IsOk());
  ASSERT_THAT(this->Reconcile(Idempotent(), 0.75), IsOk());
  ASSERT_THAT(this->Reconcile(Hardening(), 0.75), IsOk());
  EXPECT_EQ(this->State(), "1.5 172800; 1.5 5356800; nil -2; 2 keys")
      << "the original charges again, as if there were no mark";
}

// The effect of one settlement, with and without the option.
TYPED_TEST(IdempotentSettlementTest, SettlesOnceAsWithoutTheOption) {
  const std::vector<std::string> reservations = {"",
                                                 "0.5|" + this->daily_ + "|" + this->monthly_,
                                                 "0.25|foreign-day|",
                                                 "garbage",
                                                 "0.5",
                                                 "-1|a|b",
                                                 "0.5|a"};
  for (const std::string& reservation : reservations) {
    for (const double actual : {0.75, 0.0, kNan, kInfinity, 1e-7}) {
      for (const char* daily : {"", "7", "abc"}) {
        std::vector<std::string> states;
        for (const Hardening& hardening : {Hardening(), Idempotent()}) {
          this->Clear();
          if (!reservation.empty()) this->Ask({"SET", this->held_, reservation});
          if (*daily != '\0') this->Ask({"SET", this->daily_, daily, "EX", "50"});
          const absl::Status status = this->Reconcile(hardening, actual);
          if (hardening.idempotent_settlement) {
            EXPECT_EQ(this->Value(this->held_), kSettledMark);
          }
          this->Ask({"DEL", this->held_});
          states.push_back(this->State() + this->Value("foreign-day") + this->Value("") +
                           std::string(status.message()));
        }
        EXPECT_EQ(states[0], states[1]) << reservation << " " << actual << " " << daily;
      }
    }
  }
}

TYPED_TEST(IdempotentSettlementTest, HealsTtlsWhenThatIsAskedToo) {
  Hardening both = Idempotent();
  both.heal_counter_ttl = true;
  this->Ask({"SET", this->held_, "0.5|foreign|" + this->monthly_});
  ASSERT_THAT(this->Reconcile(both, 0.75), IsOk());
  const bool is_malformed = this->in_cluster_layout();
  EXPECT_EQ(this->Ttl(is_malformed ? this->daily_ : "foreign"), is_malformed ? 172800 : -1);
  EXPECT_EQ(this->Ttl(this->monthly_), 5356800);
}

TYPED_TEST(IdempotentSettlementTest, GivesUpOnAReservationThatKeepsChanging) {
  const std::unique_ptr<store::Store> other = this->Connect();
  InterceptedStore store(this->store());
  int changes = 0;
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    this->Ask({"SET", this->held_, std::to_string(++changes)});
    return std::nullopt;
  };
  const absl::Status status = this->Reconcile(Idempotent(), 1, store);
  EXPECT_THAT(ControlStateCause(status), StatusIs(absl::StatusCode::kAborted)) << status;
  EXPECT_EQ(this->KeyCount(), 1) << "nothing was charged";
}

TYPED_TEST(IdempotentSettlementTest, FailsOnAReservationThatIsNoString) {
  this->Ask({"LPUSH", this->held_, "x"});
  const absl::Status status = this->Reconcile(Idempotent(), 1);
  EXPECT_EQ(store::ServerErrorCode(ControlStateCause(status)), "WRONGTYPE");
}

template <typename Backend>
class AtomicReservationTest : public HardeningTest<Backend> {};
TYPED_TEST_SUITE(AtomicReservationTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(AtomicReservationTest, ChecksAndReservesInOneStep) {
  ASSERT_THAT(this->Add(0.9), IsOk());
  InterceptedStore store(this->store());
  BudgetStore budgets(store, Atomic(), this->keys_);
  const BudgetLimits limits{1.0, std::nullopt};
  const auto first =
      this->Run(budgets.CheckAndReserveBudget(this->request_, limits, 0.5, this->now()));
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(first->outcome, Outcome::kAllowed);
  EXPECT_EQ(first->daily_spend_usd, 0.9);
  const auto second =
      this->Run(budgets.CheckAndReserveBudget(this->request_, limits, 0.5, this->now()));
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(second->outcome, Outcome::kExceeded) << "no other request passes in between";
  EXPECT_EQ(second->daily_spend_usd, 1.4);
  EXPECT_EQ(this->Value(this->daily_), "1.4");
  EXPECT_THAT(store.log(),
              ElementsAre(StartsWith("EVALSHA "), StartsWith("EVAL "), StartsWith("EVALSHA ")));
}

// One check and reservation, with and without the option: decision, amounts and key space.
TYPED_TEST(AtomicReservationTest, DecidesAndWritesAsWithoutTheOption) {
  const std::vector<std::string> texts = {
      "",    "0.5", "1",    "1.0e0", "+1",       ".5",          "5.",     "-3",     "inf", "-INF",
      "nan", "abc", "0x10", " 1",    "1 ",       "1e5",         "1e-400", "1e400",  "1_0", "1e",
      ".",   "e5",  "-",    "1.2.3", "Infinity", "caf\xc3\xa9", "\xff",   "0.1\xff"};
  const std::vector<BudgetLimits> limits = {
      {1.0, std::nullopt}, {std::nullopt, 0.5}, {0.0, kInfinity}, {kNan, -1e300}, {1e-7, 1e21}};
  for (const std::string& text : texts) {
    for (const BudgetLimits& limit : limits) {
      for (const double cost : {0.25, kNan}) {
        std::vector<std::string> results;
        for (const Hardening& hardening : {Hardening(), Atomic()}) {
          this->Clear();
          if (!text.empty()) this->Ask({"SET", this->daily_, text});
          const auto decision = this->CheckAndReserve(hardening, limit, cost);
          std::string result = this->State();
          if (decision.ok()) {
            result += decision->outcome == Outcome::kAllowed ? " allowed " : " exceeded ";
            result += std::to_string(decision->daily_spend_usd) + " " +
                      std::to_string(decision->monthly_spend_usd);
          } else {
            result += std::string(decision.status().message());
          }
          results.push_back(result);
        }
        EXPECT_EQ(results[0], results[1]) << "counter: " << text << ", cost: " << cost;
      }
    }
  }
}

TYPED_TEST(AtomicReservationTest, FailsOnACounterThatIsNoStringWithNothingWritten) {
  this->Ask({"LPUSH", this->monthly_, "x"});
  const BudgetLimits limits{1.0, std::nullopt};
  const auto decision = this->CheckAndReserve(Atomic(), limits, 0.5);
  EXPECT_TRUE(IsControlStateUnavailable(decision.status()));
  EXPECT_EQ(store::ServerErrorCode(ControlStateCause(decision.status())), "WRONGTYPE");
  EXPECT_EQ(this->KeyCount(), 1);
}

TYPED_TEST(AtomicReservationTest, RunsNoScriptWhereThereIsNothingToDecideOrToReserve) {
  InterceptedStore store(this->store());
  BudgetStore budgets(store, Atomic(), this->keys_);
  ASSERT_THAT(
      this->Run(budgets.CheckAndReserveBudget(this->request_, BudgetLimits(), 0.5, this->now())),
      IsOk());
  EXPECT_EQ(store.log().front(), "MULTI");
  const BudgetLimits limits{1.0, 1.0};
  ASSERT_THAT(this->Run(budgets.CheckAndReserveBudget(this->request_, limits, 0.0, this->now())),
              IsOk());
  EXPECT_EQ(store.log().back(), "GET " + this->monthly_);
}

TYPED_TEST(AtomicReservationTest, LeavesSettlementsAsTheyAre) {
  InterceptedStore store(this->store());
  ASSERT_THAT(this->Release(Atomic(), store), IsOk());
  EXPECT_EQ(store.log().back(), "EXEC");
}

// Script replies that a correct server does not send.
class ScriptFaultTest : public HardeningTest<tests::MemoryBackend> {
 protected:
  absl::Status FailureOf(const Reply& answer) {
    InterceptedStore store(this->store());
    store.on_request = [&](size_t) { return std::optional(absl::StatusOr<Reply>(answer)); };
    BudgetStore budgets(store, Atomic(), this->keys_);
    const BudgetLimits limits{1.0, 1.0};
    return ControlStateCause(
        Run(budgets.CheckAndReserveBudget(request_, limits, 1, now())).status());
  }
};

TEST_F(ScriptFaultTest, AreProtocolErrors) {
  const Reply again = Reply::Array({Reply::Integer(-1), Reply::Nil(), Reply::Nil()});
  for (const Reply& answer :
       {Reply::Integer(1), Reply::EmptyArray(), Reply::Array({Reply::Integer(1)}),
        Reply::Array({Reply::Nil(), Reply::Nil(), Reply::Nil()}), again}) {
    EXPECT_EQ(store::ErrorKindOf(FailureOf(answer)), store::ErrorKind::kProtocol)
        << answer.DebugString();
  }
}

TEST_F(ScriptFaultTest, IncludeCountersThatAreNoTextInTheDecision) {
  const Reply bad_daily = Reply::Array({Reply::Integer(0), Reply::Bulk("\xff"), Reply::Nil()});
  const Reply bad_monthly = Reply::Array({Reply::Integer(0), Reply::Nil(), Reply::Bulk("\xff")});
  for (const Reply& answer : {bad_daily, bad_monthly}) {
    EXPECT_EQ(FailureOf(answer).message(), "the value of a budget counter is not UTF-8");
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
