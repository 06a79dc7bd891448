#include "redouble/core/gateway/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/store/keyspace/key_family_testing.h"
#include "redouble/core/store/keyspace/key_spread_for_test.h"

namespace redouble::inline v0_1::gateway {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::HasSubstr;

constexpr std::string_view kKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";

absl::Time At(std::string_view text) { return base::ParseRfc3339(text).value(); }

std::string With(std::string_view prefix, std::string_view suffix) {
  return std::string(prefix) + std::string(kKey) + std::string(suffix);
}

TEST(GatewayKeys, AreTheDocumentedVectors) {
  const absl::Time now = At("2026-05-09T14:03:02Z");
  EXPECT_THAT(Keys().RequestRate(kKey, now), IsOkAndHolds(With("rl:req:", ":202605091403")));
  EXPECT_THAT(Keys().TokenRate(kKey, now), IsOkAndHolds(With("rl:tpm:", ":202605091403")));
  EXPECT_THAT(Keys().DailyBudget(kKey, now), IsOkAndHolds(With("budget:daily:", ":20260509")));
  EXPECT_THAT(Keys().MonthlyBudget(kKey, now), IsOkAndHolds(With("budget:monthly:", ":202605")));
  EXPECT_THAT(Keys().Reservation({kKey, "req-1"}),
              IsOkAndHolds(With("budget:reservation:", ":req-1")));
}

TEST(GatewayKeys, HaveTheVirtualKeyAsTagInTheClusterLayout) {
  const Keys keys(store::KeyLayout::kCluster);
  const absl::Time now = At("2026-05-09T14:03:02Z");
  EXPECT_THAT(keys.RequestRate(kKey, now), IsOkAndHolds(With("rl:req:{", "}:202605091403")));
  EXPECT_THAT(keys.TokenRate(kKey, now), IsOkAndHolds(With("rl:tpm:{", "}:202605091403")));
  EXPECT_THAT(keys.DailyBudget(kKey, now), IsOkAndHolds(With("budget:daily:{", "}:20260509")));
  EXPECT_THAT(keys.MonthlyBudget(kKey, now), IsOkAndHolds(With("budget:monthly:{", "}:202605")));
  EXPECT_THAT(keys.Reservation({kKey, "a}{b"}),
              IsOkAndHolds(With("budget:reservation:{", "}:a}{b")));
}

TEST(GatewayKeys, OfAVirtualKeyAreInOneSlotOfACluster) {
  const Keys keys(store::KeyLayout::kCluster);
  const absl::Time now = At("2026-05-09T14:03:02Z");
  const int slot = base::KeySlot(kKey);
  for (const absl::StatusOr<std::string>& key :
       {keys.RequestRate(kKey, now), keys.TokenRate(kKey, now), keys.DailyBudget(kKey, now),
        keys.MonthlyBudget(kKey, now), keys.Reservation({kKey, ""}),
        keys.Reservation({kKey, "{x}"})}) {
    ASSERT_THAT(key, IsOk());
    EXPECT_EQ(base::KeySlot(*key), slot) << *key;
  }
}

TEST(GatewayKeys, OfManyVirtualKeysSpreadOverACluster) {
  const Keys keys(store::KeyLayout::kCluster);
  base::Rng rng(7);
  std::vector<std::string> built;
  for (int i = 0; i < 6000; ++i) {
    built.push_back(keys.RequestRate(store::RandomUuid(rng), absl::UnixEpoch()).value());
  }
  store::ExpectEvenSpread(built, /*masters=*/6);
}

TEST(GatewayKeys, KnowWhichReservationsOneTransactionSettles) {
  const absl::Time now = At("2026-05-09T14:03:02Z");
  const Keys cluster(store::KeyLayout::kCluster);
  const std::string held = cluster.Reservation({kKey, "r"}).value();
  const BudgetCounterKeys own = cluster.Counters(kKey, now).value();
  const BudgetCounterKeys other =
      cluster.Counters("018f8d31-86a7-7c48-8f36-4d1fa4d99102", now).value();
  EXPECT_TRUE(cluster.SettleTogether(held, own));
  EXPECT_FALSE(cluster.SettleTogether(held, {own.daily, other.monthly}));
  EXPECT_FALSE(cluster.SettleTogether(held, {other.daily, own.monthly}));
  EXPECT_FALSE(cluster.SettleTogether(held, {own.daily, ""}));
  EXPECT_FALSE(cluster.SettleTogether(held, Keys().Counters(kKey, now).value()));
  EXPECT_TRUE(Keys().SettleTogether(Keys().Reservation({kKey, "r"}).value(), {"foreign", ""}));
}

TEST(GatewayKeys, HaveTheDocumentedTimesToLive) {
  EXPECT_EQ(RequestRateTtl(), absl::Seconds(70));
  EXPECT_EQ(TokenRateTtl(), absl::Seconds(70));
  EXPECT_EQ(DailyBudgetTtl(), absl::Seconds(172800));
  EXPECT_EQ(MonthlyBudgetTtl(), absl::Seconds(5356800));
  EXPECT_EQ(ReservationTtl(), absl::Seconds(3600));
}

TEST(GatewayKeys, CutTheMomentToTheBucketAndNeverRound) {
  EXPECT_THAT(Keys().RequestRate(kKey, At("2026-05-09T14:03:59.999999Z")),
              IsOkAndHolds(With("rl:req:", ":202605091403")));
  EXPECT_THAT(Keys().DailyBudget(kKey, At("2026-05-09T23:59:59.999Z")),
              IsOkAndHolds(With("budget:daily:", ":20260509")));
  EXPECT_THAT(Keys().MonthlyBudget(kKey, At("2026-05-31T23:59:59.999Z")),
              IsOkAndHolds(With("budget:monthly:", ":202605")));
}

TEST(GatewayKeys, AreInUtc) {
  EXPECT_THAT(Keys().DailyBudget(kKey, At("2026-05-10T01:30:00+02:00")),
              IsOkAndHolds(With("budget:daily:", ":20260509")));
}

TEST(GatewayKeys, KnowLeapDaysAndYearEnds) {
  EXPECT_THAT(Keys().DailyBudget(kKey, At("2028-02-29T12:00:00Z")),
              IsOkAndHolds(With("budget:daily:", ":20280229")));
  EXPECT_THAT(Keys().DailyBudget(kKey, At("2027-02-28T23:59:59Z")),
              IsOkAndHolds(With("budget:daily:", ":20270228")));
  EXPECT_THAT(Keys().DailyBudget(kKey, At("2027-03-01T00:00:00Z")),
              IsOkAndHolds(With("budget:daily:", ":20270301")));
  EXPECT_THAT(Keys().MonthlyBudget(kKey, At("2026-12-31T23:59:59Z")),
              IsOkAndHolds(With("budget:monthly:", ":202612")));
  EXPECT_THAT(Keys().RequestRate(kKey, At("2027-01-01T00:00:00Z")),
              IsOkAndHolds(With("rl:req:", ":202701010000")));
}

TEST(GatewayKeys, PairTheCountersOfOneMoment) {
  const BudgetCounterKeys keys = Keys().Counters(kKey, At("2026-05-31T23:59:59Z")).value();
  EXPECT_EQ(keys.daily, With("budget:daily:", ":20260531"));
  EXPECT_EQ(keys.monthly, With("budget:monthly:", ":202605"));
}

TEST(GatewayKeys, TakeARequestIdVerbatim) {
  EXPECT_THAT(Keys().Reservation({kKey, "a:b|c d{e}\n"}),
              IsOkAndHolds(With("budget:reservation:", ":a:b|c d{e}\n")));
  EXPECT_THAT(Keys().Reservation({kKey, ""}), IsOkAndHolds(With("budget:reservation:", ":")));
  const std::string long_id(100'000, 'x');
  EXPECT_EQ(Keys().Reservation({kKey, long_id}).value().size(),
            With("budget:reservation:", ":").size() + 100'000);
}

TEST(GatewayKeys, RefuseAKeyIdThatIsNoLowerCaseUuid) {
  const absl::Time now = At("2026-05-09T14:03:02Z");
  for (const std::string_view id : {"", "req-1", "018F8D31-86A7-7C48-8F36-4D1FA4D99101"}) {
    EXPECT_THAT(Keys().RequestRate(id, now), StatusIs(absl::StatusCode::kInvalidArgument)) << id;
    EXPECT_THAT(Keys().DailyBudget(id, now), StatusIs(absl::StatusCode::kInvalidArgument)) << id;
    EXPECT_THAT(Keys().MonthlyBudget(id, now), StatusIs(absl::StatusCode::kInvalidArgument)) << id;
    EXPECT_THAT(Keys().Counters(id, now), StatusIs(absl::StatusCode::kInvalidArgument)) << id;
    EXPECT_THAT(Keys().Reservation({id, "r"}), StatusIs(absl::StatusCode::kInvalidArgument)) << id;
  }
  EXPECT_THAT(std::string(Keys().RequestRate("x", now).status().message()),
              HasSubstr("key family gateway.request_rate: key_id"));
}

TEST(GatewayKeys, RefuseAYearOfFiveDigits) {
  const absl::Time far = absl::FromCivil(absl::CivilDay(10000, 1, 1), absl::UTCTimeZone());
  EXPECT_THAT(Keys().RequestRate(kKey, far), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Keys().Counters(kKey, far), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(GatewayKeys, KnowTheTimeToLiveOfACounter) {
  const BudgetCounterKeys keys = Keys().Counters(kKey, At("2026-05-09T14:03:02Z")).value();
  EXPECT_EQ(Keys().CounterTtl(keys.daily), DailyBudgetTtl());
  EXPECT_EQ(Keys().CounterTtl(keys.monthly), MonthlyBudgetTtl());
  EXPECT_EQ(Keys().CounterTtl(Keys().Reservation({kKey, "20260509"}).value()), std::nullopt);
  EXPECT_EQ(Keys().CounterTtl("foreign"), std::nullopt);
  EXPECT_EQ(Keys().CounterTtl(""), std::nullopt);
  EXPECT_EQ(Keys(store::KeyLayout::kCluster).CounterTtl(keys.daily), std::nullopt);
}

TEST(GatewayKeys, FillEveryColumnOfTheInventory) {
  ASSERT_EQ(KeyFamilies().size(), 5u);
  for (const store::KeyFamily& family : KeyFamilies()) {
    EXPECT_EQ(family.system, "gateway");
    EXPECT_TRUE(family.ttl.has_value()) << family.id;
    for (const std::string_view text :
         {family.ttl_rule, family.lifecycle, family.purpose, family.source}) {
      EXPECT_FALSE(text.empty()) << family.id;
    }
  }
}

TEST(GatewayKeys, RoundTrip) {
  store::ExpectKeyFamiliesRoundTrip(KeyFamilies());
  store::ExpectKeyFamiliesRoundTrip(KeyFamilies(store::KeyLayout::kCluster));
}

RC_GTEST_PROP(GatewayKeys, NameTheBucketOfAnyMoment, ()) {
  const absl::Time now = absl::FromUnixSeconds(*rc::gen::inRange<int64_t>(0, 253402300800));
  store::FamilyTable table;
  RC_ASSERT(table.Add(KeyFamilies()).ok());
  const std::string key = Keys().RequestRate(kKey, now).value();
  const store::Recognition recognition = table.Recognise(key);
  RC_ASSERT(recognition.matches.size() == 1u);
  RC_ASSERT(recognition.matches[0].family->id == "gateway.request_rate");
  RC_ASSERT(recognition.matches[0].values[1] == base::FormatUtcMinute(now));
  RC_ASSERT(Keys().RequestRate(kKey, base::StartOfUtcMinute(now)).value() == key);
  RC_ASSERT(
      Keys().RequestRate(kKey, base::StartOfNextUtcMinute(now) - absl::Microseconds(1)).value() ==
      key);
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
