// A client under heavy disturbance: a proxy splits, delays, stalls, cuts and half-closes
// connections, and the server is killed and restarted, pauses, and closes client connections. Every
// request must end within its timeout, no reply may reach another request, no command may be
// executed twice, no acknowledged write may be lost, a gap among messages must be reported, no
// socket may stay open, and the counters must agree with the events. Leaks are detected by the
// sanitizers (--config=asan).
//
// The test lasts one minute and draws its faults from a seed (chaos_settings.h), or as the
// environment says:
//
//   bazel test //tests/chaos:chaos_test --test_env=CHAOS_SECONDS=600 --test_env=CHAOS_SEED=8
//     --test_timeout=900
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <future>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/net/asio_clock.h"
#include "redouble/backends/redis/net/await_task.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/net/subscriber.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/tests/chaos/chaos_proxy.h"
#include "redouble/tests/chaos/chaos_settings.h"
#include "redouble/tests/chaos/counted_key.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using store::ErrorKind;
using store::Reply;

constexpr int kWorkers = 24;
constexpr int kBlocked = 6;
// The workers, the blocked clients, the publisher, and the coroutine that injects faults.
constexpr int kActors = kWorkers + kBlocked + 2;
constexpr absl::Duration kTimeout = absl::Milliseconds(400);
// How often the event loop is checked for stalls.
constexpr absl::Duration kTick = absl::Milliseconds(10);
constexpr std::string_view kQuery =
    "?command_timeout=400ms&connect_timeout=400ms&health_check_interval=300ms&backoff_base=5ms&"
    "backoff_cap=50ms&blocking_connections=4";

absl::Duration TestLength() { return absl::Seconds(ChaosSetting("CHAOS_SECONDS", 60)); }

// All open descriptors: sockets, timers and files.
int64_t OpenFiles() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

// A time, and how long the event loop had been stalled until then.
struct Moment {
  absl::Time time;
  absl::Duration stalled;
};

// The outcomes of the requests of one kind.
struct Tally {
  uint64_t done = 0;
  uint64_t refused = 0;  // Error replies of the server.
  uint64_t not_sent = 0;
  uint64_t unknown = 0;

  uint64_t all() const { return done + refused + not_sent + unknown; }
  void Add(const Tally& other) {
    done += other.done;
    refused += other.refused;
    not_sent += other.not_sent;
    unknown += other.unknown;
  }
};

class ChaosTest : public redis::LiveTest {
 protected:
  void SetUp() override {
    redis::SpawnedServerOptions options;
    // Writes that Redis has acknowledged survive kill -9.
    options.config = {"appendonly yes", "appendfsync always"};
    ASSERT_OK_AND_ASSIGN(server, redis::SpawnedServer::Start(options));
    std::cout << "chaos of seed " << seed << std::endl;
    for (int id = 0; id < kWorkers; ++id) {
      counted.emplace_back(absl::StrCat("counter:", id), rng.Fork());
    }
    proxy = std::make_unique<ChaosProxy>(context, server->unix_socket(), rng.Next());
    end = clock.Now() + TestLength();
  }

  // Tries until it succeeds or 30 seconds have passed: on a busy machine a single attempt may take
  // longer than the short timeouts of the clients.
  template <typename Attempt>
  auto Eventually(Attempt attempt) {
    const absl::Time last = clock.Now() + absl::Seconds(30);
    auto result = Run(attempt());
    while (!result.ok() && clock.Now() < last) result = Run(attempt());
    return result;
  }

  bool running() { return clock.Now() < end; }
  void Fail(const std::string& what) {
    if (failures.size() < 20) failures.push_back(what);
  }

  // The start or the end of a request.
  Moment Now() const {
    const absl::Time time = clock.Now();
    return {time, stalled + std::max(absl::ZeroDuration(), time - tick)};
  }

  // Counts the outcome of a request, and notes by how much it exceeded its limit. Returns false
  // without a reply.
  //
  // Time in which the event loop was stalled does not count, so a busy machine does not look like a
  // slow client. Each step of a request is a turn of the event loop; the ticks of MeasureStalls
  // notice all of a stall except for less than kTick, so a request of `n` turns seems late by less
  // than `n` times kTick.
  bool Record(const absl::Status& status, Moment start, absl::Duration limit, Tally& tally) {
    const Moment now = Now();
    latest = std::max(latest, now.time - start.time - (now.stalled - start.stalled) - limit);
    if (status.ok()) {
      ++tally.done;
      return true;
    }
    const std::optional<ErrorKind> kind = store::ErrorKindOf(status);
    if (kind == ErrorKind::kServer) {
      ++tally.refused;
    } else if (kind == ErrorKind::kNotSent) {
      ++tally.not_sent;
    } else if (kind == ErrorKind::kOutcomeUnknown) {
      ++tally.unknown;
    } else {
      Fail("unexpected outcome: " + status.ToString());
    }
    return false;
  }

