// Clients that several threads use, under load while servers are killed and stopped: a client of
// one server and one of a cluster on a strand (chaos_fixture.h), and a pool. tools/test runs it
// with the thread sanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/pool/sync_pool.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/system_clock.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/tests/chaos/chaos_fixture.h"
#include "redouble/tests/chaos/counted_key.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;

constexpr int kThreads = 4;

// Writes that were acknowledged survive kill -9.
const std::vector<std::string> kDurable = {"appendonly yes", "appendfsync always"};

class ThreadsChaos : public ChaosFixture {
 protected:
  ThreadsChaos() { threads = kThreads; }

  void StartDurableServer() {
    redis::SpawnedServerOptions options;
    options.config = kDurable;
    StartServer(options);
  }
};

TEST_F(ThreadsChaos, AClientOnAStrandLosesAndDoublesNothing) {
  StartDurableServer();
  auto client =
      Drive(redis::Client::Connect(executor, Disturbed(server->uri()), redis::Sharing::kShared));
  ASSERT_THAT(client, IsOk());
  const auto traffic = [&] { return (*client)->counters(); };
  RunUnder(**client, /*may_lose=*/false,
           {[&] { return KillAndRestart(*server); }, [&] { return Stop(*server, traffic); }});
  EXPECT_GT((*client)->counters().losses, 0u);
}

TEST_F(ThreadsChaos, AClusterClientOnAStrandLosesAndDoublesNothing) {
  redis::SpawnedClusterOptions spawned;
  spawned.node_timeout = absl::Seconds(60);
  spawned.config = kDurable;
  spawned.config.push_back("cluster-require-full-coverage no");
  auto cluster = redis::SpawnedCluster::Start(spawned);
  ASSERT_THAT(cluster, IsOk());
  auto client = Drive(redis::ClusterClient::Connect(executor, Disturbed((*cluster)->uri())));
  ASSERT_THAT(client, IsOk());
  const auto traffic = [&] { return (*client)->traffic(); };
  RunUnder(**client, /*may_lose=*/false,
           {[&] { return KillAndRestart((*cluster)->node(0)); },
            [&] { return Stop((*cluster)->node(1), traffic); }});
  EXPECT_GT((*client)->traffic().losses, 0u);
}

// What a thread has done with its counter, for the thread that injects the faults.
struct Worker {
  explicit Worker(CountedKey counted) : counter(std::move(counted)) {}

  CountedKey counter;
  std::atomic<uint64_t> acknowledged = 0;
};

class PoolChaos : public ThreadsChaos {
 protected:
  static constexpr int kWorkers = 8;

  void SetUp() override {
    ThreadsChaos::SetUp();
    StartDurableServer();
    redis::Options options = Disturbed(server->uri());
    options.pool_size = kWorkers / 2;
    options.pool_acquire_timeout = absl::Milliseconds(5);
    options.pool_check_after = absl::Milliseconds(20);
    auto connected = redis::SyncPool::Connect(options);
    ASSERT_THAT(connected, IsOk());
    pool = *std::move(connected);
    for (int i = 0; i < kWorkers; ++i) {
      workers.emplace_back(CountedKey(absl::StrCat("counter:", i), rng.Fork()));
    }
  }

  void Work(Worker& worker) {
    while (!stop) {
      base::Run(worker.counter.Increment(*pool, system_clock));
      worker.acknowledged = worker.counter.acknowledged();
    }
  }
  // Waits until every worker has got some replies.
  void AwaitProgress() {
    for (Worker& worker : workers) {
      const uint64_t enough = worker.acknowledged + 3;
      while (worker.acknowledged < enough) base::Run(system_clock.Sleep(absl::Milliseconds(2)));
    }
  }

  std::unique_ptr<redis::SyncPool> pool;
  base::SystemClock system_clock;
  std::deque<Worker> workers;
  std::atomic<bool> stop = false;
};

TEST_F(PoolChaos, LosesAndDoublesNothing) {
  std::vector<std::thread> running;
  for (Worker& worker : workers) running.emplace_back([&] { Work(worker); });
  threads = 1;  // The faults run on this thread.
  AwaitProgress();
  for (int round = 0; round < 2; ++round) {
    Drive(KillAndRestart(*server));
    AwaitProgress();
    Drive(Stop(*server, [&] { return pool->traffic(); }));
    AwaitProgress();
  }
  stop = true;
  for (std::thread& thread : running) thread.join();
  for (Worker& worker : workers) {
    const auto value = base::Run(store::Get(*pool, worker.counter.key()));
    ASSERT_TRUE(value.ok() && value->has_value()) << value.status();
    worker.counter.CheckFinal(std::stoll(**value));
    EXPECT_EQ(worker.counter.problems(), std::vector<std::string>());
  }
  EXPECT_GT(pool->counters().timeouts, 0u) << "no call waited for a connection in vain";
  EXPECT_GT(pool->traffic().timeouts, 0u);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
