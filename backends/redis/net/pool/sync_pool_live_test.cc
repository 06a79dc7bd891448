// The pool against real servers: several threads, leases, dead and expired connections.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/net/pool/sync_pool.h"
#include "redouble/backends/redis/observe/command_latencies.h"
#include "redouble/backends/redis/observe/command_spans.h"
#include "redouble/backends/redis/observe/slow_commands.h"
#include "redouble/backends/redis/spawn/ask_server.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_sentinels.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/system_clock.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::Command;
using store::CommandId;
using store::ErrorKind;
using store::Reply;

base::Task<absl::StatusOr<Reply>> SendTask(store::Store& store, Command command) {
  co_return co_await store.Execute(command);
}
absl::StatusOr<Reply> Send(store::Store& store, CommandId id,
                           std::initializer_list<std::string_view> arguments = {}) {
  return base::Run(SendTask(store, Command(id, arguments)));
}

class SyncPoolTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = SpawnedServer::Start();
    ASSERT_THAT(started, IsOk());
    server = *std::move(started);
  }
  std::unique_ptr<SyncPool> Connected(const std::string& query, ClientHooks hooks = {}) {
    auto pool = SyncPool::Connect(Options::Parse(server->uri() + query).value(), std::move(hooks));
    EXPECT_THAT(pool, IsOk());
    return pool.ok() ? *std::move(pool) : nullptr;
  }
  // Kills the connections of a pool at the server, which notices it only when it uses them.
  void KillConnections() {
    auto admin = SyncClient::Connect(server->uri());
    ASSERT_THAT(admin, IsOk());
    EXPECT_THAT(Send(**admin, CommandId::kClientKill, {"TYPE", "normal", "SKIPME", "yes"}), IsOk());
  }
  // A call waits for a connection of the pool until the pool is closed.
  static void ExpectNotSentWhenClosed(SyncPool& pool) {
    std::thread waiting([&] {
      const absl::Status failed = base::Run(store::Get(pool, "key")).status();
      EXPECT_EQ(store::ErrorKindOf(failed), ErrorKind::kNotSent) << failed;
    });
    while (pool.counters().waits == 0) std::this_thread::yield();
    pool.Close();
    waiting.join();
  }
  static void InThreads(int threads, const std::function<void(int)>& work) {
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back(work, i);
    for (std::thread& thread : running) thread.join();
  }

  std::unique_ptr<SpawnedServer> server;
};

TEST_F(SyncPoolTest, ServesManyThreadsWithFewConnections) {
  constexpr int kThreads = 8, kRounds = 200;
  CommandLatencies latencies;
  int in_hook = 0;  // Not atomic: the hooks run one at a time.
  ClientHooks hooks;
  hooks.command = CombineHooks({latencies.hook(), [&](const CommandEvent&) { ++in_hook; }});
  const auto pool = Connected("?pool_size=3&pool_acquire_timeout=inf", hooks);
  ASSERT_NE(pool, nullptr);
  std::mutex mutex;
  std::set<int64_t> values;
  InThreads(kThreads, [&](int thread) {
    const std::string own = absl::StrCat("own:", thread);
    for (int i = 1; i <= kRounds; ++i) {
      const absl::StatusOr<int64_t> shared = base::Run(store::Incr(*pool, "shared"));
      EXPECT_THAT(base::Run(store::Incr(*pool, own)), IsOkAndHolds(i)) << "its own reply";
      ASSERT_THAT(shared, IsOk());
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(values.insert(*shared).second) << "a reply of another thread";
    }
  });
  EXPECT_EQ(values.size(), static_cast<size_t>(kThreads * kRounds));
  EXPECT_EQ(*values.rbegin(), kThreads * kRounds);
  const PoolCounters counters = pool->counters();
  EXPECT_LE(counters.opened, 3u);
  EXPECT_EQ(counters.borrows, 2u * kThreads * kRounds);
  EXPECT_EQ(counters.borrowed, 0u);
  EXPECT_EQ(counters.idle, counters.opened);
  EXPECT_EQ(pool->traffic().answered, 2u * kThreads * kRounds);
  EXPECT_EQ(latencies.Snapshot()["INCR"].latency.count(), 2u * kThreads * kRounds);
  EXPECT_EQ(in_hook, 3 * 2 * kThreads * kRounds);
}

