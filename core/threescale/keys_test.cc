#include "redouble/core/threescale/keys.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/store/keyspace/key_family_testing.h"
#include "redouble/core/store/keyspace/key_spread_for_test.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;

absl::Time At(std::string_view text) { return base::ParseRfc3339(text).value(); }

TEST(ThreescaleKeys, AreTheExamplesOfTheSeed) {
  EXPECT_EQ(Keys().Service("2", ServiceAttribute::kState), "service/id:2/state");
  EXPECT_EQ(Keys().Service("2", ServiceAttribute::kReferrerFiltersRequired),
            "service/id:2/referrer_filters_required");
  EXPECT_EQ(Keys().Service("2", ServiceAttribute::kBackendVersion), "service/id:2/backend_version");
  EXPECT_EQ(Keys().Service("2", ServiceAttribute::kProviderKey), "service/id:2/provider_key");
  EXPECT_EQ(Keys().ProviderServiceIds("a640cb"), "service/provider_key:a640cb/ids");
  EXPECT_EQ(Keys().ProviderDefaultService("a640cb"), "service/provider_key:a640cb/id");
  EXPECT_EQ(Keys().ServiceApplications("2"), "service_id:2/applications");
  EXPECT_EQ(Keys().ServiceToken({"e63b", "2"}), "service_token/token:e63b/service_id:2");
  EXPECT_EQ(Keys().Application({"2", "593a8c1a"}, ApplicationAttribute::kState),
            "application/service_id:2/id:593a8c1a/state");
  EXPECT_EQ(Keys().Application({"2", "593a8c1a"}, ApplicationAttribute::kPlanId),
            "application/service_id:2/id:593a8c1a/plan_id");
  EXPECT_EQ(Keys().Application({"2", "593a8c1a"}, ApplicationAttribute::kPlanName),
            "application/service_id:2/id:593a8c1a/plan_name");
  EXPECT_EQ(Keys().Application({"2", "593a8c1a"}, ApplicationAttribute::kRedirectUrl),
            "application/service_id:2/id:593a8c1a/redirect_url");
  EXPECT_EQ(Keys().ApplicationKeys({"2", "593a8c1a"}), "application/service_id:2/id:593a8c1a/keys");
  EXPECT_EQ(Keys().ReferrerFilters({"2", "593a8c1a"}),
            "application/service_id:2/id:593a8c1a/referrer_filters");
  EXPECT_EQ(Keys().UserKey({"2", "842b"}), "application/service_id:2/key:842b/id");
  EXPECT_EQ(Keys().MetricId({"2", "hits"}), "metric/service_id:2/name:hits/id");
  EXPECT_EQ(Keys().MetricName({"2", "31"}), "metric/service_id:2/id:31/name");
  EXPECT_EQ(Keys().MetricParent({"2", "42"}), "metric/service_id:2/id:42/parent_id");
  EXPECT_EQ(Keys().MetricIds("2"), "metrics/service_id:2/ids");
  EXPECT_EQ(Keys().UsageLimit({"2", "44"}, "31", Granularity::kMinute),
            "usage_limit/service_id:2/plan_id:44/metric_id:31/minute");
}

TEST(ThreescaleKeys, CountInAllPeriods) {
  const CounterSubject service = {.service_id = "2", .metric_id = "6"};
  const CounterSubject codes = {.service_id = "2", .response_code = "2XX"};
  const CounterSubject application = {
      .service_id = "2", .application_id = "37ba04ec", .metric_id = "6"};
  const CounterSubject application_codes = {
      .service_id = "2", .application_id = "37ba04ec", .response_code = "200"};
  EXPECT_EQ(Keys().Counter(service, "eternity"), "stats/{service:2}/metric:6/eternity");
  EXPECT_EQ(Keys().Counter(codes, "day:20250423"),
            "stats/{service:2}/response_code:2XX/day:20250423");
  EXPECT_EQ(Keys().Counter(application, "minute:202504231742"),
            "stats/{service:2}/cinstance:37ba04ec/metric:6/minute:202504231742");
  EXPECT_EQ(Keys().Counter(application_codes, "eternity"),
            "stats/{service:2}/cinstance:37ba04ec/response_code:200/eternity");
}

