// Subscriptions through failovers and moves of slots, on real sentinels and clusters.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/net/asio_clock.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/client/following_subscriber.h"
#include "redouble/backends/redis/net/client/sentinel_client.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/observe/command_event.h"
#include "redouble/backends/redis/spawn/ask_server.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_sentinels.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/pubsub.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Reply;

constexpr std::string_view kNews[] = {"news"};
constexpr std::string_view kShards[] = {"shard:1", "shard:2", "shard:3"};

class FollowingSubscriberTest : public LiveTest {
 protected:
  std::unique_ptr<FollowingSubscriber> Follow(const std::string& uri) {
    Options options = Options::Parse(uri).value();
    options.command_timeout = absl::Seconds(30);
    auto subscriber = Run(FollowingSubscriber::Connect(context.get_executor(), options));
    EXPECT_THAT(subscriber, IsOk());
    return subscriber.ok() ? *std::move(subscriber) : nullptr;
  }

  // Publishes to the channel until the subscriber has received it, and returns what it read:
  // "message", or "gap message" if gaps came first. Messages that were published while the
  // subscriber was on its way are lost.
  template <typename Publish>
  std::string ReadOneOf(FollowingSubscriber& subscriber, Publish publish) {
    std::string read;
    std::optional<base::Task<absl::StatusOr<PushEvent>>> next;
    while (true) {
      if (!next) next.emplace(subscriber.Next()).Start();
      // Fails while there is no master.
      Run(publish()).status().IgnoreError();
      Run(clock.Sleep(absl::Milliseconds(5)));
      if (!next->done()) continue;
      const absl::StatusOr<PushEvent> event = next->TakeResult();
      next.reset();
      if (!event.ok()) return absl::StrCat(read, "closed");
      if (event->is_gap()) {
        // Each subscription of a lost line reports one, when it is made again.
        read = "gap ";
      } else if (store::ReadMessage(*event->push)) {
        Drain(subscriber);
        return read + "message";
      }
    }
  }
  // Reads what has arrived already.
  void Drain(FollowingSubscriber& subscriber) {
    while (true) {
      auto next = subscriber.Next();
      next.Start();
      Run(clock.Sleep(absl::Milliseconds(50)));
      if (!next.done()) return;
      EXPECT_TRUE(next.TakeResult().ok());
    }
  }

  AsioClock clock{context.get_executor()};
};

TEST_F(FollowingSubscriberTest, FollowsTheMasterThroughAFailover) {
  auto watched = SpawnedSentinels::Start();
  ASSERT_THAT(watched, IsOk());
  const auto subscriber = Follow((*watched)->uri());
  ASSERT_NE(subscriber, nullptr);
  auto client = Run(
      SentinelClient::Connect(context.get_executor(), Options::Parse((*watched)->uri()).value()));
  ASSERT_THAT(client, IsOk());
  ASSERT_THAT(Run(store::Subscribe(*subscriber, kNews)), IsOk());
  const auto publish = [&] { return store::Publish(**client, "news", "text"); };
  EXPECT_EQ(ReadOneOf(*subscriber, publish), "message");

  (*watched)->server(0).Kill();
  EXPECT_EQ(ReadOneOf(*subscriber, publish), "gap message");
  EXPECT_NE((*client)->master()->port, (*watched)->server(0).port());
  EXPECT_EQ(ReadOneOf(*subscriber, publish), "message") << "there is one gap for each loss";
  EXPECT_EQ(subscriber->confirmed(), 1u);
}

TEST_F(FollowingSubscriberTest, FollowsAMasterThatIsReplacedWithoutALoss) {
  auto watched = SpawnedSentinels::Start();
  ASSERT_THAT(watched, IsOk());
  const auto subscriber = Follow((*watched)->uri());
  ASSERT_NE(subscriber, nullptr);
  auto client = Run(
      SentinelClient::Connect(context.get_executor(), Options::Parse((*watched)->uri()).value()));
  ASSERT_THAT(client, IsOk());
  ASSERT_THAT(Run(store::Subscribe(*subscriber, kNews)), IsOk());
  // A manual failover: the old master becomes a replica.
  while (!AskServer((*watched)->sentinel(0), {"SENTINEL", "FAILOVER", "mymaster"}).ok()) {
    Run(clock.Sleep(absl::Milliseconds(100)));
  }
  const int old_port = (*watched)->server(0).port();
  RunUntil([&] { return (*client)->master() && (*client)->master()->port != old_port; });
  EXPECT_EQ(ReadOneOf(*subscriber, [&] { return store::Publish(**client, "news", "text"); }),
            "gap message");
}

