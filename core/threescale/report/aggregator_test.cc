#include "redouble/core/threescale/report/aggregator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/testing/reporting_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::Not;

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
TYPED_TEST_SUITE(AggregatorTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(AggregatorTest, CountsAndPublishesTheFirstTraffic) {
  ASSERT_THAT(this->Aggregate({this->Hit("4", "200")}), IsOk());
  EXPECT_EQ(this->Counter("6", "eternity"), "4");
  EXPECT_EQ(this->Counter("6", "minute:202606171742"), "4");
  EXPECT_EQ(this->Ttl("stats/{service:2}/cinstance:app/metric:6/minute:202606171742"), 180);
  EXPECT_EQ(this->Value("stats/{service:2}/response_code:2XX/eternity"), "1");
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260617"), "1");
  EXPECT_EQ(this->Ttl("daily_traffic/service:2/cinstance:app/20260617"), 172800);
  EXPECT_THAT(this->EventTypes(), ElementsAre("first_traffic", "first_daily_traffic"));
}

TYPED_TEST(AggregatorTest, PublishesTheFirstTrafficOfEachDay) {
  ASSERT_THAT(this->Aggregate({this->Hit()}), IsOk());
  ASSERT_THAT(this->Aggregate({this->Hit()}), IsOk());
  EXPECT_EQ(this->EventTypes().size(), 2u);
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260617"), "2");
  this->AdvanceTo("2026-06-18T00:00:00Z");
  ASSERT_THAT(this->Aggregate({this->Hit()}), IsOk());
  EXPECT_THAT(this->EventTypes(),
              ElementsAre("first_traffic", "first_daily_traffic", "first_daily_traffic"));
}

TYPED_TEST(AggregatorTest, RestartsTheMinuteWithEachWriteButNotWithADelete) {
  const std::string minute = "stats/{service:2}/cinstance:app/metric:6/minute:202606171742";
  const CountedTransaction hit = this->Hit();
  ASSERT_THAT(this->Aggregate({hit}), IsOk());
  this->Advance(absl::Seconds(100));
  ASSERT_THAT(this->Aggregate({hit}), IsOk());
  EXPECT_EQ(this->Ttl(minute), 180) << "from processing, whatever the minute in the key";
  CountedTransaction set = hit;
  set.usage = {{"6", "#7"}};
  this->Advance(absl::Seconds(100));
  ASSERT_THAT(this->Aggregate({set}), IsOk());
  EXPECT_EQ(this->Value(minute), "7");
  EXPECT_EQ(this->Ttl(minute), 180);
  set.usage = {{"6", "#0"}};
  ASSERT_THAT(this->Aggregate({set}), IsOk());
  EXPECT_EQ(this->Ttl(minute), -2);
  EXPECT_EQ(this->Counter("6", "eternity"), "nil");
}

TYPED_TEST(AggregatorTest, CountsForSeveralServicesInTransactions) {
  CountedTransaction other = this->Hit("2");
  other.service_id = "3";
  ASSERT_THAT(this->Aggregate({this->Hit(), other, this->Hit()},
                              {.hardening = {.expire_atomically = true}}),
              IsOk());
  EXPECT_EQ(this->Counter("6", "eternity"), "2");
  EXPECT_EQ(this->Value("stats/{service:3}/metric:6/eternity"), "2");
}

TYPED_TEST(AggregatorTest, SendsSlicesOf400Transactions) {
  tests::InterceptedStore store(this->store());
  std::vector<CountedTransaction> transactions(401, this->Hit());
  ASSERT_THAT(this->Run(Aggregator(this->process_on(store)).Aggregate(transactions)), IsOk());
  EXPECT_EQ(this->Documented(store.log())[5200], "INCRBY stats/{service:2}/metric:6/eternity 1");
  EXPECT_EQ(this->Documented(store.log())[5213], "SADD stats/{service:2}/cinstances app");
  EXPECT_EQ(store.requests(), 11u) << "2 slices, 7 of first traffic, 2 of alerts";
  EXPECT_EQ(this->Counter("6", "eternity"), "401");
}

TYPED_TEST(AggregatorTest, AppliesTheRestOfASliceThatFailsAndStops) {
  ASSERT_THAT(this->Aggregate({this->Hit("5")}), IsOk());
  const absl::Status status =
      this->Aggregate({this->Hit("99999999999999999999", "200"), this->Hit("2")});
  EXPECT_EQ(status.message(), "ERR value is not an integer or out of range");
  EXPECT_EQ(this->Counter("6", "eternity"), "7");
  EXPECT_EQ(this->Value("stats/{service:2}/response_code:200/eternity"), "1");
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260617"), "1");
}

// Sums have arbitrary precision here, but a counter of Redis overflows and reports it.
TYPED_TEST(AggregatorTest, LeavesToRedisWhatACounterCannotHold) {
  const std::string wide = "1" + std::string(40, '0');
  EXPECT_EQ(this->Aggregate({this->Hit(wide)}).message(),
            "ERR value is not an integer or out of range");
  EXPECT_EQ(this->Counter("6", "eternity"), "nil");
  ASSERT_THAT(this->Aggregate({this->Hit("9223372036854775807")}), IsOk());
  EXPECT_EQ(this->Aggregate({this->Hit("1")}).message(),
            "ERR increment or decrement would overflow");
  EXPECT_EQ(this->Counter("6", "eternity"), "9223372036854775807");
  ASSERT_THAT(this->Aggregate({this->Hit("#" + wide)}), IsOk()) << "a set is no sum";
  EXPECT_EQ(this->Counter("6", "eternity"), wide);
  EXPECT_EQ(this->Aggregate({this->Hit("1")}).message(),
            "ERR value is not an integer or out of range");
}

TYPED_TEST(AggregatorTest, StopsBehindTheSliceThatFails) {
  std::vector<CountedTransaction> transactions(400, this->Hit());
  transactions.front() = this->Hit("99999999999999999999");
  transactions.push_back(this->Hit("1000"));
  EXPECT_THAT(this->Aggregate(transactions), Not(IsOk()));
  EXPECT_EQ(this->Counter("6", "eternity"), "399");
}

TYPED_TEST(AggregatorTest, TellsApplicationsApartByTheirIdAlone) {
  CountedTransaction other = this->Hit();
  other.service_id = "3";
  ASSERT_THAT(this->Aggregate({this->Hit(), other}), IsOk());
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
    ASSERT_THAT(this->Run(aggregator.Aggregate({this->Hit()})), IsOk());
    this->Advance(absl::Seconds(30));
  }
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260617"), "1");
  ASSERT_THAT(this->Run(aggregator.Aggregate({this->Hit()})), IsOk());
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260617"), "2");
}

