// ConnectMachine: the way from an address to a connection that is ready for commands, without I/O.
//
// It asks its owner to resolve the name, to connect, to shake hands for TLS when the options want
// that, and then to send Redis's whole handshake in one write: HELLO 2, which logs in when the
// options have a password and sets the client's name when they have one, SELECT when the database
// is not 0, and always PING, which also finds a server that is still loading. A server that does
// not know HELLO (before 6.0, or renamed) is sent AUTH, CLIENT SETNAME, SELECT and PING instead, in
// a second write. The replies are checked one by one.
//
//   ConnectMachine machine(options);
//   ConnectAction action = machine.Resume(ConnectEvent::Started());
//   while (!machine.finished()) action = machine.Resume(Perform(action));
//
// Errors of a failed connect name the address and what was being done, never the password:
// Unavailable when there is no way to the server, DeadlineExceeded for the time-out, both of kind
// "not sent"; the server's own error with its status code (Unauthenticated for a wrong password)
// and text, with the step and address appended; a protocol error when something other than Redis
// answers.
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
#include "backends/redis/options.h"
#include "backends/redis/protocol/reply_reader.h"
#include "core/store/reply.h"

namespace redouble::redis {

// What happened.
struct ConnectEvent {
  enum class Kind : uint8_t {
    kStarted,
    kDone,      // The last action was performed: the name resolved, connected, all bytes written.
    kReceived,  // `text`: bytes from the server.
    kFailed,    // The last action could not be performed; `text`: the system's reason.
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

// What the owner shall do.
struct ConnectAction {
  enum class Kind : uint8_t {
    kResolve,  // Resolve the host of the options' TCP address.
    kConnect,  // Connect to one of the resolved addresses, or to the Unix socket.
    kEncrypt,  // Shake hands for TLS, as Options::tls says.
    kWrite,    // Send all of `bytes`, which stay good until the next event.
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
  // Of a finished machine: OK, or why there is no connection.
  const absl::Status& status() const { return status_; }

  // What HELLO told about the server: "master" or "replica" (a sentinel says "master", too), and
  // "7.0.15". Empty when the server does not know HELLO.
  const std::string& role() const { return role_; }
  const std::string& server_version() const { return server_version_; }

 private:
  // A command of the handshake.
  struct Step {
    std::string_view name;
    std::string_view expected;  // The status that is a good answer; empty: HELLO's map.
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
  void TakeHello(const store::Reply& reply);
  absl::Status Failure(std::string_view reason) const;
  absl::Status TimeoutStatus() const;
  std::string PhaseText() const;

  const Options& options_;
  Phase phase_ = Phase::kIdle;
  bool finished_ = false;
  std::string handshake_;
  std::vector<Step> steps_;
  size_t answered_ = 0;
  bool hello_is_unknown_ = false;
  std::string role_;
  std::string server_version_;
  ReplyReader reader_;
  absl::Status status_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CONNECT_MACHINE_H_
