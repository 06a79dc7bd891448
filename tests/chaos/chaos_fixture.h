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
// Thread-safety: one thread; with `threads`, that many run the clients of a call of Drive.
#ifndef REDOUBLE_TESTS_CHAOS_CHAOS_FIXTURE_H_
#define REDOUBLE_TESTS_CHAOS_CHAOS_FIXTURE_H_

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/net/asio_clock.h"
#include "redouble/backends/redis/net/await_task.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/options.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/tests/chaos/chaos_settings.h"
#include "redouble/tests/chaos/counted_key.h"

namespace redouble::inline v0_1::tests {

class ChaosFixture : public redis::LiveTest {
 protected:
  using Fault = std::function<base::Task<void>()>;

  // Prints the seed.
  void SetUp() override;

  // The options of the URI with short timeouts and a short queue; other limits are the defaults.
  static redis::Options Disturbed(const std::string& uri);

  // Runs a task on the executor: on this thread, or on `threads` other ones.
  template <typename T>
  T Drive(base::Task<T> task) {
    if (threads == 1) return Run(std::move(task));
    if (context.stopped()) context.restart();
    std::future<T> result =
        boost::asio::co_spawn(executor, redis::AwaitTask(std::move(task)), boost::asio::use_future);
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back([this] { context.run(); });
    result.wait();
    context.stop();
    for (std::thread& thread : running) thread.join();
    return result.get();
  }

  // Runs the actors on the store while the faults happen, and until increments of every form were
  // acknowledged and the queue was full, and then checks the counters.
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

  const uint64_t seed = ChaosSeed();
  base::Rng rng{seed};
  // What the clients of the test run on. A strand, so that several threads may run it.
  const boost::asio::any_io_executor executor = boost::asio::make_strand(context);
  redis::AsioClock clock{executor};
  int threads = 1;
  std::deque<CountedKey> counters;
  int stops = 0;  // Calls of Stop.

 private:
  // What all actors did.
  struct Totals {
    uint64_t acknowledged = 0, unknown = 0, not_done = 0, refused = 0;
    uint64_t forms[CountedKey::kForms] = {};

    bool has_all() const;
  };

  base::Task<void> Act(store::Store& store, CountedKey& counter);
  base::Task<void> Disturb(std::vector<Fault> faults);
  // Waits until every actor has got some replies.
  base::Task<void> Progress();
  base::Task<int64_t> Eventually(store::Store& store, const std::string& key);
  Totals Sum() const;
  void Print() const;

  bool stop_ = false;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_CHAOS_CHAOS_FIXTURE_H_