// The event is not lost when Redis fails: a retried job sends the commands again.
TYPED_TEST(AggregatorTest, RemembersTrafficOfTheDayOnlyAfterItSucceeded) {
  Memoizer memoizer(this->clock());
  tests::InterceptedStore store(this->store());
  Process process = this->process_on(store);
  process.memoizer = &memoizer;
  Aggregator aggregator(process);
  constexpr size_t kIncr = 4;  // After the counters, SADD and the two commands of its event.
  store.on_request = [](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == kIncr) return absl::UnavailableError("lost");
    return std::nullopt;
  };
  EXPECT_THAT(this->Run(aggregator.Aggregate({this->Hit()})), Not(IsOk()));
  EXPECT_EQ(this->Documented(store.log()).back(),
            "INCR daily_traffic/service:2/cinstance:app/20260617");
  EXPECT_THAT(this->EventTypes(), ElementsAre("first_traffic"));
  ASSERT_THAT(this->Run(aggregator.Aggregate({this->Hit()})), IsOk());
  EXPECT_THAT(this->EventTypes(), ElementsAre("first_traffic", "first_daily_traffic"));
  ASSERT_THAT(this->Run(aggregator.Aggregate({this->Hit()})), IsOk());
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260617"), "1");
}

TYPED_TEST(AggregatorTest, PingsWhenThereIsAHookWhateverBecomesOfIt) {
  int calls = 0;
  AggregatorOptions options;
  options.events_hook = [&]() -> base::Task<absl::Status> {
    ++calls;
    co_return absl::UnknownError("boom");
  };
  EXPECT_THAT(this->Aggregate({this->Hit()}, options), IsOk());
  EXPECT_THAT(this->Aggregate({this->Hit()}, options), IsOk());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(this->Ttl("events/ping"), 60);
}

