// What each system's moves do beyond another spelling of the keys.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/notify/notifier.h"
#include "redouble/core/threescale/process.h"
#include "redouble/sim/migrate/migration_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::HasSubstr;

class SystemMovesTest : public MigrationTest {
 protected:
  static Migration Of(std::string_view system, LayoutPair layouts = kToCluster) {
    return Migration::Create(system, layouts).value();
  }
  void ExpectRefused(const Migration& migration, store::Store& from, store::Store& to,
                     std::string_view error) {
    EXPECT_THAT(Copy(migration, from, to, {.is_dry_run = true}).status(),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(error)));
  }
};

class KorvetMovesTest : public SystemMovesTest {
 protected:
  korvet::Topics Topics(store::Store& store, KeyLayout layout) {
    return korvet::Topics(store, rng_, korvet::Keys::Create("korvet", layout).value());
  }
  void CreateOrders() {
    korvet::NewTopic topic;
    topic.name = "orders";
    topic.partitions = 3;
    korvet::Topics topics = Topics(*single_, KeyLayout::kDocumented);
    ASSERT_THAT(base::Run(topics.Create(topic)).status(), IsOk());
  }

  base::Rng rng_{1};
};

TEST_F(KorvetMovesTest, WritesTheCopiesThatTheClusterLayoutNeeds) {
  CreateOrders();
  const Migration migration = Of("korvet");
  ASSERT_THAT(Copy(migration, *single_, *cluster_), IsOk());
  EXPECT_EQ(Ask(*cluster_, {"DBSIZE"}), Reply::Integer(6)) << "hash, names, ids and copies";
  EXPECT_EQ(Ask(*cluster_, {"HGET", "korvet:topic-copy:{orders:2}", "epoch"}), Reply::Bulk("1"));
  korvet::Topics topics = Topics(*cluster_, KeyLayout::kCluster);
  EXPECT_THAT(base::Run(topics.Repair("orders")), IsOkAndHolds(false)) << "nothing is missing";
  EXPECT_THAT(base::Run(topics.AddPartitions({.topic = "orders", .total = 4})), IsOk());

  EXPECT_EQ(Verify(migration, *single_, *cluster_).families["korvet.topic"].different, 1);
  EXPECT_EQ(Verify(migration, *single_, *cluster_).families["korvet.topic_copy"].extra, 1);
  const FollowReport followed = base::Run(migration.Follow(*single_, *cluster_, {})).value();
  EXPECT_TRUE(followed.compared.is_equal());
  EXPECT_EQ(Ask(*cluster_, {"EXISTS", "korvet:topic-copy:{orders:3}"}), Reply::Integer(0));
}

TEST_F(KorvetMovesTest, KeepsARestAsARest) {
  Ask(*single_, {"HSET", "korvet:topic:rest", "id", "x"});
  ASSERT_THAT(Copy(Of("korvet"), *single_, *cluster_), IsOk());
  EXPECT_EQ(Ask(*cluster_, {"HGETALL", "korvet:topic:{rest}"}),
            Ask(*single_, {"HGETALL", "korvet:topic:rest"}));
  EXPECT_EQ(Ask(*cluster_, {"DBSIZE"}), Reply::Integer(1));
}

TEST_F(KorvetMovesTest, RefusesATopicInTheMiddleOfAChange) {
  const std::string topic = "korvet:topic:{orders}";
  for (const char* step : {"making", "adding", "removing"}) {
    Ask(*cluster_, {"HSET", topic, "id", "x", step, "3"});
    ExpectRefused(Of("korvet", kToDocumented), *cluster_, *single_,
                  std::string("cannot move \"" + topic +
                              "\": the topic is in a change that has "
                              "not ended (") +
                      step + ")");
    Ask(*cluster_, {"HDEL", topic, step});
  }
  Ask(*single_, {"SET", "korvet:topic:text", "x"});
  ExpectRefused(Of("korvet"), *single_, *cluster_, "a topic must be a hash");
  Ask(*single_, {"DEL", "korvet:topic:text"});
  Ask(*single_, {"HSET", "korvet:topic:bad", "id", "x", "partitions", "1"});
  ExpectRefused(Of("korvet"), *single_, *cluster_, "the hash of topic");
}

TEST_F(SystemMovesTest, FindsTheRunOfAnApproval) {
  Ask(*single_, {"HSET", "approval:456", "run_id", "r1", "status", "pending"});
  const Migration migration = Of("orchestrator");
  ASSERT_THAT(Copy(migration, *single_, *cluster_), IsOk());
  EXPECT_EQ(Ask(*cluster_, {"HGET", "approval:{r1}:456", "status"}), Reply::Bulk("pending"));
  EXPECT_TRUE(Verify(migration, *single_, *cluster_).is_equal());
  Ask(*cluster_, {"HSET", "approval:{r2}:456", "run_id", "r2", "status", "pending"});
  EXPECT_EQ(Verify(migration, *single_, *cluster_).families["orchestrator.approval"].extra, 1);

  // Two runs have an approval of one id: the documented layout has one key for both.
  memory::Engine other(clock_);
  const auto documented = other.Connect();
  const Migration back = Of("orchestrator", kToDocumented);
  ASSERT_THAT(Copy(back, *cluster_, *documented), IsOk());
  EXPECT_EQ(Verify(back, *cluster_, *documented).families["orchestrator.approval"].different, 1);

  Ask(*single_, {"HSET", "approval:457", "run_id", "r:1", "status", "pending"});
  ExpectRefused(migration, *single_, *cluster_,
                "cannot move \"approval:457\": approval: /run_id: expected an id");
  Ask(*single_, {"DEL", "approval:457"});
  Ask(*single_, {"HSET", "approval:458", "status", "pending"});
  ExpectRefused(migration, *single_, *cluster_, "cannot move \"approval:458\": ");
}