// Also those of pushes, which all connections receive here.
TEST_F(SyncPoolTest, CallsItsHooksOneAtATime) {
  constexpr int kThreads = 4, kRounds = 300;
  std::atomic<int> inside = 0;
  std::atomic<bool> overlap = false;
  uint64_t pushes = 0;
  ClientHooks hooks;
  hooks.push = [&](const Reply&) {
    if (++inside > 1) overlap = true;
    std::this_thread::yield();
    ++pushes;
    --inside;
  };
  const auto pool = Connected("?protocol=3&pool_size=4", hooks);
  ASSERT_NE(pool, nullptr);
  InThreads(kThreads, [&](int thread) {
    auto lease = pool->Borrow();
    ASSERT_THAT(lease, IsOk());
    // The server tells the connection of every key that changes.
    EXPECT_THAT(Send(lease->store(), CommandId::kClientTracking, {"ON", "BCAST"}), IsOk());
    const std::string own = absl::StrCat("own:", thread);
    for (int i = 0; i < kRounds; ++i) {
      EXPECT_THAT(base::Run(store::Incr(lease->store(), own)), IsOk());
    }
  });
  EXPECT_FALSE(overlap);
  EXPECT_GT(pushes, uint64_t{kRounds});
  EXPECT_EQ(pushes, pool->traffic().pushes);
}

// The spans of requests that run at the same time, on connections that each count from 1.
TEST_F(SyncPoolTest, NumbersTheRequestsOfAllConnections) {
  constexpr int kThreads = 4, kRounds = 100;
  const base::SystemClock clock;
  std::map<std::string, int> spans;
  CommandSpans adapter(clock, Options::Parse(server->uri()).value(), [&](const CommandSpan& span) {
    ++spans[absl::StrCat(span.name, span.failed ? " failed" : "")];
  });
  ClientHooks hooks;
  hooks.command = adapter.hook();
  // Each connection is checked before it is used, which is no request.
  const auto pool = Connected("?pool_size=4&pool_check_after=1ms", hooks);
  ASSERT_NE(pool, nullptr);
  InThreads(kThreads, [&](int thread) {
    const std::string own = absl::StrCat("own:", thread);
    for (int i = 0; i < kRounds; ++i) {
      EXPECT_THAT(base::Run(store::Set(*pool, own, "1")), IsOk());
      EXPECT_THAT(base::Run(store::Get(*pool, own)), IsOk());
    }
  });
  {
    auto lease = pool->Borrow();
    ASSERT_THAT(lease, IsOk());
    EXPECT_THAT(Send(lease->store(), CommandId::kWatch, {"key"}), IsOk());
  }
  EXPECT_FALSE(Send(*pool, CommandId::kMulti).ok());
  EXPECT_EQ(spans, (std::map<std::string, int>{{"SET", kThreads * kRounds},
                                               {"GET", kThreads * kRounds},
                                               {"WATCH", 1},
                                               {"MULTI failed", 1}}));
}

// Each thread reads, and writes back, under WATCH. A lost update would show in the sum.
TEST_F(SyncPoolTest, LendsConnectionsForOptimisticTransactions) {
  constexpr int kThreads = 4, kRounds = 25;
  const auto pool = Connected("?pool_size=4");
  ASSERT_NE(pool, nullptr);
  ASSERT_THAT(base::Run(store::Set(*pool, "balance", "0")), IsOk());
  InThreads(kThreads, [&](int) {
    for (int done = 0; done < kRounds;) {
      auto lease = pool->Borrow();
      ASSERT_THAT(lease, IsOk());
      store::Store& own = lease->store();
      ASSERT_THAT(Send(own, CommandId::kWatch, {"balance"}), IsOk());
      const auto balance = base::Run(store::Get(own, "balance"));
      ASSERT_TRUE(balance.ok() && balance->has_value());
      const std::string next = absl::StrCat(std::stoi(**balance) + 1);
      ASSERT_THAT(Send(own, CommandId::kMulti), IsOk());
      ASSERT_THAT(Send(own, CommandId::kSet, {"balance", next}), IsOk());
      const absl::StatusOr<Reply> committed = Send(own, CommandId::kExec);
      ASSERT_THAT(committed, IsOk());
      if (committed->is_array()) ++done;
    }
  });
  EXPECT_EQ(base::Run(store::Get(*pool, "balance")).value(), absl::StrCat(kThreads * kRounds));
  EXPECT_EQ(pool->counters().discarded, 0u) << "EXEC leaves nothing behind";
  EXPECT_LE(pool->counters().opened, 4u);
}