TYPED_TEST(AggregatorTest, ExpiresInTransactionsWhenHardened) {
  tests::InterceptedStore store(this->store());
  const AggregatorOptions options{.hardening = {.expire_atomically = true}};
  this->Ask({"INCR", "daily_traffic/service:2/cinstance:app/20260617"});
  ASSERT_THAT(this->Run(Aggregator(this->process_on(store), options).Aggregate({this->Hit()})),
              IsOk());
  EXPECT_EQ(store.log().front(), "MULTI");
  EXPECT_EQ(this->Ttl("stats/{service:2}/cinstance:app/metric:6/minute:202606171742"), 180);
  EXPECT_EQ(this->Ttl("daily_traffic/service:2/cinstance:app/20260617"), 172800) << "healed";
  EXPECT_THAT(this->EventTypes(), ElementsAre("first_traffic"));
}

TYPED_TEST(AggregatorTest, CountsAJobOnceWhenHardened) {
  const AggregatorOptions options{.hardening = {.count_jobs_once = true}};
  std::vector<CountedTransaction> transactions(401, this->Hit());
  const auto aggregate = [&](store::Store& store, std::string job_id) {
    return this->Run(
        Aggregator(this->process_on(store), options).Aggregate(transactions, std::move(job_id)));
  };
  // The second slice does not arrive. A retry counts only that one.
  tests::InterceptedStore broken(this->store());
  size_t scripts = 0;
  broken.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    if (!broken.log().back().starts_with("EVAL")) return std::nullopt;
    return broken.log().back().starts_with("EVALSHA") && ++scripts == 2
               ? std::optional<absl::StatusOr<Reply>>(absl::UnavailableError("lost"))
               : std::nullopt;
  };
  EXPECT_THAT(aggregate(broken, "j1"), Not(IsOk()));
  EXPECT_EQ(this->Counter("6", "eternity"), "400");
  EXPECT_EQ(this->Ttl("counted_jobs/{service:2}/id:j1"), 172800);
  ASSERT_THAT(aggregate(this->store(), "j1"), IsOk());
  EXPECT_EQ(this->Counter("6", "eternity"), "401");
  EXPECT_EQ(this->Ttl("stats/{service:2}/cinstance:app/metric:6/minute:202606171742"), 180);
  ASSERT_THAT(aggregate(this->store(), "j1"), IsOk());
  EXPECT_EQ(this->Counter("6", "eternity"), "401");
  ASSERT_THAT(aggregate(this->store(), "j2"), IsOk());
  EXPECT_EQ(this->Counter("6", "eternity"), "802");
  ASSERT_THAT(aggregate(this->store(), ""), IsOk());
  EXPECT_EQ(this->Counter("6", "eternity"), "1203") << "without an id there is no mark";
}

TYPED_TEST(AggregatorTest, AppliesTheRestOfAMarkedSliceThatFails) {
  const AggregatorOptions options{.hardening = {.count_jobs_once = true}};
  const std::vector<CountedTransaction> transactions = {this->Hit("99999999999999999999", "200"),
                                                        this->Hit("2"), this->Hit("#0")};
  const auto aggregate = [&] {
    return this->Run(Aggregator(this->process(), options).Aggregate(transactions, "j1"));
  };
  this->Ask({"SET", "stats/{service:2}/metric:6/eternity", "5"});
  EXPECT_EQ(aggregate().message(), "ERR value is not an integer or out of range");
  EXPECT_EQ(this->Value("stats/{service:2}/response_code:200/eternity"), "1");
  EXPECT_EQ(this->Value("stats/{service:2}/metric:6/eternity"), "nil");
  EXPECT_THAT(aggregate(), IsOk()) << "it has been counted";
  EXPECT_EQ(this->Value("stats/{service:2}/response_code:200/eternity"), "1");
}

TYPED_TEST(AggregatorTest, CountsNothingForAMissingApplicationWhenHardened) {
  const AggregatorOptions options{.hardening = {.check_applications_atomically = true}};
  CountedTransaction other = this->Hit();
  other.application_id = "gone";
  const absl::Status status = this->Aggregate({this->Hit(), other, this->Hit()}, options);
  EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kApplicationNotFound);
  EXPECT_EQ(status.message(), MakeError(ErrorCode::kApplicationNotFound, "gone").message());
  EXPECT_EQ(this->Counter("6", "eternity"), "nil");
  EXPECT_EQ(this->Ask({"EXISTS", "stats/{service:2}/cinstances"}), Reply::Integer(0));
  ASSERT_THAT(this->Aggregate({this->Hit("4", "200")}, options), IsOk());
  EXPECT_EQ(this->Counter("6", "eternity"), "4");
}

