// A client in a storm: under a proxy that splits, delays, stalls, cuts and half-closes, and a
// server that is killed and restarted, pauses and hangs up on its clients, every request ends
// within its time-out, no reply reaches another's request, nothing is executed twice, nothing
// acknowledged is lost, a gap among messages is told, no socket is left open, and the counters tell
// what happened. That no memory is left is for the sanitizers to say (--config=asan).
//
// The storm lasts a minute, or as long as the environment says:
//
//   bazel test //tests/chaos:chaos_test --test_env=CHAOS_SECONDS=600 --test_timeout=900
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
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
#include "backends/redis/net/asio_clock.h"
#include "backends/redis/net/await_task.h"
#include "backends/redis/net/client.h"
#include "backends/redis/net/subscriber.h"
#include "backends/redis/spawn/spawned_server.h"
#include "core/base/rng.h"
#include "core/base/run.h"
#include "core/store/errors.h"
#include "core/store/pubsub.h"
#include "core/store/strings.h"
#include "tests/chaos/chaos_proxy.h"

namespace redouble::tests {
namespace {

using store::ErrorKind;
using store::Reply;

constexpr int kWorkers = 24;
constexpr absl::Duration kTimeout = absl::Milliseconds(400);
constexpr std::string_view kQuery =
    "?command_timeout=400ms&connect_timeout=400ms&health_check_interval=300ms&backoff_base=5ms&"
    "backoff_cap=50ms&blocking_connections=4";

absl::Duration StormLength() {
  const char* text = std::getenv("CHAOS_SECONDS");
  int seconds = 0;
  if (text != nullptr && absl::SimpleAtoi(text, &seconds)) return absl::Seconds(seconds);
  return absl::Seconds(60);
}

// Sockets, timers' descriptors and all.
int64_t OpenFiles() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

// What became of the requests of one kind.
struct Tally {
  uint64_t done = 0;
  uint64_t refused = 0;  // With an error of the server.
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

class Storm : public testing::Test {
 protected:
  void SetUp() override {
    redis::SpawnedServerOptions options;
    // What Redis has acknowledged survives kill -9.
    options.config = {"appendonly yes", "appendfsync always"};
    auto started = redis::SpawnedServer::Start(options);
    ASSERT_TRUE(started.ok()) << started.status();
    server = *std::move(started);
    proxy = std::make_unique<ChaosProxy>(context, server->unix_socket(), 7);
    end = clock.Now() + StormLength();
  }

  template <typename T>
  T Run(base::Task<T> task) {
    return base::RunUntilDone(std::move(task), [this] {
      if (context.stopped()) context.restart();
      return context.run_one() > 0;
    });
  }

  bool storming() { return clock.Now() < end; }
  void Fail(const std::string& what) {
    if (failures.size() < 20) failures.push_back(what);
  }

  // Counts a request's end, and checks that it came in time. False: no answer.
  bool Note(const absl::Status& status, absl::Time start, absl::Duration limit, Tally& tally) {
    const absl::Duration took = clock.Now() - start;
    longest = std::max(longest, took - limit);
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
      Fail("an end that is none: " + status.ToString());
    }
    return false;
  }

  // An error of the server, such as LOADING, as a status.
  static absl::Status Outcome(const absl::StatusOr<Reply>& reply) {
    if (!reply.ok()) return reply.status();
    return reply->is_error() ? store::ServerError(reply->text()) : absl::OkStatus();
  }

  // How late the event loop itself is: a busy machine must not look like a late client.
  base::Task<void> Heartbeat() {
    while (storming()) {
      const absl::Time due = clock.Now() + absl::Milliseconds(10);
      co_await clock.SleepUntil(due);
      lag = std::max(lag, clock.Now() - due);
    }
    ++ended;
  }

  base::Task<void> Work(redis::Client& client, int id) {
    base::Rng rng(id);
    const std::string counter = absl::StrCat("counter:", id);
    const std::string echoed = absl::StrCat("worker:", id, ":");
    int64_t last = 0;
    for (int64_t turn = 0; storming(); ++turn) {
      const absl::Time start = clock.Now();
      if (rng.Chance(0.5)) {
        const absl::StatusOr<int64_t> value = co_await store::Incr(client, counter);
        if (!Note(value.status(), start, kTimeout, writes[id])) continue;
        if (*value <= last) Fail(absl::StrCat(counter, " went from ", last, " to ", *value));
        last = *value;
      } else {
        const std::string token = absl::StrCat(echoed, turn);
        const store::Command echo(store::CommandId::kEcho, {token});
        const absl::StatusOr<Reply> reply = co_await client.Execute(echo);
        if (!Note(Outcome(reply), start, kTimeout, echoes)) continue;
        if (*reply != Reply::Bulk(token)) Fail(token + " got " + reply->DebugString());
      }
      if (rng.Chance(0.2)) co_await clock.Sleep(absl::Milliseconds(2));
    }
    ++ended;
  }

