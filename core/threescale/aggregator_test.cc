#include "core/threescale/aggregator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/threescale/reporting_for_test.h"
#include "tests/support/intercepted_store.h"

namespace redouble::threescale {
namespace {

using store::Reply;
using ::testing::ElementsAre;

template <typename Backend>
class AggregatorTest : public ReportingTest<Backend> {
 protected:
  CountedTransaction Hit(std::string value = "1", std::string code = "") {
    return {"2", "app", this->now(), {{"6", std::move(value)}}, std::move(code)};
  }
  absl::Status Aggregate(std::vector<CountedTransaction> transactions,
                         AggregatorOptions options = {}) {
    return this->Run(
        Aggregator(this->process(), std::move(options)).Aggregate(std::move(transactions)));
  }
};
TYPED_TEST_SUITE(AggregatorTest, tests::Backends, tests::BackendNames);

TYPED_TEST(AggregatorTest, CountsAndPublishesTheFirstTraffic) {
  ASSERT_TRUE(this->Aggregate({this->Hit("4", "200")}).ok());
  EXPECT_EQ(this->Counter("6", "eternity"), "4");
  EXPECT_EQ(this->Counter("6", "minute:202606171742"), "4");
  EXPECT_EQ(this->Ttl("stats/{service:2}/cinstance:app/metric:6/minute:202606171742"), 180);
  EXPECT_EQ(this->Value("stats/{service:2}/response_code:2XX/eternity"), "1");
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260617"), "1");
  EXPECT_EQ(this->Ttl("daily_traffic/service:2/cinstance:app/20260617"), 172800);
  EXPECT_THAT(this->EventTypes(), ElementsAre("first_traffic", "first_daily_traffic"));
}

TYPED_TEST(AggregatorTest, PublishesTheFirstTrafficOfEachDay) {
  ASSERT_TRUE(this->Aggregate({this->Hit()}).ok());
  ASSERT_TRUE(this->Aggregate({this->Hit()}).ok());
  EXPECT_EQ(this->EventTypes().size(), 2u);
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260617"), "2");
  this->AdvanceTo("2026-06-18T00:00:00Z");
  ASSERT_TRUE(this->Aggregate({this->Hit()}).ok());
  EXPECT_THAT(this->EventTypes(),
              ElementsAre("first_traffic", "first_daily_traffic", "first_daily_traffic"));
}

TYPED_TEST(AggregatorTest, RestartsTheMinuteWithEachWriteButNotWithADelete) {
  const std::string minute = "stats/{service:2}/cinstance:app/metric:6/minute:202606171742";
  const CountedTransaction hit = this->Hit();
  ASSERT_TRUE(this->Aggregate({hit}).ok());
  this->Advance(absl::Seconds(100));
  ASSERT_TRUE(this->Aggregate({hit}).ok());
  EXPECT_EQ(this->Ttl(minute), 180) << "from processing, whatever the minute in the key";
  CountedTransaction set = hit;
  set.usage = {{"6", "#7"}};
  this->Advance(absl::Seconds(100));
  ASSERT_TRUE(this->Aggregate({set}).ok());
  EXPECT_EQ(this->Value(minute), "7");
  EXPECT_EQ(this->Ttl(minute), 180);
  set.usage = {{"6", "#0"}};
  ASSERT_TRUE(this->Aggregate({set}).ok());
  EXPECT_EQ(this->Ttl(minute), -2);
  EXPECT_EQ(this->Counter("6", "eternity"), "nil");
}

TYPED_TEST(AggregatorTest, SendsSlicesOf400Transactions) {
  tests::InterceptedStore store(this->store());
  std::vector<CountedTransaction> transactions(401, this->Hit());
  ASSERT_TRUE(this->Run(Aggregator(this->process_on(store)).Aggregate(transactions)).ok());
  EXPECT_EQ(store.log()[5200], "INCRBY stats/{service:2}/metric:6/eternity 1");
  EXPECT_EQ(store.log()[5213], "SADD stats/{service:2}/cinstances app");
  EXPECT_EQ(store.requests(), 11u) << "2 slices, 7 of first traffic, 2 of alerts";
  EXPECT_EQ(this->Counter("6", "eternity"), "401");
}

TYPED_TEST(AggregatorTest, AppliesTheRestOfASliceThatFailsAndStops) {
  ASSERT_TRUE(this->Aggregate({this->Hit("5")}).ok());
  const absl::Status status =
      this->Aggregate({this->Hit("99999999999999999999", "200"), this->Hit("2")});
  EXPECT_EQ(status.message(), "ERR value is not an integer or out of range");
  EXPECT_EQ(this->Counter("6", "eternity"), "7");
  EXPECT_EQ(this->Value("stats/{service:2}/response_code:200/eternity"), "1");
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260617"), "1");
}

// Sums have no end here; counters have Redis's, which says so.
TYPED_TEST(AggregatorTest, LeavesToRedisWhatACounterCannotHold) {
  const std::string wide = "1" + std::string(40, '0');
  EXPECT_EQ(this->Aggregate({this->Hit(wide)}).message(),
            "ERR value is not an integer or out of range");
  EXPECT_EQ(this->Counter("6", "eternity"), "nil");
  ASSERT_TRUE(this->Aggregate({this->Hit("9223372036854775807")}).ok());
  EXPECT_EQ(this->Aggregate({this->Hit("1")}).message(),
            "ERR increment or decrement would overflow");
  EXPECT_EQ(this->Counter("6", "eternity"), "9223372036854775807");
  ASSERT_TRUE(this->Aggregate({this->Hit("#" + wide)}).ok()) << "a set is no sum";
  EXPECT_EQ(this->Counter("6", "eternity"), wide);
  EXPECT_EQ(this->Aggregate({this->Hit("1")}).message(),
            "ERR value is not an integer or out of range");
}

TYPED_TEST(AggregatorTest, StopsBehindTheSliceThatFails) {
  std::vector<CountedTransaction> transactions(400, this->Hit());
  transactions.front() = this->Hit("99999999999999999999");
  transactions.push_back(this->Hit("1000"));
  EXPECT_FALSE(this->Aggregate(transactions).ok());
  EXPECT_EQ(this->Counter("6", "eternity"), "399");
}

TYPED_TEST(AggregatorTest, TellsApplicationsApartByTheirIdAlone) {
  CountedTransaction other = this->Hit();
  other.service_id = "3";
  ASSERT_TRUE(this->Aggregate({this->Hit(), other}).ok());
  EXPECT_EQ(this->Ask({"EXISTS", "stats/{service:2}/cinstances"}), Reply::Integer(0));
  EXPECT_EQ(this->Ask({"SMEMBERS", "stats/{service:3}/cinstances"}),
            Reply::Array({Reply::Bulk("app")}));
}

TYPED_TEST(AggregatorTest, CountsTrafficOfTheDayOnceAMinuteInAProcessThatRemembers) {
  Memoizer memoizer(this->clock());
  Process process = this->process();
  process.memoizer = &memoizer;
  Aggregator aggregator(process);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(this->Run(aggregator.Aggregate({this->Hit()})).ok());
    this->Advance(absl::Seconds(30));
  }
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260617"), "1");
  ASSERT_TRUE(this->Run(aggregator.Aggregate({this->Hit()})).ok());
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260617"), "2");
}

TYPED_TEST(AggregatorTest, PingsWhenThereIsAHookWhateverBecomesOfIt) {
  int calls = 0;
  AggregatorOptions options;
  options.events_hook = [&]() -> base::Task<absl::Status> {
    ++calls;
    co_return absl::UnknownError("boom");
  };
  EXPECT_TRUE(this->Aggregate({this->Hit()}, options).ok());
  EXPECT_TRUE(this->Aggregate({this->Hit()}, options).ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(this->Ttl("events/ping"), 60);
}

TYPED_TEST(AggregatorTest, ExpiresInTransactionsWhenHardened) {
  tests::InterceptedStore store(this->store());
  const AggregatorOptions options{.hardening = {.expire_atomically = true}};
  this->Ask({"INCR", "daily_traffic/service:2/cinstance:app/20260617"});
  ASSERT_TRUE(
      this->Run(Aggregator(this->process_on(store), options).Aggregate({this->Hit()})).ok());
  EXPECT_EQ(store.log().front(), "MULTI");
  EXPECT_EQ(this->Ttl("stats/{service:2}/cinstance:app/metric:6/minute:202606171742"), 180);
  EXPECT_EQ(this->Ttl("daily_traffic/service:2/cinstance:app/20260617"), 172800) << "healed";
  EXPECT_THAT(this->EventTypes(), ElementsAre("first_traffic"));
}

TYPED_TEST(AggregatorTest, PassesEveryLostRequestOn) {
  for (size_t lost = 0; lost < 9; ++lost) {
    this->Ask(
        {"DEL", "stats/{service:2}/cinstances", "daily_traffic/service:2/cinstance:app/20260617"});
    tests::InterceptedStore broken(this->store());
    broken.on_request = [lost](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == lost) return absl::UnavailableError("lost");
      return std::nullopt;
    };
    EXPECT_EQ(this->Run(Aggregator(this->process_on(broken)).Aggregate({this->Hit()})).code(),
              absl::StatusCode::kUnavailable)
        << lost;
  }
}

}  // namespace
}  // namespace redouble::threescale
