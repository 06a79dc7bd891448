#include "core/gateway/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/utc.h"
#include "core/store/key_family_testing.h"

namespace redouble::gateway {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";

absl::Time At(std::string_view text) { return base::ParseRfc3339(text).value(); }

std::string With(std::string_view prefix, std::string_view suffix) {
  return std::string(prefix) + std::string(kKey) + std::string(suffix);
}

TEST(GatewayKeys, AreTheDocumentedVectors) {
  const absl::Time now = At("2026-05-09T14:03:02Z");
  EXPECT_EQ(*RequestRateKey(kKey, now), With("rl:req:", ":202605091403"));
  EXPECT_EQ(*DailyBudgetKey(kKey, now), With("budget:daily:", ":20260509"));
  EXPECT_EQ(*MonthlyBudgetKey(kKey, now), With("budget:monthly:", ":202605"));
  EXPECT_EQ(*ReservationKey({kKey, "req-1"}), With("budget:reservation:", ":req-1"));
}

TEST(GatewayKeys, HaveTheDocumentedTimesToLive) {
  EXPECT_EQ(RequestRateTtl(), absl::Seconds(70));
  EXPECT_EQ(DailyBudgetTtl(), absl::Seconds(172800));
  EXPECT_EQ(MonthlyBudgetTtl(), absl::Seconds(5356800));
  EXPECT_EQ(ReservationTtl(), absl::Seconds(3600));
}

TEST(GatewayKeys, CutTheMomentToTheBucketAndNeverRound) {
  EXPECT_EQ(*RequestRateKey(kKey, At("2026-05-09T14:03:59.999999Z")),
            With("rl:req:", ":202605091403"));
  EXPECT_EQ(*DailyBudgetKey(kKey, At("2026-05-09T23:59:59.999Z")),
            With("budget:daily:", ":20260509"));
  EXPECT_EQ(*MonthlyBudgetKey(kKey, At("2026-05-31T23:59:59.999Z")),
            With("budget:monthly:", ":202605"));
}

TEST(GatewayKeys, AreInUtc) {
  EXPECT_EQ(*DailyBudgetKey(kKey, At("2026-05-10T01:30:00+02:00")),
            With("budget:daily:", ":20260509"));
}

TEST(GatewayKeys, KnowLeapDaysAndYearEnds) {
  EXPECT_EQ(*DailyBudgetKey(kKey, At("2028-02-29T12:00:00Z")), With("budget:daily:", ":20280229"));
  EXPECT_EQ(*DailyBudgetKey(kKey, At("2027-02-28T23:59:59Z")), With("budget:daily:", ":20270228"));
  EXPECT_EQ(*DailyBudgetKey(kKey, At("2027-03-01T00:00:00Z")), With("budget:daily:", ":20270301"));
  EXPECT_EQ(*MonthlyBudgetKey(kKey, At("2026-12-31T23:59:59Z")),
            With("budget:monthly:", ":202612"));
  EXPECT_EQ(*RequestRateKey(kKey, At("2027-01-01T00:00:00Z")), With("rl:req:", ":202701010000"));
}

TEST(GatewayKeys, PairTheCountersOfOneMoment) {
  const BudgetCounterKeys keys = *CounterKeys(kKey, At("2026-05-31T23:59:59Z"));
  EXPECT_EQ(keys.daily, With("budget:daily:", ":20260531"));
  EXPECT_EQ(keys.monthly, With("budget:monthly:", ":202605"));
}

TEST(GatewayKeys, TakeARequestIdVerbatim) {
  EXPECT_EQ(*ReservationKey({kKey, "a:b|c d{e}\n"}), With("budget:reservation:", ":a:b|c d{e}\n"));
  EXPECT_EQ(*ReservationKey({kKey, ""}), With("budget:reservation:", ":"));
  const std::string long_id(100'000, 'x');
  EXPECT_EQ(ReservationKey({kKey, long_id})->size(),
            With("budget:reservation:", ":").size() + 100'000);
}

TEST(GatewayKeys, RefuseAKeyIdThatIsNoLowerCaseUuid) {
  const absl::Time now = At("2026-05-09T14:03:02Z");
  for (const std::string_view id : {"", "req-1", "018F8D31-86A7-7C48-8F36-4D1FA4D99101"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(RequestRateKey(id, now).status())) << id;
    EXPECT_TRUE(absl::IsInvalidArgument(DailyBudgetKey(id, now).status())) << id;
    EXPECT_TRUE(absl::IsInvalidArgument(MonthlyBudgetKey(id, now).status())) << id;
    EXPECT_TRUE(absl::IsInvalidArgument(CounterKeys(id, now).status())) << id;
    EXPECT_TRUE(absl::IsInvalidArgument(ReservationKey({id, "r"}).status())) << id;
  }
  EXPECT_THAT(std::string(RequestRateKey("x", now).status().message()),
              HasSubstr("key family gateway.request_rate: key_id"));
}

TEST(GatewayKeys, RefuseAYearOfFiveDigits) {
  const absl::Time far = absl::FromCivil(absl::CivilDay(10000, 1, 1), absl::UTCTimeZone());
  EXPECT_TRUE(absl::IsInvalidArgument(RequestRateKey(kKey, far).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(CounterKeys(kKey, far).status()));
}

TEST(GatewayKeys, KnowTheTimeToLiveOfACounter) {
  const BudgetCounterKeys keys = *CounterKeys(kKey, At("2026-05-09T14:03:02Z"));
  EXPECT_EQ(CounterTtl(keys.daily), DailyBudgetTtl());
  EXPECT_EQ(CounterTtl(keys.monthly), MonthlyBudgetTtl());
  EXPECT_EQ(CounterTtl(*ReservationKey({kKey, "20260509"})), std::nullopt);
  EXPECT_EQ(CounterTtl("foreign"), std::nullopt);
  EXPECT_EQ(CounterTtl(""), std::nullopt);
}

TEST(GatewayKeys, FillEveryColumnOfTheInventory) {
  ASSERT_EQ(KeyFamilies().size(), 4u);
  for (const store::KeyFamily& family : KeyFamilies()) {
    EXPECT_EQ(family.system, "gateway");
    EXPECT_TRUE(family.ttl.has_value()) << family.id;
    for (const std::string_view text :
         {family.ttl_rule, family.lifecycle, family.purpose, family.source}) {
      EXPECT_FALSE(text.empty()) << family.id;
    }
  }
}

TEST(GatewayKeys, RoundTrip) { store::ExpectKeyFamiliesRoundTrip(KeyFamilies()); }

RC_GTEST_PROP(GatewayKeys, NameTheBucketOfAnyMoment, ()) {
  const absl::Time now = absl::FromUnixSeconds(*rc::gen::inRange<int64_t>(0, 253402300800));
  store::FamilyTable table;
  RC_ASSERT(table.Add(KeyFamilies()).ok());
  const std::string key = *RequestRateKey(kKey, now);
  const store::Recognition recognition = table.Recognise(key);
  RC_ASSERT(recognition.matches.size() == 1u);
  RC_ASSERT(recognition.matches[0].family->id == "gateway.request_rate");
  RC_ASSERT(recognition.matches[0].values[1] == base::FormatUtcMinute(now));
  RC_ASSERT(*RequestRateKey(kKey, base::StartOfUtcMinute(now)) == key);
  RC_ASSERT(*RequestRateKey(kKey, base::StartOfNextUtcMinute(now) - absl::Microseconds(1)) == key);
}

}  // namespace
}  // namespace redouble::gateway
