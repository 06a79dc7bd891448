#include "redouble/core/threescale/notify/alerts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/authorize/limit_usage.h"
#include "redouble/core/threescale/testing/reporting_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(AlertLevel, IsTheHighestReached) {
  EXPECT_EQ(AlertLevelOf(0.0), 0);
  EXPECT_EQ(AlertLevelOf(0.49), 0);
  EXPECT_EQ(AlertLevelOf(0.5), 50);
  EXPECT_EQ(AlertLevelOf(0.89), 80);
  EXPECT_EQ(AlertLevelOf(1.22), 120);
  EXPECT_EQ(AlertLevelOf(6.02), 300);
}

TEST(MostUtilized, IsTheFirstOfEqualsWithoutLimitsOfZero) {
  const std::vector<LimitUsage> limits = {{Granularity::kEternity, "none", 0, 100},
                                          {Granularity::kYear, "low", 10, 4},
                                          {Granularity::kDay, "first", 10, 5},
                                          {Granularity::kHour, "second", 4, 2}};
  const std::optional<Utilization> most = MostUtilized(limits);
  ASSERT_TRUE(most.has_value());
  EXPECT_EQ(most->ratio, 0.5);
  EXPECT_EQ(most->LimitText(), "first per day: 5/10");
  EXPECT_FALSE(MostUtilized(std::span(limits).first(1)).has_value());
}

