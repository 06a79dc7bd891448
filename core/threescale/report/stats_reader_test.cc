#include "redouble/core/threescale/report/stats_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/report/aggregator.h"
#include "redouble/core/threescale/testing/process_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;

template <typename Backend>
class StatsReaderTest : public ProcessTest<Backend> {
 protected:
  void SetUp() override {
    ProcessTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    this->AdvanceTo("2026-06-17T17:42:39Z");
    Count("app", "2026-06-15T10:00:00Z", "3", "200");
    Count("app", "2026-06-17T16:59:59Z", "4", "404");
    Count("my app", "2026-06-17T17:00:00Z", "5", "200");
  }
  void Count(const std::string& application, std::string_view time, const std::string& value,
             const std::string& code) {
    const CountedTransaction transaction = {
        "2", application, base::ParseRfc3339(time).value(), {{"6", value}}, code};
    ASSERT_THAT(this->Run(Aggregator(this->process()).Aggregate({transaction})), IsOk());
  }
  StatsQuery Query(Granularity granularity, std::string_view since) {
    StatsQuery query = {.service_id = "2", .metric_id = "6"};
    query.granularity = granularity;
    query.since = base::ParseRfc3339(since).value();
    query.until = this->now();
    return query;
  }
  std::vector<std::string> Values(const StatsQuery& query) {
    std::vector<std::string> values;
    const auto points = this->Run(StatsReader(this->process()).Series(query));
    if (!points.ok()) return {std::string(points.status().message())};
    for (const StatsPoint& point : *points) values.push_back(FormatInteger(point.value));
    return values;
  }
};
TYPED_TEST_SUITE(StatsReaderTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(StatsReaderTest, ReadsASeriesOfEachGranularity) {
  const auto values = [&](Granularity granularity, std::string_view since) {
    return this->Values(this->Query(granularity, since));
  };
  EXPECT_THAT(values(Granularity::kDay, "2026-06-14T23:59:59Z"), ElementsAre("0", "3", "0", "9"));
  EXPECT_THAT(values(Granularity::kHour, "2026-06-17T15:30:00Z"), ElementsAre("0", "4", "5"));
  EXPECT_THAT(values(Granularity::kWeek, "2026-06-14T00:00:00Z"), ElementsAre("0", "12"));
  EXPECT_THAT(values(Granularity::kMonth, "2026-05-31T00:00:00Z"), ElementsAre("0", "12"));
  EXPECT_THAT(values(Granularity::kEternity, "2026-06-14T00:00:00Z"), ElementsAre("12"));
}

TYPED_TEST(StatsReaderTest, ReadsTheCountersOfAnApplication) {
  StatsQuery query = this->Query(Granularity::kYear, "2025-12-31T00:00:00Z");
  query.application_id = "app";
  EXPECT_THAT(this->Values(query), ElementsAre("0", "7"));
  query.application_id = "my app";
  EXPECT_THAT(this->Values(query), ElementsAre("0", "5")) << "under the key that reports write";
  query.granularity = Granularity::kMinute;
  query.since = query.until;
  EXPECT_THAT(this->Values(query), ElementsAre("0"));
}

TYPED_TEST(StatsReaderTest, ReadsResponseCodesAndTheirClasses) {
  StatsQuery query = this->Query(Granularity::kDay, "2026-06-17T00:00:00Z");
  query.metric_id = {};
  query.response_code = "4XX";
  EXPECT_THAT(this->Values(query), ElementsAre("1"));
  query.response_code = "200";
  EXPECT_THAT(this->Values(query), ElementsAre("1"));
  query.application_id = "app";
  EXPECT_THAT(this->Values(query), ElementsAre("0"));
}

TYPED_TEST(StatsReaderTest, AddsASeriesUp) {
  StatsReader stats(this->process());
  const StatsQuery query = this->Query(Granularity::kDay, "2026-06-15T00:00:00Z");
  EXPECT_THAT(this->Run(stats.Total(query)), IsOkAndHolds(Integer(12)));
  EXPECT_THAT(this->Run(stats.Applications("2")), IsOkAndHolds(ElementsAre("app", "my+app")));
}

TYPED_TEST(StatsReaderTest, TakesOneRoundTrip) {
  tests::InterceptedStore store(this->store());
  StatsReader stats(this->process_on(store));
  const StatsQuery query = this->Query(Granularity::kHour, "2026-06-10T00:00:00Z");
  EXPECT_EQ(this->Run(stats.Series(query)).value().size(), 186u);
  EXPECT_EQ(store.requests(), 1u);
}

TYPED_TEST(StatsReaderTest, RefusesWhatIsNotCounted) {
  tests::InterceptedStore store(this->store());
  StatsReader stats(this->process_on(store));
  const auto refuses = [&](const StatsQuery& query) {
    EXPECT_THAT(this->Run(stats.Series(query)), StatusIs(absl::StatusCode::kInvalidArgument));
  };
  StatsQuery query = this->Query(Granularity::kDay, "2026-06-15T00:00:00Z");
  query.response_code = "200";
  refuses(query);
  query.metric_id = query.response_code = {};
  refuses(query);
  refuses(this->Query(Granularity::kYear, "2026-06-15T00:00:00Z"));
  refuses(this->Query(Granularity::kMinute, "2026-06-15T00:00:00Z"));
  refuses(this->Query(Granularity::kDay, "2026-06-18T00:00:00Z"));
  refuses(this->Query(Granularity::kHour, "2020-01-01T00:00:00Z"));
  EXPECT_EQ(store.requests(), 0u);
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