// The application is deleted after its usage has been counted.
TYPED_TEST(AggregatorTest, NotesNoTrafficOfAMissingApplicationWhenHardened) {
  if (this->in_cluster_layout()) return;  // There only the counters are checked.
  const AggregatorOptions options{.hardening = {.check_applications_atomically = true}};
  tests::InterceptedStore store(this->store());
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    const bool was_counted = this->Counter("6", "eternity") != "nil";
    if (was_counted) this->Ask({"DEL", "application/service_id:2/id:app/state"});
    return std::nullopt;
  };
  ASSERT_THAT(this->Run(Aggregator(this->process_on(store), options).Aggregate({this->Hit()})),
              IsOk());
  EXPECT_EQ(this->Counter("6", "eternity"), "1");
  EXPECT_THAT(this->EventTypes(), ElementsAre());
  EXPECT_EQ(this->Ask({"EXISTS", "stats/{service:2}/cinstances"}), Reply::Integer(0));
  EXPECT_EQ(this->Ask({"EXISTS", "daily_traffic/service:2/cinstance:app/20260617"}),
            Reply::Integer(0));
}

// The connection is lost at each request in turn, and the job is repeated.
TYPED_TEST(AggregatorTest, PublishesTrafficWhereverAJobIsCutOffWhenHardened) {
  if (this->in_cluster_layout()) return;  // There the option has no effect.
  const AggregatorOptions options{.hardening = {.note_traffic_atomically = true}};
  bool cut_off = true;
  for (size_t steps = 0; cut_off; ++steps) {
    ASSERT_LT(steps, 20u);
    for (const char* key : {"stats/{service:2}/cinstances", "events/queue",
                            "daily_traffic/service:2/cinstance:app/20260617"}) {
      this->Ask({"DEL", key});
    }
    tests::InterceptedStore store(this->store());
    store.on_request = [steps](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index >= steps) return absl::UnavailableError("lost");
      return std::nullopt;
    };
    cut_off =
        !this->Run(Aggregator(this->process_on(store), options).Aggregate({this->Hit()})).ok();
    ASSERT_THAT(this->Aggregate({this->Hit()}, options), IsOk());
    EXPECT_THAT(this->EventTypes(), ElementsAre("first_traffic", "first_daily_traffic")) << steps;
    EXPECT_EQ(this->Ttl("daily_traffic/service:2/cinstance:app/20260617"), 172800);
  }
}

TYPED_TEST(AggregatorTest, PublishesTheSameEventsOfTrafficWhenHardened) {
  ASSERT_THAT(this->Aggregate({this->Hit()}), IsOk());
  const auto events = this->Run(EventQueue(this->process()).List());
  for (const char* key : {"stats/{service:2}/cinstances", "events/queue", "events/id",
                          "daily_traffic/service:2/cinstance:app/20260617"}) {
    this->Ask({"DEL", key});
  }
  ASSERT_THAT(this->Aggregate({this->Hit()}, {.hardening = {.note_traffic_atomically = true}}),
              IsOk());
  EXPECT_EQ(this->Run(EventQueue(this->process()).List()).value(), events.value());
}

// The counter of a day has expired when the clock of a process goes back to that day.
TYPED_TEST(AggregatorTest, TakesTheDayFromRedisWhenHardened) {
  if (this->in_cluster_layout()) return;
  const AggregatorOptions options{.hardening = {.note_traffic_atomically = true}};
  const absl::Time day_before = this->now() - absl::Hours(24);
  const CallbackClock late([&] { return day_before; });
  Process process(this->store(), late);
  ASSERT_THAT(this->Run(Aggregator(process, options).Aggregate({this->Hit()})), IsOk());
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260616"), "nil");
  EXPECT_EQ(this->Value("daily_traffic/service:2/cinstance:app/20260617"), "1");
  const auto events = this->Run(EventQueue(this->process()).List()).value();
  EXPECT_THAT(events.back(), ::testing::HasSubstr("\"timestamp\":\"2026-06-17 17:42:39 UTC\""));
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
}  // namespace redouble::inline v0_1::threescale