TEST_F(SyncPoolTest, NeverReusesAConnectionThatALeaseLeftChanged) {
  const auto pool = Connected("?pool_size=1");
  ASSERT_NE(pool, nullptr);
  const std::vector<std::vector<std::string_view>> changes = {
      {"WATCH", "key"}, {"MULTI"}, {"SELECT", "5"}, {"CLIENT", "NO-EVICT", "on"}};
  for (size_t i = 0; i < changes.size(); ++i) {
    auto lease = pool->Borrow();
    ASSERT_THAT(lease, IsOk());
    Command change = Command::Named(changes[i][0], std::span(changes[i]).subspan(1));
    ASSERT_THAT(base::Run(SendTask(lease->store(), std::move(change))), IsOk());
    lease = absl::CancelledError("the lease ends");
    EXPECT_EQ(pool->counters().discarded, i + 1) << changes[i][0];
    ASSERT_THAT(base::Run(store::Set(*pool, absl::StrCat("key:", i), "1")), IsOk());
  }
  EXPECT_EQ(base::Run(store::DbSize(*pool)).value(), 4) << "all in database 0";
}

TEST_F(SyncPoolTest, RefusesToChangeAConnectionWithoutALease) {
  const auto pool = Connected("?pool_size=1");
  ASSERT_NE(pool, nullptr);
  const absl::Status refused = Send(*pool, CommandId::kWatch, {"key"}).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(store::ErrorKindOf(refused), ErrorKind::kNotSent);
  EXPECT_THAT(Send(*pool, CommandId::kBLPop, {"queue", "0.01"}), IsOk()) << "blocking is allowed";
}

TEST_F(SyncPoolTest, WaitsForAConnectionNoLongerThanItsTime) {
  SlowCommands slow({.threshold = absl::Milliseconds(30)});
  ClientHooks hooks;
  hooks.command = slow.hook();
  const auto pool = Connected("?pool_size=1&pool_acquire_timeout=30ms", hooks);
  ASSERT_NE(pool, nullptr);
  auto lease = pool->Borrow();
  ASSERT_THAT(lease, IsOk());
  const auto start = std::chrono::steady_clock::now();
  const absl::Status waited = base::Run(store::Get(*pool, "key")).status();
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(30));
  EXPECT_THAT(waited, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(store::ErrorKindOf(waited), ErrorKind::kNotSent);
  EXPECT_EQ(waited.message(), absl::StrCat("all 1 connections to unix://", server->unix_socket(),
                                           " were busy for 30ms"));
  EXPECT_EQ(pool->counters().timeouts, 1u);
  ASSERT_EQ(slow.total(), 1u) << "the hook sees the wait";
  EXPECT_EQ(slow.Entries()[0].error, "DEADLINE_EXCEEDED");
  EXPECT_EQ(slow.Entries()[0].sends, 0);
  lease = absl::CancelledError("the lease ends");
  EXPECT_THAT(base::Run(store::Get(*pool, "key")), IsOk());
}

TEST_F(SyncPoolTest, HandsAReturnedConnectionToAThreadThatWaits) {
  const auto pool = Connected("?pool_size=1&pool_acquire_timeout=inf");
  ASSERT_NE(pool, nullptr);
  std::optional<absl::StatusOr<SyncPool::Lease>> lease(pool->Borrow());
  ASSERT_THAT(*lease, IsOk());
  std::thread waiting([&] { EXPECT_THAT(base::Run(store::Set(*pool, "key", "1")), IsOk()); });
  while (pool->counters().waits == 0) std::this_thread::yield();
  lease.reset();
  waiting.join();
  EXPECT_EQ(pool->counters().opened, 1u);
}

// A request of a waiter that runs another one needs the connection that the first one had.
TEST_F(SyncPoolTest, AWaiterMayUseTheOnlyConnectionAgain) {
  const auto pool = Connected("?pool_size=1&pool_acquire_timeout=50ms");
  ASSERT_NE(pool, nullptr);
  const auto twice = [&]() -> base::Task<absl::StatusOr<int64_t>> {
    (co_await store::Incr(*pool, "n")).IgnoreError();
    co_return co_await store::Incr(*pool, "n");
  };
  EXPECT_THAT(base::Run(twice()), IsOkAndHolds(2));
}

