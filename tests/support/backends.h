// Backends: runs one test on the memory engine and on a real redis-server.
//
// A test that is written against a Backend is typed over Backends and runs on each of them, with
// the same virtual time. A backend that the machine cannot offer skips its tests, visibly.
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
#ifndef REDOUBLE_TESTS_SUPPORT_BACKENDS_H_
#define REDOUBLE_TESTS_SUPPORT_BACKENDS_H_

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
#include "backends/memory/engine.h"
#include "backends/redis/spawn/spawned_cluster.h"
#include "backends/redis/spawn/spawned_server.h"
#include "core/base/run.h"
#include "core/base/task.h"
#include "core/base/utc.h"
#include "core/base/virtual_clock.h"
#include "core/store/command.h"
#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::tests {

// Saturday, far from every boundary: the moment of the gateway's goldens.
inline absl::Time DefaultStart() { return *base::ParseRfc3339("2026-05-09T14:03:02Z"); }

// A store of its own, empty, at a time that moves only when told. Each backend has:
//   Start      at a time; an error when the machine cannot offer the backend.
//   Connect    a connection of its own; it must not outlive the backend.
//   Now, AdvanceTo  the backend's time; a time in the past moves nothing. Expiry follows to the
//              millisecond.

// The memory engine on a virtual clock. Always there.
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

// A redis-server of the test's own, its wall clock held, through the client that production uses.
// Needs redis-server.
//
// With REDOUBLE_LIVE_BACKEND=cluster in the environment it is a cluster of three masters instead,
// which the tests of one process share: Start finds it and empties it. What it refuses because of
// where keys are is printed.
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
  redis::SpawnedCluster* cluster_ = nullptr;  // In place of server_.
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

// A fresh, empty backend per test.
template <typename Backend>
class BackendTest : public ::testing::Test {
 public:
  store::Store& store() { return *store_; }
  // Another connection to the same backend.
  std::unique_ptr<store::Store> Connect() { return backend_.Connect(); }

  absl::Time now() const { return backend_.Now(); }
  void AdvanceTo(absl::Time time) { backend_.AdvanceTo(time); }
  void Advance(absl::Duration step) { AdvanceTo(now() + step); }

  template <typename T>
  T Run(base::Task<T> task) {
    return base::Run(std::move(task));
  }

  // Sends a command given by its words; the test fails when there is no reply.
  store::Reply Ask(const std::vector<std::string_view>& words) {
    absl::StatusOr<store::Reply> reply = Run(Send(words));
    EXPECT_TRUE(reply.ok()) << words[0] << ": " << reply.status();
    return reply.ok() ? *std::move(reply) : store::Reply::Nil();
  }
  // The value of a string; "(nil)" or the error for what is none.
  std::string Value(std::string_view key) {
    store::Reply reply = Ask({"GET", key});
    return reply.is_bulk() ? std::move(reply).text() : reply.DebugString();
  }
  // TTL: -1 without expiry, -2 without key.
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

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_BACKENDS_H_
