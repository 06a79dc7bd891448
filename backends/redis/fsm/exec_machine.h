// ExecMachine: what happens on a connection once it stands, without the connection.
//
// Requests wait in one queue. Those submitted in one turn of the event loop are written together
// when the turn ends; replies come back in the order of the commands and complete their requests.
// The machine does no I/O and reads no clock: it is told events and answers with the action that
// its owner shall perform, so that every path is tested by a list of events.
//
//   machine.Submit(request);
//   ExecAction action = machine.Resume(ExecEvent::TurnEnded(now_us));
//   size_t written = socket.write_some(action.write);
//   action = machine.Resume(ExecEvent::Written(written));
//   ...
//   action = machine.Resume(ExecEvent::Received(bytes));  // Completes requests.
//
// The promise about failure: nothing is ever written twice. When the connection is lost, a request
// of which no byte was written fails as not sent, any other as outcome unknown. A request that
// times out while it waits to be written is taken back and fails as not sent; once its bytes are
// on their way it fails as outcome unknown, and its replies are dropped when they come. The same
// holds for a request whose waiter went away.
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
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "backends/redis/fsm/command_effect.h"
#include "backends/redis/protocol/reply_reader.h"
#include "core/store/store.h"

namespace redouble::redis {

struct ExecOptions {
  static constexpr int64_t kNoTimeout = std::numeric_limits<int64_t>::max();

  // The server, for messages: "redis://127.0.0.1:6379".
  std::string address;
  // From the end of the turn in which a request was submitted to its last reply.
  int64_t command_timeout_us = kNoTimeout;
  Sharing sharing = Sharing::kShared;
  // Once a write holds this many bytes, further requests wait for the next one.
  size_t max_write_bytes = size_t{1} << 20;
  size_t max_reply_bytes = ReplyReader::kDefaultMaxReplyBytes;
};

// What happened. Times are microseconds of any clock that never goes back.
struct ExecEvent {
  enum class Kind : uint8_t { kTurnEnded, kWritten, kReceived, kTimer, kLost };

  // All that is ready to run has run: what was submitted can be written.
  static ExecEvent TurnEnded(int64_t now_us) { return {Kind::kTurnEnded, {}, 0, now_us}; }
  // The connection took the first `size` bytes of the last action's `write`.
  static ExecEvent Written(size_t size) { return {Kind::kWritten, {}, size, 0}; }
  static ExecEvent Received(std::string_view bytes) { return {Kind::kReceived, bytes, 0, 0}; }
  // The time `wake_at_us` of an earlier action has come.
  static ExecEvent Timer(int64_t now_us) { return {Kind::kTimer, {}, 0, now_us}; }
  // The connection is gone, or its owner gives it up; `reason` goes into the messages.
  static ExecEvent Lost(std::string_view reason) { return {Kind::kLost, reason, 0, 0}; }

  Kind kind;
  std::string_view text;
  size_t size;
  int64_t now_us;
};

// What the owner shall do.
struct ExecAction {
  // Write these bytes and report each part with Written; empty: nothing. They stay good until all
  // of them are reported, and no other action asks for a write until then.
  std::string_view write = {};
  // Send a Timer event at this time. Asked for once; at most one timer is needed.
  std::optional<int64_t> wake_at_us = std::nullopt;
  // Close the connection; it is of no more use.
  bool close = false;
};

class ExecMachine final : public store::RequestKeeper {
 public:
  explicit ExecMachine(ExecOptions options);
  // Fails what is left as Lost does.
  ~ExecMachine();
  ExecMachine(const ExecMachine&) = delete;
  ExecMachine& operator=(const ExecMachine&) = delete;

  // Queues a request until the turn ends. Completes it at once, as not sent, when the connection
  // is lost (Unavailable) or must not carry it (FailedPrecondition, see command_effect.h).
  void Submit(store::Request& request);

  ExecAction Resume(const ExecEvent& event);

  // O(1) when requests are abandoned in the order of their submission, else O(queue).
  void Abandon(store::Request& request) override;

  bool lost() const { return lost_.has_value(); }
  // Requests that are queued or whose replies are awaited, abandoned ones included.
  size_t queued() const { return queue_.size(); }

 private:
  struct Entry {
    store::Request* request;  // Null: abandoned or timed out; its replies are dropped.
    store::Request::Kind kind;
    size_t missing_replies;
    int64_t deadline_us = ExecOptions::kNoTimeout;
    uint64_t first_byte = 0;  // Its place in all that was ever written.
    std::vector<store::Reply> replies = {};
  };

  ExecAction EndTurn(int64_t now_us);
  ExecAction TakeWritten(size_t size);
  ExecAction Receive(std::string_view bytes);
  ExecAction Expire(int64_t now_us);
  ExecAction Lose(std::string_view reason);

  std::string_view WriteMore();
  std::optional<int64_t> ArmTimer();
  bool TakeReply(store::Reply reply);
  void FailProtocol(absl::Status status);
  void FailAll();
  void TimeOut(size_t index);
  void DropAbandonedWaiting();
  size_t FindEntry(const store::Request& request) const;
  Entry PopFront();

  const ExecOptions options_;
  ReplyReader reader_;

  // In order of submission: first what was handed to the writer, then what waits.
  boost::circular_buffer<Entry> queue_;
  size_t handed_over_ = 0;        // Entries at the front whose bytes are in out_ or written.
  size_t stamped_ = 0;            // Entries at the front that have a deadline.
  size_t abandoned_waiting_ = 0;  // Abandoned entries behind the first handed_over_.
  size_t search_hint_ = 0;        // Where the next abandoned entry is likely.

  std::string out_;
  size_t out_written_ = 0;      // Of out_.
  uint64_t bytes_encoded_ = 0;  // Ever.
  uint64_t bytes_written_ = 0;  // Ever.
  bool timer_armed_ = false;
  std::optional<std::string> lost_;  // Why.
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_EXEC_MACHINE_H_
