// ExecMachine: sends requests over a connection and matches the replies, as a machine without I/O.
//
// Requests wait in one queue. Requests submitted in one turn of the event loop are written together
// when the turn ends. Replies arrive in the order of the commands and complete their requests.
// The machine outlives its connection; connection_machine.h describes the events.
//
//   machine.Submit(request);
//   ConnectionAction action = machine.Resume(ConnectionEvent::TurnEnded(now_us));
//   size_t written = socket.write_some(action.write);
//   action = machine.Resume(ConnectionEvent::Written(written));
//   ...
//   action = machine.Resume(ConnectionEvent::Received(bytes));  // Completes requests.
//
// Delivery: no request is ever sent twice silently.
//
// * When the connection is lost, a request of which no byte was written fails as "not sent"; any
//   other request fails as "outcome unknown" (the kinds of core/store/errors.h, in the payload of
//   the status). A byte counts as written once the operating system has accepted it: Redis may have
//   run the command, or may never have received it.
// * A request that times out while it waits to be written is removed and fails as "not sent". A
//   request that times out later fails as "outcome unknown", and its replies are dropped when they
//   arrive. An abandoned request (its waiter was destroyed) is treated the same way, without a
//   status.
// * ExecOptions::retry selects the requests that are written again. kNotSent keeps requests that
//   certainly were not sent for the next connection. kIdempotent also keeps requests that were
//   written but not answered and can safely run twice: commands that Redis flags as read-only, and
//   requests for which ExecOptions::is_idempotent returns true. A batch counts as a whole. A
//   request keeps its first deadline and its place in the queue, and is written at most `attempts`
//   times.
//
// Without a connection, if one may follow (ExecOptions::reconnects), requests wait for it within
// their timeout. A request that was submitted after the loss was never sent, so writing it is not a
// retry.
//
// With ExecOptions::cache, replies to commands that read are kept until the server invalidates them
// (cache/tracking_cache.h). A command whose reply is kept is completed when it is submitted.
//
// Replies of RESP3 have the values of RESP2 (core/store/resp/resp2_form.h).
//
// If a host name leads to another server after a failover, the machine leaves the old one:
// ExecOptions::leave_replica_after_us.
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_EXEC_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_EXEC_MACHINE_H_

#include <boost/circular_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "redouble/backends/redis/fsm/cache/tracking_cache.h"
#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/backends/redis/fsm/connection_machine.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/fsm/queue_limits.h"
#include "redouble/backends/redis/fsm/replica_exit.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/store/resp/reply_reader.h"
#include "redouble/core/store/resp/resp2_form.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

struct ExecOptions {
  static constexpr int64_t kNoTimeout = ConnectionMachine::kNoTimeout;

  // The values of `options`; other members keep their defaults.
  static ExecOptions From(const Options& options, Sharing sharing);

  // The server, for messages: "redis://127.0.0.1:6379".
  std::string address;
  // From the end of the turn in which a request was submitted to its last reply.
  int64_t command_timeout_us = kNoTimeout;
  // Upper limit for a blocking request. Below this limit a blocking request may take its own
  // timeout plus command_timeout_us. Unused by shared connections, which carry no such requests.
  int64_t blocking_timeout_us = kNoTimeout;
  Sharing sharing = Sharing::kShared;
  // When a write has reached this size, further requests wait for the next write.
  size_t max_write_bytes = size_t{1} << 20;
  size_t max_reply_bytes = store::ReplyReader::kDefaultMaxReplyBytes;

  // Whether there is a connection before the first Connected event.
  bool connected = true;
  // Whether Connected may follow Lost.
  bool reconnects = false;
  RetryPolicy retry = RetryPolicy::kNever;
  int attempts = 1;
  // A request submitted while this much is queued fails at once: not sent, ResourceExhausted.
  QueueLimits queue = {};
  // The name of the server may lead to another one after a failover. If not kNoTimeout: after a
  // READONLY reply, the machine leaves the connection once everything written is answered, and the
  // waiting requests are kept for the next connection. It does so at most once in this time, so
  // that a client of a replica on purpose keeps working.
  int64_t leave_replica_after_us = kNoTimeout;
  // Returns true for requests that are idempotent although they do more than read. Null: only
  // read-only requests are idempotent.
  std::function<bool(const store::Request&)> is_idempotent = nullptr;
  // nullopt: no cache.
  std::optional<TrackingCache::Limits> cache = std::nullopt;
  // Called for each push of RESP3. Null: nothing is called.
  std::function<void(const store::Reply&)> on_push = nullptr;
  // Called whenever a request is encoded for the connection. Null: nothing is called.
  std::function<void(const store::Request&)> on_sent = nullptr;
  // Where to count; must outlive the machine. Null: the machine does not count.
  Counters* counters = nullptr;
};

