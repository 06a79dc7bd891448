// LineMachine: what all machines share that live on one connection after another.
//
// A machine does no I/O and reads no clock: it is told events and answers with the action that its
// owner shall perform, so that every path is tested by a list of events. ExecMachine carries
// requests and replies, SubscribeMachine subscriptions; the owner is a net/connection.h.
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_LINE_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_LINE_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/store/store.h"

namespace redouble::redis {

// What happened. Times are microseconds of any clock that never goes back.
struct LineEvent {
  enum class Kind : uint8_t {
    kTurnEnded,
    kWritten,
    kReceived,
    kTimer,
    kConnected,
    kLost,
    kClosed,
  };

  // All that is ready to run has run: what was submitted can be written.
  static LineEvent TurnEnded(int64_t now_us) { return {Kind::kTurnEnded, {}, 0, now_us}; }
  // The connection took the first `size` bytes of the last action's `write`.
  static LineEvent Written(size_t size) { return {Kind::kWritten, {}, size, 0}; }
  static LineEvent Received(std::string_view bytes, int64_t now_us = 0) {
    return {Kind::kReceived, bytes, 0, now_us};
  }
  // The time `wake_at_us` of an earlier action has come.
  static LineEvent Timer(int64_t now_us) { return {Kind::kTimer, {}, 0, now_us}; }
  // There is a connection, logged in, on which nothing was written.
  static LineEvent Connected(int64_t now_us) { return {Kind::kConnected, {}, 0, now_us}; }
  // The connection is gone; `reason` goes into the messages. Another may follow if the machine was
  // told so when it was made; otherwise this is the end.
  static LineEvent Lost(std::string_view reason) { return {Kind::kLost, reason, 0, 0}; }
  // There is no connection, and none will follow.
  static LineEvent Closed(std::string_view reason) { return {Kind::kClosed, reason, 0, 0}; }

  Kind kind;
  std::string_view text;
  size_t size;
  int64_t now_us;
};

// What the owner shall do.
struct LineAction {
  // Write these bytes and report each part with Written; empty: nothing. They stay good until all
  // of them are reported or the connection is lost, and no other action asks for a write until
  // then.
  std::string_view write = {};
  // Send a Timer event at this time, in place of a later one that was asked for before.
  std::optional<int64_t> wake_at_us = std::nullopt;
  // Close the connection; it is of no more use. The machine knows already that it is lost.
  bool close = false;
};

class LineMachine {
 public:
  virtual ~LineMachine() = default;

  // Queues a request until the turn ends. Completes it at once when there is no connection and none
  // will follow, or when the connection must not carry it.
  virtual void Submit(store::Request& request) = 0;

  virtual LineAction Resume(const LineEvent& event) = 0;

  // Queues a PING whose answer nobody waits for.
  virtual void Ping() = 0;

  // False from the loss of a connection to the next.
  virtual bool connected() const = 0;
  // True when there is no connection and none will follow.
  virtual bool closed() const = 0;
  // Requests that are queued or whose replies are awaited, abandoned ones included.
  virtual size_t queued() const = 0;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_LINE_MACHINE_H_
