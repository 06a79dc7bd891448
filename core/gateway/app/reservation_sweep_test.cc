#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "redouble/backends/testing/layout_backends.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/gateway/budget.h"
#include "redouble/core/gateway/errors.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::gateway {
namespace {

using base::IsOk;
using store::Reply;

constexpr std::string_view kKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";
constexpr absl::Duration kAge = absl::Minutes(50);

template <typename Backend>
class ReservationSweepTest : public tests::LayoutTest<Backend> {
 protected:
  void Reserve(std::string_view request_id, double cost_usd) {
    BudgetStore budgets(this->store(), {}, this->keys_);
    const BudgetRequest request = {kKey, request_id};
    ASSERT_THAT(this->Run(budgets.ReserveBudget(request, cost_usd, this->now())), IsOk());
  }
  BudgetStore::Sweep Sweep(Hardening hardening = {}) {
    BudgetStore budgets(this->store(), hardening, this->keys_);
    const auto sweep = this->Run(budgets.SweepReservations(kAge));
    EXPECT_THAT(sweep, IsOk());
    return sweep.value_or(BudgetStore::Sweep());
  }
  static std::string Key(std::string_view request_id) {
    return "budget:reservation:" + tests::LayoutTest<Backend>::Tag(kKey) + ":" +
           std::string(request_id);
  }

  const Keys keys_{this->layout()};
  const std::string daily_ = "budget:daily:" + this->Tag(kKey) + ":20260509";
  const std::string monthly_ = "budget:monthly:" + this->Tag(kKey) + ":202605";
};
TYPED_TEST_SUITE(ReservationSweepTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ReservationSweepTest, ReleasesWhatACrashedGatewayHasReserved) {
  this->Reserve("old", 0.5);
  this->Advance(absl::Minutes(20));
  this->Reserve("new", 0.25);
  this->Advance(absl::Minutes(30) - absl::Milliseconds(1));
  EXPECT_EQ(this->Sweep().released, 0);
  this->Advance(absl::Milliseconds(1));
  const BudgetStore::Sweep sweep = this->Sweep();
  EXPECT_EQ(sweep.seen, 2);
  EXPECT_EQ(sweep.released, 1);
  EXPECT_EQ(sweep.released_usd, 0.5);
  EXPECT_EQ(this->Value(this->daily_), "0.25");
  EXPECT_EQ(this->Value(this->monthly_), "0.25");
  EXPECT_EQ(this->Ask({"EXISTS", this->Key("old")}), Reply::Integer(0));
  EXPECT_EQ(this->Ask({"EXISTS", this->Key("new")}), Reply::Integer(1));
  EXPECT_EQ(this->Sweep().released, 0);
}

// The request was not abandoned, only slow. It pays what it cost.
TYPED_TEST(ReservationSweepTest, ARequestThatEndsLaterIsChargedItsCost) {
  this->Reserve("slow", 0.5);
  this->Advance(kAge);
  EXPECT_EQ(this->Sweep().released, 1);
  for (const bool idempotent : {false, true}) {
    Hardening hardening;
    hardening.idempotent_settlement = idempotent;
    BudgetStore budgets(this->store(), hardening, this->keys_);
    const BudgetRequest request = {kKey, "slow"};
    EXPECT_THAT(this->Run(budgets.ReconcileBudgetReservation(request, 0.75, this->now())), IsOk());
    EXPECT_EQ(this->Value(this->daily_), idempotent ? "1.5" : "0.75");
  }
}

TYPED_TEST(ReservationSweepTest, RefundsTheCountersThatWereCharged) {
  this->AdvanceTo(*base::ParseRfc3339("2026-05-31T23:30:00Z"));
  this->Reserve("r", 2);
  this->Advance(kAge);
  EXPECT_EQ(this->Sweep().released, 1);
  const std::string key = this->Tag(kKey);
  EXPECT_EQ(this->Value("budget:daily:" + key + ":20260531"), "0");
  EXPECT_EQ(this->Value("budget:monthly:" + key + ":202605"), "0");
  EXPECT_EQ(this->KeyCount(), 2);
}

TYPED_TEST(ReservationSweepTest, LeavesWhatIsNoReservation) {
  this->Ask({"SET", this->Key("mark"), "settled", "EX", "60"});
  this->Ask({"SET", this->Key("bare"), "0.5", "EX", "60"});
  this->Ask({"SET", this->Key("text"), "a|b", "EX", "60"});
  this->Ask({"RPUSH", this->Key("list"), "x"});
  this->Ask({"SET", "budget:reservation:other", "0.5|k1|k2"});
  const BudgetStore::Sweep sweep = this->Sweep();
  EXPECT_EQ(sweep.seen, 3);
  EXPECT_EQ(sweep.released, 0);
  EXPECT_EQ(this->KeyCount(), 5);
}

TYPED_TEST(ReservationSweepTest, LeavesAReservationOfOtherTagsInTheClusterLayout) {
  this->Ask({"SET", this->Key("r"), "0.5|k1|k2", "EX", "60"});
  const BudgetStore::Sweep sweep = this->Sweep();
  EXPECT_EQ(sweep.seen, 1);
  EXPECT_EQ(sweep.released, this->in_cluster_layout() ? 0 : 1);
}

// A settlement that comes between the read and the release wins.
TYPED_TEST(ReservationSweepTest, ReleasesNothingThatWasSettledMeanwhile) {
  this->Reserve("r", 0.5);
  this->Advance(kAge);
  tests::InterceptedStore store(this->store());
  bool settled = false;
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    if (settled || store.log().back().substr(0, 7) != "EVALSHA") return std::nullopt;
    settled = true;
    BudgetStore live(this->store(), {}, this->keys_);
    const BudgetRequest request = {kKey, "r"};
    EXPECT_THAT(this->Run(live.ReconcileBudgetReservation(request, 0.75, this->now())), IsOk());
    return std::nullopt;
  };
  BudgetStore budgets(store, {}, this->keys_);
  const auto sweep = this->Run(budgets.SweepReservations(kAge));
  ASSERT_THAT(sweep, IsOk());
  EXPECT_TRUE(settled);
  EXPECT_EQ(sweep->released, 0);
  EXPECT_EQ(this->Value(this->daily_), "0.75");
}