template <typename Backend>
class AlertsTest : public ReportingTest<Backend> {
 protected:
  absl::Status Update(Hardening hardening = Hardening()) {
    return this->Run(Alerts(this->process(), hardening).Update({"2", "app"}));
  }
  void Use(std::string_view segment, std::string_view value, std::string_view metric = "6") {
    this->Ask({"SET",
               this->keys().Counter(
                   {.service_id = "2", .application_id = "app", .metric_id = metric}, segment),
               value});
  }
  std::string LastEvent() {
    const auto events = this->Run(EventQueue(this->process()).List());
    return events.ok() && !events->empty() ? events->back() : "none";
  }
};
TYPED_TEST_SUITE(AlertsTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(AlertsTest, RaisesWhatIsDocumented) {
  this->SaveLimit("6", Granularity::kDay, "10");
  for (const char* level : {"0", "50", "80", "100"}) this->Allow(level);
  this->Use("day:20260617", "8");
  ASSERT_THAT(this->Update(), IsOk());
  EXPECT_EQ(this->LastEvent(),
            R"({"id":1,"type":"alert","timestamp":"2026-06-17 17:42:39 UTC","object":{"id":1,)"
            R"("utilization":80,"max_utilization":0.8,"application_id":"app","service_id":"2",)"
            R"("timestamp":"2026-06-17 17:42:39 UTC","limit":"hits per day: 8/10"}})");
  EXPECT_EQ(this->Ttl("alerts/service_id:2/app_id:app/80/already_notified"), 86400);
  EXPECT_EQ(this->Value("alerts/current_id"), "1");
}

TYPED_TEST(AlertsTest, RaisesTheSameInOneScriptWhenHardened) {
  this->SaveLimit("6", Granularity::kDay, "10");
  this->Allow("80");
  this->Use("day:20260617", "8");
  const Hardening hardening{.raise_alerts_atomically = true};
  ASSERT_THAT(this->Update(hardening), IsOk());
  EXPECT_EQ(this->LastEvent(),
            R"({"id":1,"type":"alert","timestamp":"2026-06-17 17:42:39 UTC","object":{"id":1,)"
            R"("utilization":80,"max_utilization":0.8,"application_id":"app","service_id":"2",)"
            R"("timestamp":"2026-06-17 17:42:39 UTC","limit":"hits per day: 8/10"}})");
  EXPECT_EQ(this->Ttl("alerts/service_id:2/app_id:app/80/already_notified"), 86400);
  ASSERT_THAT(this->Update(hardening), IsOk());
  this->Use("day:20260617", "5");
  ASSERT_THAT(this->Update(hardening), IsOk());
  EXPECT_THAT(this->EventTypes(), ElementsAre("alert"));
}

// The application is deleted after it has been read.
TYPED_TEST(AlertsTest, RaisesNothingForAnApplicationThatIsDeletedMeanwhileWhenHardened) {
  this->SaveLimit("6", Granularity::kDay, "10");
  this->Allow("80");
  this->Use("day:20260617", "8");
  tests::InterceptedStore store(this->store());
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<store::Reply>> {
    if (store.log().back().starts_with("EVAL")) {
      this->Ask({"DEL", "application/service_id:2/id:app/state"});
    }
    return std::nullopt;
  };
  const Hardening hardening{.check_applications_atomically = true};
  ASSERT_THAT(this->Run(Alerts(this->process_on(store), hardening).Update({"2", "app"})), IsOk());
  EXPECT_THAT(this->EventTypes(), IsEmpty());
  this->SaveApplication("app");
  ASSERT_THAT(this->Update(hardening), IsOk());
  EXPECT_THAT(this->EventTypes(), ElementsAre("alert"));
}

// The process ends before each of its requests in turn.
TYPED_TEST(AlertsTest, RaiseEveryAlertWhenAProcessHasEndedAtAnyStep) {
  this->SaveLimit("6", Granularity::kDay, "10");
  this->Allow("80");
  this->Use("day:20260617", "8");
  const Hardening hardening{.raise_alerts_atomically = true};
  bool ended = true;
  for (size_t steps = 0; ended; ++steps) {
    ASSERT_LT(steps, 20u);
    for (const char* key : {"events/queue", "events/id", "alerts/current_id",
                            "alerts/service_id:2/app_id:app/80/already_notified"}) {
      this->Ask({"DEL", key});
    }
    tests::InterceptedStore store(this->store());
    store.on_request = [steps](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
      if (index >= steps) return absl::UnavailableError("the process has ended");
      return std::nullopt;
    };
    ended = !this->Run(Alerts(this->process_on(store), hardening).Update({"2", "app"})).ok();
    Alerts alerts(this->process(), hardening);
    ASSERT_THAT(this->Run(alerts.FinishRaised({"2", "app"}, absl::ZeroDuration())), IsOk());
    ASSERT_THAT(this->Run(alerts.Update({"2", "app"})), IsOk());
    ASSERT_THAT(this->Run(alerts.FinishRaised({"2", "app"}, absl::ZeroDuration())),
                IsOkAndHolds(0));
    // A repeated event is the same alert.
    const auto events = this->Run(EventQueue(this->process()).List());
    ASSERT_THAT(events, IsOk());
    ASSERT_THAT(events->size(), ::testing::AnyOf(1u, 2u)) << steps;
    const auto alert_of = [](const std::string& event) {
      return event.substr(event.find("\"object\""));
    };
    EXPECT_EQ(alert_of(events->front()), alert_of(events->back())) << steps;
    if (!this->in_cluster_layout()) {
      EXPECT_EQ(events->size(), 1u) << steps;
    }
    EXPECT_EQ(this->Value("alerts/service_id:2/app_id:app/80/already_notified"), "1");
  }
}

TYPED_TEST(AlertsTest, FinishesOnlyWhatIsOldEnough) {
  const char* const mark = "alerts/service_id:2/app_id:app/80/already_notified";
  this->Ask({"SET", mark, R"({"id":7,"utilization":80})", "EX", "86400"});
  this->Advance(absl::Seconds(59));
  Alerts alerts(this->process());
  EXPECT_THAT(this->Run(alerts.FinishRaised({"2", "app"}, absl::Minutes(1))), IsOkAndHolds(0));
  EXPECT_THAT(this->EventTypes(), IsEmpty());
  this->Advance(absl::Seconds(1));
  EXPECT_THAT(this->Run(alerts.FinishRaised({"2", "app"}, absl::Minutes(1))), IsOkAndHolds(1));
  EXPECT_THAT(this->LastEvent(), HasSubstr(R"("object":{"id":7,"utilization":80}})"));
  EXPECT_EQ(this->Value(mark), "1");
  EXPECT_EQ(this->Ttl(mark), 86340);
}

TYPED_TEST(AlertsTest, RaisesALevelOnceADay) {
  this->SaveLimit("6", Granularity::kEternity, "10");
  this->Allow("80");
  this->Use("eternity", "8");
  ASSERT_THAT(this->Update(), IsOk());
  ASSERT_THAT(this->Update(), IsOk());
  EXPECT_THAT(this->EventTypes(), ElementsAre("alert"));
  this->Advance(absl::Hours(24));
  ASSERT_THAT(this->Update(), IsOk());
  EXPECT_EQ(this->EventTypes().size(), 1u) << "the mark is still there at its last millisecond";
  this->Advance(absl::Milliseconds(1));
  ASSERT_THAT(this->Update(), IsOk());
  EXPECT_THAT(this->EventTypes(), ElementsAre("alert", "alert"));
}

TYPED_TEST(AlertsTest, LooksAtTheHighestLevelOnly) {
  this->SaveLimit("6", Granularity::kDay, "10");
  this->Allow("80");
  this->Allow("100");
  this->Use("day:20260617", "9");
  ASSERT_THAT(this->Update(), IsOk());
  EXPECT_THAT(this->EventTypes(), IsEmpty()) << "90 is not allowed, though 80 is";
  this->Use("day:20260617", "10");
  ASSERT_THAT(this->Update(), IsOk());
  EXPECT_THAT(this->EventTypes(), ElementsAre("alert"));
  this->Use("day:20260617", "8");
  ASSERT_THAT(this->Update(), IsOk());
  EXPECT_EQ(this->EventTypes().size(), 1u) << "lower levels are silent after the highest";
}

TYPED_TEST(AlertsTest, StopsWithoutReadingUsageWhenNothingIsAllowed) {
  this->SaveLimit("6", Granularity::kDay, "10");
  tests::InterceptedStore store(this->store());
  ASSERT_THAT(this->Run(Alerts(this->process_on(store)).Update({"2", "app"})), IsOk());
  EXPECT_EQ(store.requests(), 2u);
}

TYPED_TEST(AlertsTest, DoesNothingForAnApplicationThatIsGone) {
  this->Allow("80");
  ASSERT_THAT(this->Run(Alerts(this->process()).Update({"2", "gone"})), IsOk());
  EXPECT_THAT(this->EventTypes(), IsEmpty());
}

TYPED_TEST(AlertsTest, NeverRaisesLevelZeroAndIgnoresLimitsOfZero) {
  this->SaveLimit("6", Granularity::kDay, "0");
  this->Allow("0");
  this->Allow("80");
  this->Use("day:20260617", "50");
  ASSERT_THAT(this->Update(), IsOk());
  ASSERT_THAT(this->Update(Hardening{.raise_alerts_atomically = true}), IsOk());
  EXPECT_THAT(this->EventTypes(), IsEmpty());
}

TYPED_TEST(AlertsTest, IgnoresLimitsOfMetricsWithoutAName) {
  this->SaveLimit("6", Granularity::kDay, "10");
  this->Allow("80");
  this->Use("day:20260617", "8");
  this->Ask({"DEL", "metric/service_id:2/id:6/name"});
  ASSERT_THAT(this->Update(), IsOk());
  EXPECT_THAT(this->EventTypes(), IsEmpty());
}

// The counters of past periods are not compared, whatever their values.
TYPED_TEST(AlertsTest, StartAgainWithEachPeriod) {
  struct Boundary {
    Granularity period;
    const char* before;  // The last millisecond of the period; its segment follows.
    const char* segment;
    const char* next_segment;
  };
  const Boundary boundaries[] = {
      {Granularity::kMinute, "2026-06-17T17:59:59.999Z", "minute:202606171759",
       "minute:202606171800"},
      {Granularity::kHour, "2026-06-17T23:59:59.999Z", "hour:2026061723", "hour:2026061800"},
      {Granularity::kWeek, "2026-06-21T23:59:59.999Z", "week:20260615", "week:20260622"},
      {Granularity::kMonth, "2026-06-30T23:59:59.999Z", "month:20260601", "month:20260701"},
      {Granularity::kWeek, "2027-01-03T23:59:59.999Z", "week:20261228", "week:20270104"},
      {Granularity::kYear, "2027-12-31T23:59:59.999Z", "year:20270101", "year:20280101"},
      {Granularity::kDay, "2028-02-28T23:59:59.999Z", "day:20280228", "day:20280229"},
      {Granularity::kMonth, "2028-02-29T23:59:59.999Z", "month:20280201", "month:20280301"},
      {Granularity::kWeek, "2028-12-31T23:59:59.999Z", "week:20281225", "week:20290101"},
  };
  this->Allow("100");
  for (const Boundary& boundary : boundaries) {
    this->Ask({"DEL", "events/queue"});
    this->Ask({"DEL", "alerts/service_id:2/app_id:app/100/already_notified"});
    this->SaveLimit("6", boundary.period, "10");
    this->AdvanceTo(boundary.before);
    this->Use(boundary.segment, "10");
    this->Use(boundary.next_segment, "9");
    ASSERT_THAT(this->Update(), IsOk());
    EXPECT_THAT(this->LastEvent(), HasSubstr(": 10/10")) << boundary.before;
    this->Ask({"DEL", "events/queue"});
    this->Ask({"DEL", "alerts/service_id:2/app_id:app/100/already_notified"});
    this->Advance(absl::Milliseconds(1));
    ASSERT_THAT(this->Update(), IsOk());
    EXPECT_EQ(this->LastEvent(), "none") << boundary.before;
    this->Use(boundary.next_segment, "10");
    ASSERT_THAT(this->Update(), IsOk());
    EXPECT_THAT(this->LastEvent(), HasSubstr(": 10/10")) << boundary.before;
    this->Ask({"DEL", this->keys().UsageLimit({"2", "44"}, "6", boundary.period)});
  }
}

TYPED_TEST(AlertsTest, PassesStoreErrorsOn) {
  this->SaveLimit("6", Granularity::kEternity, "10");
  this->Allow("80");
  this->Use("eternity", "8");
  this->Ask({"SET", "alerts/current_id", "x"});
  EXPECT_THAT(this->Update(), Not(IsOk()));
  EXPECT_THAT(this->EventTypes(), IsEmpty());
  tests::InterceptedStore store(this->store());
  for (size_t lost = 0; lost < 8; ++lost) {
    this->Ask({"DEL", "alerts/service_id:2/app_id:app/80/already_notified"});
    tests::InterceptedStore broken(this->store());
    broken.on_request = [lost](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
      if (index == lost) return absl::UnavailableError("lost");
      return std::nullopt;
    };
    const absl::Status status = this->Run(Alerts(this->process_on(broken)).Update({"2", "app"}));
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << lost;
  }
}

TYPED_TEST(AlertsTest, AreRememberedByAProcessWithAMemoizer) {
  this->SaveLimit("6", Granularity::kEternity, "10");
  this->Allow("80");
  Memoizer memoizer(this->clock());
  tests::InterceptedStore store(this->store());
  Process process = this->process_on(store);
  process.memoizer = &memoizer;
  ASSERT_THAT(this->Run(Alerts(process).Update({"2", "app"})), IsOk());
  const size_t first = store.requests();
  ASSERT_THAT(this->Run(Alerts(process).Update({"2", "app"})), IsOk());
  EXPECT_EQ(first, 8u);
  EXPECT_EQ(store.requests() - first, 2u) << "counters, and the mark of the level itself";
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
