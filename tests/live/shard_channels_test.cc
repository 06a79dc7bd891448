// The events of the systems on shard channels of a real cluster, while a slot moves: a message that
// is lost on the way is reported, and what a reader missed is found in the history.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/net/asio_clock.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/client/following_subscriber.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/spawn/ask_server.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/events/run_event_feed.h"
#include "redouble/core/orchestrator/events/run_events.h"
#include "redouble/core/relayna/event_stream.h"
#include "redouble/core/relayna/status_store.h"
#include "redouble/core/store/cluster/info_field.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/core/studio/events/event_stream.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using redis::AskServer;
using store::KeyLayout;

constexpr size_t kMasters = 3;

class ShardChannelsTest : public redis::LiveTest {
 protected:
  void SetUp() override {
    auto started = redis::SpawnedCluster::Start();
    ASSERT_THAT(started, IsOk());
    cluster_ = *std::move(started);
    redis::Options options = redis::Options::Parse(cluster_->uri()).value();
    options.command_timeout = absl::Seconds(30);
    auto client = Run(redis::ClusterClient::Connect(context.get_executor(), options));
    ASSERT_THAT(client, IsOk());
    client_ = *std::move(client);
    auto subscriber = Run(redis::FollowingSubscriber::Connect(context.get_executor(), options));
    ASSERT_THAT(subscriber, IsOk());
    subscriber_ = *std::move(subscriber);
  }

  size_t MasterOf(int slot) {
    const int port = client_->map().MasterOf(slot)->port;
    size_t master = 0;
    while (cluster_->node(master).port() != port) ++master;
    return master;
  }
  void Ask(size_t node, const std::vector<std::string>& words) {
    ASSERT_THAT(AskServer(cluster_->node(node), words), IsOk()) << words[0] << " " << words[1];
  }
  // Begins the move of a slot, and moves all its keys.
  void BeginMove(int slot, size_t from, size_t to) {
    const std::string number = absl::StrCat(slot);
    Ask(to, {"CLUSTER", "SETSLOT", number, "IMPORTING", redis::SpawnedCluster::NodeId(from)});
    Ask(from, {"CLUSTER", "SETSLOT", number, "MIGRATING", redis::SpawnedCluster::NodeId(to)});
    const auto keys = AskServer(cluster_->node(from), {"CLUSTER", "GETKEYSINSLOT", number, "1000"});
    ASSERT_THAT(keys, IsOk());
    for (const store::Reply& key : keys->elements()) {
      Ask(from, {"MIGRATE", "127.0.0.1", absl::StrCat(cluster_->node(to).port()),
                 std::string(key.text()), "0", "1000"});
    }
  }
  void EndMove(int slot, size_t from, size_t to) {
    const std::vector<std::string> words = {"CLUSTER", "SETSLOT", absl::StrCat(slot), "NODE",
                                            redis::SpawnedCluster::NodeId(to)};
    Ask(to, words);
    Ask(from, words);
    for (size_t node = 0; node < kMasters; ++node) {
      if (node != to && node != from) Ask(node, words);
    }
  }
  // A figure of CLUSTER INFO, 0 if it is missing.
  int64_t Figure(size_t node, std::string_view name) {
    const auto info = AskServer(cluster_->node(node), "CLUSTER", "INFO");
    EXPECT_THAT(info, IsOk());
    return base::ParseInt64(store::InfoField(*info, name)).value_or(0);
  }

  redis::AsioClock clock_{context.get_executor()};
  std::unique_ptr<redis::SpawnedCluster> cluster_;
  std::unique_ptr<redis::ClusterClient> client_;
  std::unique_ptr<redis::FollowingSubscriber> subscriber_;
};

python::Value Status(std::string_view id) {
  return python::Object({{"status", "running"}, {"event_id", id}});
}

