#include "redouble/core/threescale/report/stats_cleaner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/threescale/testing/process_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::StartsWith;

std::string ServiceOf(std::string_view key) {
  const auto service = ServiceOfCounter(key);
  if (!service.ok()) return std::string(service.status().message());
  return service->value_or("none");
}

TEST(ServiceOfCounter, IsReadOutOfTheKey) {
  EXPECT_EQ(ServiceOf("stats/{service:2}/metric:6/eternity"), "2");
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:a/metric:6/hour:2025042317"), "2");
  EXPECT_EQ(ServiceOf("stats/{service:2}/uinstance:a/response_code:2XX/day:20250423"), "2");
}

TEST(ServiceOfCounter, IsNoneForKeysThatAreNotCounters) {
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstances"), "none");
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:my cinstances/metric:6/eternity"), "none");
  EXPECT_EQ(ServiceOf("events/id"), "none");
  EXPECT_EQ(ServiceOf("xstats/{service:2}/metric:6/eternity"), "none");
}

TEST(ServiceOfCounter, IsNoneForAnIdWithASlash) {
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:a/b/metric:6/eternity"), "none");
  EXPECT_EQ(ServiceOf("stats/{service:2}/metric:6"), "none");
}

// The services in the rows below are what the original reads out of these keys.
TEST(ServiceOfCounter, IsNoneForAnIdWithAQuote) {
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:a\"b/metric:6/eternity"), "none");
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:a\"b\"c/metric:6/eternity"), "2");
  EXPECT_EQ(ServiceOf("stats/{service:2}/metric:6/eternity\"x"), "2");
  EXPECT_EQ(ServiceOf("stats/{service:2}/metric:6/eternity\"x\"y/b"), "none");
}

TEST(ServiceOfCounter, IsReadOutOfSegmentsThatKeysDoNotHave) {
  EXPECT_EQ(ServiceOf("stats/{service:2}/metric:6/eternity/day:20250423"), "2");
  EXPECT_EQ(ServiceOf("stats/{service:2}/metric:6/day:20250423/eternity"), "2");
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:a/period/metric:6/eternity"), "2");
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:a/value/metric:6/eternity"), "2");
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:a/service:3/metric:6/eternity"), "3");
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:/service/metric:6/eternity"), "none");
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:::/metric:6/eternity"), "2");
  EXPECT_EQ(ServiceOf("stats/{service:2}/city:/country:/metric:6/eternity"), "none");
}

TEST(ServiceOfCounter, FailsForAPeriodWithoutItsTime) {
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:a/day/metric:6/eternity"), "day has no time");
  EXPECT_EQ(ServiceOf("stats/{service:2}/b/hour:/eternity"), "hour has no time");
  EXPECT_EQ(ServiceOf("stats/{service:2}/metric:6/year:202501"), "year has no day");
  EXPECT_EQ(ServiceOf("stats/{service:2}/metric:6/year:2025010"), "2");
  EXPECT_EQ(ServiceOf("stats/{service:2}/b/year:2025"), "none");
}

// Counters of older releases.
TEST(ServiceOfCounter, IsReadOutOfAKeyWithTheSlashOfNotApplicable) {
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:a/uinstance:N/A/metric:6/eternity"), "2");
  EXPECT_EQ(ServiceOf("stats/{service:2}/uinstance:N/A/metric:6/day:20250423"), "2");
  EXPECT_EQ(ServiceOf("stats/{service:N/A}/metric:6/eternity"), "none");
}

TEST(ServiceOfCounter, FailsForAnIdWithAColon) {
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:a:b/metric:6/eternity"),
            "invalid number of elements (3 for 1..2)");
  EXPECT_EQ(ServiceOf("stats/{service:2}//metric:6/eternity"),
            "invalid number of elements (0 for 1..2)");
  EXPECT_EQ(ServiceOf("stats/{service:2}/metric:6/eternity/"),
            "invalid number of elements (0 for 1..2)");
  EXPECT_EQ(ServiceOf("stats/"), "invalid number of elements (0 for 1..2)");
}

template <typename Backend>
class StatsCleanerTest : public ProcessTest<Backend> {
 protected:
  StatsCleanerOptions options() {
    StatsCleanerOptions options;
    options.keys = this->keys();
    return options;
  }
  StatsCleaner cleaner() { return StatsCleaner(this->store(), clock_, options()); }
  absl::Status DeleteMarked() { return this->Run(cleaner().DeleteMarked()); }
  void Set(std::string_view key, std::string_view value = "1") { this->Ask({"SET", key, value}); }
  bool Exists(std::string_view key) { return this->Ask({"EXISTS", key}) == Reply::Integer(1); }
  bool IsMarked(std::string_view service) {
    return this->Ask({"SISMEMBER", "set_with_services_marked_for_deletion", service}) ==
           Reply::Integer(1);
  }

