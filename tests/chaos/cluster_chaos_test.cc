// Clients of clusters and sentinels under load while servers are killed, stopped (SIGSTOP, as a
// partition) and replaced, and slots move. Single commands, pipelines, transactions, scripts,
// cancelled requests and values of 16 MB; the queue is short, so that it is full at times. Every
// acknowledged increment is checked value by value (counted_key.h), and every request must end.
//
// Each fault happens once, in an order that is drawn from the seed, and a fault ends when its
// effect has been seen, so the result does not depend on the speed of the machine. The environment
// makes it longer:
//
//   bazel test //tests/chaos:cluster_chaos_test --test_env=CHAOS_FAULTS=100 --test_env=CHAOS_SEED=8
//     --test_timeout=3600
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/net/asio_clock.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/client/sentinel_client.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_sentinels.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/tests/chaos/counted_key.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using store::Reply;

constexpr int kActors = 24;
constexpr absl::Duration kCommandTimeout = absl::Seconds(2);

uint64_t Setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

class ClusterChaos : public redis::LiveTest {
 protected:
  using Fault = std::function<base::Task<void>()>;

  void SetUp() override { std::cout << "chaos of seed " << seed << std::endl; }

  static redis::Options Disturbed(const std::string& uri) {
    redis::Options options = redis::Options::Parse(uri).value();
    options.command_timeout = kCommandTimeout;
    options.connect_timeout = absl::Seconds(1);
    options.health_check_interval = absl::Milliseconds(300);
    options.queue_limit = 2 * kActors / 3;
    options.refresh_interval = absl::Milliseconds(20);
    return options;
  }

  // Runs the actors on the store while the faults happen, and then checks the counters.
  void RunUnder(store::Store& store, bool may_lose, std::vector<Fault> faults) {
    for (int i = 0; i < kActors; ++i) {
      counters.emplace_back(absl::StrCat("counter:", i), rng.Fork(), may_lose);
    }
    std::vector<base::Task<void>> tasks;
    for (CountedKey& counter : counters) tasks.push_back(Act(store, counter));
    tasks.push_back(Disturb(std::move(faults)));
    Run(base::WhenAll(std::move(tasks)));
    for (CountedKey& counter : counters) {
      const auto value = Eventually(store, counter.key());
      counter.CheckFinal(value);
      EXPECT_EQ(counter.problems(), std::vector<std::string>());
    }
    Print();
  }

  base::Task<void> Act(store::Store& store, CountedKey& counter) {
    while (!stop) {
      const uint64_t refused = counter.not_done();
      co_await counter.Increment(store, clock);
      // A full queue or an unreachable server would be asked in a circle.
      if (counter.not_done() > refused) co_await clock.Sleep(absl::Milliseconds(1));
    }
  }

  base::Task<void> Disturb(std::vector<Fault> faults) {
    co_await Progress();
    const uint64_t count = std::max<uint64_t>(Setting("CHAOS_FAULTS", 0), faults.size());
    for (uint64_t done = 0; done < count; ++done) {
      const size_t turn = done % faults.size();
      if (turn == 0) Shuffle(faults);
      co_await faults[turn]();
      co_await Progress();
    }
    stop = true;
  }
  void Shuffle(std::vector<Fault>& faults) {
    for (size_t i = faults.size(); i > 1; --i) std::swap(faults[i - 1], faults[rng.Below(i)]);
  }

  // Waits until every actor has got some replies.
  base::Task<void> Progress() {
    std::vector<uint64_t> before;
    for (const CountedKey& counter : counters) before.push_back(counter.acknowledged());
    for (size_t i = 0; i < counters.size(); ++i) {
      while (counters[i].acknowledged() < before[i] + 3)
        co_await clock.Sleep(absl::Milliseconds(2));
    }
  }