TEST(ThreescaleKeys, NameTrafficAlertsAndErrors) {
  EXPECT_EQ(Keys().TrafficApplications("2"), "stats/{service:2}/cinstances");
  EXPECT_EQ(Keys().DailyTraffic({"17", "593a8c1a"}, At("2025-04-22T23:59:59Z")),
            "daily_traffic/service:17/cinstance:593a8c1a/20250422");
  EXPECT_EQ(Keys().AllowedAlerts("2"), "alerts/service_id:2/allowed_set");
  EXPECT_EQ(Keys().AlreadyNotified({"17", "593a8c1a"}, 50),
            "alerts/service_id:17/app_id:593a8c1a/50/already_notified");
  EXPECT_EQ(Keys().Errors("2"), "errors/service_id:2");
}

TEST(ThreescaleKeys, EncodeTheSpacesOfIdsAndNothingElse) {
  EXPECT_EQ(Keys().ApplicationKeys({"2", "my app"}), "application/service_id:2/id:my+app/keys");
  EXPECT_EQ(Keys().MetricId({"2", "a/b:c{d}%e+f\xc3\xa9 "}),
            "metric/service_id:2/name:a/b:c{d}%e+f\xc3\xa9+/id");
  EXPECT_EQ(Keys().UserKey({"2", ""}), "application/service_id:2/key:/id");
}

// Hazard H25: limits and alerts never see this usage.
TEST(ThreescaleKeys, WriteCountersRawAndReadThemEncoded) {
  const CounterSubject subject = {.service_id = "2", .application_id = "my app", .metric_id = "6"};
  const std::string written = Keys().Counter(subject, "eternity");
  EXPECT_EQ(written, "stats/{service:2}/cinstance:my app/metric:6/eternity");
  EXPECT_EQ(Encode(written), "stats/{service:2}/cinstance:my+app/metric:6/eternity");
  EXPECT_EQ(Keys().AlreadyNotified({"2", "my app"}, 0),
            "alerts/service_id:2/app_id:my app/0/already_notified");
  EXPECT_EQ(Keys().Errors("a b"), "errors/service_id:a b");
}

TEST(ThreescaleKeys, TakeAnApplicationWithoutAPlan) {
  EXPECT_EQ(Keys().UsageLimit({"2", ""}, "6", Granularity::kEternity),
            "usage_limit/service_id:2/plan_id:/metric_id:6/eternity");
}

TEST(ThreescaleKeys, HaveTheDocumentedTimesToLive) {
  EXPECT_EQ(MinuteCounterTtl(), absl::Seconds(180));
  EXPECT_EQ(DailyTrafficTtl(), absl::Seconds(172800));
  EXPECT_EQ(CountedJobTtl(), absl::Seconds(172800));
  EXPECT_EQ(AlreadyNotifiedTtl(), absl::Seconds(86400));
  EXPECT_EQ(EventsPingTtl(), absl::Seconds(60));
}

TEST(ThreescaleKeys, FillEveryColumnOfTheInventory) {
  for (const store::KeyFamily& family : KeyFamilies()) {
    EXPECT_EQ(family.system, "threescale");
    for (const std::string_view text :
         {family.ttl_rule, family.lifecycle, family.purpose, family.source}) {
      EXPECT_FALSE(text.empty()) << family.id;
    }
  }
}

// A built key belongs to its own family, and to no other family for the ids that 3scale generates.
TEST(ThreescaleKeys, BelongToOneFamilyEach) {
  const CounterSubject service = {.service_id = "2", .metric_id = "6"};
  const CounterSubject application = {.service_id = "2", .application_id = "a1", .metric_id = "6"};
  const std::pair<std::string, std::string_view> keys[] = {
      {std::string(Keys().ServicesSet()), "threescale.services_set"},
      {std::string(Keys().ProviderKeysSet()), "threescale.provider_keys_set"},
      {Keys().Service("2", ServiceAttribute::kState), "threescale.service_state"},
      {Keys().ProviderServiceIds("pk"), "threescale.provider_service_ids"},
      {Keys().ProviderDefaultService("pk"), "threescale.provider_default_service"},
      {Keys().ApplicationKeys({"2", "a1"}), "threescale.application_keys"},
      {Keys().UserKey({"2", "uk"}), "threescale.application_user_key"},
      {Keys().MetricId({"2", "hits"}), "threescale.metric_id"},
      {Keys().UsageLimit({"2", "44"}, "6", Granularity::kWeek), "threescale.usage_limit"},
      {Keys().TrafficApplications("2"), "threescale.stats_cinstances"},
      {Keys().Counter(service, "eternity"), "threescale.stats_metric_eternity"},
      {Keys().Counter(service, "hour:202504231"), "threescale.stats_metric_period"},
      {Keys().Counter(application, "minute:202504231742"),
       "threescale.stats_cinstance_metric_period"},
      {std::string(Keys().EventsId()), "threescale.events_id"},
      {std::string(Keys().EventsQueue()), "threescale.events_queue"},
      {std::string(Keys().EventsPing()), "threescale.events_ping"},
      {std::string(Keys().AlertsCurrentId()), "threescale.alerts_current_id"},
      {std::string(Keys().NotifyBatch("pk")), "threescale.notify_batch"},
      {std::string(Keys().ServicesToClean()), "threescale.services_to_clean"},
      {Keys().CountedJob("2", "j1"), "threescale.counted_job"},
      {Keys().AlreadyNotified({"2", "a1"}, 100), "threescale.alerts_already_notified"},
  };
  store::FamilyTable table;
  ASSERT_THAT(table.Add(KeyFamilies()), IsOk());
  for (const auto& [key, id] : keys) {
    const store::Recognition recognition = table.Recognise(key);
    ASSERT_EQ(recognition.matches.size(), 1u) << key;
    EXPECT_EQ(recognition.matches[0].family->id, id) << key;
  }
}

