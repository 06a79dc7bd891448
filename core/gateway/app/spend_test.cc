#include "redouble/core/gateway/app/spend.h"

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

constexpr std::string_view kKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";

template <typename Backend>
class SpendTest : public tests::LayoutTest<Backend> {
 protected:
  KeySpend Read() {
    const absl::StatusOr<KeySpend> spend =
        this->Run(ReadKeySpend(this->store(), kKey, this->now(), this->keys_));
    EXPECT_THAT(spend, IsOk());
    return spend.value_or(KeySpend());
  }
  absl::Status Adjust(double delta_usd) {
    return this->Run(AdjustKeySpend(this->store(), kKey, delta_usd, this->now(), this->keys_));
  }
  absl::Status Set(const SpendAmounts& amounts) {
    return this->Run(SetKeySpend(this->store(), kKey, amounts, this->now(), this->keys_));
  }

  const Keys keys_{this->layout()};
  const std::string daily_ = "budget:daily:" + this->Tag(kKey) + ":20260509";
  const std::string monthly_ = "budget:monthly:" + this->Tag(kKey) + ":202605";
};
TYPED_TEST_SUITE(SpendTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(SpendTest, ShowsBothCounters) {
  this->Ask({"SET", this->daily_, "1.25", "EX", "100"});
  this->Ask({"SET", this->monthly_, "30.5"});
  const KeySpend spend = this->Read();
  EXPECT_EQ(spend.daily.key, this->daily_);
  EXPECT_EQ(spend.daily.text, "1.25");
  EXPECT_EQ(spend.daily.usd, 1.25);
  EXPECT_TRUE(spend.daily.is_number);
  EXPECT_EQ(spend.daily.ttl, absl::Seconds(100));
  EXPECT_EQ(spend.monthly.usd, 30.5);
  EXPECT_EQ(spend.monthly.ttl, std::nullopt);
}

TYPED_TEST(SpendTest, ShowsWhatIsMissingOrNoNumber) {
  this->Ask({"SET", this->daily_, "abc"});
  const KeySpend spend = this->Read();
  EXPECT_EQ(spend.daily.text, "abc");
  EXPECT_EQ(spend.daily.usd, 0);
  EXPECT_FALSE(spend.daily.is_number);
  EXPECT_EQ(spend.monthly.text, std::nullopt);
  this->Ask({"DEL", this->daily_});
  this->Ask({"RPUSH", this->daily_, "1"});
  EXPECT_EQ(this->Read().daily.text, std::nullopt);
}

TYPED_TEST(SpendTest, ReadsInOneRoundTripAndWritesNothing) {
  tests::InterceptedStore store(this->store());
  EXPECT_THAT(this->Run(ReadKeySpend(store, kKey, this->now(), this->keys_)), IsOk());
  EXPECT_EQ(store.requests(), 1u);
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(SpendTest, AdjustsBothCountersInOneTransaction) {
  this->Ask({"SET", this->daily_, "3", "EX", "5"});
  this->Ask({"SET", this->monthly_, "10", "EX", "5"});
  tests::InterceptedStore store(this->store());
  EXPECT_THAT(this->Run(AdjustKeySpend(store, kKey, -2.5, this->now(), this->keys_)), IsOk());
  EXPECT_THAT(store.log(), ElementsAre("MULTI", "INCRBYFLOAT " + this->daily_ + " -2.5",
                                       "EXPIRE " + this->daily_ + " 172800",
                                       "INCRBYFLOAT " + this->monthly_ + " -2.5",
                                       "EXPIRE " + this->monthly_ + " 5356800", "EXEC"));
  EXPECT_EQ(this->Value(this->daily_), "0.5");
  EXPECT_EQ(this->Value(this->monthly_), "7.5");
  EXPECT_EQ(this->Ttl(this->daily_), 172800);
}

TYPED_TEST(SpendTest, ReplacesBothCountersAndRepairsThem) {
  this->Ask({"SET", this->daily_, "abc"});
  EXPECT_THAT(this->Set({.daily_usd = 1.25, .monthly_usd = 30}), IsOk());
  EXPECT_EQ(this->Value(this->daily_), "1.25");
  EXPECT_EQ(this->Value(this->monthly_), "30.0");
  EXPECT_EQ(this->Ttl(this->daily_), 172800);
  EXPECT_EQ(this->Ttl(this->monthly_), 5356800);
  EXPECT_THAT(this->Set({.daily_usd = -1, .monthly_usd = 0}), IsOk());
  EXPECT_EQ(this->Value(this->daily_), "0.0");
  EXPECT_EQ(this->Value(this->monthly_), "0.0");
}

TYPED_TEST(SpendTest, RefusesAmountsThatAreNotFinite) {
  tests::InterceptedStore store(this->store());
  for (const double amount : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(this->Run(AdjustKeySpend(store, kKey, amount, this->now(), this->keys_)),
                StatusIs(absl::StatusCode::kInvalidArgument));
    const SpendAmounts amounts = {0, amount};
    EXPECT_THAT(this->Run(SetKeySpend(store, kKey, amounts, this->now(), this->keys_)),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(this->Run(ReadKeySpend(store, "key", this->now(), this->keys_)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(SpendTest, FailuresOfRedisAreControlStateUnavailable) {
  this->Ask({"SET", this->daily_, "abc"});
  EXPECT_TRUE(IsControlStateUnavailable(this->Adjust(1)));
  EXPECT_EQ(this->Value(this->monthly_), "1");  // The other counter has changed.
  tests::InterceptedStore store(this->store());
  store.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return store::NotSentError("gone");
  };
  EXPECT_TRUE(IsControlStateUnavailable(
      this->Run(ReadKeySpend(store, kKey, this->now(), this->keys_)).status()));
  EXPECT_TRUE(IsControlStateUnavailable(
      this->Run(AdjustKeySpend(store, kKey, 1, this->now(), this->keys_))));
  EXPECT_TRUE(
      IsControlStateUnavailable(this->Run(SetKeySpend(store, kKey, {}, this->now(), this->keys_))));
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
