// ExecMachine: what happens on a connection once it stands, without the connection.
//
// Requests wait in one queue. Those submitted in one turn of the event loop are written together
// when the turn ends; replies come back in the order of the commands and complete their requests.
// It outlives its connection: see line_machine.h for the events.
//
//   machine.Submit(request);
//   LineAction action = machine.Resume(LineEvent::TurnEnded(now_us));
//   size_t written = socket.write_some(action.write);
//   action = machine.Resume(LineEvent::Written(written));
//   ...
//   action = machine.Resume(LineEvent::Received(bytes));  // Completes requests.
//
// The delivery promise: no request is ever sent twice silently.
//
// * When the connection is lost, a request of which no byte was written fails as not sent, any
//   other as outcome unknown (the kinds of core/store/errors.h, in the status's payload). "Written"
//   is what the system took over: Redis may have run it, or never have seen it.
// * A request that times out while it waits to be written is taken back and fails as not sent; once
//   its bytes are on their way it fails as outcome unknown, and its replies are dropped when they
//   come. The same holds, silently, for a request whose waiter went away.
// * Written again is only what ExecOptions::retry asks for: kNotSent keeps what certainly was not
//   sent for the next connection; kIdempotent keeps, too, what was written but not answered and
//   cannot do harm twice: commands that Redis flags as only reading, or for which
//   ExecOptions::is_idempotent answers true. A batch counts as a whole. Each request keeps its
//   first deadline and its place, and is written at most `attempts` times.
//
// Without a connection, if one may follow (ExecOptions::reconnects), requests wait for it, within
// their time-out: what was submitted after the loss was never sent and is no retry.
//
// Completing a request runs its waiter, which may submit more, abandon others, or tell the machine
// (through the owner) that the connection is lost; it must not destroy the machine.
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_EXEC_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_EXEC_MACHINE_H_

#include <boost/circular_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "backends/redis/fsm/command_effect.h"
#include "backends/redis/fsm/counters.h"
#include "backends/redis/fsm/line_machine.h"
#include "backends/redis/options.h"
#include "backends/redis/protocol/reply_reader.h"
#include "core/store/store.h"

namespace redouble::redis {

struct ExecOptions {
  static constexpr int64_t kNoTimeout = std::numeric_limits<int64_t>::max();

  // What Options says; the other members at their default.
  static ExecOptions From(const Options& options, Sharing sharing);

  // The server, for messages: "redis://127.0.0.1:6379".
  std::string address;
  // From the end of the turn in which a request was submitted to its last reply.
  int64_t command_timeout_us = kNoTimeout;
  // The most for a request that blocks on purpose, which otherwise may take what it asks for and
  // command_timeout_us. Of no use to a shared connection, which carries none.
  int64_t blocking_timeout_us = kNoTimeout;
  Sharing sharing = Sharing::kShared;
  // Once a write holds this many bytes, further requests wait for the next one.
  size_t max_write_bytes = size_t{1} << 20;
  size_t max_reply_bytes = ReplyReader::kDefaultMaxReplyBytes;

  // False: there is no connection before the first Connected event.
  bool connected = true;
  // Whether Connected may follow Lost.
  bool reconnects = false;
  RetryPolicy retry = RetryPolicy::kNever;
  int attempts = 1;
  // Requests beyond this many fail at once: not sent, ResourceExhausted.
  size_t queue_limit = std::numeric_limits<size_t>::max();
  // Declares requests idempotent that do more than read. Null: none.
  std::function<bool(const store::Request&)> is_idempotent = nullptr;
  // Where to count; outlives the machine. Null: nowhere.
  Counters* counters = nullptr;
};

class ExecMachine final : public LineMachine, public store::RequestKeeper {
 public:
  explicit ExecMachine(ExecOptions options);
  // Fails what is left as Lost does.
  ~ExecMachine() override;
  ExecMachine(const ExecMachine&) = delete;
  ExecMachine& operator=(const ExecMachine&) = delete;

  // Completes a request at once, as not sent, when the machine is closed (Unavailable), must not
  // carry it (FailedPrecondition, see command_effect.h), or is full (ResourceExhausted).
  void Submit(store::Request& request) override;

  LineAction Resume(const LineEvent& event) override;

  void Ping() override;

  // O(1) when requests are abandoned in the order of their submission, else O(queue).
  void Abandon(store::Request& request) override;

  bool connected() const override { return connected_; }
  bool closed() const override { return closed_; }
  size_t queued() const override { return queue_.size(); }

 private:
  struct Entry {
    store::Request* request;  // Null: abandoned or timed out; its replies are dropped.
    store::Request::Kind kind;
    size_t missing_replies;
    int64_t submitted_us = 0;
    int64_t deadline_us = ExecOptions::kNoTimeout;
    uint64_t first_byte = 0;  // Its place in all that was ever written.
    int attempts = 0;         // How often it was handed to the writer.
    bool was_sent = false;    // A part of it, on an earlier connection.
    std::vector<store::Reply> replies = {};
  };
  // On its way to its waiter.
  struct Failure {
    store::Request* request;  // Null: abandoned meanwhile.
    absl::Status status;
  };
  // The health check: a request that nobody waits for.
  class PingRequest;

  LineAction EndTurn(int64_t now_us);
  LineAction TakeWritten(size_t size);
  LineAction Receive(std::string_view bytes, int64_t now_us);
  LineAction Expire(int64_t now_us);
  LineAction Connect(int64_t now_us);
  LineAction Disconnect(std::string_view reason, bool for_good);

  std::string_view WriteMore();
  std::optional<int64_t> ArmTimer();
  bool TakeReply(store::Reply reply, int64_t now_us);
  LineAction FailProtocol(absl::Status status);
  void SortOut();
  bool MayWriteAgain(const Entry& entry, bool sent) const;
  bool IsIdempotent(const store::Request& request) const;
  void Deliver();
  void TimeOut(size_t index);
  int64_t TimeoutOf(const store::Request* request) const;
  int64_t NextDeadline() const;
  void Fail(store::Request& request, absl::Status status);
  void DropAbandonedWaiting();
  size_t FindEntry(const store::Request& request) const;
  Entry PopFront();

  ExecOptions options_;
  Counters unread_counters_;
  Counters& counters_;
  std::optional<ReplyReader> reader_;

  // In order of submission: first what was handed to the writer, then what waits.
  boost::circular_buffer<Entry> queue_;
  size_t handed_over_ = 0;        // Entries at the front whose bytes are in out_ or written.
  size_t stamped_ = 0;            // Entries at the front that have a deadline.
  size_t abandoned_waiting_ = 0;  // Abandoned entries behind the first handed_over_.
  size_t search_hint_ = 0;        // Where the next abandoned entry is likely.

  std::string out_;
  size_t out_written_ = 0;                      // Of out_.
  uint64_t bytes_encoded_ = 0;                  // Ever.
  uint64_t bytes_written_ = 0;                  // Ever.
  int64_t armed_us_ = ExecOptions::kNoTimeout;  // When the next Timer event comes.

  bool connected_;
  bool closed_ = false;
  std::string reason_;            // Why there is no connection.
  std::deque<Failure> failures_;  // To be given to their waiters, one by one.
  std::unique_ptr<PingRequest> ping_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_EXEC_MACHINE_H_
