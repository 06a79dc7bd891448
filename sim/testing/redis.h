// Redis: an embedded Redis for one test, with a clock that the test moves.
//
// Use it in a GoogleTest case instead of a server. It owns a virtual clock and a memory engine,
// hands out connections, and reads the data directly:
//
//   redouble::testing::Redis redis;
//   Cart cart(*redis.Connect());                  // The code under test takes a store::Store&.
//   redis.Await(cart.Add("alice", "book"));
//   EXPECT_EQ(redis.Get("cart:alice"), "book");
//   redis.AdvanceBy(absl::Minutes(30));
//   EXPECT_THAT(redis, HasTtl("cart:alice", absl::Minutes(30)));  // sim/testing/matchers.h
//
// Functions that look at the data (Get, Ttl, Keys, Dump, Do) use a connection of their own, with
// database 0 selected. If the test has failed when the Redis is destroyed, its keyspace is printed.
//
// The Redis must outlive its connections.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_TESTING_REDIS_H_
#define REDOUBLE_SIM_TESTING_REDIS_H_

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/fault/fault.h"

namespace redouble::inline v0_1::testing {

struct RedisOptions {
  // 2026-01-01T00:00:00Z.
  absl::Time start = absl::FromUnixSeconds(1767225600);
  memory::EngineOptions engine = {};
  // Prints the keyspace to stderr if the current test has failed when the Redis is destroyed.
  bool print_on_failure = true;
};

class Redis {
 public:
  explicit Redis(RedisOptions options = {});
  Redis(const Redis&) = delete;
  Redis& operator=(const Redis&) = delete;
  ~Redis();

  // How FromRdb loads by default: keys have the time to live that they had when the file was
  // written.
  static memory::RdbLoadOptions RdbDefaults() {
    return {.time_policy = memory::RdbLoadOptions::TimePolicy::kShiftToNow};
  }
  // Returns a Redis with the data of an RDB file, such as a copy of production's dump.rdb
  // (backends/memory/snapshot/load_rdb.h says what is read). If the file cannot be loaded, the test
  // fails with the path, the offset and the reason, and the Redis is empty.
  static Redis FromRdb(const std::string& path, RedisOptions options = {},
                       const memory::RdbLoadOptions& load = RdbDefaults());

  base::VirtualClock& clock() { return clock_; }
  memory::Engine& engine() { return engine_; }
  absl::Time now() const { return clock_.Now(); }

  // Returns a new connection. Requests that match a rule of `faults` fail, are lost or are delayed
  // (FailNth and its siblings below; sim/fault/fault.h has the whole table). Every fault must apply
  // to stores, otherwise each request fails with InvalidArgument.
  std::unique_ptr<store::Store> Connect(std::vector<sim::FaultRule> faults = {});
  // Returns a new connection that also receives messages (SUBSCRIBE, MONITOR). Its commands are not
  // part of commands().
  std::unique_ptr<memory::Session> ConnectSession() { return engine_.Connect(); }

  // Runs a task and returns its result. While the task waits, advances the clock to the next
  // deadline: of a sleep, an expiry or a blocked command. Aborts with a message if the task waits
  // and no deadline is left.
  template <typename T>
  T Await(base::Task<T> task) {
    return base::RunUntilDone(std::move(task), [this] { return clock_.AdvanceToNext(); });
  }

  void AdvanceBy(absl::Duration step) { clock_.Advance(step); }
  void AdvanceTo(absl::Time time) { clock_.AdvanceTo(time); }

  // Runs one command, such as Do({"HSET", "h", "field", "1"}), and returns its reply. Fails the
  // test and returns nil if the command blocks.
  store::Reply Do(std::initializer_list<std::string_view> words) {
    return Run(std::span(words.begin(), words.size()));
  }
  store::Reply Do(std::span<const std::string> words);

  // The value of a string key, or nullopt if the key is missing. Fails the test if the key has
  // another type.
  std::optional<std::string> Get(std::string_view key) const;
  // Succeeds if the string key has that value; the message has both values.
  ::testing::AssertionResult CheckGet(std::string_view key, std::string_view expected) const;
  bool Exists(std::string_view key) const;
  // "string", "list", "set", "hash", "zset", "stream", or "none" if the key is missing.
  std::string Type(std::string_view key) const;
  // The time to live; infinite for a key without an expiry, nullopt if the key is missing.
  std::optional<absl::Duration> Ttl(std::string_view key) const;
  // The keys that match a glob, in byte order.
  std::vector<std::string> Keys(std::string_view pattern = "*") const;
  // All keys of database 0 as JSON, in the form of sim/scenario/keyspace.h:
  // {"visits": {"type": "string", "value": "3", "ttl_ms": 70000}}.
  std::string Dump() const;

  // The commands sent over the connections that Connect returned, in the order in which they were
  // sent, as store::CommandLine writes them, with the name in upper case: GET k.
  const std::vector<std::string>& commands() const { return commands_; }
  void ClearCommands() { commands_.clear(); }

 private:
  class Connection;

  Redis(const std::string& path, RedisOptions options, const memory::RdbLoadOptions& load);

  store::Reply Run(std::span<const std::string_view> words) const;
  store::Reply Ask(std::string_view command, std::string_view argument) const {
    const std::string_view words[] = {command, argument};
    return Run(words);
  }

  const bool print_on_failure_;
  base::VirtualClock clock_;
  memory::Engine engine_;
  const std::unique_ptr<memory::Session> look_;
  std::vector<std::string> commands_;
};

// Writes Dump(), so that an assertion about a Redis shows its keyspace.
void PrintTo(const Redis& redis, std::ostream* os);

// Rules for Redis::Connect. Each applies to the `nth` request, counted from 1, that has the
// command; later requests pass. The command's name may have any case.
//
// The request is not sent; its reply is the error `text`.
sim::FaultRule FailNth(std::string_view command, int64_t nth,
                       std::string_view text = "ERR injected by the test");
// The request is not sent and gets no reply: an error with an unknown outcome.
sim::FaultRule LoseNth(std::string_view command, int64_t nth);
// The command is executed and its reply is lost: an error with an unknown outcome.
sim::FaultRule LoseNthReply(std::string_view command, int64_t nth);
// The command is executed after a delay on the clock, which Redis::Await or AdvanceBy passes.
sim::FaultRule DelayNth(std::string_view command, int64_t nth, absl::Duration delay);

}  // namespace redouble::inline v0_1::testing

#endif  // REDOUBLE_SIM_TESTING_REDIS_H_
