// Target: the server on which a script of commands runs: the memory engine or a real redis-server.
//
// tests/conformance and tests/differential are written against this interface and compare the two.
// A target has numbered connections, which are opened on first use, and a clock that only SetTime
// moves.
//
//   target.Reset(absl::FromUnixSeconds(1'700'000'000));
//   target.Run(0, {"SET", "k", "v", "PX", "10"});      // OK
//   target.SetTime(target.now() + absl::Milliseconds(11));
//   target.Run(1, {"GET", "k"});                       // nil
//
// A target that cannot continue, for example because the server has crashed, throws; the test fails
// with that message.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_TARGET_TARGET_H_
#define REDOUBLE_TESTS_SUPPORT_TARGET_TARGET_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "redouble/core/store/reply.h"
#include "redouble/tests/support/target/words.h"

namespace redouble::inline v0_1::tests {

class Target {
 public:
  virtual ~Target() = default;

  // "memory" or "server".
  virtual std::string name() const = 0;

  // Starts again with no keys, new connections, and the clock at `now`.
  virtual void Reset(absl::Time now) = 0;

  virtual absl::Time now() const = 0;
  // Moves the clock forwards.
  virtual void SetTime(absl::Time now) = 0;
  // Waits until keys have expired and blocked commands have timed out after SetTime. The memory
  // engine has already done so; a server takes some milliseconds.
  virtual void Settle() = 0;
  // Returns the next deadline of a key or a blocked command; nullopt if there is none or if the
  // target does not know.
  virtual std::optional<absl::Time> NextDeadline() { return std::nullopt; }

  // Runs a pipeline of commands that do not block, and returns one reply for each.
  virtual std::vector<store::Reply> RunAll(int connection, std::span<const Words> commands) = 0;
  // Runs one command. Returns nullopt if it blocks or if the connection is already blocked; Poll
  // returns the reply later.
  virtual std::optional<store::Reply> Run(int connection, const Words& command) = 0;
  // Returns the next reply of a connection that was blocked, or nullopt if it has not arrived.
  virtual std::optional<store::Reply> Poll(int connection) = 0;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_TARGET_TARGET_H_
