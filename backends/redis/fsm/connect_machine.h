// ConnectMachine: establishes a connection that is ready for commands, as a machine without I/O.
//
// It asks its owner to resolve the name, to connect, and to perform the TLS handshake if the
// options require it. It then sends Redis's whole handshake in one write: HELLO with the protocol
// of the options, with AUTH if they have a password and SETNAME if they have a client name; SELECT
// if the database is not 0; READONLY and CLIENT TRACKING if the options want them; and PING, which
// detects a server that is still loading. A server that refuses HELLO for any other reason than the
// credentials, protected mode or too many clients (it is older than 6.0, has renamed it, does not
// permit it to the user, does not know RESP3, or is a proxy) receives AUTH, CLIENT SETNAME, SELECT,
// READONLY and PING in a second write, and speaks RESP2. A server that refuses CLIENT TRACKING is
// used without a cache. The replies are checked one by one; pushes between them are dropped.
//
//   ConnectMachine machine(options);
//   ConnectAction action = machine.Resume(ConnectEvent::Started());
//   while (!machine.finished()) action = machine.Resume(Perform(action));
//
// Round trips: one after the connection is established; two if the server refuses HELLO.
//
// Errors name the address and the failed step, never the password, which some servers quote in
// theirs: Unavailable if the server cannot be reached or has too many clients, and DeadlineExceeded
// for the timeout, both of kind "not sent"; the server's own error with its status code
// (Unauthenticated for a wrong password, PermissionDenied in protected mode) and text; a protocol
// error if the peer is not Redis.
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CONNECT_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CONNECT_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/resp/reply_encoding.h"
#include "redouble/core/store/resp/reply_reader.h"

namespace redouble::inline v0_1::redis {

// Something that happened.
struct ConnectEvent {
  enum class Kind : uint8_t {
    kStarted,
    kDone,      // The last action succeeded: name resolved, connected, all bytes written.
    kReceived,  // `text`: bytes from the server.
    kFailed,    // The last action failed; `text`: the reason of the operating system.
    kTimer,     // Options::connect_timeout has passed since the start.
  };

  static ConnectEvent Started() { return {Kind::kStarted, {}}; }
  static ConnectEvent Done() { return {Kind::kDone, {}}; }
  static ConnectEvent Received(std::string_view bytes) { return {Kind::kReceived, bytes}; }
  static ConnectEvent Failed(std::string_view reason) { return {Kind::kFailed, reason}; }
  static ConnectEvent Timer() { return {Kind::kTimer, {}}; }

  Kind kind;
  std::string_view text;
};

// What the owner must do next.
struct ConnectAction {
  enum class Kind : uint8_t {
    kResolve,  // Resolve the host of the options' TCP address.
    kConnect,  // Connect to one of the resolved addresses, or to the Unix socket.
    kEncrypt,  // Perform the TLS handshake with Options::tls.
    kWrite,    // Send all of `bytes`, which stay valid until the next event.
    kRead,     // Receive some bytes.
    kFinish,   // Done: see status().
  };

  Kind kind;
  std::string_view bytes = {};
};

class ConnectMachine {
 public:
  // The options must be valid and outlive the machine.
  explicit ConnectMachine(const Options& options);

  ConnectAction Resume(const ConnectEvent& event);

  bool finished() const { return finished_; }
  // For a finished machine: OK, or why there is no connection.
  const absl::Status& status() const { return status_; }

  // The server's role ("master" or "replica"; "master" for a sentinel) and version ("7.0.15") from
  // the reply to HELLO. Empty if the server refused HELLO.
  const std::string& role() const { return role_; }
  const std::string& server_version() const { return server_version_; }

  // The protocol of the connection, and whether the server sends invalidations on it.
  store::Protocol protocol() const { return protocol_; }
  bool tracks() const { return tracks_; }

 private:
  // A command of the handshake.
  struct Step {
    std::string_view name;
    std::string_view expected;  // The expected status reply; empty: HELLO's map.
  };
  enum class Phase : uint8_t { kIdle, kResolving, kConnecting, kEncrypting, kWriting, kReading };

  ConnectAction PerformNext();
  ConnectAction Read(std::string_view bytes);
  ConnectAction Finish(absl::Status status);
  void Add(Step step, std::initializer_list<std::string_view> words);
  void BuildHandshake();
  void BuildHandshakeWithoutHello();
  ConnectAction EndReplies();
  bool CheckReply(const Step& step, const store::Reply& reply);
  void AddTracking();
  void TakeHello(const store::Reply& reply);
  std::string WithoutSecrets(std::string text) const;
  absl::Status Failure(std::string_view reason) const;
  absl::Status TimeoutStatus() const;
  std::string PhaseText() const;

  const Options& options_;
  Phase phase_ = Phase::kIdle;
  bool finished_ = false;
  std::string handshake_;
  std::vector<Step> steps_;
  size_t answered_ = 0;
  bool hello_is_refused_ = false;
  std::string role_;
  std::string server_version_;
  store::Protocol protocol_ = store::Protocol::kResp2;
  bool tracks_ = false;
  store::ReplyReader reader_;
  absl::Status status_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CONNECT_MACHINE_H_