TEST(ThreescaleKeys, RoundTrip) {
  store::ExpectKeyFamiliesRoundTrip(KeyFamilies());
  store::ExpectKeyFamiliesRoundTrip(KeyFamilies(store::KeyLayout::kCluster));
}

// Every key of a service, in the cluster layout.
std::vector<std::string> KeysOfService(std::string_view id) {
  const Keys keys(store::KeyLayout::kCluster);
  const ApplicationRef application = {id, "my app"};
  const absl::Time now = At("2025-04-23T17:42:39Z");
  std::vector<std::string> all = {keys.ServiceApplications(id),
                                  keys.ServiceToken({"a{b}", id}),
                                  keys.ApplicationKeys(application),
                                  keys.ReferrerFilters(application),
                                  keys.UserKey({id, "u{k"}),
                                  keys.MetricId({id, "hits"}),
                                  keys.MetricName({id, "6"}),
                                  keys.MetricParent({id, "6"}),
                                  keys.MetricIds(id),
                                  keys.UsageLimit({id, "44"}, "6", Granularity::kDay),
                                  keys.TrafficApplications(id),
                                  keys.DailyTraffic(application, now),
                                  keys.AllowedAlerts(id),
                                  keys.AlreadyNotified(application, 80),
                                  keys.Errors(id)};
  for (const ServiceAttribute attribute :
       {ServiceAttribute::kState, ServiceAttribute::kReferrerFiltersRequired,
        ServiceAttribute::kBackendVersion, ServiceAttribute::kProviderKey}) {
    all.push_back(keys.Service(id, attribute));
  }
  for (const ApplicationAttribute attribute :
       {ApplicationAttribute::kState, ApplicationAttribute::kPlanId,
        ApplicationAttribute::kPlanName, ApplicationAttribute::kRedirectUrl}) {
    all.push_back(keys.Application(application, attribute));
  }
  for (const bool of_application : {false, true}) {
    CounterSubject subject = {.service_id = id, .metric_id = "6"};
    if (of_application) subject.application_id = "my app";
    all.push_back(keys.Counter(subject, "day:20250423"));
    all.push_back(Encode(all.back()));
  }
  return all;
}

TEST(ThreescaleKeys, OfAServiceAreInOneSlotOfACluster) {
  for (const std::string_view id : {"2", "", "a b", "a/b", "}", "{", "{}", "x}y"}) {
    const std::vector<std::string> keys = KeysOfService(id);
    for (const std::string& key : keys) {
      EXPECT_EQ(base::KeySlot(key), base::KeySlot(keys.front())) << key;
      EXPECT_TRUE(base::HashTag(key).starts_with("service:")) << key;
    }
  }
}

TEST(ThreescaleKeys, OfManyServicesSpreadOverACluster) {
  std::vector<std::string> services;
  for (int i = 0; i < 6000; ++i) {
    services.push_back(KeysOfService(std::to_string(2'000'000 + i)).front());
  }
  store::ExpectEvenSpread(services, /*masters=*/6);
}

TEST(ThreescaleKeys, OfEventsAreInOneSlotOfACluster) {
  const Keys keys(store::KeyLayout::kCluster);
  for (const std::string_view key :
       {keys.EventsId(), keys.EventsQueue(), keys.EventsPing(), keys.AlertsCurrentId()}) {
    EXPECT_EQ(base::HashTag(key), "events") << key;
  }
  EXPECT_TRUE(keys.NotifyBatch("pk").starts_with("notify/aggregator/{batch:"));
  EXPECT_EQ(Keys().NotifyBatch("pk"), "notify/aggregator/batch");
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
