#include "redouble/core/relayna/keys.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/keyspace/key_family_testing.h"
#include "redouble/core/store/keyspace/key_spread_for_test.h"

namespace redouble::inline v0_1::relayna {
namespace {

TEST(RelaynaKeys, AreTheDocumentedKeys) {
  const StatusKeys status("relayna");
  EXPECT_EQ(status.History("t1"), "relayna:history:t1");
  EXPECT_EQ(status.Channel("t1"), "relayna:channel:t1");
  EXPECT_EQ(status.Event({"t1", "e1"}), "relayna:event:t1:e1");
  EXPECT_EQ(status.Children("p1"), "relayna:children:p1");
  const ObservationKeys observation;
  EXPECT_EQ(observation.History("t1"), "relayna-observations:history:t1");
  EXPECT_EQ(observation.Event({"t1", "x"}), "relayna-observations:event:t1:x");
  const FeedKeys feed;
  EXPECT_EQ(feed.Feed(), "relayna-service-events:feed");
  EXPECT_EQ(feed.Event("c"), "relayna-service-events:event:c");
  const DlqKeys dlq;
  EXPECT_EQ(dlq.Record("d"), "relayna:dlq:record:d");
  EXPECT_EQ(dlq.Records(), "relayna:dlq:records");
  EXPECT_EQ(dlq.ReplayLock("d"), "relayna:dlq:replay-lock:d");
  const WorkflowKeys workflow;
  EXPECT_EQ(workflow.Run("t1"), "relayna:workflow:run:t1");
  EXPECT_EQ(workflow.Fanin({.stage = "merge", .task_id = "t1"}), "relayna:workflow:fanin:t1:merge");
  EXPECT_EQ(workflow.Dedup({.stage = "ocr", .task_id = "t1"}, "s"),
            "relayna:workflow:contract:ocr:dedup:t1:s");
  EXPECT_EQ(workflow.Inflight({.stage = "ocr", .task_id = "t1"}),
            "relayna:workflow:contract:ocr:inflight:t1");
}

TEST(RelaynaKeys, HaveAnotherPrefixWhenTheStoreIsConstructedDirectly) {
  EXPECT_EQ(StatusKeys().History("t1"), "task:history:t1");
}

TEST(RelaynaKeys, UseIdsAndPrefixesUnchanged) {
  EXPECT_EQ(StatusKeys("").History(""), ":history:");
  EXPECT_EQ(StatusKeys("a:history:b{}").History(" t:1\n"), "a:history:b{}:history: t:1\n");
  // R6: two events share a marker.
  EXPECT_EQ(StatusKeys().Event({"t1:x", "y"}), StatusKeys().Event({"t1", "x:y"}));
}

TEST(RelaynaKeys, FillEveryColumnOfTheInventory) {
  ASSERT_EQ(KeyFamilies().size(), 16u);
  for (const store::KeyFamily& family : KeyFamilies()) {
    EXPECT_EQ(family.system, "relayna");
    for (const std::string_view text :
         {family.ttl_rule, family.lifecycle, family.purpose, family.source}) {
      EXPECT_FALSE(text.empty()) << family.id;
    }
  }
}

TEST(RelaynaKeys, HaveTagsInTheClusterLayout) {
  const store::KeyLayout layout = store::KeyLayout::kCluster;
  const StatusKeys status("relayna", layout);
  EXPECT_EQ(status.History("t1"), "relayna:history:{task:t1}");
  EXPECT_EQ(status.Channel("t1"), "relayna:channel:t1");
  EXPECT_EQ(status.ShardChannel("t1"), "relayna:shard-channel:{task:t1}");
  EXPECT_EQ(status.Event({"t1", "e1"}), "relayna:event:{task:t1}:e1");
  EXPECT_EQ(status.Children("p1"), "relayna:children:{task:p1}");
  const ObservationKeys observation(kObservationPrefix, layout);
  EXPECT_EQ(observation.History("t1"), "relayna-observations:history:{task:t1}");
  EXPECT_EQ(observation.Event({"t1", "x"}), "relayna-observations:event:{task:t1}:x");
  const FeedKeys feed(kFeedPrefix, layout);
  EXPECT_EQ(feed.Feed(), "{feed:relayna-service-events}:list");
  EXPECT_EQ(feed.Event("c"), "{feed:relayna-service-events}:event:c");
  const DlqKeys dlq(kRelaynaPrefix, layout);
  EXPECT_EQ(dlq.Record("d"), "{dlq:relayna}:record:d");
  EXPECT_EQ(dlq.Records(), "{dlq:relayna}:records");
  EXPECT_EQ(dlq.ReplayLock("d"), "{dlq:relayna}:replay-lock:d");
  const WorkflowKeys workflow(kRelaynaPrefix, layout);
  EXPECT_EQ(workflow.Run("t1"), "relayna:workflow:run:{task:t1}");
  EXPECT_EQ(workflow.Fanin({.stage = "merge", .task_id = "t1"}),
            "relayna:workflow:fanin:{task:t1}:merge");
  EXPECT_EQ(workflow.Dedup({.stage = "ocr", .task_id = "t1"}, "s"),
            "relayna:workflow:contract:dedup:{task:t1}:ocr:s");
  EXPECT_EQ(workflow.Inflight({.stage = "ocr", .task_id = "t1"}),
            "relayna:workflow:contract:inflight:{task:t1}:ocr");
}

TEST(RelaynaKeys, OfATaskAreInOneSlotOfACluster) {
  const store::KeyLayout layout = store::KeyLayout::kCluster;
  const StatusKeys status(kRelaynaPrefix, layout);
  const ObservationKeys observation(kObservationPrefix, layout);
  const WorkflowKeys workflow(kRelaynaPrefix, layout);
  for (const std::string_view id : {"t1", "", "}", "{", "{}", "a}b", "a:b", " "}) {
    const TaskStage stage = {.stage = "{x}", .task_id = id};
    const int slot = base::KeySlot(status.History(id));
    for (const std::string& key :
         {status.ShardChannel(id), status.Event({id, "}{"}), status.Children(id),
          observation.History(id), observation.Event({id, "{"}), workflow.Run(id),
          workflow.Fanin(stage), workflow.Dedup(stage, "s"), workflow.Inflight(stage)}) {
      EXPECT_EQ(base::KeySlot(key), slot) << key;
    }
  }
}

TEST(RelaynaKeys, OfManyTasksSpreadOverACluster) {
  const StatusKeys status(kRelaynaPrefix, store::KeyLayout::kCluster);
  base::Rng rng(11);
  std::vector<std::string> keys;
  for (int i = 0; i < 6000; ++i) keys.push_back(status.History(store::RandomUuid(rng)));
  store::ExpectEvenSpread(keys, /*masters=*/6);
}

TEST(RelaynaKeys, RoundTrip) {
  store::ExpectKeyFamiliesRoundTrip(KeyFamilies());
  store::ExpectKeyFamiliesRoundTrip(KeyFamilies(store::KeyLayout::kCluster));
}

TEST(RelaynaKeys, RoundTripWithThePrefixesByDefault) {
  const store::KeyBinding bindings[] = {{"status_prefix", kRelaynaPrefix},
                                        {"observation_prefix", kObservationPrefix},
                                        {"feed_prefix", kFeedPrefix},
                                        {"dlq_prefix", kRelaynaPrefix},
                                        {"workflow_prefix", kRelaynaPrefix}};
  store::ExpectKeyFamiliesRoundTrip(KeyFamilies(), bindings);
  store::ExpectKeyFamiliesRoundTrip(KeyFamilies(store::KeyLayout::kCluster), bindings);
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