TEST_F(ShardChannelsTest, AReaderOfATaskMissesNoEventWhileItsSlotMoves) {
  for (const bool atomic : {false, true}) {
    relayna::StatusOptions options;
    options.key_layout = KeyLayout::kCluster;
    options.channels = store::ChannelKind::kSharded;
    options.hardening.atomic_events = atomic;
    relayna::StatusStore statuses(*client_, options);
    const std::string task = atomic ? "t1" : "t2";
    relayna::EventStream stream(*subscriber_, statuses, clock_,
                                {.task_id = task, .keep_alive = std::nullopt});
    const auto next_id = [&] { return Run(stream.Next()).value().value().id.value_or("ready"); };
    EXPECT_EQ(next_id(), "ready");
    ASSERT_THAT(Run(statuses.SetHistory(task, Status("e1"))), IsOk());
    EXPECT_EQ(next_id(), "e1");

    const int slot = base::KeySlot(absl::StrCat("{task:", task, "}"));
    const size_t from = MasterOf(slot);
    const size_t to = (from + 1) % kMasters;
    // The write waits for the end of the move, and may run before the reader has subscribed again.
    BeginMove(slot, from, to);
    const python::Value event = Status("e2");
    auto written = statuses.SetHistory(task, event);
    written.Start();
    const uint64_t waited = client_->counters().waited;
    RunUntil([&] { return client_->counters().waited > waited; });
    EXPECT_FALSE(written.done());
    EndMove(slot, from, to);
    RunUntil([&] { return written.done(); });
    ASSERT_THAT(written.TakeResult(), IsOk());
    EXPECT_EQ(next_id(), "e2");
    ASSERT_THAT(Run(statuses.SetHistory(task, Status("e3"))), IsOk());
    EXPECT_EQ(next_id(), "e3");
  }
}

TEST_F(ShardChannelsTest, AReaderOfAServiceIsToldThatItsSlotHasMoved) {
  studio::EventStoreOptions options;
  options.key_layout = KeyLayout::kCluster;
  options.channels = store::ChannelKind::kSharded;
  studio::EventStore events(*client_, options);
  studio::EventStream stream(*subscriber_, clock_, events.ServiceChannelToFollow("svc-a"),
                             /*keep_alive=*/std::nullopt);
  const auto insert = [&](const std::string& id) {
    studio::EventEnvelope envelope = studio::Event(id, "2026-01-01T10:00:00Z");
    envelope.service_id = "svc-a";
    ASSERT_THAT(Run(events.InsertEvent(envelope, absl::FromUnixSeconds(1'767'268'800))), IsOk());
  };
  // Subscribes, and returns once that is confirmed: the task then waits for a message.
  ASSERT_THAT(Run(stream.Next()), IsOk());
  auto next = stream.Next();
  next.Start();
  RunUntil([&] { return subscriber_->confirmed() == 1; });
  insert("e1");
  RunUntil([&] { return next.done(); });
  EXPECT_EQ(next.TakeResult().value().event.dedupe_key, "svc-a:status:e1");

  const int slot = base::KeySlot("{service:svc-a}");
  const size_t from = MasterOf(slot);
  ASSERT_THAT(cluster_->MoveSlot(slot, from, (from + 1) % kMasters), IsOk());
  EXPECT_TRUE(absl::IsUnavailable(Run(stream.Next()).status()));
  insert("e2");
  EXPECT_EQ(Run(stream.Next()).value().event.dedupe_key, "svc-a:status:e2");
}

class Screen final : public orchestrator::RunEventListener {
 public:
  void OnEvent(const orchestrator::Event& event) override { nodes.push_back(event.node_id); }
  void OnGap() override { nodes.push_back("gap"); }

  std::vector<std::string> nodes;
};

TEST_F(ShardChannelsTest, EventsOfARunGoToNoOtherMaster) {
  constexpr int64_t kEvents = 100;
  Screen screen;
  orchestrator::RunEventFeed feed(*subscriber_, screen, store::ChannelKind::kSharded);
  // Runs of all three masters.
  std::vector<std::string> runs;
  for (int i = 0; i < 12; ++i) runs.push_back(absl::StrCat("run_", i));
  for (const std::string& run : runs) ASSERT_THAT(Run(feed.FollowRun(run)), IsOk());
  RunUntil([&] { return subscriber_->confirmed() == runs.size(); });
  const auto publish = [&](store::ChannelKind kind) {
    for (int64_t i = 0; i < kEvents; ++i) {
      orchestrator::Event event;
      event.run_id = runs[static_cast<size_t>(i) % runs.size()];
      event.node_id = absl::StrCat(i);
      ASSERT_THAT(Run(orchestrator::PublishRunEvent(*client_, event, kind)), IsOk());
    }
  };
  const auto passed_on = [&] {
    int64_t messages = 0;
    for (size_t node = 0; node < kMasters; ++node) {
      messages += Figure(node, "cluster_stats_messages_publish_sent") +
                  Figure(node, "cluster_stats_messages_publishshard_sent");
    }
    return messages;
  };
  publish(store::ChannelKind::kSharded);
  RunUntil([&] { return screen.nodes.size() == kEvents; });
  EXPECT_EQ(passed_on(), 0);
  publish(store::ChannelKind::kDocumented);
  EXPECT_EQ(passed_on(), kEvents * static_cast<int64_t>(kMasters - 1));
  EXPECT_EQ(screen.nodes.size(), static_cast<size_t>(kEvents));
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
