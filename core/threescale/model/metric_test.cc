#include "redouble/core/threescale/model/metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/authorize/metric_usage.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/model/alert_limit.h"
#include "redouble/core/threescale/model/usage_limit.h"
#include "redouble/core/threescale/testing/process_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

template <typename Backend>
class MetricStoreTest : public ProcessTest<Backend> {
 protected:
  MetricStore metrics() { return MetricStore(this->process()); }
  void Save(std::string_view id, std::string_view name,
            std::optional<std::string> parent_id = std::nullopt) {
    const Metric metric = {"2", std::string(id), std::string(name), std::move(parent_id)};
    ASSERT_THAT(this->Run(metrics().Save(metric)), IsOk());
  }
  std::optional<std::string> IdOf(std::string_view name) {
    return this->Run(metrics().LoadId({"2", name})).value();
  }
  absl::StatusOr<Usage> ProcessUsage(Usage usage,
                                     Propagation propagation = Propagation::kToParents) {
    MetricCollection collection(this->process(), "2");
    return this->Run(collection.ProcessUsage(std::move(usage), propagation));
  }
  // hits (10), its child search (11), and its child fulltext (12).
  void SaveThreeLevels() {
    Save("10", "hits");
    Save("11", "search", "10");
    Save("12", "fulltext", "11");
  }
};
TYPED_TEST_SUITE(MetricStoreTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(MetricStoreTest, SavesAMetricAndItsChildren) {
  tests::InterceptedStore store(this->store());
  Metric metric = {"2", "20", "p"};
  metric.children.push_back({"ignored", "21", "c"});
  ASSERT_THAT(this->Run(MetricStore(this->process_on(store)).Save(metric)), IsOk());
  EXPECT_THAT(
      this->Documented(store.log()),
      ElementsAre("GET metric/service_id:2/id:20/name", "DEL metric/service_id:2/name:/id",
                  "SET metric/service_id:2/name:p/id 20", "SET metric/service_id:2/id:20/name p",
                  "SADD metrics/service_id:2/ids 20", "GET metric/service_id:2/id:21/name",
                  "DEL metric/service_id:2/name:/id", "SET metric/service_id:2/name:c/id 21",
                  "SET metric/service_id:2/id:21/name c",
                  "SET metric/service_id:2/id:21/parent_id 20", "SADD metrics/service_id:2/ids 21",
                  "SMEMBERS metrics/service_id:2/ids", "SMEMBERS metrics/service_id:2/ids"));
  ASSERT_OK_AND_ASSIGN(const auto child, this->Run(this->metrics().Load({"2", "21"})));
  ASSERT_TRUE(child);
  EXPECT_EQ(child->name, "c");
  EXPECT_EQ(child->parent_id, "20");
  EXPECT_THAT(this->Run(this->metrics().Load({"2", "99"})),
              IsOkAndHolds(::testing::Eq(std::nullopt)));
}

TYPED_TEST(MetricStoreTest, LosesAMappingWhenTwoMetricsSwapNames) {
  this->Save("11", "a");
  this->Save("12", "b");
  this->Save("11", "b");
  EXPECT_EQ(this->IdOf("a"), std::nullopt);
  EXPECT_EQ(this->IdOf("b"), "11");
  this->Save("12", "a");  // Deletes the mapping of b, which belongs to metric 11 by now.
  EXPECT_EQ(this->IdOf("a"), "12");
  EXPECT_EQ(this->IdOf("b"), std::nullopt);
}

TYPED_TEST(MetricStoreTest, KeepsTheNamesOfOthersWhenHardened) {
  MetricStore metrics(this->process(), {.change_metrics_atomically = true});
  const auto save = [&](std::string id, std::string name) {
    const Metric metric = {"2", std::move(id), std::move(name)};
    ASSERT_THAT(this->Run(metrics.Save(metric)), IsOk());
  };
  save("11", "a");
  save("12", "b");
  save("11", "b");
  EXPECT_EQ(this->IdOf("a"), std::nullopt);
  save("12", "a");
  EXPECT_EQ(this->IdOf("a"), "12");
  EXPECT_EQ(this->IdOf("b"), "11");
  save("13", "a");
  EXPECT_THAT(this->Run(metrics.Delete({"2", "12"})), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(metrics.Delete({"2", "12"})), IsOkAndHolds(false));
  EXPECT_EQ(this->IdOf("a"), "13");
  EXPECT_THAT(this->Run(metrics.LoadIds("2")), IsOkAndHolds(UnorderedElementsAre("11", "13")));
}

TYPED_TEST(MetricStoreTest, SavesTheSameWhenHardened) {
  MetricStore metrics(this->process(), {.change_metrics_atomically = true});
  Metric metric = {"2", "20", "p"};
  metric.children.push_back({"ignored", "21", "c"});
  ASSERT_THAT(this->Run(metrics.Save(metric)), IsOk());
  EXPECT_EQ(this->IdOf("p"), "20");
  ASSERT_OK_AND_ASSIGN(const auto child, this->Run(metrics.Load({"2", "21"})));
  ASSERT_TRUE(child);
  EXPECT_EQ(child->name, "c");
  EXPECT_EQ(child->parent_id, "20");
  EXPECT_THAT(this->Run(metrics.LoadIds("2")), IsOkAndHolds(UnorderedElementsAre("20", "21")));
}

// Between the read and the script, another process renames the metric.
TYPED_TEST(MetricStoreTest, BeginsAgainWhenTheMetricHasChangedAndItIsHardened) {
  this->Save("11", "a");
  tests::InterceptedStore store(this->store());
  MetricStore metrics(this->process_on(store), {.change_metrics_atomically = true});
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
    if (index == 1) this->Save("11", "b");
    return std::nullopt;
  };
  const Metric renamed = {"2", "11", "c"};
  ASSERT_THAT(this->Run(metrics.Save(renamed)), IsOk());
  EXPECT_EQ(this->IdOf("a"), std::nullopt);
  EXPECT_EQ(this->IdOf("b"), std::nullopt) << "the old name is the one of the other process";
  EXPECT_EQ(this->IdOf("c"), "11");

  tests::InterceptedStore deleting(this->store());
  MetricStore others(this->process_on(deleting), {.change_metrics_atomically = true});
  deleting.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
    if (index == 2) this->Save("11", "d");
    return std::nullopt;
  };
  EXPECT_THAT(this->Run(others.Delete({"2", "11"})), IsOkAndHolds(true));
  EXPECT_EQ(this->IdOf("c"), std::nullopt);
  EXPECT_EQ(this->IdOf("d"), std::nullopt);
}