TEST_F(SyncPoolTest, ADeadConnectionCostsNoRequest) {
  const auto pool = Connected("?pool_size=2");
  ASSERT_NE(pool, nullptr);
  ASSERT_THAT(base::Run(store::Set(*pool, "key", "1")), IsOk());
  KillConnections();
  EXPECT_THAT(base::Run(store::Get(*pool, "key")), IsOk());
  EXPECT_EQ(pool->counters().dead, 1u);
  ASSERT_THAT(server->Restart(), IsOk());
  EXPECT_THAT(base::Run(store::Get(*pool, "key")), IsOk());
  EXPECT_EQ(pool->counters().dead, 2u);
  EXPECT_EQ(pool->counters().opened, 3u);
  EXPECT_EQ(pool->traffic().outcome_unknown + pool->traffic().not_sent, 0u);
}

// A connection that the network has cut without a word is found by the PING.
TEST_F(SyncPoolTest, ChecksAConnectionThatWasIdle) {
  const auto pool = Connected("?pool_size=1&pool_check_after=1ms&command_timeout=20s");
  ASSERT_NE(pool, nullptr);
  const uint64_t before = pool->traffic().answered;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_THAT(base::Run(store::Set(*pool, "key", "1")), IsOk());
  EXPECT_EQ(pool->traffic().answered, before + 2) << "PING and SET";
}

TEST_F(SyncPoolTest, ClosesConnectionsForTheirAgeAndTheirIdleTime) {
  for (const std::string limit : {"pool_lifetime=1ms", "pool_idle_time=1ms"}) {
    const auto pool = Connected("?pool_size=1&" + limit);
    ASSERT_NE(pool, nullptr);
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ASSERT_THAT(base::Run(store::Incr(*pool, "n")), IsOk());
    }
    EXPECT_GE(pool->counters().expired, 3u) << limit;
    EXPECT_EQ(pool->traffic().answered, 3u) << "those of closed connections count";
  }
}

TEST_F(SyncPoolTest, FailsWhatWaitsWhenItIsClosed) {
  const auto pool = Connected("?pool_size=1&pool_acquire_timeout=inf");
  ASSERT_NE(pool, nullptr);
  auto lease = pool->Borrow();
  ASSERT_THAT(lease, IsOk());
  ExpectNotSentWhenClosed(*pool);
  EXPECT_THAT(base::Run(store::Set(lease->store(), "key", "1")), IsOk()) << "until it is returned";
}

TEST_F(SyncPoolTest, ReportsThatNoConnectionCanBeOpened) {
  const auto pool = Connected("?pool_size=1");
  ASSERT_NE(pool, nullptr);
  server->Kill();
  const absl::Status failed = base::Run(store::Get(*pool, "key")).status();
  EXPECT_THAT(failed, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(store::ErrorKindOf(failed), ErrorKind::kNotSent);
  EXPECT_EQ(pool->counters().open_failures, 1u);
  ASSERT_THAT(server->Restart(), IsOk());
  EXPECT_THAT(base::Run(store::Get(*pool, "key")), IsOk());
  EXPECT_FALSE(SyncPool::Connect("unix:///nowhere/redis.sock").ok());
}

// Several threads, each of which asks again as soon as it has failed.
TEST_F(SyncPoolTest, DialsAServerThatIsDownLessAndLessOften) {
  ClientHooks hooks;
  hooks.seed = 7;
  const auto pool = Connected("?pool_size=4&pool_acquire_timeout=1ms", hooks);
  ASSERT_NE(pool, nullptr);
  server->Kill();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  std::atomic<int> failures = 0;
  InThreads(4, [&](int) {
    for (; std::chrono::steady_clock::now() < end; ++failures) {
      const absl::Status failed = base::Run(store::Get(*pool, "key")).status();
      EXPECT_THAT(failed, StatusIs(absl::StatusCode::kUnavailable));
      EXPECT_EQ(store::ErrorKindOf(failed), ErrorKind::kNotSent) << failed;
    }
  });
  EXPECT_GT(failures, 50);
  EXPECT_LT(pool->counters().open_failures, 20u) << "for " << failures << " calls";
}

// It answers the handshake, and closes the connection at a command of that size.
TEST_F(SyncPoolTest, DialsAServerThatClosesConnectionsLessAndLessOften) {
  SpawnedServerOptions options;
  options.config = {"client-query-buffer-limit 1mb"};
  auto started = SpawnedServer::Start(options);
  ASSERT_THAT(started, IsOk());
  server = *std::move(started);
  ClientHooks hooks;
  hooks.seed = 7;
  const auto pool = Connected("?pool_size=2&pool_acquire_timeout=1ms", hooks);
  ASSERT_NE(pool, nullptr);
  const std::string large(2 << 20, 'x');
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  int calls = 0;
  for (; std::chrono::steady_clock::now() < end; ++calls) {
    EXPECT_FALSE(base::Run(store::Set(*pool, "key", large)).ok());
  }
  EXPECT_LT(pool->counters().opened, 20u) << "for " << calls << " calls";
  while (!base::Run(store::Set(*pool, "key", "small")).ok()) continue;
  EXPECT_THAT(base::Run(store::Get(*pool, "key")), IsOk());
}

TEST_F(SyncPoolTest, ReportsTheFailureOfTheLastDialWhileItMayNotDial) {
  const auto pool =
      Connected("?pool_size=2&pool_acquire_timeout=1ms&backoff_base=8760h&backoff_cap=8760h");
  ASSERT_NE(pool, nullptr);
  server->Kill();
  const absl::Status dialed = base::Run(store::Get(*pool, "key")).status();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(base::Run(store::Get(*pool, "key")).status(), dialed);
    EXPECT_EQ(pool->Borrow().status(), dialed);
  }
  EXPECT_EQ(pool->counters().open_failures, 2u) << "the second dial follows at once";
  EXPECT_EQ(pool->counters().timeouts, 19u);
}