  // Runs a call that blocks in another thread, while the clients continue.
  base::Task<void> Elsewhere(std::function<absl::Status()> call) {
    std::future<absl::Status> done = std::async(std::launch::async, std::move(call));
    while (done.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      co_await clock.Sleep(absl::Milliseconds(5));
    }
    EXPECT_THAT(done.get(), IsOk());
  }
  base::Task<void> KillAndRestart(redis::SpawnedServer& server) {
    auto restart = [&server] {
      server.Kill();
      return server.Restart();
    };
    co_await Elsewhere(std::move(restart));
  }
  // The server gets no time, and its clients no reply, until requests have timed out or connections
  // were given up. Not for longer than that takes: the client may have left the server before.
  base::Task<void> Stop(redis::SpawnedServer& server, std::function<redis::Counters()> traffic) {
    const auto effect = [&] {
      const redis::Counters counters = traffic();
      return counters.timeouts + counters.losses;
    };
    const uint64_t before = effect();
    const absl::Time latest = clock.Now() + 2 * kCommandTimeout;
    kill(server.pid(), SIGSTOP);
    while (effect() == before && clock.Now() < latest) {
      co_await clock.Sleep(absl::Milliseconds(5));
    }
    ++stops;
    kill(server.pid(), SIGCONT);
  }

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

  // The bulk reply of a server; empty if it does not answer.
  base::Task<std::string> Ask(redis::SpawnedServer& node, std::string_view name,
                              std::string_view argument) {
    const redis::Options options = redis::Options::Parse(node.uri()).value();
    auto connected = co_await redis::Client::Connect(context.get_executor(), options,
                                                     redis::Sharing::kDedicated);
    if (!connected.ok()) co_return std::string();
    store::Command command = store::Command::Named(name);
    command.Add(argument);
    const absl::StatusOr<Reply> reply = co_await (*connected)->Execute(command);
    co_return reply.ok() && reply->is_bulk() ? reply->text() : std::string();
  }

  int64_t Eventually(store::Store& store, const std::string& key) {
    while (true) {
      const auto value = Run(store::Get(store, key));
      int64_t number = 0;
      if (value.ok() && (!value->has_value() || absl::SimpleAtoi(**value, &number))) return number;
      Run(clock.Sleep(absl::Milliseconds(20)));
    }
  }

  void Print() const {
    uint64_t acknowledged = 0, unknown = 0, not_done = 0, forms[CountedKey::kForms] = {};
    for (const CountedKey& counter : counters) {
      acknowledged += counter.acknowledged();
      unknown += counter.unknown();
      not_done += counter.not_done();
      for (size_t form = 0; form < CountedKey::kForms; ++form) {
        forms[form] += counter.acknowledged_as(static_cast<IncrementForm>(form));
      }
    }
    std::cout << "chaos of seed " << seed << ": " << acknowledged << " acknowledged (commands "
              << forms[0] << ", pipelines " << forms[1] << ", transactions " << forms[2]
              << ", scripts " << forms[3] << ", before their cancellation " << forms[4]
              << ", values of 16 MB " << forms[5] << "), " << unknown << " unknown, " << not_done
              << " not done" << std::endl;
  }

  const uint64_t seed = Setting("CHAOS_SEED", 7);
  base::Rng rng{seed};
  redis::AsioClock clock{context.get_executor()};
  std::deque<CountedKey> counters;
  bool stop = false;
  int stops = 0;
};

TEST_F(ClusterChaos, AClusterLosesAndDoublesNothing) {
  redis::SpawnedClusterOptions spawned;
  // No failover, which loses acknowledged writes; writes survive kill -9.
  spawned.node_timeout = absl::Seconds(60);
  spawned.config = {"appendonly yes", "appendfsync always", "cluster-require-full-coverage no"};
  auto cluster = redis::SpawnedCluster::Start(spawned);
  ASSERT_THAT(cluster, IsOk());
  redis::SpawnedCluster& nodes = **cluster;
  redis::Options options = Disturbed(nodes.uri());
  options.redirections = 1000;
  auto client = Run(redis::ClusterClient::Connect(context.get_executor(), options));
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
  auto client =
      Run(redis::SentinelClient::Connect(context.get_executor(), Disturbed(servers.uri())));
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
  std::vector<Fault> faults(3, fail_over);
  faults.push_back(stop_master);
  for (size_t i = 0; i < 3; ++i) {
    faults.push_back([&, i] { return KillAndRestart(servers.sentinel(i)); });
  }
  RunUnder(**client, /*may_lose=*/true, std::move(faults));
  EXPECT_GE((*client)->counters().masters, 4u);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
