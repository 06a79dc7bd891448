// MessageBackends: runs the same Pub/Sub test on the memory engine and on a real redis-server.
//
// As Backends (backends.h), with a second connection for subscriptions. The test decides when
// published messages reach the listener, so that it runs alike on both:
//
//   TYPED_TEST(EventStreamTest, Follows) {
//     this->backend().store()                 // publishes
//     this->backend().subscription()          // a MessageSource
//     this->backend().Deliver();              // delivers all published messages
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
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::tests {

// A backend has the functions:
//   Start           Returns an error if the machine lacks the backend.
//   store           The connection that publishes.
//   subscription    The connection that subscribes; runs one command at a time.
//   clock           The clock of keep-alives, which the test advances.
//   Deliver         Delivers all messages published so far to the listener.
//   RefuseChannels, AllowChannels  Change the ACL, so that every SUBSCRIBE fails or succeeds.

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

// The real Redis of live_server.h, with the production client. Needs redis-server.
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
  std::unique_ptr<redis::SpawnedServer> server_;  // Null: a cluster.
  std::unique_ptr<store::Store> client_;
  std::vector<std::unique_ptr<store::Store>> nodes_;  // One connection per node.
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

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_MESSAGE_BACKENDS_H_