TEST_F(SystemMovesTest, RefusesEventsWithoutAService) {
  Ask(*single_, {"SET", "studio:events:event:a:status:1", "{}"});
  ExpectRefused(Of("studio"), *single_, *cluster_,
                "cannot move \"studio:events:event:a:status:1\": ");
  Ask(*single_, {"DEL", "studio:events:event:a:status:1"});
  Ask(*single_, {"RPUSH", "studio:events:event:a:status:1", "x"});
  ExpectRefused(Of("studio"), *single_, *cluster_, "an event must be a string");
  Ask(*single_, {"DEL", "studio:events:event:a:status:1"});
  Ask(*single_, {"RPUSH", "studio:events:task:a:b:c:history", "x"});
  ExpectRefused(Of("studio"), *single_, *cluster_,
                "cannot move \"studio:events:task:a:b:c:history\": it has two readings as "
                "studio.task_history");
  Ask(*single_, {"DEL", "studio:events:task:a:b:c:history"});
  Ask(*single_, {"SET", "studio:services:by-env-url:prod:http://x.test:80", "a"});
  EXPECT_THAT(Copy(Of("studio"), *single_, *cluster_), IsOk()) << "both layouts have that key";
}

class ThreescaleMovesTest : public SystemMovesTest {
 protected:
  void Notify(store::Store& store, KeyLayout layout, std::string_view provider) {
    threescale::Process process(store, clock_);
    process.keys = threescale::Keys(layout);
    threescale::NotifierOptions options;
    options.master_service_id = "1";
    threescale::InProcessJobQueue queue;
    threescale::Notifier notifier(process, queue, options);
    ASSERT_THAT(base::Run(notifier.Notify(provider, {.transactions = 1})), IsOk());
  }
};

TEST_F(ThreescaleMovesTest, DividesNotificationsAsTheSystemDoes) {
  memory::EngineOptions options;
  options.cluster = memory::ClusterOptions();
  memory::Engine expected_engine(clock_, options);
  const auto expected = expected_engine.Connect();
  for (int i = 0; i < 300; ++i) {
    if (i % 100 == 99) clock_.Advance(absl::Minutes(1));
    const std::string provider = "provider-" + std::to_string(i % 150);
    Notify(*single_, KeyLayout::kDocumented, provider);
    Notify(*expected, KeyLayout::kCluster, provider);
  }
  const Migration forth = Of("threescale");
  Ask(*cluster_, {"RPUSH", threescale::Keys(KeyLayout::kCluster).NotifyBatch("old"), "old"});
  ASSERT_THAT(Copy(forth, *single_, *cluster_), IsOk());
  EXPECT_EQ(Ask(*cluster_, {"DEBUG", "DIGEST"}), Ask(*expected, {"DEBUG", "DIGEST"}));
  EXPECT_TRUE(Verify(forth, *single_, *cluster_).is_equal());

  // The way back: by minute, and each provider's in their order.
  memory::Engine restored_engine(clock_);
  const auto restored = restored_engine.Connect();
  const Migration back = Of("threescale", kToDocumented);
  ASSERT_THAT(Copy(back, *cluster_, *restored), IsOk());
  const VerifyReport report = Verify(back, *cluster_, *restored);
  EXPECT_TRUE(report.is_equal());
  EXPECT_EQ(report.families.at("threescale.notify_batch").keys, 1) << "the joined lists";
  const std::string list = "notify/aggregator/batch";
  std::vector<std::string> before = Read(*single_, list)->parts;
  std::vector<std::string> after = Read(*restored, list)->parts;
  EXPECT_THAT(threescale::SumNotifications(after), IsOk());
  EXPECT_THAT(after, ::testing::UnorderedElementsAreArray(before));
  ASSERT_THAT(Copy(forth, *restored, *cluster_), IsOk());
  EXPECT_EQ(Ask(*cluster_, {"DEBUG", "DIGEST"}), Ask(*expected, {"DEBUG", "DIGEST"}));

  // What is left of a list whose source is gone, and a change of one shard.
  Ask(*restored, {"DEL", list});
  EXPECT_GT(Verify(forth, *restored, *cluster_).families["threescale.notify_batch"].extra, 50);
  EXPECT_EQ(Verify(back, *cluster_, *restored).families["threescale.notify_batch"].missing, 1);
  Ask(*single_, {"RPUSH", list, "junk"});
  ExpectRefused(forth, *single_, *cluster_,
                "cannot move \"notify/aggregator/batch\": not a notification: junk");
}

TEST_F(ThreescaleMovesTest, RefusesASpaceInTheIdOfAService) {
  const std::string key = "stats/{service:my api}/cinstances";
  Ask(*single_, {"SADD", key, "a"});
  ExpectRefused(Of("threescale"), *single_, *cluster_,
                "cannot move \"" + key +
                    "\": the id of its service has a space, which the "
                    "cluster layout encodes");
  Ask(*single_, {"DEL", key});
  Ask(*single_, {"SADD", "stats/{service:2}/cinstance:my app/metric:6/eternity", "a"});
  EXPECT_THAT(Copy(Of("threescale"), *single_, *cluster_), IsOk());
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
