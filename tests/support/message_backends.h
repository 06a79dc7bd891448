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
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "backends/memory/engine.h"
#include "backends/redis/spawn/spawned_server.h"
#include "core/base/virtual_clock.h"
#include "core/store/message_source.h"
#include "core/store/store.h"

namespace redouble::tests {

// Each has:
//   Start         an error when the machine cannot offer the backend.
//   store         a plain connection.
//   subscription  another one, for single commands and what comes unasked.
//   clock         what a keep-alive waits on; it moves with the server's when told to.
//   Deliver       hands over what was published until now.
//   RefuseChannels, AllowChannels  whether the server lets anybody subscribe, by its ACL.

class MemoryMessages {
 public:
  static constexpr std::string_view kName = "Memory";

  absl::Status Start();
  store::Store& store() { return *session_; }
  store::MessageSource& subscription() { return *subscription_; }
  base::VirtualClock& clock() { return clock_; }
  void Deliver() {}
  void RefuseChannels();
  void AllowChannels();

 private:
  base::VirtualClock clock_{absl::FromUnixSeconds(1767268800)};
  std::unique_ptr<memory::Engine> engine_;
  std::unique_ptr<store::Store> session_;
  std::unique_ptr<store::MessageSource> subscription_;
};

// A real Redis as the environment asks for it (live_server.h), heard through the client that
// production uses. Needs redis-server.
class LiveMessages {
 public:
  static constexpr std::string_view kName = "Live";

  LiveMessages();
  ~LiveMessages();

  absl::Status Start();
  store::Store& store() { return *client_; }
  store::MessageSource& subscription();
  base::VirtualClock& clock() { return clock_; }
  void Deliver();
  void RefuseChannels();
  void AllowChannels();

 private:
  class Subscription;

  std::string PublishMarker(store::Store& node);
  absl::Status AwaitEachOther();

  base::VirtualClock clock_{absl::FromUnixSeconds(1767268800)};
  std::unique_ptr<redis::SpawnedServer> server_;  // None: a cluster.
  std::unique_ptr<store::Store> client_;
  std::vector<std::unique_ptr<store::Store>> nodes_;  // Each by itself.
  std::unique_ptr<Subscription> subscription_;
  int markers_published_ = 0;
};

using MessageBackends = ::testing::Types<MemoryMessages, LiveMessages>;

class MessageBackendNames {
 public:
  template <typename Backend>
  static std::string GetName(int) {
    return std::string(Backend::kName);
  }
};

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_MESSAGE_BACKENDS_H_
