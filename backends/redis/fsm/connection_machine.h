// ConnectionMachine: the life of a connection that carries requests, as a machine without I/O.
//
// It is the common part of ExecMachine (requests and replies) and SubscribeMachine (subscriptions):
// connected, lost and closed; the bytes to write; the timer; failures and their counters. A machine
// does no I/O and reads no clock. Its owner, net/connection.h, reports events and performs the
// returned actions, so that a test can cover each path with a list of events.
//
//   machine.Submit(request);
//   ConnectionAction action = machine.Resume(ConnectionEvent::TurnEnded(now_us));
//   size_t written = socket.write_some(action.write);
//   action = machine.Resume(ConnectionEvent::Written(written));
//   ...
//   action = machine.Resume(ConnectionEvent::Received(bytes, now_us));  // Completes requests.
//
// One machine lives on one connection after another: after Lost, Connected may follow if
// ConnectionSettings::reconnects is set. When to reconnect is decided by RunMachine; how a
// connection is established, by ConnectMachine.
//
// Completing a request runs its waiter, which may submit requests, abandon requests, or report
// through the owner that the connection is lost. It must not destroy the machine.
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CONNECTION_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CONNECTION_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/credential_source.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/resp/reply_encoding.h"
#include "redouble/core/store/resp/reply_reader.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// Something that happened. Times are microseconds of a monotonic clock.
struct ConnectionEvent {
  enum class Kind : uint8_t {
    kTurnEnded,
    kWritten,
    kReceived,
    kTimer,
    kConnected,
    kLost,
    kClosed,
  };

  // The turn of the event loop has ended: submitted requests can be written.
  static ConnectionEvent TurnEnded(int64_t now_us) { return {Kind::kTurnEnded, {}, 0, now_us}; }
  // The socket accepted the first `size` bytes of the last action's `write`.
  static ConnectionEvent Written(size_t size) { return {Kind::kWritten, {}, size, 0}; }
  static ConnectionEvent Received(std::string_view bytes, int64_t now_us = 0) {
    return {Kind::kReceived, bytes, 0, now_us};
  }
  // The time `wake_at_us` of an earlier action has been reached.
  static ConnectionEvent Timer(int64_t now_us) { return {Kind::kTimer, {}, 0, now_us}; }
  // A new connection is established and logged in; nothing has been written to it. `tracks`: the
  // server sends invalidations (CLIENT TRACKING).
  static ConnectionEvent Connected(int64_t now_us,
                                   store::Protocol protocol = store::Protocol::kResp2,
                                   bool tracks = false) {
    return {Kind::kConnected, {}, 0, now_us, protocol, tracks};
  }
  // The connection, or an attempt to make one, has failed; `reason` is part of error messages.
  // Closes the machine if it does not reconnect.
  static ConnectionEvent Lost(std::string_view reason) { return {Kind::kLost, reason, 0, 0}; }
  // There is no connection, and there will be no further one.
  static ConnectionEvent Closed(std::string_view reason) { return {Kind::kClosed, reason, 0, 0}; }

  Kind kind;
  std::string_view text;
  size_t size;
  int64_t now_us;
  store::Protocol protocol = store::Protocol::kResp2;
  bool tracks = false;
};

// What the owner must do next.
struct ConnectionAction {
  // Write these bytes and report each written part with Written. Empty: write nothing. The bytes
  // stay valid until all of them have been reported or the connection is lost; until then no other
  // action asks for a write.
  std::string_view write = {};
  // Send a Timer event at this time. Replaces a later time of an earlier action.
  std::optional<int64_t> wake_at_us = std::nullopt;
  // Close the connection. The machine already treats it as lost.
  bool close = false;
};

struct ConnectionSettings {
  // The server, for messages: "redis://127.0.0.1:6379".
  std::string address;
  // Whether there is a connection before the first Connected event.
  bool connected = false;
  // Whether Connected may follow Lost.
  bool reconnects = false;
  size_t max_reply_bytes = store::ReplyReader::kDefaultMaxReplyBytes;
  // Where to count; must outlive the machine. Null: the machine does not count.
  Counters* counters = nullptr;
};

class ConnectionMachine : public store::RequestKeeper {
 public:
  static constexpr int64_t kNoTimeout = std::numeric_limits<int64_t>::max();

  virtual ~ConnectionMachine() = default;
  ConnectionMachine(const ConnectionMachine&) = delete;
  ConnectionMachine& operator=(const ConnectionMachine&) = delete;

  // Queues a request until the turn ends. Completes it at once, with an error of kind "not sent",
  // if the machine is closed (Unavailable) or must not carry the request (FailedPrecondition).
  virtual void Submit(store::Request& request) = 0;

  ConnectionAction Resume(const ConnectionEvent& event);

