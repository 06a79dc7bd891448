#include "redouble/backends/testing/live_server.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/redis/net/client/sync_store.h"
#include "redouble/backends/testing/cluster_unrest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

const absl::Time kStart = absl::FromUnixSeconds(1'778'335'382);

class LiveServerTest : public ::testing::Test {
 protected:
  void SetUp() override { Forget(); }
  void TearDown() override { Forget(); }
  static void Forget() {
    unsetenv("REDOUBLE_LIVE_BACKEND");
    unsetenv("REDOUBLE_LIVE_WHILE");
  }
  void AskFor(const char* kind) { setenv("REDOUBLE_LIVE_BACKEND", kind, 1); }

  static absl::StatusOr<Reply> Send(store::Store& store,
                                    const std::vector<std::string_view>& words) {
    const auto send = [&]() -> base::Task<absl::StatusOr<Reply>> {
      const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
      co_return co_await store.Execute(command);
    };
    return base::Run(send());
  }
  // Returns the reply to a command on a new connection.
  Reply Ask(const redis::Options& options, const std::vector<std::string_view>& words) {
    auto store = redis::SyncStore::Connect(options);
    EXPECT_TRUE(store.ok()) << store.status();
    const absl::StatusOr<Reply> reply = Send(**store, words);
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.value_or(Reply::Nil());
  }
};

TEST_F(LiveServerTest, IsAServerOnAUnixSocketAtTheTimeAskedFor) {
  EXPECT_FALSE(LiveTestsWantACluster());
  const auto server = StartLiveServer(kStart);
  ASSERT_TRUE(server.ok()) << server.status();
  const redis::Options options = LiveOptions(**server);
  EXPECT_TRUE(std::holds_alternative<redis::UnixAddress>(options.address));
  EXPECT_EQ(Ask(options, {"TIME"}).elements()[0], Reply::Bulk("1778335382"));
}

TEST_F(LiveServerTest, SpeaksTlsWhenTheEnvironmentSaysSo) {
  AskFor("tls");
  EXPECT_FALSE(LiveTestsWantACluster());
  const auto server = StartLiveServer(kStart);
  ASSERT_TRUE(server.ok()) << server.status();
  redis::Options options = LiveOptions(**server);
  EXPECT_TRUE(options.tls.enabled);
  EXPECT_TRUE(options.tls.verify);
  EXPECT_EQ(Ask(options, {"TIME"}).elements()[0], Reply::Bulk("1778335382"));
  options.tls = {};
  options.connect_timeout = absl::Milliseconds(50);
  options.health_check_interval = absl::InfiniteDuration();
  options.client_name = "plain";
  EXPECT_FALSE(redis::SyncStore::Connect(options).ok()) << "it speaks nothing but TLS";
}

TEST_F(LiveServerTest, IsOneClusterThatEachTestFindsEmpty) {
  AskFor("cluster");
  EXPECT_TRUE(LiveTestsWantACluster());
  const auto first = EmptyLiveCluster(kStart);
  ASSERT_TRUE(first.ok()) << first.status();
  const redis::Options options = LiveOptions(**first);
  EXPECT_EQ((*first)->size(), 3u);
  EXPECT_EQ(Ask(options, {"SET", "a", "1"}), Reply::Ok());
  EXPECT_EQ(Ask(options, {"SET", "b", "1"}), Reply::Ok());
  const auto second = EmptyLiveCluster(kStart + absl::Hours(1));
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(Ask(options, {"DBSIZE"}), Reply::Integer(0));
  EXPECT_EQ((*second)->node(0).held_time(), kStart + absl::Hours(1));
}

class MovingClusterTest : public LiveServerTest {
 protected:
  void SetUp() override {
    LiveServerTest::SetUp();
    AskFor("cluster");
    setenv("REDOUBLE_LIVE_WHILE", "moving", 1);
    cluster = EmptyLiveCluster(kStart);
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    store = ConnectToLive(**cluster);
    ASSERT_TRUE(store.ok()) << store.status();
  }

  absl::StatusOr<redis::SpawnedCluster*> cluster;
  absl::StatusOr<std::unique_ptr<store::Store>> store;
};

// The mover moves slots that have keys, of which there is one, and a client finds it everywhere.
TEST_F(MovingClusterTest, MovesSlotsWhileATestUsesThem) {
  ASSERT_TRUE(Send(**store, {"SET", "a", "1"}).ok());
  std::set<size_t> owners;
  while (owners.size() < 3) {
    const auto counter = Send(**store, {"INCR", "a"});
    ASSERT_TRUE(counter.ok()) << counter.status();
    for (size_t i = 0; i < 3; ++i) {
      if (Ask(*redis::Options::Parse((*cluster)->node(i).uri()), {"DBSIZE"}) == Reply::Integer(1)) {
        owners.insert(i);
      }
    }
  }
  EXPECT_TRUE(AdvanceLiveCluster(**cluster, kStart + absl::Hours(1)).ok());
  EXPECT_EQ((*cluster)->node(0).held_time(), kStart + absl::Hours(1));
}

// A move would let the key live for a millisecond more. The other key shows that slots have moved.
TEST_F(MovingClusterTest, MovesNoKeyWhoseTimeToLiveIsZero) {
  ASSERT_TRUE(Send(**store, {"SET", "a", "1", "PX", "1000"}).ok());
  ASSERT_TRUE(Send(**store, {"SET", "b", "1"}).ok());
  ASSERT_TRUE(AdvanceLiveCluster(**cluster, kStart + absl::Seconds(1)).ok());
  std::set<size_t> owners;
  while (owners.size() < 3) {
    for (size_t i = 0; i < 3; ++i) {
      const redis::Options node = *redis::Options::Parse((*cluster)->node(i).uri());
      if (Ask(node, {"CLUSTER", "COUNTKEYSINSLOT", "3300"}) == Reply::Integer(1)) owners.insert(i);
    }
  }
  EXPECT_EQ(*Send(**store, {"GET", "a"}), Reply::Bulk("1"));
  ASSERT_TRUE(AdvanceLiveCluster(**cluster, kStart + absl::Milliseconds(1001)).ok());
  EXPECT_EQ(*Send(**store, {"GET", "a"}), Reply::Nil());
}

TEST_F(LiveServerTest, LosesAMasterAndGoesOnWithItsReplica) {
  AskFor("cluster");
  setenv("REDOUBLE_LIVE_WHILE", "failover", 1);
  for (const Masters masters : {Masters::kMayDie, Masters::kStay, Masters::kMayDie}) {
    const auto cluster = EmptyLiveCluster(kStart, masters);
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    ASSERT_EQ((*cluster)->size(), 6u);
    const auto store = ConnectToLive(**cluster);
    ASSERT_TRUE(store.ok()) << store.status();
    // A command may have been sent to the master that dies.
    int failed = 0;
    for (int i = 0; i < 100; ++i) {
      const std::string key = std::to_string(i);
      if (!Send(**store, {"SET", key, "1"}).ok()) ++failed;
    }
    EXPECT_LE(failed, 1);
    EXPECT_TRUE(AdvanceLiveCluster(**cluster, kStart + absl::Hours(1)).ok());
    size_t running = 0;
    for (size_t i = 0; i < 6; ++i) running += (*cluster)->node(i).pid() != 0 ? 1 : 0;
    EXPECT_EQ(running, masters == Masters::kMayDie ? 5u : 6u);
  }
}

TEST_F(LiveServerTest, DiesWhenTheEnvironmentAsksForWhatThereIsNot) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  AskFor("tsl");
  EXPECT_DEATH(LiveTestsWantACluster(), "REDOUBLE_LIVE_BACKEND is tls, cluster or unset, not");
  setenv("REDOUBLE_LIVE_WHILE", "mowing", 1);
  EXPECT_DEATH(WantedUnrest(), "REDOUBLE_LIVE_WHILE is moving, failover or unset, not");
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
