// ChaosFixture: clients under load while faults happen, each increment checked.
//
// Actors increment counters through a Store in every form of counted_key.h. The queue of the client
// is short, so that it is full at times. Every acknowledged increment is checked value by value,
// and every request must end. Each fault happens once, in an order that is drawn from the seed, and
// a fault ends when its effect has been seen, so the result does not depend on the speed of the
// machine. The environment makes a test longer:
//
//   bazel test //tests/chaos:cluster_chaos_test --test_env=CHAOS_FAULTS=100 --test_env=CHAOS_SEED=8
//     --test_timeout=3600
//
//   TEST_F(ClusterChaos, ...) {
//     std::vector<Fault> faults = {[&] { return KillAndRestart(*server); }};
//     RunUnder(*client, /*may_lose=*/false, std::move(faults));
//   }
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_CHAOS_CHAOS_FIXTURE_H_
#define REDOUBLE_TESTS_CHAOS_CHAOS_FIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/net/asio_clock.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/options.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/tests/chaos/counted_key.h"

namespace redouble::inline v0_1::tests {

class ChaosFixture : public redis::LiveTest {
 protected:
  using Fault = std::function<base::Task<void>()>;

  // Prints the seed.
  void SetUp() override;

  // The options of the URI with short timeouts and a short queue.
  static redis::Options Disturbed(const std::string& uri);

  // Runs the actors on the store while the faults happen, and then checks the counters.
  // `may_lose`: the servers may lose acknowledged increments.
  void RunUnder(store::Store& store, bool may_lose, std::vector<Fault> faults);

  // Runs a call that blocks in another thread, while the clients continue.
  base::Task<void> Elsewhere(std::function<absl::Status()> call);
  base::Task<void> KillAndRestart(redis::SpawnedServer& server);
  // The server gets no time, and its clients no reply, until requests have timed out or connections
  // were given up. Not for longer than that takes: the client may have left the server before.
  base::Task<void> Stop(redis::SpawnedServer& server, std::function<redis::Counters()> traffic);
  // The bulk reply of a server; empty if it does not answer.
  base::Task<std::string> Ask(redis::SpawnedServer& node, std::string_view name,
                              std::string_view argument);

  const uint64_t seed = Setting("CHAOS_SEED", 7);
  base::Rng rng{seed};
  redis::AsioClock clock{context.get_executor()};
  std::deque<CountedKey> counters;
  int stops = 0;  // Calls of Stop.

 private:
  static uint64_t Setting(const char* name, uint64_t otherwise);

  base::Task<void> Act(store::Store& store, CountedKey& counter);
  base::Task<void> Disturb(std::vector<Fault> faults);
  // Waits until every actor has got some replies.
  base::Task<void> Progress();
  int64_t Eventually(store::Store& store, const std::string& key);
  void Print() const;

  bool stop_ = false;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_CHAOS_CHAOS_FIXTURE_H_