TEST_F(SyncPoolTest, ABorrowerWaitsForTheEndOfThePauseAndThenDials) {
  const auto pool =
      Connected("?pool_size=2&pool_acquire_timeout=inf&backoff_base=20ms&backoff_cap=20ms");
  ASSERT_NE(pool, nullptr);
  server->Kill();
  std::thread waiting([&] {
    while (!base::Run(store::Get(*pool, "key")).ok()) continue;
  });
  while (pool->counters().open_failures < 5) std::this_thread::yield();
  ASSERT_THAT(server->Restart(), IsOk());
  waiting.join();
  const PoolCounters counters = pool->counters();
  EXPECT_GE(counters.waits, 1u);
  EXPECT_EQ(counters.timeouts, 0u);
  EXPECT_EQ(counters.opened, 2u);
}

TEST_F(SyncPoolTest, WhatWaitsForTheEndOfThePauseFailsWhenItIsClosed) {
  const auto pool =
      Connected("?pool_size=2&pool_acquire_timeout=inf&backoff_base=8760h&backoff_cap=8760h");
  ASSERT_NE(pool, nullptr);
  server->Kill();
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(base::Run(store::Get(*pool, "key")).ok());
  ExpectNotSentWhenClosed(*pool);
}

// The name of the server leads to another one now; a transaction does not show why it failed.
TEST_F(SyncPoolTest, LeavesTheServerThatBecameAReplica) {
  for (const bool by_transaction : {false, true}) {
    SpawnedServerOptions options;
    options.listen_on_loopback = true;
    auto first = SpawnedServer::Start(options), second = SpawnedServer::Start(options);
    ASSERT_THAT(first, IsOk());
    ASSERT_THAT(second, IsOk());
    const std::string port = absl::StrCat((*first)->port());
    const auto pool = SyncPool::Connect(absl::StrCat("redis://localhost:", port, "?pool_size=2"));
    ASSERT_THAT(pool, IsOk());
    {
      const auto one = (*pool)->Borrow(), other = (*pool)->Borrow();
      ASSERT_THAT(one, IsOk());
      ASSERT_THAT(other, IsOk());
    }
    ASSERT_THAT(AskServer(**first, {"CONFIG", "SET", "port", "0"}), IsOk());
    ASSERT_THAT(AskServer(**second, {"CONFIG", "SET", "port", port}), IsOk());
    ASSERT_THAT(AskServer(**first, {"REPLICAOF", "127.0.0.1", port}), IsOk());
    store::Batch batch(by_transaction ? store::Batch::Atomicity::kTransaction
                                      : store::Batch::Atomicity::kPipeline);
    batch.Add(CommandId::kSet, {"key", "1"});
    EXPECT_EQ(base::Run(store::Execute(**pool, batch)).ok(), !by_transaction);
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(base::Run(store::Set(**pool, absl::StrCat("key:", i), "1")), IsOk());
    }
    EXPECT_EQ((*pool)->counters().opened, 3u) << "one serves, and none of the old ones is left";
    EXPECT_EQ((*pool)->traffic().read_only, 1u);
    EXPECT_THAT(AskServer(**second, {"DBSIZE"}), IsOkAndHolds(Reply::Integer(3)));
  }
}