TYPED_TEST(MetricStoreTest, KeepsAParentThatALaterSaveDoesNotName) {
  this->Save("11", "search", "10");
  this->Save("11", "search");
  EXPECT_THAT(this->Run(this->metrics().LoadParentId({"2", "11"})), IsOkAndHolds("10"));
}

TYPED_TEST(MetricStoreTest, LeavesTheChildrenOfADeletedMetric) {
  this->SaveThreeLevels();
  EXPECT_THAT(this->Run(this->metrics().Delete({"2", "11"})), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(this->metrics().Delete({"2", "11"})), IsOkAndHolds(false));
  EXPECT_EQ(this->IdOf("search"), std::nullopt);
  EXPECT_THAT(this->Run(this->metrics().LoadIds("2")),
              IsOkAndHolds(UnorderedElementsAre("10", "12")));
  EXPECT_THAT(this->Run(this->metrics().LoadParentId({"2", "12"})), IsOkAndHolds("11"));
  // Usage still counts for the id, but not for its ancestors.
  EXPECT_THAT(this->ProcessUsage({{"fulltext", "3"}}),
              IsOkAndHolds((Usage{{"12", "3"}, {"11", "3"}})));
}

TYPED_TEST(MetricStoreTest, KnowsTheTree) {
  this->SaveThreeLevels();
  this->Save("6", "other");
  ASSERT_OK_AND_ASSIGN(const auto hierarchy, this->Run(this->metrics().Hierarchy("2")));
  EXPECT_THAT(hierarchy,
              UnorderedElementsAre(Pair(Optional(std::string("hits")), MetricNames{"search"}),
                                   Pair(Optional(std::string("search")), MetricNames{"fulltext"})));
  EXPECT_THAT(this->Run(this->metrics().Descendants({"2", "hits"})),
              IsOkAndHolds((MetricNames{"search", "fulltext"})));
  EXPECT_THAT(this->Run(this->metrics().Descendants({"2", "other"})), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(this->Run(this->metrics().Ascendants({"2", "fulltext"})),
              IsOkAndHolds((MetricNames{"search", "hits"})));
  EXPECT_THAT(this->Run(this->metrics().Ascendants({"2", "nope"})), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(this->Run(MetricStore(this->process()).Hierarchy("3")), IsOkAndHolds(IsEmpty()));
}

TYPED_TEST(MetricStoreTest, AParentWithoutANameIsNamedByNobody) {
  this->Ask({"SET", "metric/service_id:2/name:part/id", "8"});
  this->Ask({"SET", "metric/service_id:2/id:8/parent_id", "9"});
  EXPECT_THAT(this->Run(this->metrics().Ascendants({"2", "part"})),
              IsOkAndHolds((MetricNames{std::nullopt})));
}

TYPED_TEST(MetricStoreTest, ReadsParentsByFourHundreds) {
  for (int i = 0; i < 801; ++i) {
    this->Ask({"SADD", "metrics/service_id:2/ids", std::to_string(i)});
  }
  tests::InterceptedStore store(this->store());
  EXPECT_THAT(this->Run(MetricStore(this->process_on(store)).Hierarchy("2")),
              IsOkAndHolds(IsEmpty()));
  EXPECT_EQ(store.requests(), 2u);
  EXPECT_EQ(store.log().size(), 4u);
}

// The original does not return from this walk (H24, D16).
TYPED_TEST(MetricStoreTest, RefusesToWalkInACircle) {
  this->Save("10", "hits", "12");
  this->Save("11", "search", "10");
  this->Save("12", "fulltext", "11");
  this->Save("6", "self", "6");
  const auto is_cycle = [](const absl::Status& status) {
    return absl::IsFailedPrecondition(status) && !ErrorCodeOf(status);
  };
  EXPECT_TRUE(is_cycle(this->ProcessUsage({{"search", "1"}}).status()));
  EXPECT_TRUE(is_cycle(this->ProcessUsage({{"self", "1"}}).status()));
  EXPECT_TRUE(is_cycle(this->Run(this->metrics().Ascendants({"2", "search"})).status()));
  EXPECT_TRUE(is_cycle(this->Run(this->metrics().Descendants({"2", "hits"})).status()));
  EXPECT_THAT(this->ProcessUsage({{"search", "1"}}, Propagation::kNone),
              IsOkAndHolds((Usage{{"11", "1"}})));
}

TYPED_TEST(MetricStoreTest, TurnsNamesOfUsageIntoIdsAndAddsParents) {
  this->SaveThreeLevels();
  EXPECT_THAT(this->ProcessUsage({{" fulltext ", "4"}, {"hits", "1"}}),
              IsOkAndHolds((Usage{{"12", "4"}, {"10", "5"}, {"11", "4"}})));
  EXPECT_THAT(this->ProcessUsage({{"search", "#7"}}),
              IsOkAndHolds((Usage{{"11", "#7"}, {"10", "#7"}})));
  EXPECT_THAT(this->ProcessUsage({{"hits", "1"}, {"hits ", "3"}}),
              IsOkAndHolds((Usage{{"10", "3"}})));
  EXPECT_EQ(ErrorCodeOf(this->ProcessUsage({{"nope", "1"}}).status()), ErrorCode::kMetricInvalid);
  EXPECT_EQ(ErrorCodeOf(this->ProcessUsage({{"nope", "x"}}).status()),
            ErrorCode::kUsageValueInvalid);
}

TYPED_TEST(MetricStoreTest, KnowsAParentForUpToTwoMinutesWithAMemoizer) {
  this->SaveThreeLevels();
  Memoizer memoizer(this->clock());
  Process process = this->process();
  process.memoizer = &memoizer;
  const auto usage = [&] {
    MetricCollection collection(process, "2");
    return this->Run(collection.ProcessUsage({{"search", "1"}})).value();
  };
  EXPECT_EQ(usage(), (Usage{{"11", "1"}, {"10", "1"}}));
  this->Ask({"SET", "metric/service_id:2/id:11/parent_id", "77"});
  this->Advance(absl::Seconds(60));
  EXPECT_EQ(usage(), (Usage{{"11", "1"}, {"10", "1"}}));
  this->Advance(absl::Seconds(61));
  EXPECT_EQ(usage(), (Usage{{"11", "1"}, {"77", "1"}}));
}

template <typename Backend>
class UsageLimitStoreTest : public ProcessTest<Backend> {
 protected:
  UsageLimitStore limits() { return UsageLimitStore(this->process()); }
};
TYPED_TEST_SUITE(UsageLimitStoreTest, tests::LayoutBackends, tests::BackendNames);

constexpr PlanRef kPlan = {"2", "44"};

TYPED_TEST(UsageLimitStoreTest, SavesTheGivenPeriodsOnly) {
  tests::InterceptedStore store(this->store());
  UsageLimitStore limits(this->process_on(store));
  const UsageLimitSave values[] = {{Granularity::kMinute, "100"}, {Granularity::kEternity, "junk"}};
  ASSERT_THAT(this->Run(limits.Save(kPlan, "6", values)), IsOk());
  EXPECT_EQ(store.requests(), 1u);
  EXPECT_THAT(this->Documented(store.log()),
              ElementsAre("SET usage_limit/service_id:2/plan_id:44/metric_id:6/eternity junk",
                          "SET usage_limit/service_id:2/plan_id:44/metric_id:6/minute 100"));
  EXPECT_THAT(this->Run(limits.LoadValue(kPlan, "6", Granularity::kEternity)),
              IsOkAndHolds(Integer(0)));
  EXPECT_THAT(this->Run(limits.LoadValue(kPlan, "6", Granularity::kDay)),
              IsOkAndHolds(std::nullopt));
  ASSERT_THAT(this->Run(limits.Save(kPlan, "6", {})), IsOk());
  EXPECT_EQ(store.requests(), 3u);
}

TYPED_TEST(UsageLimitStoreTest, LoadsTheLimitsOfAllMetricsThatAreThere) {
  const UsageLimitSave values[] = {{Granularity::kDay, "10"}, {Granularity::kYear, "20"}};
  ASSERT_THAT(this->Run(this->limits().Save(kPlan, "6", values)), IsOk());
  EXPECT_THAT(this->Run(this->limits().LoadAll(kPlan)), IsOkAndHolds(IsEmpty()));
  this->Ask({"SADD", "metrics/service_id:2/ids", "6", "7"});
  EXPECT_THAT(this->Run(this->limits().LoadAll(kPlan)),
              IsOkAndHolds(ElementsAre(UsageLimit{"6", Granularity::kYear, 20},
                                       UsageLimit{"6", Granularity::kDay, 10})));
  ASSERT_THAT(this->Run(this->limits().Delete(kPlan, "6", Granularity::kYear)), IsOk());
  ASSERT_THAT(this->Run(this->limits().Delete(kPlan, "6", Granularity::kYear)), IsOk());
  EXPECT_THAT(this->Run(this->limits().LoadForMetrics(kPlan, {"6"})),
              IsOkAndHolds(ElementsAre(UsageLimit{"6", Granularity::kDay, 10})));
}

TYPED_TEST(UsageLimitStoreTest, ForgetsLimitsOfThePlanButNotThoseOfAList) {
  Memoizer memoizer(this->clock());
  Process process = this->process();
  process.memoizer = &memoizer;
  UsageLimitStore limits(process);
  this->Ask({"SADD", "metrics/service_id:2/ids", "6"});
  EXPECT_THAT(this->Run(limits.LoadAll(kPlan)), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(this->Run(limits.LoadForMetrics(kPlan, {"6"})), IsOkAndHolds(IsEmpty()));
  const UsageLimitSave values[] = {{Granularity::kDay, "10"}};
  ASSERT_THAT(this->Run(limits.Save(kPlan, "6", values)), IsOk());
  EXPECT_EQ(this->Run(limits.LoadAll(kPlan)).value().size(), 1u);
  EXPECT_THAT(this->Run(limits.LoadForMetrics(kPlan, {"6"})), IsOkAndHolds(IsEmpty()));
}

template <typename Backend>
class AlertLimitStoreTest : public ProcessTest<Backend> {};
TYPED_TEST_SUITE(AlertLimitStoreTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(AlertLimitStoreTest, KeepsLevels) {
  AlertLimitStore limits(this->process());
  EXPECT_THAT(this->Run(limits.Save("2", "80")), IsOkAndHolds(80));
  EXPECT_THAT(this->Run(limits.Save("2", "0")), IsOkAndHolds(0));
  EXPECT_THAT(this->Run(limits.Save("2", "80")),
              IsOkAndHolds(std::nullopt));  // The level existed already.
  EXPECT_THAT(this->Run(limits.LoadAll("2")), IsOkAndHolds(UnorderedElementsAre(0, 80)));
  EXPECT_THAT(this->Run(limits.Delete("2", "80")), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(limits.Delete("2", "80")), IsOkAndHolds(false));
}

TYPED_TEST(AlertLimitStoreTest, SendsNothingForWhatIsNoLevel) {
  tests::InterceptedStore store(this->store());
  AlertLimitStore limits(this->process_on(store));
  for (const std::string_view text : {"050", "55", "x", "", "0x", "-0", "80 "}) {
    EXPECT_THAT(this->Run(limits.Save("2", text)), IsOkAndHolds(std::nullopt)) << text;
    EXPECT_THAT(this->Run(limits.Delete("2", text)), IsOkAndHolds(std::nullopt)) << text;
  }
  EXPECT_EQ(store.requests(), 0u);
}

TEST(AlertLevels, AreTheNine) {
  EXPECT_THAT(AlertLevels(), ElementsAre(0, 50, 80, 90, 100, 120, 150, 200, 300));
  for (const int level : AlertLevels()) EXPECT_EQ(ParseAlertLevel(std::to_string(level)), level);
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