  // An error reply of the server, such as LOADING, as a status.
  static absl::Status Outcome(const absl::StatusOr<Reply>& reply) {
    REDOUBLE_RETURN_IF_ERROR(reply.status());
    return reply->is_error() ? store::ServerError(reply->text()) : absl::OkStatus();
  }

  // Measures for how long the event loop does not run what is due.
  base::Task<void> MeasureStalls() {
    while (ended < kActors) {
      tick = clock.Now() + kTick;
      co_await clock.SleepUntil(tick);
      const absl::Duration late = clock.Now() - tick;
      stalled += late;
      longest_stall = std::max(longest_stall, late);
    }
  }

  base::Task<void> Work(redis::Client& client, int id, base::Rng rng) {
    const std::string echoed = absl::StrCat("worker:", id, ":");
    for (int64_t turn = 0; running(); ++turn) {
      const Moment start = Now();
      if (rng.Chance(0.5)) {
        const absl::StatusOr<int64_t> value = co_await store::Incr(client, counted[id].key());
        counted[id].Take(value);
        if (!Record(value.status(), start, kTimeout, writes)) continue;
      } else {
        const std::string token = absl::StrCat(echoed, turn);
        const store::Command echo(store::CommandId::kEcho, {token});
        const absl::StatusOr<Reply> reply = co_await client.Execute(echo);
        if (!Record(Outcome(reply), start, kTimeout, echoes)) continue;
        if (*reply != Reply::Bulk(token)) Fail(token + " got " + reply->DebugString());
      }
      if (rng.Chance(0.2)) co_await clock.Sleep(absl::Milliseconds(2));
    }
    ++ended;
  }

  // Commands that block and end by themselves.
  base::Task<void> Block(redis::Client& client) {
    while (running()) {
      const Moment start = Now();
      const store::Command pop(store::CommandId::kBLPop, {"nothing", "0.05"});
      const absl::StatusOr<Reply> reply = co_await client.Execute(pop);
      // A request may wait for a connection as long as for its reply.
      const absl::Duration limit = 2 * (kTimeout + absl::Milliseconds(50));
      if (!Record(Outcome(reply), start, limit, blocked)) continue;
      if (!reply->is_nil()) Fail("BLPOP got " + reply->DebugString());
    }
    ++ended;
  }

  base::Task<void> Publish(redis::Client& client) {
    for (int64_t number = 0; running(); ++number) {
      const std::string payload = absl::StrCat(number);
      const Moment start = Now();
      const auto receivers = co_await store::Publish(client, "news", payload);
      Record(receivers.status(), start, kTimeout, published);
      if (receivers.ok() && *receivers > 0) delivered.insert(number);
      if (!receivers.ok()) uncertain.insert(number);
      co_await clock.Sleep(absl::Milliseconds(1));
    }
    ++ended;
  }

  base::Task<void> Read(redis::Subscriber& subscriber) {
    int64_t last = -1;
    bool gap = true;
    while (true) {
      const absl::StatusOr<redis::PushEvent> event = co_await subscriber.Next();
      if (!event.ok()) co_return;
      if (event->is_gap()) {
        gap = true;
        ++gaps;
        continue;
      }
      const std::optional<store::Message> message = store::ReadMessage(*event->push);
      int64_t number = 0;
      if (!message || !absl::SimpleAtoi(message->payload, &number)) continue;
      if (!received.insert(number).second) Fail(absl::StrCat("message ", number, " came twice"));
      ++messages;
      // A request with an unknown outcome may have run late, from an abandoned connection, so it
      // does not order the requests before it.
      if (uncertain.contains(number)) continue;
      if (number < last) Fail(absl::StrCat("message ", number, " came after ", last));
      for (int64_t missing = last + 1; missing < number && !gap; ++missing) {
        if (delivered.contains(missing)) {
          Fail(absl::StrCat("message ", missing, " is missing without a gap"));
        }
      }
      gap = false;
      last = number;
    }
  }