  // Queues a PING whose reply is ignored.
  virtual void Ping() = 0;

  // Queues AUTH with other credentials, after the queued requests, and calls `done` with its
  // result. Returns false if the machine does not authenticate again.
  virtual bool Authenticate(const Credentials&,
                            std::function<void(const absl::StatusOr<store::Reply>&)>) {
    return false;
  }

  // What the machine wants of a connection: RESP3, and invalidations of its cache.
  virtual bool reads_resp3() const { return false; }
  virtual bool caches() const { return false; }

  // False from a loss until the next Connected event.
  bool connected() const { return connected_; }
  // True if there is no connection and there will be no further one.
  bool closed() const { return closed_; }
  // Requests that are queued or await their replies, abandoned requests included.
  virtual size_t queued() const = 0;

 protected:
  explicit ConnectionMachine(ConnectionSettings settings);

  // The steps that differ between machines.

  // Sets the deadlines of the requests that were submitted in this turn.
  virtual void StampDeadlines(int64_t now_us) = 0;
  // Appends the bytes of waiting requests to `out`.
  virtual void Encode(std::string& out) = 0;
  // Handles one reply. Returns false if the reply answers no request, or if the connection was lost
  // by a waiter.
  virtual bool TakeReply(store::Reply reply, int64_t now_us) = 0;
  // Handles a message of RESP3 that answers no command. It must not lose the connection.
  virtual void OnPush(const store::Reply&) {}
  // Fails the requests whose deadline has been reached.
  virtual void ExpireRequests(int64_t now_us) = 0;
  // The earliest deadline; kNoTimeout if no timer is needed.
  virtual int64_t NextDeadline() const = 0;
  // A connection is established; runs before the first write.
  virtual void OnConnected(const ConnectionEvent&) {}
  // Redis sent bytes that are not a valid reply; runs before the connection is closed.
  virtual void OnProtocolError(const absl::Status&) {}
  // Passes to FailLater each request that is not kept for the next connection. connected(),
  // closed() and LostError() already describe the loss. Completes no request.
  virtual void OnLost() = 0;

  // Counts a submitted request. Returns false, and completes the request with an error, if the
  // machine is closed.
  bool Accept(store::Request& request);
  // Counts the failure and completes the request.
  void Fail(store::Request& request, absl::Status status);
  // Queues a failure for DeliverFailures, which completes the requests one by one. Between the two
  // calls the machine can bring its own state in order, and a waiter can abandon other requests.
  void FailLater(store::Request& request, absl::Status status);
  void DeliverFailures();
  // Counts an abandoned request and removes its queued failure.
  void ForgetAbandoned(store::Request& request);

  ConnectionAction EndTurn(int64_t now_us);
  // Ends the connection; requests fail or wait for the next one. `for_good` closes the machine.
  ConnectionAction Disconnect(std::string_view reason, bool for_good);

  // "the connection to ... was lost (...) before GET was answered", of kind "outcome unknown" if
  // `sent`, else "not sent".
  absl::Status LostError(bool sent, std::string_view description) const;
  static absl::Status RequestError(bool sent, std::string_view message,
                                   absl::StatusCode code = absl::StatusCode::kUnavailable);

  Counters& counters() { return counters_; }
  const std::string& address() const { return settings_.address; }
  // Why there is no connection.
  const std::string& reason() const { return reason_; }
  // Positions in the stream of all bytes of all connections. A request whose first byte is at a
  // position below bytes_written() counts as sent.
  uint64_t bytes_encoded() const { return bytes_encoded_; }
  uint64_t bytes_written() const { return bytes_written_; }
  bool timer_is_armed() const { return armed_us_ != kNoTimeout; }

 private:
  struct Failure {
    store::Request* request;  // Null: abandoned in the meantime.
    absl::Status status;
  };

  ConnectionAction Connect(const ConnectionEvent& event);
  ConnectionAction TakeWritten(size_t size);
  ConnectionAction Receive(std::string_view bytes, int64_t now_us);
  ConnectionAction FailProtocol(const absl::Status& status);
  ConnectionAction Expire(int64_t now_us);
  std::string_view WriteMore();
  std::optional<int64_t> ArmTimer();

  const ConnectionSettings settings_;
  Counters unread_counters_;
  Counters& counters_;
  std::optional<store::ReplyReader> reader_;

  std::string out_;
  size_t out_written_ = 0;         // Of out_.
  uint64_t bytes_encoded_ = 0;     // Of all connections.
  uint64_t bytes_written_ = 0;     // Of all connections.
  int64_t armed_us_ = kNoTimeout;  // Time of the next Timer event.

  bool connected_;
  bool closed_ = false;
  std::string reason_ = "there was no connection yet";
  std::deque<Failure> failures_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CONNECTION_MACHINE_H_
