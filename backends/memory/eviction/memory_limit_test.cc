#include "redouble/backends/memory/eviction/memory_limit.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/store.h"

// The replies of a server whose memory is full are recorded in
// tests/conformance/cases/maxmemory.txt; these tests check which keys are evicted.

namespace redouble::inline v0_1::memory {
namespace {

using base::IsOk;
using store::Command;
using store::Reply;

base::Task<absl::StatusOr<Reply>> Send(store::Store& store, std::vector<std::string> words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  const Command command = Command::Named(views[0], std::span(views).subspan(1));
  co_return co_await store.Execute(command);
}

// Returns the reply to a command. An error fails the test and gives nil.
Reply ReplyTo(store::Store& store, std::vector<std::string> words) {
  const absl::StatusOr<Reply> reply = base::Run(Send(store, std::move(words)));
  EXPECT_THAT(reply, IsOk());
  return reply.value_or(Reply::Nil());
}

class MemoryLimitTest : public testing::Test {
 protected:
  std::string Ask(std::vector<std::string> words) {
    return ReplyTo(*session_, std::move(words)).DebugString();
  }
  // Allows this many bytes of keys.
  void Limit(const std::string& policy, uint64_t bytes) {
    ASSERT_EQ(Ask({"CONFIG", "SET", "maxmemory-policy", policy, "maxmemory",
                   std::to_string(MemoryLimit::kEmptyServerBytes + bytes)}),
              "OK");
  }
  void SetMany(const std::string& prefix, int count) {
    for (int i = 0; i < count; ++i) {
      Ask({"SET", prefix + std::to_string(i), std::string(100, 'v')});
    }
  }
  int64_t Count(const std::string& pattern) {
    return static_cast<int64_t>(ReplyTo(*session_, {"KEYS", pattern}).elements().size());
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  Engine engine_{clock_};
  std::unique_ptr<Session> session_ = engine_.Connect();
};

TEST_F(MemoryLimitTest, CountsWhatKeysTakeAndGivesItBack) {
  Limit("noeviction", 1'000'000);
  MemoryLimit& limit = engine_.core().memory_limit();
  EXPECT_EQ(limit.UsedBytes(), MemoryLimit::kEmptyServerBytes);
  SetMany("k", 10);
  const uint64_t ten = limit.UsedBytes();
  EXPECT_GT(ten, MemoryLimit::kEmptyServerBytes + 10 * 160);
  Ask({"APPEND", "k0", std::string(1000, 'x')});
  EXPECT_GT(limit.UsedBytes(), ten + 900);
  Ask({"EXPIRE", "k1", "10"});
  Ask({"DEL", "k0", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"});
  EXPECT_GT(limit.UsedBytes(), MemoryLimit::kEmptyServerBytes);
  clock_.Advance(absl::Seconds(11));
  EXPECT_EQ(limit.UsedBytes(), MemoryLimit::kEmptyServerBytes);
  SetMany("k", 10);
  Ask({"FLUSHALL"});
  EXPECT_EQ(limit.UsedBytes(), MemoryLimit::kEmptyServerBytes);
}

TEST_F(MemoryLimitTest, CountsWhatAGroupHasPendingAtOnce) {
  Limit("noeviction", 1'000'000);
  MemoryLimit& limit = engine_.core().memory_limit();
  for (int i = 0; i < 50; ++i) Ask({"XADD", "s", "*", "f", "v"});
  const uint64_t without_group = limit.UsedBytes();
  Ask({"XGROUP", "CREATE", "s", "g", "0"});
  const uint64_t with_group = limit.UsedBytes();
  EXPECT_GT(with_group, without_group);
  Ask({"XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"});
  const uint64_t with_pending = limit.UsedBytes();
  EXPECT_GT(with_pending, with_group + 50 * 24);
  Ask({"XAUTOCLAIM", "s", "g", "other", "0", "0", "COUNT", "10"});
  EXPECT_GT(limit.UsedBytes(), with_pending);
  Ask({"XGROUP", "DELCONSUMER", "s", "g", "other"});
  const uint64_t with_fewer = limit.UsedBytes();
  EXPECT_LT(with_fewer, with_pending);
  for (const char* id : {"0", "99999999999999"}) Ask({"XACK", "s", "g", id});
  EXPECT_EQ(limit.UsedBytes(), with_fewer);
  Ask({"XGROUP", "DESTROY", "s", "g"});
  EXPECT_EQ(limit.UsedBytes(), without_group);
}

TEST_F(MemoryLimitTest, MeasuresWhatIsThereWhenItIsTurnedOn) {
  SetMany("k", 100);
  EXPECT_FALSE(engine_.core().memory_limit().on());
  Limit("noeviction", 1'000'000);
  EXPECT_GT(engine_.core().memory_limit().UsedBytes(), MemoryLimit::kEmptyServerBytes + 100 * 160);
  Ask({"CONFIG", "SET", "maxmemory", "0"});
  Ask({"FLUSHALL"});
  Limit("noeviction", 1'000'000);
  EXPECT_EQ(engine_.core().memory_limit().UsedBytes(), MemoryLimit::kEmptyServerBytes);
}

TEST_F(MemoryLimitTest, RefusesCommandsThatNeedMemoryWhenNothingMayGo) {
  Limit("noeviction", 1000);
  SetMany("k", 10);
  EXPECT_EQ(Ask({"SET", "another", "v"}),
            "(error) OOM command not allowed when used memory > 'maxmemory'.");
  const int64_t left = Count("k*");
  EXPECT_GT(left, 0);
  EXPECT_LT(left, 10);
  Ask({"DEL", "k0", "k1", "k2"});
  EXPECT_EQ(Ask({"SET", "another", "v"}), "OK");
}

TEST_F(MemoryLimitTest, EvictsWhatWasUsedLongestAgo) {
  Ask({"CONFIG", "SET", "maxmemory-samples", "64"});
  SetMany("old", 20);
  clock_.Advance(absl::Seconds(10));
  SetMany("new", 20);
  clock_.Advance(absl::Seconds(10));
  Ask({"GET", "old0"});
  Limit("allkeys-lru", 4000);
  Ask({"PING"});
  EXPECT_EQ(Ask({"EXISTS", "old0"}), "1");
  EXPECT_LT(Count("old*"), 5);
  EXPECT_GT(Count("new*"), 15);
}

TEST_F(MemoryLimitTest, EvictsWhatWasUsedLeastOften) {
  Ask({"CONFIG", "SET", "maxmemory-samples", "64", "lfu-log-factor", "0", "maxmemory-policy",
       "allkeys-lfu"});
  SetMany("often", 20);
  SetMany("seldom", 20);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) Ask({"GET", "often" + std::to_string(i)});
  }
  Limit("allkeys-lfu", 4000);
  Ask({"PING"});
  EXPECT_LT(Count("seldom*"), 5);
  EXPECT_GT(Count("often*"), 15);
}

TEST_F(MemoryLimitTest, EvictsWhatExpiresSoonest) {
  Ask({"CONFIG", "SET", "maxmemory-samples", "64"});
  SetMany("soon", 20);
  SetMany("late", 20);
  for (int i = 0; i < 20; ++i) {
    Ask({"EXPIRE", "soon" + std::to_string(i), "100"});
    Ask({"EXPIRE", "late" + std::to_string(i), "1000"});
  }
  Limit("volatile-ttl", 4900);
  Ask({"PING"});
  EXPECT_LT(Count("soon*"), 5);
  EXPECT_GT(Count("late*"), 15);
}

TEST_F(MemoryLimitTest, LeavesKeysWithoutExpiryToVolatilePolicies) {
  for (const std::string policy :
       {"volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"}) {
    SCOPED_TRACE(policy);
    Ask({"CONFIG", "SET", "maxmemory", "0"});
    Ask({"FLUSHALL"});
    SetMany("stays", 20);
    SetMany("goes", 20);
    for (int i = 0; i < 20; ++i) Ask({"EXPIRE", "goes" + std::to_string(i), "100"});
    Limit(policy, 4500);
    Ask({"PING"});
    EXPECT_EQ(Count("stays*"), 20);
    EXPECT_LT(Count("goes*"), 20);
    Limit(policy, 100);
    EXPECT_EQ(Ask({"SET", "k", "v"}),
              "(error) OOM command not allowed when used memory > 'maxmemory'.");
    EXPECT_EQ(Count("goes*"), 0);
    EXPECT_EQ(Count("stays*"), 20);
  }
}

TEST_F(MemoryLimitTest, EvictsFromAllDatabases) {
  for (const std::string policy : {"allkeys-random", "allkeys-lru"}) {
    SCOPED_TRACE(policy);
    Ask({"CONFIG", "SET", "maxmemory", "0"});
    Ask({"FLUSHALL"});
    Ask({"SELECT", "3"});
    SetMany("k", 20);
    Ask({"SELECT", "0"});
    SetMany("k", 20);
    Limit(policy, 0);
    EXPECT_EQ(Ask({"DBSIZE"}), "0");
    Ask({"SELECT", "3"});
    EXPECT_EQ(Ask({"DBSIZE"}), "0");
  }
}

TEST_F(MemoryLimitTest, EvictsTheSameKeysForTheSameSeed) {
  const auto left = [](uint64_t seed) {
    base::VirtualClock clock(absl::FromUnixSeconds(1'700'000'000));
    Engine engine(clock, {.seed = seed,
                          .maxmemory_bytes = MemoryLimit::kEmptyServerBytes + 20'000,
                          .maxmemory_policy = MaxmemoryPolicy::kAllKeysRandom});
    const std::unique_ptr<Session> session = engine.Connect();
    for (int i = 0; i < 500; ++i) {
      EXPECT_EQ(ReplyTo(*session, {"SET", "k" + std::to_string(i), "v"}), Reply::Ok());
    }
    return ReplyTo(*session, {"KEYS", "*"}).DebugString();
  };
  EXPECT_EQ(left(1), left(1));
  EXPECT_NE(left(1), left(2));
}

TEST_F(MemoryLimitTest, PublishesEventsOfEvictedKeys) {
  std::vector<std::string> evicted;
  engine_.SetKeyspaceListener([&](const KeyspaceEvent& event) {
    if (event.event_class == EventClass::kEvicted) evicted.emplace_back(event.key);
  });
  Ask({"SET", "k", "v"});
  Ask({"WATCH", "k"});
  Limit("allkeys-random", 0);
  Ask({"MULTI"});
  Ask({"PING"});
  EXPECT_EQ(Ask({"EXEC"}), "nil");
  EXPECT_EQ(evicted, std::vector<std::string>{"k"});
  EXPECT_EQ(engine_.evicted_keys(), 1);
}

TEST_F(MemoryLimitTest, LetsTheFrequencyOfAKeyRiseMoreSlowlyAsItGrows) {
  Ask({"CONFIG", "SET", "maxmemory-policy", "allkeys-lfu"});
  Ask({"SET", "k", "v"});
  for (int i = 0; i < 1000; ++i) Ask({"GET", "k"});
  const std::string frequency = Ask({"OBJECT", "FREQ", "k"});
  EXPECT_GT(std::stoi(frequency), 8);
  EXPECT_LT(std::stoi(frequency), 40);
  clock_.Advance(absl::Minutes(3));
  EXPECT_EQ(Ask({"OBJECT", "FREQ", "k"}), std::to_string(std::stoi(frequency) - 3));
  clock_.Advance(absl::Hours(5));
  EXPECT_EQ(Ask({"OBJECT", "FREQ", "k"}), "0");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