  // Kills and restarts the server in a separate thread, while the clients continue.
  base::Task<void> Restart() {
    ++restarts;
    std::future<absl::Status> done = std::async(std::launch::async, [this] {
      server->Kill();
      return server->Restart();
    });
    while (done.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      co_await clock.Sleep(absl::Milliseconds(5));
    }
    const absl::Status status = done.get();
    if (!status.ok()) Fail("restart: " + std::string(status.message()));
  }

  base::Task<void> Command(redis::Client& control, std::vector<std::string_view> words) {
    const store::Command command = store::Command::Named(words[0], std::span(words).subspan(1));
    // This may fail under disturbance.
    (co_await control.Execute(command)).status().IgnoreError();
  }

  base::Task<void> KillClients(redis::Client& control) {
    ++kills;
    for (const std::string_view type : {"normal", "pubsub"}) {
      std::vector<std::string_view> words = {"CLIENT", "KILL", "TYPE", type};
      co_await Command(control, std::move(words));
    }
  }

  base::Task<void> Pause(redis::Client& control) {
    ++pauses;
    std::vector<std::string_view> words = {"CLIENT", "PAUSE", "100"};
    co_await Command(control, std::move(words));
  }

  // Every kind of fault once, and then at random.
  base::Task<void> InjectFaults(redis::Client& control, base::Rng rng) {
    constexpr uint64_t kKinds = ChaosProxy::kModes + 3;
    for (uint64_t turn = 0; running(); ++turn) {
      const uint64_t what = turn < kKinds ? turn : rng.Below(kKinds);
      if (what < ChaosProxy::kModes) {
        proxy->set_mode(static_cast<ChaosProxy::Mode>(what));
      } else if (what == ChaosProxy::kModes) {
        co_await Restart();
      } else if (what == ChaosProxy::kModes + 1) {
        co_await KillClients(control);
      } else {
        co_await Pause(control);
      }
      // A stall sometimes outlasts the timeouts.
      const bool stalls = what == static_cast<uint64_t>(ChaosProxy::Mode::kStall);
      co_await clock.Sleep(absl::Milliseconds(rng.Between(20, stalls ? 1000 : 300)));
      proxy->set_mode(ChaosProxy::Mode::kForward);
      co_await clock.Sleep(absl::Milliseconds(rng.Between(0, 150)));
    }
    ++ended;
  }

  // Checks that every kind of fault had an effect.
  void CheckFaults(const redis::Counters& counters) {
    for (size_t mode = 0; mode < ChaosProxy::kModes; ++mode) {
      EXPECT_GT(proxy->handled()[mode], 0u) << ChaosProxy::kModeNames[mode];
    }
    EXPECT_GT(restarts, 0);
    EXPECT_GT(kills, 0);
    EXPECT_GT(pauses, 0);
    EXPECT_GT(counters.losses, 0u);
    EXPECT_GT(counters.timeouts, 0u);
    EXPECT_GT(gaps, 0);
  }

  // The client's own counters must equal those of its users; health checks are requests, too.
  void CheckFigures(const redis::Counters& counters) {
    const Tally all = Total();
    EXPECT_EQ(counters.in_flight, 0u);
    EXPECT_EQ(counters.requests, all.all() + counters.pings);
    EXPECT_EQ(counters.requests, counters.answered + counters.not_sent + counters.outcome_unknown);
    const auto may_be_pings = [&](uint64_t counted, uint64_t noted) {
      return counted >= noted && counted <= noted + counters.pings;
    };
    EXPECT_TRUE(may_be_pings(counters.answered, all.done + all.refused)) << counters.answered;
    EXPECT_TRUE(may_be_pings(counters.not_sent, all.not_sent)) << counters.not_sent;
    EXPECT_TRUE(may_be_pings(counters.outcome_unknown, all.unknown)) << counters.outcome_unknown;
  }

  Tally Total() const {
    Tally all;
    for (const Tally& tally : {writes, echoes, blocked, published}) all.Add(tally);
    return all;
  }

  void CheckCounters(redis::Client& control) {
    for (CountedKey& counter : counted) {
      ASSERT_OK_AND_ASSIGN(const std::optional<std::string> value,
                           Run(store::Get(control, counter.key())));
      int64_t count = 0;
      if (value) {
        ASSERT_TRUE(absl::SimpleAtoi(*value, &count));
      }
      counter.CheckFinal(count);
      EXPECT_EQ(counter.problems(), std::vector<std::string>());
    }
  }

