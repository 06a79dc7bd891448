// Clients of clusters and sentinels under load while servers are killed, stopped (SIGSTOP, as a
// partition) and replaced, and slots move (chaos_fixture.h).
#include <gtest/gtest.h>
#include <signal.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/fsm/sentinel/sentinel_machine.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/client/sentinel_client.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_sentinels.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/tests/chaos/chaos_fixture.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;

// For so long the client does not believe sentinels that missed a failover.
constexpr absl::Duration kOutdated = absl::Microseconds(redis::SentinelMachine::kOutdatedUs);

class ClusterChaos : public ChaosFixture {
 protected:
  using FindMaster = std::function<base::Task<redis::SpawnedServer*>()>;

  // Waits until so many replicas follow the master, as a further failover needs. On a slow machine
  // the sentinels may choose another master meanwhile.
  base::Task<void> UntilReplicasFollow(FindMaster find_master, size_t replicas) {
    while (true) {
      redis::SpawnedServer& master = *co_await find_master();
      const auto info = co_await Ask(master, "INFO", "replication");
      size_t online = 0;
      for (size_t at = info.find("state=online"); at != info.npos;
           at = info.find("state=online", at + 1)) {
        ++online;
      }
      if (online >= replicas) co_return;
      co_await clock.Sleep(absl::Milliseconds(20));
    }
  }
};

TEST_F(ClusterChaos, AClusterLosesAndDoublesNothing) {
  redis::SpawnedClusterOptions spawned;
  // No failover, which loses acknowledged writes; writes survive kill -9.
  spawned.node_timeout = absl::Seconds(60);
  spawned.config = {"appendonly yes", "appendfsync always", "cluster-require-full-coverage no"};
  auto cluster = redis::SpawnedCluster::Start(spawned);
  ASSERT_THAT(cluster, IsOk());
  redis::SpawnedCluster& nodes = **cluster;
  auto client = Drive(redis::ClusterClient::Connect(executor, Disturbed(nodes.uri())));
  ASSERT_THAT(client, IsOk());
  const auto traffic = [&] { return (*client)->traffic(); };
  std::map<int, size_t> owners;
  const auto move_slot = [&]() -> base::Task<void> {
    const CountedKey& counter = counters[rng.Below(counters.size())];
    const int slot = base::KeySlot(counter.key());
    // The masters have their thirds of the slots at first.
    size_t& owner =
        owners.try_emplace(slot, (static_cast<size_t>(slot) * 3 + 2) / base::kClusterSlots)
            .first->second;
    const size_t from = owner;
    owner = (from + 1) % 3;
    co_await Elsewhere([&nodes, slot, from, to = owner] { return nodes.MoveSlot(slot, from, to); });
  };
  std::vector<Fault> faults;
  for (size_t node = 0; node < 3; ++node) {
    faults.push_back([&, node] { return KillAndRestart(nodes.node(node)); });
  }
  faults.push_back([&] { return Stop(nodes.node(rng.Below(3)), traffic); });
  for (int i = 0; i < 4; ++i) faults.push_back(move_slot);
  RunUnder(**client, /*may_lose=*/false, std::move(faults));
  EXPECT_GT((*client)->counters().moved + (*client)->counters().asked, 0u);
  EXPECT_GT(stops, 0);
}

// Failovers lose acknowledged writes, because Redis replicates asynchronously: here the check is
// that nothing runs twice, that no reply reaches another request, and that every request ends.
TEST_F(ClusterChaos, AMasterOfSentinelsIsFollowedThroughFailoversAndLostWatches) {
  auto watched = redis::SpawnedSentinels::Start();
  ASSERT_THAT(watched, IsOk());
  redis::SpawnedSentinels& servers = **watched;
  auto client = Drive(redis::SentinelClient::Connect(executor, Disturbed(servers.uri())));
  ASSERT_THAT(client, IsOk());
  const FindMaster master = [&]() -> base::Task<redis::SpawnedServer*> {
    while (true) {
      const auto address = (*client)->master();
      for (size_t i = 0; address && i < servers.servers(); ++i) {
        if (servers.server(i).port() == address->port) co_return &servers.server(i);
      }
      co_await clock.Sleep(absl::Milliseconds(5));
    }
  };
  // The killed master comes back as a replica.
  const auto fail_over = [&]() -> base::Task<void> {
    redis::SpawnedServer& old = *co_await master();
    old.Kill();
    while (co_await master() == &old) co_await clock.Sleep(absl::Milliseconds(10));
    co_await Elsewhere([&old] { return old.Restart(); });
    co_await UntilReplicasFollow(master, servers.servers() - 1);
  };
  const auto stop_master = [&]() -> base::Task<void> {
    redis::SpawnedServer& stopped = *co_await master();
    co_await Stop(stopped, [&] { return (*client)->traffic(); });
    co_await UntilReplicasFollow(master, servers.servers() - 1);
  };
  // The master is isolated during a failover that one sentinel misses. Then only these two answer:
  // the sentinel names its master, and that one says that it is a master. A client that believes
  // them goes back to the data before the failover.
  const auto isolate_master = [&]() -> base::Task<void> {
    redis::SpawnedServer& isolated = *co_await master();
    servers.sentinel(0).Kill();
    kill(isolated.pid(), SIGSTOP);
    while (co_await master() == &isolated) co_await clock.Sleep(absl::Milliseconds(10));
    for (size_t i = 1; i < 3; ++i) servers.sentinel(i).Kill();
    kill(isolated.pid(), SIGCONT);
    co_await Elsewhere([&servers] { return servers.sentinel(0).Restart(); });
    const absl::Time start = clock.Now();
    const uint64_t rounds = (*client)->counters().rounds;
    while ((*client)->counters().rounds < rounds + 3) {
      (*client)->Refresh();
      co_await clock.Sleep(absl::Milliseconds(2));
    }
    const bool went_back = (*client)->master() && (*client)->master()->port == isolated.port();
    EXPECT_FALSE(went_back && clock.Now() < start + kOutdated);
    for (size_t i = 1; i < 3; ++i) {
      co_await Elsewhere([&servers, i] { return servers.sentinel(i).Restart(); });
    }
    co_await UntilReplicasFollow(master, servers.servers() - 1);
  };
  std::vector<Fault> faults(3, fail_over);
  faults.push_back(stop_master);
  faults.push_back(isolate_master);
  for (size_t i = 0; i < 3; ++i) {
    faults.push_back([&, i] { return KillAndRestart(servers.sentinel(i)); });
  }
  RunUnder(**client, /*may_lose=*/true, std::move(faults));
  EXPECT_GE((*client)->counters().masters, 4u);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