// Each request fails in turn. The next sweep releases what is left, and nothing twice.
TYPED_TEST(ReservationSweepTest, ASweepThatFailsIsMadeAgain) {
  bool failed = true;
  for (size_t fail = 0; failed && fail < 20; ++fail) {
    this->Ask({"FLUSHALL"});
    this->Reserve("a", 0.5);
    this->Reserve("b", 0.25);
    this->Advance(kAge);
    tests::InterceptedStore store(this->store());
    store.on_request = [fail](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == fail) return store::NotSentError("gone");
      return std::nullopt;
    };
    BudgetStore budgets(store, {}, this->keys_);
    const absl::Status status = this->Run(budgets.SweepReservations(kAge)).status();
    failed = !status.ok();
    EXPECT_EQ(IsControlStateUnavailable(status), failed);
    this->Sweep();
    for (const Reply& key : this->Ask({"KEYS", "budget:daily:*"}).elements()) {
      EXPECT_EQ(this->Value(key.text()), "0") << fail;
    }
    EXPECT_EQ(this->Ask({"EXISTS", this->Key("a")}), Reply::Integer(0));
    EXPECT_EQ(this->Ask({"EXISTS", this->Key("b")}), Reply::Integer(0));
  }
  EXPECT_FALSE(failed);
}

TYPED_TEST(ReservationSweepTest, HashesRequestIdsIfAsked) {
  Hardening hardening;
  hardening.hash_request_ids = true;
  BudgetStore budgets(this->store(), hardening, this->keys_);
  const BudgetRequest request = {kKey, "sk-secret"};
  ASSERT_THAT(this->Run(budgets.ReserveBudget(request, 0.5, this->now())), IsOk());
  // printf 'sk-secret' | sha256sum
  const std::string hash = "746b4ad1ca9129e1caf080bf9406d43531b8bbf97f42cc1597ee4f3d4663938e";
  EXPECT_EQ(this->Value(this->Key(hash)), "0.5|" + this->daily_ + "|" + this->monthly_);
  EXPECT_EQ(this->Ask({"KEYS", "*secret*"}).elements().size(), 0u);
  ASSERT_THAT(this->Run(budgets.ReconcileBudgetReservation(request, 0.75, this->now())), IsOk());
  EXPECT_EQ(this->Value(this->daily_), "0.75");
  EXPECT_EQ(this->Ask({"EXISTS", this->Key(hash)}), Reply::Integer(0));
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
