// SubscribeMachine: keeps subscriptions over a connection and queues their messages, as a machine
// without I/O.
//
// It carries SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE, the corresponding UNSUBSCRIBE commands and PING.
// The reply of a request is its first confirmation. Its further confirmations, and all messages,
// are pushes, in the order in which they were received (core/store/message_source.h).
//
//   machine.Submit(subscribe);
//   machine.Resume(ConnectionEvent::Received(bytes));
//   while (std::optional<PushEvent> event = machine.TakePush()) ...
//
// Reconnection: the machine remembers the subscriptions that Redis has confirmed. When a lost
// connection is followed by another one, it subscribes to all of them again and then reports a gap:
// messages published in between are missing.
//
// Overflow: pushes wait in a queue of limited length, which drops the oldest (push_queue.h).
//
// Failures: as in exec_machine.h. A request that was not answered when the connection was lost
// fails as "not sent" or "outcome unknown"; it is never repeated. A request that was abandoned is
// still sent within its time. connection_machine.h describes the events.
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_SUBSCRIBE_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_SUBSCRIBE_MACHINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "redouble/backends/redis/fsm/connection_machine.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/fsm/queue_limits.h"
#include "redouble/backends/redis/fsm/subscribe/push_queue.h"
#include "redouble/backends/redis/fsm/subscribe/topic.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

struct SubscribeOptions {
  static constexpr int64_t kNoTimeout = ConnectionMachine::kNoTimeout;

  // The server, for messages: "redis://127.0.0.1:6379".
  std::string address;
  // From the end of the turn in which a request was submitted to its first confirmation.
  int64_t command_timeout_us = kNoTimeout;
  // A request submitted while this much is queued fails at once: not sent, ResourceExhausted.
  QueueLimits queue = {};
  // How many pushes may wait; at least 1.
  size_t push_queue = 10'000;
  // Whether Connected may follow Lost.
  bool reconnects = true;
  // Called whenever a request is encoded for the connection. Null: nothing is called.
  std::function<void(const store::Request&)> on_sent = nullptr;
  // Where to count; must outlive the machine. Null: the machine does not count.
  Counters* counters = nullptr;
};

class SubscribeMachine final : public ConnectionMachine {
 public:
  // There is no connection before the first Connected event.
  explicit SubscribeMachine(SubscribeOptions options);
  // Fails the remaining requests as a Closed event does.
  ~SubscribeMachine() override;

  // Completes a request at once, as "not sent", if the machine is closed (Unavailable), the request
  // is another command (FailedPrecondition), or the machine is full (ResourceExhausted).
  void Submit(store::Request& request) override;
  void Ping() override;
  void Abandon(store::Request& request) override;

  // Removes and returns the oldest push or gap; nullopt if nothing is waiting.
  std::optional<PushEvent> TakePush() { return pushes_.Take(); }
  bool has_push() const { return !pushes_.empty(); }

  size_t queued() const override { return entries_.size(); }

  // The number of confirmed subscriptions: channels, patterns and shard channels.
  size_t subscriptions() const;

 private:
  // A command that Redis has not answered yet.
  struct Entry {
    store::Request* request;    // Null: abandoned, timed out, or the machine's own command.
    std::string bytes;          // Empty once encoded.
    std::string_view expected;  // The first word of its confirmations: "subscribe", "pong".
    size_t kind = kTopicKinds;  // TopicKind as an index; kTopicKinds: PING.
    size_t missing = 1;         // Missing confirmations; 0: one for each subscription of the kind.
    bool is_own = false;        // The machine's own command: its confirmations are not reported.
    int64_t submitted_us = 0;
    int64_t deadline_us = kNoTimeout;
    uint64_t first_byte = 0;
  };

  bool Expires(size_t entry) const;
  void StampDeadlines(int64_t now_us) override;
  void Encode(std::string& out) override;
  bool TakeReply(store::Reply reply, int64_t now_us) override;
  void ExpireRequests(int64_t now_us) override;
  int64_t NextDeadline() const override;
  void OnConnected(const ConnectionEvent& event) override;
  void OnLost() override;

  void SubscribeAgain(size_t kind);
  bool TakeAnswer(store::Reply reply, int64_t now_us);
  bool TakeError(store::Reply reply);
  void Remember(const store::Reply& push);

  const SubscribeOptions options_;
  std::array<std::set<std::string, std::less<>>, kTopicKinds> subscribed_;
  std::deque<Entry> entries_;
  size_t queued_bytes_ = 0;  // Of the entries that are not encoded.
  size_t encoded_ = 0;       // Entries at the front that have been encoded.
  size_t restoring_ = 0;     // Own entries that must be answered before the gap is reported.
  PushQueue pushes_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_SUBSCRIBE_MACHINE_H_
