#include "redouble/core/studio/keys.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/store/keyspace/key_family_testing.h"
#include "redouble/core/store/keyspace/key_spread_for_test.h"

namespace redouble::inline v0_1::studio {
namespace {

TEST(StudioKeys, AreThoseOfTheSeed) {
  const RegistryKeys registry;
  EXPECT_EQ(registry.Record("svc-a"), "studio:services:by-id:svc-a");
  EXPECT_EQ(registry.All(), "studio:services:all");
  EXPECT_EQ(registry.EnvironmentUrl("prod", "http://a.test:80/x"),
            "studio:services:by-env-url:prod:http://a.test:80/x");
  const EventKeys events;
  EXPECT_EQ(events.Event({"svc-a", "svc-a:status:e1"}), "studio:events:event:svc-a:status:e1");
  EXPECT_EQ(events.ServiceHistory("svc-a"), "studio:events:service:svc-a:history");
  EXPECT_EQ(events.TaskHistory({"svc-a", "t1"}), "studio:events:task:svc-a:t1:history");
  EXPECT_EQ(events.TaskLatestTimestamp({"svc-a", "t1"}),
            "studio:events:task:svc-a:t1:latest-timestamp");
  EXPECT_EQ(events.LatestStatusTimestamp("svc-a"),
            "studio:events:service:svc-a:latest-status-timestamp");
  EXPECT_EQ(events.LatestObservationTimestamp("svc-a"),
            "studio:events:service:svc-a:latest-observation-timestamp");
  EXPECT_EQ(events.LatestIngestedTimestamp("svc-a"),
            "studio:events:service:svc-a:latest-ingested-timestamp");
  EXPECT_EQ(events.PullCursor("svc-a"), "studio:events:pull-cursor:svc-a");
  EXPECT_EQ(events.ServiceChannel("svc-a"), "studio:events:channel:service:svc-a");
  EXPECT_EQ(events.TaskChannel({"svc-a", "t1"}), "studio:events:channel:task:svc-a:t1");
  EXPECT_EQ(events.ServiceShardChannel("svc-a"),
            "studio:events:shard-channel:service:{service:svc-a}");
  EXPECT_EQ(events.TaskShardChannel({"svc-a", "t1"}),
            "studio:events:shard-channel:task:{service:svc-a}:t1");
  EXPECT_EQ(HealthKeys().Health("svc-a"), "studio:health:svc-a");
  const SearchKeys search;
  EXPECT_EQ(search.TaskDocument("id=="), "studio:search:task:doc:id==");
  EXPECT_EQ(search.TaskAll(), "studio:search:task:all");
  EXPECT_EQ(search.TaskFilter("status", "done"), "studio:search:task:filter:status:done");
  EXPECT_EQ(search.TaskService("svc-a"), "studio:search:task:service:svc-a");
  EXPECT_EQ(search.ServiceDocument("svc-a"), "studio:search:service:doc:svc-a");
  EXPECT_EQ(search.ServiceAll(), "studio:search:service:all");
  EXPECT_EQ(search.ServiceFilter("tag", "core"), "studio:search:service:filter:tag:core");
  EXPECT_EQ(search.ServiceToken("co"), "studio:search:service:token:co");
}

TEST(StudioKeys, HaveTheServiceOfAnEventAsTheirTagInTheClusterLayout) {
  const EventKeys events(kDefaultEventPrefix, store::KeyLayout::kCluster);
  const std::vector<std::string> keys = {
      events.Event({"svc-a", "svc-a:status:e1"}), events.ServiceHistory("svc-a"),
      events.TaskHistory({"svc-a", "t1"}),        events.TaskLatestTimestamp({"svc-a", "t1"}),
      events.LatestStatusTimestamp("svc-a"),      events.LatestObservationTimestamp("svc-a"),
      events.LatestIngestedTimestamp("svc-a"),    events.PullCursor("svc-a"),
      events.ServiceShardChannel("svc-a"),        events.TaskShardChannel({"svc-a", "t1"})};
  for (const std::string& key : keys)
    EXPECT_EQ(base::KeySlot(key), base::KeySlot("service:svc-a")) << key;
  EXPECT_EQ(keys[0], "studio:events:event:{service:svc-a}:svc-a:status:e1");
  EXPECT_EQ(keys[2], "studio:events:task:{service:svc-a}:t1:history");
  EXPECT_EQ(events.ServiceChannel("svc-a"), EventKeys().ServiceChannel("svc-a"));
}

TEST(StudioKeys, OfManyServicesSpreadOverACluster) {
  const EventKeys events(kDefaultEventPrefix, store::KeyLayout::kCluster);
  std::vector<std::string> keys;
  for (int service = 0; service < 6000; ++service) {
    keys.push_back(events.ServiceHistory("svc-" + std::to_string(service)));
  }
  store::ExpectEvenSpread(keys, /*masters=*/6);
}

TEST(StudioKeys, RoundTripUnderTheDefaultPrefixes) {
  store::ExpectKeyFamiliesRoundTrip(KeyFamilies(), DefaultBindings());
  store::ExpectKeyFamiliesRoundTrip(KeyFamilies(store::KeyLayout::kCluster), DefaultBindings());
}

// docs/systems/studio.md 1.2: nothing is escaped.
TEST(StudioKeys, OfIdsWithColonsAreTheSameForTwoTasks) {
  const EventKeys events;
  EXPECT_EQ(events.TaskHistory({"a", "b:c"}), events.TaskHistory({"a:b", "c"}));
  EXPECT_EQ(events.TaskChannel({"a", "b:c"}), events.TaskChannel({"a:b", "c"}));
}

TEST(StudioKeys, TakeAPrefixWithoutTheSpaceAroundItAndABlankOneAsTheDefault) {
  EXPECT_EQ(RegistryKeys(" stage:services ").All(), "stage:services:all");
  EXPECT_EQ(RegistryKeys(" \t").All(), "studio:services:all");
  EXPECT_EQ(EventKeys("").PullCursor("a"), "studio:events:pull-cursor:a");
  EXPECT_EQ(HealthKeys("h").Health("a"), "h:a");
  EXPECT_EQ(SearchKeys("  ").TaskAll(), "studio:search:task:all");
}

TEST(StudioKeys, TakeEmptyIds) {
  EXPECT_EQ(EventKeys().Event({"", ""}), "studio:events:event:");
  EXPECT_EQ(HealthKeys().Health(""), "studio:health:");
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