class ExecMachine final : public ConnectionMachine {
 public:
  explicit ExecMachine(ExecOptions options);
  // Fails the remaining requests as a Closed event does.
  ~ExecMachine() override;

  // Completes a request at once, as "not sent", if the machine is closed (Unavailable), must not
  // carry the request (FailedPrecondition, see command_effect.h), or is full (ResourceExhausted).
  void Submit(store::Request& request) override;

  void Ping() override;
  // Not on a dedicated connection, whose caller may be within MULTI.
  bool Authenticate(const Credentials& credentials,
                    std::function<void(const absl::StatusOr<store::Reply>&)> done) override;

  // O(1) if requests are abandoned in the order of their submission, else O(queue).
  void Abandon(store::Request& request) override;

  size_t queued() const override { return queue_.size(); }

  bool reads_resp3() const override { return true; }
  bool caches() const override { return cache_.has_value(); }

  // A request that may change keys is about to be sent on another connection.
  void NoteElsewhere(const store::Request& request) {
    if (cache_) cache_->Note(request);
  }

 private:
  struct Entry {
    store::Request* request;  // Null: abandoned or timed out; its replies are dropped.
    store::Request::Kind kind;
    size_t missing_replies;
    int64_t submitted_us = 0;
    int64_t deadline_us = kNoTimeout;
    uint64_t first_byte = 0;  // Position in the stream of all written bytes.
    int attempts = 0;         // How many times it was encoded.
    bool was_sent = false;    // A part of it was written to an earlier connection.
    size_t bytes = 0;         // Of its commands, while `request` is set.
    TrackingCache::Ticket ticket = TrackingCache::kNone;
    std::vector<store::Reply> replies = {};
  };
  class PingRequest;
  class AuthRequest;

  void Enqueue(store::Request& request);
  void StampDeadlines(int64_t now_us) override;
  void Encode(std::string& out) override;
  bool TakeReply(store::Reply reply, int64_t now_us) override;
  void ExpireRequests(int64_t now_us) override;
  int64_t NextDeadline() const override;
  void OnProtocolError(const absl::Status& status) override;
  void OnLost() override;
  void OnConnected(const ConnectionEvent& event) override;
  void OnPush(const store::Reply& push) override;

  bool CompleteFromCache(store::Request& request);
  TrackingCache::Ticket NoteInCache(const store::Request& request);
  void EndInCache(TrackingCache::Ticket ticket, const store::Reply* reply);
  void ApplyResp2Form(const Entry& entry, store::Reply& reply);
  bool MayWriteAgain(const Entry& entry, bool sent) const;
  void NoteReadOnly(const store::Reply& reply, int64_t now_us);
  bool HasLeft();
  store::Request* TakeRequest(Entry& entry);
  bool IsIdempotent(const store::Request& request) const;
  void TimeOut(size_t index);
  int64_t TimeoutOf(const store::Request* request) const;
  void DropAbandonedWaiting();
  size_t FindEntry(const store::Request& request) const;
  Entry PopFront();

  ExecOptions options_;

  // In order of submission: first the encoded entries, then the waiting ones.
  boost::circular_buffer<Entry> queue_;
  size_t queued_bytes_ = 0;
  size_t encoded_ = 0;            // Entries at the front that have been encoded.
  size_t stamped_ = 0;            // Entries at the front that have a deadline.
  size_t abandoned_waiting_ = 0;  // Abandoned entries that are not encoded.
  size_t search_hint_ = 0;        // Likely position of the next abandoned entry.

  std::optional<TrackingCache> cache_;
  std::optional<store::Resp2Form> resp2_form_;  // On a connection with RESP3.

  // A READONLY reply was received: nothing more is written to this connection.
  bool leaving_ = false;
  ReplicaExit replica_exit_;

  std::unique_ptr<PingRequest> ping_;
  std::list<std::unique_ptr<AuthRequest>> auths_;  // Under way.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_EXEC_MACHINE_H_