  // Commands that block, and end by themselves.
  base::Task<void> Block(redis::Client& client) {
    while (storming()) {
      const absl::Time start = clock.Now();
      const store::Command pop(store::CommandId::kBLPop, {"nothing", "0.05"});
      const absl::StatusOr<Reply> reply = co_await client.Execute(pop);
      // It may wait for a connection as long as for its answer.
      const absl::Duration limit = 2 * (kTimeout + absl::Milliseconds(50));
      if (!Note(Outcome(reply), start, limit, blocked)) continue;
      if (!reply->is_nil()) Fail("BLPOP got " + reply->DebugString());
    }
    ++ended;
  }

  base::Task<void> Publish(redis::Client& client) {
    for (int64_t number = 0; storming(); ++number) {
      const std::string payload = absl::StrCat(number);
      const absl::Time start = clock.Now();
      const auto receivers = co_await store::Publish(client, "news", payload);
      Note(receivers.status(), start, kTimeout, published);
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
      if (!heard.insert(number).second) Fail(absl::StrCat("message ", number, " came twice"));
      ++messages;
      // One whose outcome stayed unknown may have come late, from a connection that was given up:
      // it says nothing of those before it.
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

  // Kills the server and starts it again, in a thread of its own: the clients go on meanwhile.
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
    // Whether it succeeds is up to the storm.
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

  // Every kind of trouble once, and then at random.
  base::Task<void> Blow(redis::Client& control) {
    constexpr uint64_t kKinds = ChaosProxy::kMoods + 3;
    base::Rng rng(99);
    for (uint64_t turn = 0; storming(); ++turn) {
      const uint64_t what = turn < kKinds ? turn : rng.Below(kKinds);
      if (what < ChaosProxy::kMoods) {
        proxy->set_mood(static_cast<ChaosProxy::Mood>(what));
      } else if (what == ChaosProxy::kMoods) {
        co_await Restart();
      } else if (what == ChaosProxy::kMoods + 1) {
        co_await KillClients(control);
      } else {
        co_await Pause(control);
      }
      // A stall outlasts the time-outs, now and then.
      const bool stalls = what == static_cast<uint64_t>(ChaosProxy::Mood::kStall);
      co_await clock.Sleep(absl::Milliseconds(rng.Between(20, stalls ? 1000 : 300)));
      proxy->set_mood(ChaosProxy::Mood::kGentle);
      co_await clock.Sleep(absl::Milliseconds(rng.Between(0, 150)));
    }
    ++ended;
  }

  // All that a fault was made for has happened.
  void CheckFaults(const redis::Counters& counters) {
    for (size_t mood = 0; mood < ChaosProxy::kMoods; ++mood) {
      EXPECT_GT(proxy->treated()[mood], 0u) << ChaosProxy::kMoodNames[mood];
    }
    EXPECT_GT(restarts, 0);
    EXPECT_GT(kills, 0);
    EXPECT_GT(pauses, 0);
    EXPECT_GT(counters.losses, 0u);
    EXPECT_GT(counters.timeouts, 0u);
    EXPECT_GT(gaps, 0);
  }

  // The client's own figures are those that its users have counted; its health checks are requests,
  // too.
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
    for (const Tally& tally : writes) all.Add(tally);
    for (const Tally& tally : {echoes, blocked, published}) all.Add(tally);
    return all;
  }

  // After the storm: each counter stands between what was acknowledged and what may have run.
  void CheckCounters(redis::Client& control) {
    for (int id = 0; id < kWorkers; ++id) {
      const std::string key = absl::StrCat("counter:", id);
      auto value = Run(store::Get(control, key));
      ASSERT_TRUE(value.ok()) << value.status();
      uint64_t count = 0;
      if (*value) {
        ASSERT_TRUE(absl::SimpleAtoi(**value, &count));
      }
      EXPECT_GE(count, writes[id].done) << key << ": an acknowledged write is lost";
      EXPECT_LE(count, writes[id].done + writes[id].unknown) << key << ": a write ran twice";
    }
  }

  void Print(const redis::Counters& counters) {
    const Tally all = Total();
    std::cout << "storm of " << StormLength() << ": requests " << all.done << " done, "
              << all.refused << " refused by the server, " << all.not_sent << " not sent, "
              << all.unknown << " unknown (echoes " << echoes.done << ", blocking " << blocked.done
              << ", published " << published.done << "); messages " << messages << ", gaps " << gaps
              << "\nrestarts " << restarts << ", CLIENT KILL " << kills << ", CLIENT PAUSE "
              << pauses << "; connects " << counters.connects << ", losses " << counters.losses
              << ", failed attempts " << counters.connect_failures << ", pings " << counters.pings
              << ", time-outs " << counters.timeouts << "\nlatency p50 "
              << counters.latency.QuantileMicros(0.5) << " us, p99 "
              << counters.latency.QuantileMicros(0.99) << " us; latest end after the time-out "
              << longest << ", event loop's lag " << lag << "\npieces through the proxy:";
    for (size_t mood = 0; mood < ChaosProxy::kMoods; ++mood) {
      std::cout << " " << ChaosProxy::kMoodNames[mood] << " " << proxy->treated()[mood];
    }
    std::cout << "\n";
  }

  boost::asio::io_context context;
  redis::AsioClock clock{context.get_executor()};
  std::unique_ptr<redis::SpawnedServer> server;
  std::unique_ptr<ChaosProxy> proxy;
  absl::Time end;
  std::vector<Tally> writes = std::vector<Tally>(kWorkers);
  Tally echoes, blocked, published;
  // Numbers of messages: those that somebody got for sure, those that may have been sent, and those
  // that came.
  std::set<int64_t> delivered, uncertain, heard;
  int64_t messages = 0, gaps = 0, restarts = 0, kills = 0, pauses = 0;
  int ended = 0;
  absl::Duration longest = -absl::InfiniteDuration();
  absl::Duration lag = absl::ZeroDuration();
  std::vector<std::string> failures;
};

TEST_F(Storm, LosesAndDoublesNothingAndEndsEverythingInTime) {
  // The proxy stops listening in the end.
  const int64_t files = OpenFiles() - 1;
  const auto executor = context.get_executor();
  const std::string uri = absl::StrCat(proxy->uri(), std::string(kQuery));
  auto client = Run(redis::Client::Connect(executor, *redis::Options::Parse(uri)));
  ASSERT_TRUE(client.ok()) << client.status();
  auto control = Run(redis::Client::Connect(
      executor, *redis::Options::Parse(absl::StrCat(server->uri(), "?command_timeout=2s"))));
  ASSERT_TRUE(control.ok()) << control.status();
  auto subscriber = Run(redis::Subscriber::Connect(executor, *redis::Options::Parse(uri)));
  ASSERT_TRUE(subscriber.ok()) << subscriber.status();
  const std::string_view channels[] = {"news"};
  ASSERT_TRUE(Run(store::Subscribe(**subscriber, channels)).ok());

  redis::SpawnTask(executor, Read(**subscriber));
  redis::SpawnTask(executor, Heartbeat());
  for (int id = 0; id < kWorkers; ++id) redis::SpawnTask(executor, Work(**client, id));
  for (int i = 0; i < 6; ++i) redis::SpawnTask(executor, Block(**client));
  redis::SpawnTask(executor, Publish(**client));
  redis::SpawnTask(executor, Blow(**control));
  constexpr int kActors = 1 + kWorkers + 6 + 1 + 1;
  const absl::Time hang = end + absl::Seconds(60);
  while (ended < kActors && clock.Now() < hang) context.run_one_for(std::chrono::seconds(1));
  ASSERT_EQ(ended, kActors) << "somebody hangs";

  CheckCounters(**control);
  EXPECT_EQ(failures, std::vector<std::string>());
  EXPECT_LE(longest, lag + absl::Milliseconds(100)) << "a request ended after its time-out";
  EXPECT_GT(messages, 0);
  const redis::Counters& counters = (*client)->counters();
  CheckFaults(counters);
  CheckFigures(counters);
  Print(counters);
  (*subscriber)->Close();
  (*client)->Close();
  (*control)->Close();
  proxy->Close();
  context.run();
  EXPECT_EQ(OpenFiles(), files) << "a socket is left open";
}

}  // namespace
}  // namespace redouble::tests
