#include "core/threescale/stats_cleaner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/threescale/process_for_test.h"
#include "tests/support/intercepted_store.h"

namespace redouble::threescale {
namespace {

using store::Reply;
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
  EXPECT_EQ(ServiceOf("stats/{service:2}/metric:6/eternity/day:20250423"), "none");
}

TEST(ServiceOfCounter, FailsForAnIdWithAColon) {
  EXPECT_EQ(ServiceOf("stats/{service:2}/cinstance:a:b/metric:6/eternity"),
            "invalid number of elements (3 for 1..2)");
  EXPECT_EQ(ServiceOf("stats/{service:2}//metric:6/eternity"),
            "invalid number of elements (0 for 1..2)");
}

template <typename Backend>
class StatsCleanerTest : public ProcessTest<Backend> {
 protected:
  StatsCleaner cleaner() { return StatsCleaner(this->store(), clock_); }
  absl::Status DeleteMarked() { return this->Run(cleaner().DeleteMarked()); }
  void Set(std::string_view key, std::string_view value = "1") { this->Ask({"SET", key, value}); }
  bool Exists(std::string_view key) { return this->Ask({"EXISTS", key}) == Reply::Integer(1); }
  bool IsMarked(std::string_view service) {
    return this->Ask({"SISMEMBER", "set_with_services_marked_for_deletion", service}) ==
           Reply::Integer(1);
  }

  AskingClock clock_{[this] { return this->now(); }};
};
TYPED_TEST_SUITE(StatsCleanerTest, tests::Backends, tests::BackendNames);

TYPED_TEST(StatsCleanerTest, DeletesTheCountersOfMarkedServicesOnly) {
  this->Set("stats/{service:2}/metric:6/eternity");
  this->Set("stats/{service:2}/cinstance:a/metric:6/year:20250101");
  this->Set("stats/{service:3}/metric:6/eternity");
  this->Ask({"SADD", "stats/{service:2}/cinstances", "a"});
  this->Set("daily_traffic/service:2/cinstance:a/20250423");
  EXPECT_TRUE(*this->Run(this->cleaner().Mark("2")));
  EXPECT_FALSE(*this->Run(this->cleaner().Mark("2")));
  ASSERT_TRUE(this->DeleteMarked().ok());
  EXPECT_FALSE(this->IsMarked("2"));
  EXPECT_FALSE(this->Exists("stats/{service:2}/metric:6/eternity"));
  EXPECT_TRUE(this->Exists("stats/{service:3}/metric:6/eternity"));
  EXPECT_TRUE(this->Exists("stats/{service:2}/cinstances"));
  EXPECT_EQ(this->KeyCount(), 3);
}

TYPED_TEST(StatsCleanerTest, CleansManyPages) {
  constexpr int kKeys = 1700;
  for (int i = 0; i < kKeys; ++i) {
    this->Set("stats/{service:2}/metric:" + std::to_string(i) + "/eternity");
  }
  ASSERT_TRUE(this->Run(this->cleaner().Mark("2")).ok());
  ASSERT_TRUE(this->DeleteMarked().ok());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(StatsCleanerTest, ScansNothingWithoutMarks) {
  tests::InterceptedStore store(this->store());
  ASSERT_TRUE(this->Run(StatsCleaner(store, this->clock_).DeleteMarked()).ok());
  EXPECT_EQ(store.requests(), 1u);
}

TYPED_TEST(StatsCleanerTest, GivesUpOnAColonAfterThreeTries) {
  this->Set("stats/{service:9}/cinstance:a:b/metric:6/eternity");
  ASSERT_TRUE(this->Run(this->cleaner().Mark("2")).ok());
  tests::InterceptedStore store(this->store());
  EXPECT_EQ(this->Run(StatsCleaner(store, this->clock_).DeleteMarked()).message(),
            "invalid number of elements (3 for 1..2)");
  EXPECT_THAT(store.log(),
              ::testing::ElementsAre(StartsWith("SSCAN"), "SCAN 0 COUNT 1", "SCAN 0 COUNT 500",
                                     "SCAN 0 COUNT 500", "SCAN 0 COUNT 500"));
  EXPECT_TRUE(this->IsMarked("2"));
}

TYPED_TEST(StatsCleanerTest, GoesOnWhenATryWorks) {
  this->Set("stats/{service:2}/metric:6/eternity");
  ASSERT_TRUE(this->Run(this->cleaner().Mark("2")).ok());
  tests::InterceptedStore store(this->store());
  store.on_request = [](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 2 || index == 3) return absl::UnavailableError("lost");
    return std::nullopt;
  };
  ASSERT_TRUE(this->Run(StatsCleaner(store, this->clock_).DeleteMarked()).ok());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(StatsCleanerTest, DeletesCountersThatAreZero) {
  this->Set("stats/{service:2}/metric:6/eternity", "0");
  this->Set("stats/{service:2}/metric:7/eternity", "00");
  this->Set("stats/{service:2}/metric:8/eternity", "5");
  this->Set("events/id", "0");
  this->Ask({"SADD", "stats/{service:2}/cinstances", "a"});
  EXPECT_EQ(*this->Run(this->cleaner().DeleteZeros()), 1);
  EXPECT_EQ(this->KeyCount(), 4);
}

TYPED_TEST(StatsCleanerTest, PassesStoreErrorsOn) {
  this->Ask({"SET", "set_with_services_marked_for_deletion", "x"});
  EXPECT_FALSE(this->Run(this->cleaner().Mark("2")).ok());
  EXPECT_FALSE(this->DeleteMarked().ok());
}

}  // namespace
}  // namespace redouble::threescale
