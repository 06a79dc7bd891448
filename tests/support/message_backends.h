// MessageBackends: runs one test of what listens to channels on the memory engine and on a real
// redis-server.
//
// As Backends (backends.h), with a connection for subscriptions beside the plain one. What was
// published reaches the listener when the test says so, so that both run alike:
//
//   TYPED_TEST(EventStreamTest, Follows) {
//     this->backend().store()                 // publishes
//     this->backend().subscription()          // a MessageSource
//     this->backend().Deliver();              // all that was published until now
//   }
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_MESSAGE_BACKENDS_H_
#define REDOUBLE_TESTS_SUPPORT_MESSAGE_BACKENDS_H_

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "backends/memory/engine.h"
#include "backends/redis/spawn/spawned_server.h"
#include "core/base/virtual_clock.h"
#include "core/store/message_source.h"
#include "core/store/store.h"
#include "tests/support/raw_connection.h"

namespace redouble::tests {

// Each has:
//   Start         an error when the machine cannot offer the backend.
//   store         a plain connection.
//   subscription  another one, for single commands and what comes unasked.
//   clock         what a keep-alive waits on; it moves with the server's when told to.
//   Deliver       hands over what was published until now.

class MemoryMessages {
 public:
  static constexpr std::string_view kName = "Memory";

  absl::Status Start();
  store::Store& store() { return *session_; }
  store::MessageSource& subscription() { return *subscription_; }
  base::VirtualClock& clock() { return clock_; }
  void Deliver() {}

 private:
  base::VirtualClock clock_{absl::FromUnixSeconds(1767268800)};
  std::unique_ptr<memory::Engine> engine_;
  std::unique_ptr<store::Store> session_;
  std::unique_ptr<store::MessageSource> subscription_;
};

// A redis-server of the test's own. Needs redis-server.
class LiveMessages {
 public:
  static constexpr std::string_view kName = "Live";

  absl::Status Start();
  store::Store& store() { return *client_; }
  store::MessageSource& subscription() { return subscription_; }
  base::VirtualClock& clock() { return clock_; }
  void Deliver();

 private:
  // The bare wire as a source: one command at a time, its reply waited for.
  class Subscription final : public store::MessageSource {
   public:
    void Open(std::unique_ptr<RawConnection> wire) { wire_ = std::move(wire); }
    void Submit(store::Request& request) override;
    void Listen(store::PushListener* listener) override { listener_ = listener; }
    // Hands over what has arrived.
    void Deliver();

   private:
    void Push(const store::Reply& reply);

    std::unique_ptr<RawConnection> wire_;
    store::PushListener* listener_ = nullptr;
  };

  base::VirtualClock clock_{absl::FromUnixSeconds(1767268800)};
  std::unique_ptr<redis::SpawnedServer> server_;
  std::unique_ptr<store::Store> client_;
  std::unique_ptr<RawConnection> control_;
  Subscription subscription_;
};

using MessageBackends = ::testing::Types<MemoryMessages, LiveMessages>;

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_MESSAGE_BACKENDS_H_