TEST_F(FollowingSubscriberTest, FollowsAShardChannelWhoseSlotMoves) {
  auto cluster = SpawnedCluster::Start();
  ASSERT_THAT(cluster, IsOk());
  const auto subscriber = Follow((*cluster)->uri());
  ASSERT_NE(subscriber, nullptr);
  auto client = Run(
      ClusterClient::Connect(context.get_executor(), Options::Parse((*cluster)->uri()).value()));
  ASSERT_THAT(client, IsOk());
  // Of three slots, which three masters serve.
  ASSERT_THAT(Run(store::SSubscribe(*subscriber, kShards)), IsOk());
  RunUntil([&] { return subscriber->confirmed() == 3; });
  const auto publish_to = [&](std::string_view channel) {
    return [&, channel] { return store::SPublish(**client, channel, "text"); };
  };
  for (const std::string_view channel : kShards) {
    EXPECT_EQ(ReadOneOf(*subscriber, publish_to(channel)), "message");
  }
  const std::string_view moved = kShards[0];
  const int slot = base::KeySlot(moved);
  const int port = (*client)->map().MasterOf(slot)->port;
  size_t from = 0;
  while ((*cluster)->node(from).port() != port) ++from;
  for (const size_t to : {(from + 1) % 3, from}) {
    ASSERT_THAT((*cluster)->MoveSlot(slot, to == from ? (from + 1) % 3 : from, to), IsOk());
    EXPECT_EQ(ReadOneOf(*subscriber, publish_to(moved)), "gap message");
    EXPECT_EQ(ReadOneOf(*subscriber, publish_to(kShards[1])), "message");
  }
  EXPECT_EQ(subscriber->confirmed(), 3u);
}

TEST_F(FollowingSubscriberTest, ReportsItsRequestsToTheHook) {
  auto cluster = SpawnedCluster::Start();
  ASSERT_THAT(cluster, IsOk());
  int starts = 0, ends = 0;
  std::set<std::string> nodes;
  ClientHooks hooks;
  hooks.command = [&](const CommandEvent& event) {
    EXPECT_EQ(RequestName(*event.request), "SSUBSCRIBE");
    EXPECT_EQ(event.id, 1u);
    starts += event.kind == CommandEvent::Kind::kStart;
    ends += event.kind == CommandEvent::Kind::kEnd;
    if (event.kind == CommandEvent::Kind::kSend) nodes.insert(std::string(event.node));
  };
  auto subscriber = Run(FollowingSubscriber::Connect(
      context.get_executor(), Options::Parse((*cluster)->uri()).value(), hooks));
  ASSERT_THAT(subscriber, IsOk());
  ASSERT_THAT(Run(store::SSubscribe(**subscriber, kShards)), IsOk());
  RunUntil([&] { return (*subscriber)->confirmed() == 3; });
  EXPECT_EQ(starts, 1);
  EXPECT_EQ(ends, 1);
  EXPECT_GE(nodes.size(), 1u);
}

TEST_F(FollowingSubscriberTest, FollowsAShardWhoseMasterFails) {
  SpawnedClusterOptions options;
  options.replicas = 1;
  auto cluster = SpawnedCluster::Start(options);
  ASSERT_THAT(cluster, IsOk());
  const auto subscriber = Follow((*cluster)->uri());
  ASSERT_NE(subscriber, nullptr);
  Options patient = Options::Parse((*cluster)->uri()).value();
  patient.command_timeout = absl::Seconds(30);
  auto client = Run(ClusterClient::Connect(context.get_executor(), patient));
  ASSERT_THAT(client, IsOk());
  ASSERT_THAT(Run(store::Subscribe(*subscriber, kNews)), IsOk());
  ASSERT_THAT(Run(store::SSubscribe(*subscriber, std::span(kShards).first(1))), IsOk());
  const int port = (*client)->map().MasterOf(base::KeySlot(kShards[0]))->port;
  size_t master = 0;
  while ((*cluster)->node(master).port() != port) ++master;
  (*cluster)->node(master).Kill();
  EXPECT_EQ(ReadOneOf(*subscriber, [&] { return store::SPublish(**client, kShards[0], "text"); }),
            "gap message");
  RunUntil([&] { return subscriber->confirmed() == 2; });
  Drain(*subscriber);
  EXPECT_EQ(ReadOneOf(*subscriber, [&] { return store::Publish(**client, "news", "text"); }),
            "message");
}

TEST_F(FollowingSubscriberTest, ClosesWhileALineIsOpenedAndWhileAMessageIsRead) {
  auto cluster = SpawnedCluster::Start();
  ASSERT_THAT(cluster, IsOk());
  auto opening = Follow((*cluster)->uri());
  ASSERT_NE(opening, nullptr);
  auto subscribe = store::SSubscribe(*opening, kShards);
  subscribe.Start();
  opening.reset();
  RunUntil([&] { return subscribe.done(); });
  EXPECT_THAT(subscribe.TakeResult(), StatusIs(absl::StatusCode::kUnavailable));

  auto reading = Follow((*cluster)->uri());
  ASSERT_NE(reading, nullptr);
  struct Destroyer final : store::PushListener {
    void OnPush(const Reply&) override { subscriber->reset(); }
    std::unique_ptr<FollowingSubscriber>* subscriber;
  } destroyer;
  destroyer.subscriber = &reading;
  ASSERT_THAT(Run(store::Subscribe(*reading, kNews)), IsOk());
  reading->Listen(&destroyer);
  auto client = Run(
      ClusterClient::Connect(context.get_executor(), Options::Parse((*cluster)->uri()).value()));
  ASSERT_THAT(client, IsOk());
  ASSERT_THAT(Run(store::Publish(**client, "news", "text")), IsOk());
  RunUntil([&] { return reading == nullptr; });
}

TEST_F(FollowingSubscriberTest, NeedsAClusterOrSentinels) {
  EXPECT_THAT(Run(FollowingSubscriber::Connect(context.get_executor(), Options())),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