  void Print(const redis::Counters& counters) {
    const Tally all = Total();
    std::cout << "chaos of seed " << seed << " for " << TestLength() << ": requests " << all.done
              << " done, " << all.refused << " refused by the server, " << all.not_sent
              << " not sent, " << all.unknown << " unknown (echoes " << echoes.done << ", blocking "
              << blocked.done << ", published " << published.done << "); messages " << messages
              << ", gaps " << gaps << "\nrestarts " << restarts << ", CLIENT KILL " << kills
              << ", CLIENT PAUSE " << pauses << "; connects " << counters.connects << ", losses "
              << counters.losses << ", failed attempts " << counters.connect_failures << ", pings "
              << counters.pings << ", timeouts " << counters.timeouts << "\nlatency p50 "
              << counters.latency.QuantileMicros(0.5) << " us, p99 "
              << counters.latency.QuantileMicros(0.99) << " us; latest end after the timeout "
              << latest << ", event loop stalled for " << stalled << ", at most " << longest_stall
              << "\npieces through the proxy:";
    for (size_t mode = 0; mode < ChaosProxy::kModes; ++mode) {
      std::cout << " " << ChaosProxy::kModeNames[mode] << " " << proxy->handled()[mode];
    }
    std::cout << "\n";
  }

  const uint64_t seed = ChaosSeed();
  base::Rng rng{seed};
  redis::AsioClock clock{context.get_executor()};
  std::unique_ptr<ChaosProxy> proxy;
  absl::Time end;
  std::deque<CountedKey> counted;  // Of the workers; each increment is checked value by value.
  Tally writes, echoes, blocked, published;
  // The numbers of messages that were delivered for certain, that may have been sent, and that were
  // received.
  std::set<int64_t> delivered, uncertain, received;
  int64_t messages = 0, gaps = 0, restarts = 0, kills = 0, pauses = 0;
  int ended = 0;
  // By how much a request exceeded its limit, at most.
  absl::Duration latest = -absl::InfiniteDuration();
  // When MeasureStalls is to run next, and by how much it ran late so far.
  absl::Time tick = absl::InfiniteFuture();
  absl::Duration stalled = absl::ZeroDuration();
  absl::Duration longest_stall = absl::ZeroDuration();
  std::vector<std::string> failures;
};

TEST_F(ChaosTest, LosesAndDoublesNothingAndEndsEverythingInTime) {
  // The proxy stops listening at the end.
  const int64_t files = OpenFiles() - 1;
  const auto executor = context.get_executor();
  const std::string uri = absl::StrCat(proxy->uri(), std::string(kQuery));
  ASSERT_OK_AND_ASSIGN(const redis::Options options, redis::Options::Parse(uri));
  const auto connect = [&] { return redis::Client::Connect(executor, options); };
  ASSERT_OK_AND_ASSIGN(const auto client, Eventually(connect));
  ASSERT_OK_AND_ASSIGN(const redis::Options control_options,
                       redis::Options::Parse(absl::StrCat(server->uri(), "?command_timeout=20s")));
  ASSERT_OK_AND_ASSIGN(const auto control, Run(redis::Client::Connect(executor, control_options)));
  const auto connect_subscriber = [&] { return redis::Subscriber::Connect(executor, options); };
  ASSERT_OK_AND_ASSIGN(const auto subscriber, Eventually(connect_subscriber));
  const std::string_view channels[] = {"news"};
  const auto subscribe = [&] { return store::Subscribe(*subscriber, channels); };
  ASSERT_THAT(Eventually(subscribe), IsOk());

  redis::SpawnTask(executor, Read(*subscriber));
  redis::SpawnTask(executor, MeasureStalls());
  for (int id = 0; id < kWorkers; ++id) redis::SpawnTask(executor, Work(*client, id, rng.Fork()));
  for (int i = 0; i < kBlocked; ++i) redis::SpawnTask(executor, Block(*client));
  redis::SpawnTask(executor, Publish(*client));
  redis::SpawnTask(executor, InjectFaults(*control, rng.Fork()));
  const absl::Time hang = end + absl::Seconds(60);
  while (ended < kActors && clock.Now() < hang) context.run_one_for(std::chrono::seconds(1));
  ASSERT_EQ(ended, kActors) << "an actor hangs";

  CheckCounters(*control);
  EXPECT_EQ(failures, std::vector<std::string>());
  EXPECT_LE(latest, 10 * kTick) << "a request ended after its timeout";
  EXPECT_GT(messages, 0);
  const redis::Counters& counters = client->counters();
  CheckFaults(counters);
  CheckFigures(counters);
  Print(counters);
  subscriber->Close();
  client->Close();
  control->Close();
  proxy->Close();
  context.run();
  EXPECT_EQ(OpenFiles(), files) << "a socket is left open";
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
