// Backends: runs the same test on the memory engine and on a real redis-server.
//
// Derive the fixture from BackendTest<Backend> and type the test suite over Backends: each test
// runs on both, with the same virtual time. Tests are skipped if the machine lacks a backend.
//
//   template <typename Backend>
//   class RateLimiterTest : public BackendTest<Backend> {};
//   TYPED_TEST_SUITE(RateLimiterTest, Backends, BackendNames);
//
//   TYPED_TEST(RateLimiterTest, Counts) {
//     gateway::RateLimiter limiter(this->store());
//     auto decision = this->Run(limiter.CheckRequestRateLimit(kKeyId, 2, this->now()));
//     this->Advance(absl::Seconds(71));
//     EXPECT_EQ(this->Ask({"EXISTS", "rl:req:..."}), store::Reply::Integer(0));
//   }
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_TESTING_BACKENDS_H_
#define REDOUBLE_BACKENDS_TESTING_BACKENDS_H_

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::tests {

// The start time of the recorded gateway runs (tests/golden): a Saturday, far from the end of any
// period.
inline absl::Time DefaultStart() { return *base::ParseRfc3339("2026-05-09T14:03:02Z"); }

// A backend is an empty server with a held clock. It has the functions:
//   Start           Starts the server at a time. Returns an error if the machine lacks the backend.
//   Connect         Returns a new connection, which must not outlive the backend.
//   Now, AdvanceTo  Read and move the server's clock; a time in the past has no effect. Keys expire
//                   exact to the millisecond.

// The memory engine on a virtual clock. Always available.
class MemoryBackend {
 public:
  static constexpr std::string_view kName = "Memory";

  absl::Status Start(absl::Time start);
  std::unique_ptr<store::Store> Connect();
  absl::Time Now() const;
  void AdvanceTo(absl::Time time);

 private:
  std::unique_ptr<base::VirtualClock> clock_;
  std::unique_ptr<memory::Engine> engine_;
};

// A redis-server for each test, with a held wall clock, accessed by the production client. Needs
// redis-server.
//
// If the environment variable REDOUBLE_LIVE_BACKEND is "cluster", it is a cluster of three masters
// instead, which the tests of one process share: Start empties it. Commands that the cluster
// refuses because their keys have different slots are printed.
class LiveBackend {
 public:
  static constexpr std::string_view kName = "Live";

  absl::Status Start(absl::Time start);
  std::unique_ptr<store::Store> Connect();
  absl::Time Now() const;
  void AdvanceTo(absl::Time time);

 private:
  absl::Status StartCluster(absl::Time start);

  std::unique_ptr<redis::SpawnedServer> server_;
  redis::SpawnedCluster* cluster_ = nullptr;  // Instead of server_.
};

// The backends that typed tests run on.
using Backends = ::testing::Types<MemoryBackend, LiveBackend>;

class BackendNames {
 public:
  template <typename Backend>
  static std::string GetName(int) {
    return std::string(Backend::kName);
  }
};

// A fixture with a new, empty backend for each test.
template <typename Backend>
class BackendTest : public ::testing::Test {
 public:
  store::Store& store() { return *store_; }
  // Returns another connection to the same backend.
  std::unique_ptr<store::Store> Connect() { return backend_.Connect(); }

  absl::Time now() const { return backend_.Now(); }
  void AdvanceTo(absl::Time time) { backend_.AdvanceTo(time); }
  void Advance(absl::Duration step) { AdvanceTo(now() + step); }

  template <typename T>
  T Run(base::Task<T> task) {
    return base::Run(std::move(task));
  }

  // Sends a command and returns the reply; fails the test if there is none.
  store::Reply Ask(const std::vector<std::string_view>& words) {
    absl::StatusOr<store::Reply> reply = Run(Send(words));
    EXPECT_TRUE(reply.ok()) << words[0] << ": " << reply.status();
    return reply.ok() ? *std::move(reply) : store::Reply::Nil();
  }
  // Returns the value of a string key; for any other reply its DebugString().
  std::string Value(std::string_view key) {
    store::Reply reply = Ask({"GET", key});
    return reply.is_bulk() ? std::move(reply).text() : reply.DebugString();
  }
  // Returns the TTL in seconds: -1 if the key has no expiry, -2 if it does not exist.
  int64_t Ttl(std::string_view key) { return Ask({"TTL", key}).integer(); }
  int64_t KeyCount() { return Ask({"DBSIZE"}).integer(); }

 protected:
  void SetUp() override {
    const absl::Status started = backend_.Start(DefaultStart());
    if (!started.ok()) GTEST_SKIP() << Backend::kName << " cannot be had here: " << started;
    store_ = backend_.Connect();
  }

  Backend& backend() { return backend_; }

 private:
  base::Task<absl::StatusOr<store::Reply>> Send(const std::vector<std::string_view>& words) {
    const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
    co_return co_await store_->Execute(command);
  }

  Backend backend_;
  std::unique_ptr<store::Store> store_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_BACKENDS_TESTING_BACKENDS_H_