  CallbackClock clock_{[this] { return this->now(); }};
};
TYPED_TEST_SUITE(StatsCleanerTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(StatsCleanerTest, DeletesTheCountersOfMarkedServicesOnly) {
  this->Set("stats/{service:2}/metric:6/eternity");
  this->Set("stats/{service:2}/cinstance:a/metric:6/year:20250101");
  this->Set("stats/{service:3}/metric:6/eternity");
  this->Ask({"SADD", "stats/{service:2}/cinstances", "a"});
  this->Set("daily_traffic/service:2/cinstance:a/20250423");
  EXPECT_THAT(this->Run(this->cleaner().Mark("2")), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(this->cleaner().Mark("2")), IsOkAndHolds(false));
  ASSERT_THAT(this->DeleteMarked(), IsOk());
  EXPECT_FALSE(this->IsMarked("2"));
  EXPECT_FALSE(this->Exists("stats/{service:2}/metric:6/eternity"));
  EXPECT_TRUE(this->Exists("stats/{service:3}/metric:6/eternity"));
  EXPECT_TRUE(this->Exists("stats/{service:2}/cinstances"));
  EXPECT_EQ(this->KeyCount(), 3);
}

TYPED_TEST(StatsCleanerTest, CleansManyServicesAtOnce) {
  for (int i = 0; i < 30; ++i) {
    const std::string service = "s" + std::to_string(i);
    this->Set("stats/{service:" + service + "}/metric:6/eternity");
    ASSERT_THAT(this->Run(this->cleaner().Mark(service)), IsOk());
  }
  ASSERT_THAT(this->DeleteMarked(), IsOk());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(StatsCleanerTest, RemovesEachMarkByACommandOfOneRoundTrip) {
  for (const char* service : {"2", "3"}) {
    ASSERT_THAT(this->Run(this->cleaner().Mark(service)), IsOk());
  }
  tests::InterceptedStore store(this->store());
  ASSERT_THAT(this->Run(StatsCleaner(store, this->clock_, this->options()).DeleteMarked()), IsOk());
  EXPECT_THAT(store.log(), ElementsAre(StartsWith("SSCAN"), "SCAN 0 COUNT 1", "SCAN 0 COUNT 500",
                                       "SREM set_with_services_marked_for_deletion 2",
                                       "SREM set_with_services_marked_for_deletion 3"));
  EXPECT_EQ(store.requests(), 4);
}

TYPED_TEST(StatsCleanerTest, CleansAServiceWhoseIdHasASpace) {
  const std::string counter =
      this->keys().Counter({.service_id = "a b", .metric_id = "6"}, "eternity");
  this->Set(counter);
  ASSERT_THAT(this->Run(this->cleaner().Mark("a b")), IsOk());
  ASSERT_THAT(this->DeleteMarked(), IsOk());
  EXPECT_FALSE(this->Exists(counter));
}

TYPED_TEST(StatsCleanerTest, CleansManyPages) {
  constexpr int kKeys = 1700;
  for (int i = 0; i < kKeys; ++i) {
    this->Set("stats/{service:2}/metric:" + std::to_string(i) + "/eternity");
  }
  ASSERT_THAT(this->Run(this->cleaner().Mark("2")), IsOk());
  ASSERT_THAT(this->DeleteMarked(), IsOk());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(StatsCleanerTest, ScansNothingWithoutMarks) {
  tests::InterceptedStore store(this->store());
  ASSERT_THAT(this->Run(StatsCleaner(store, this->clock_, this->options()).DeleteMarked()), IsOk());
  EXPECT_EQ(store.requests(), 1u);
}

TYPED_TEST(StatsCleanerTest, GivesUpOnAColonAfterThreeTries) {
  this->Set("stats/{service:9}/cinstance:a:b/metric:6/eternity");
  ASSERT_THAT(this->Run(this->cleaner().Mark("2")), IsOk());
  tests::InterceptedStore store(this->store());
  EXPECT_EQ(this->Run(StatsCleaner(store, this->clock_, this->options()).DeleteMarked()).message(),
            "invalid number of elements (3 for 1..2)");
  EXPECT_THAT(store.log(), ElementsAre(StartsWith("SSCAN"), "SCAN 0 COUNT 1", "SCAN 0 COUNT 500",
                                       "SCAN 0 COUNT 500", "SCAN 0 COUNT 500"));
  EXPECT_TRUE(this->IsMarked("2"));
}

TYPED_TEST(StatsCleanerTest, GoesOnWhenATryWorks) {
  this->Set("stats/{service:2}/metric:6/eternity");
  ASSERT_THAT(this->Run(this->cleaner().Mark("2")), IsOk());
  tests::InterceptedStore store(this->store());
  store.on_request = [](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 2 || index == 3) return absl::UnavailableError("lost");
    return std::nullopt;
  };
  ASSERT_THAT(this->Run(StatsCleaner(store, this->clock_, this->options()).DeleteMarked()), IsOk());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(StatsCleanerTest, DeletesCountersThatAreZero) {
  this->Set("stats/{service:2}/metric:6/eternity", "0");
  this->Set("stats/{service:2}/metric:7/eternity", "00");
  this->Set("stats/{service:2}/metric:8/eternity", "5");
  this->Set("events/id", "0");
  this->Set("stats/{service:2}/cinstance:my cinstances/metric:6/eternity", "0");
  this->Ask({"SADD", "stats/{service:2}/cinstances", "a"});
  EXPECT_THAT(this->Run(this->cleaner().DeleteZeros()), IsOkAndHolds(1));
  EXPECT_EQ(this->KeyCount(), 5);
}

TYPED_TEST(StatsCleanerTest, LogsWhatItDeletes) {
  std::vector<std::string> lines;
  StatsCleanerOptions options = this->options();
  options.log = [&](std::string_view line) { lines.emplace_back(line); };
  StatsCleaner cleaner(this->store(), this->clock_, options);
  this->Set("stats/{service:2}/metric:6/eternity", "42");
  this->Set("stats/{service:3}/metric:6/eternity", "0");
  ASSERT_THAT(this->Run(cleaner.Mark("2")), IsOk());
  ASSERT_THAT(this->Run(cleaner.DeleteMarked()), IsOk());
  EXPECT_THAT(lines, ElementsAre("stats/{service:2}/metric:6/eternity 42"));
  lines.clear();
  EXPECT_THAT(this->Run(cleaner.DeleteZeros()), IsOkAndHolds(1));
  EXPECT_THAT(lines, ElementsAre("stats/{service:3}/metric:6/eternity"));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(StatsCleanerTest, ScansTheOtherServersWhenOneIsLost) {
  const absl::Status errors[] = {
      absl::UnavailableError("gone"),
      store::OutcomeUnknownError("late", absl::StatusCode::kDeadlineExceeded),
      store::ServerError("ERR Connection timed out")};
  for (const absl::Status& error : errors) {
    this->Set("stats/{service:2}/metric:6/eternity");
    this->Set("stats/{service:3}/metric:6/eternity", "0");
    tests::InterceptedStore lost(this->store());
    lost.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> { return error; };
    StatsCleanerOptions options = this->options();
    options.servers = {&lost, &this->store()};
    StatsCleaner cleaner(this->store(), this->clock_, options);
    ASSERT_THAT(this->Run(cleaner.Mark("2")), IsOk());
    EXPECT_EQ(this->Run(cleaner.DeleteMarked()), error);
    EXPECT_FALSE(this->Exists("stats/{service:2}/metric:6/eternity"));
    EXPECT_TRUE(this->IsMarked("2")) << "the next run scans the lost server";
    EXPECT_EQ(this->Run(cleaner.DeleteZeros()).status(), error);
    EXPECT_FALSE(this->Exists("stats/{service:3}/metric:6/eternity"));
    lost.on_request = nullptr;
    ASSERT_THAT(this->Run(cleaner.DeleteMarked()), IsOk());
    EXPECT_FALSE(this->IsMarked("2"));
  }
}

// Another error can come from the keys, so that no further server is scanned.
TYPED_TEST(StatsCleanerTest, StopsAtAnotherErrorOfAServer) {
  this->Set("stats/{service:2}/metric:6/eternity");
  tests::InterceptedStore broken(this->store());
  broken.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return store::ServerError("ERR unknown command 'SCAN'");
  };
  StatsCleanerOptions options = this->options();
  options.servers = {&broken, &this->store()};
  StatsCleaner cleaner(this->store(), this->clock_, options);
  ASSERT_THAT(this->Run(cleaner.Mark("2")), IsOk());
  EXPECT_EQ(this->Run(cleaner.DeleteMarked()).message(), "ERR unknown command 'SCAN'");
  EXPECT_TRUE(this->Exists("stats/{service:2}/metric:6/eternity"));
}

TYPED_TEST(StatsCleanerTest, TriesThreeTimesToRemoveTheMarks) {
  this->Set("stats/{service:2}/metric:6/eternity");
  ASSERT_THAT(this->Run(this->cleaner().Mark("2")), IsOk());
  tests::InterceptedStore store(this->store());
  constexpr size_t kSRem = 4;  // After SSCAN, the probe, SCAN and DEL.
  store.on_request = [](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == kSRem || index == kSRem + 1) return absl::UnavailableError("lost");
    return std::nullopt;
  };
  ASSERT_THAT(this->Run(StatsCleaner(store, this->clock_, this->options()).DeleteMarked()), IsOk());
  EXPECT_FALSE(this->IsMarked("2"));
}

TYPED_TEST(StatsCleanerTest, PassesStoreErrorsOn) {
  this->Ask({"SET", "set_with_services_marked_for_deletion", "x"});
  EXPECT_THAT(this->Run(this->cleaner().Mark("2")), Not(IsOk()));
  EXPECT_THAT(this->DeleteMarked(), Not(IsOk()));
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