// On purpose, which the pool cannot know: it looks for another server now and then only.
TEST_F(SyncPoolTest, StaysAtAReplicaThatItFindsAgain) {
  SpawnedServerOptions options;
  options.listen_on_loopback = true;
  auto replica = SpawnedServer::Start(options);
  ASSERT_THAT(replica, IsOk());
  ASSERT_THAT(AskServer(**replica, {"REPLICAOF", "127.0.0.1", "1"}), IsOk());
  const std::string port = absl::StrCat((*replica)->port());
  for (const auto& [host, opened] : {std::pair("localhost", 2u), std::pair("127.0.0.1", 1u)}) {
    const auto pool =
        SyncPool::Connect(absl::StrCat("redis://", host, ":", port, "?pool_size=1&backoff_cap=1h"));
    ASSERT_THAT(pool, IsOk());
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(store::ServerErrorCode(base::Run(store::Set(**pool, "key", "1")).status()),
                "READONLY");
    }
    EXPECT_EQ((*pool)->counters().opened, opened) << host;
  }
}

TEST(SyncPoolOfACluster, ServesManyThreads) {
  auto cluster = SpawnedCluster::Start({.masters = 3});
  ASSERT_THAT(cluster, IsOk());
  const auto pool = SyncPool::Connect(absl::StrCat((*cluster)->uri(), "&pool_size=2"));
  ASSERT_THAT(pool, IsOk());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        const std::string key = absl::StrCat("key:", thread, ":", i);
        EXPECT_THAT(base::Run(store::Set(**pool, key, key)), IsOk());
        EXPECT_EQ(base::Run(store::Get(**pool, key)).value(), key);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(base::Run(store::DbSize(**pool)).value(), 200);
  EXPECT_THAT((*pool)->Borrow().status(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

// The client of a cluster keeps the pauses of its nodes, so it survives a call without a reply.
TEST(SyncPoolOfACluster, DialsANodeThatIsDownLessAndLessOften) {
  auto cluster = SpawnedCluster::Start({.masters = 3});
  ASSERT_THAT(cluster, IsOk());
  const auto options =
      Options::Parse(absl::StrCat((*cluster)->uri(), "&pool_size=1&command_timeout=100ms"));
  ASSERT_THAT(options, IsOk());
  const auto pool = SyncPool::Connect(*options);
  ASSERT_THAT(pool, IsOk());
  // One key of each node.
  for (const std::string key : {"a", "b", "c"}) {
    while (!base::Run(store::Get(**pool, key)).ok()) continue;
  }
  (*cluster)->node(0).Kill();
  int failures = 0;
  for (int i = 0; i < 20; ++i) failures += !base::Run(store::Get(**pool, "b")).ok();
  EXPECT_EQ(failures, 20) << "the slot of b belongs to the first node";
  EXPECT_EQ((*pool)->counters().discarded, 0u);
  EXPECT_EQ((*pool)->counters().opened, 1u);
}

TEST(SyncPoolOfSentinels, ServesManyThreadsThroughAFailover) {
  auto watched = SpawnedSentinels::Start();
  ASSERT_THAT(watched, IsOk());
  const auto options = Options::Parse((*watched)->uri() +
                                      "&pool_size=3&command_timeout=30s&pool_acquire_timeout=60s");
  ASSERT_THAT(options, IsOk());
  auto pool = SyncPool::Connect(*options);
  ASSERT_THAT(pool, IsOk());
  std::atomic<int> after = 0;
  std::atomic<bool> killed = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, key = absl::StrCat("n", i)] {
      int done = 0;
      while (done < 20) {
        // What was under way when the master died fails.
        const bool was_killed = killed;
        if (!base::Run(store::Incr(**pool, key)).ok() || !was_killed) continue;
        ++done;
      }
      after += done;
    });
  }
  (*watched)->server(0).Kill();
  killed = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(after, 6 * 20);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
