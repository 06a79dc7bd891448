// Target: what a script of commands runs on, the memory engine or a real redis-server.
//
// The tests that compare the two (tests/conformance, tests/differential) are written once, against
// this. A target has numbered connections, which exist as soon as they are used, and a clock that
// stands still unless it is set.
//
//   target.Reset(absl::FromUnixSeconds(1'700'000'000));
//   target.Run(0, {"SET", "k", "v", "PX", "10"});      // OK
//   target.SetTime(target.now() + absl::Milliseconds(11));
//   target.Run(1, {"GET", "k"});                       // nil
//
// A harness that cannot go on (a server that is gone) throws: the test fails with its text.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_TARGET_H_
#define REDOUBLE_TESTS_SUPPORT_TARGET_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/store/reply.h"
#include "tests/support/words.h"

namespace redouble::tests {

class Target {
 public:
  virtual ~Target() = default;

  // "memory" or "server".
  virtual std::string name() const = 0;

  // Begins anew: no keys, fresh connections, the clock at `now`.
  virtual void Reset(absl::Time now) = 0;

  virtual absl::Time now() const = 0;
  // Moves the clock, forwards only.
  virtual void SetTime(absl::Time now) = 0;
  // Lets happen what the time asks for by itself: keys expire, blocked calls time out. The memory
  // engine has done so already; a server takes some milliseconds.
  virtual void Settle() = 0;
  // The next moment at which a key or a blocked call is at its deadline; none when nothing is
  // pending, or when the target cannot know.
  virtual std::optional<absl::Time> NextDeadline() { return std::nullopt; }

  // Runs commands of which none can block, all at once; one reply for each.
  virtual std::vector<store::Reply> RunAll(int connection, std::span<const Words> commands) = 0;
  // Runs one command. No value when it blocks, or when the connection was blocked already: the
  // reply comes by Poll.
  virtual std::optional<store::Reply> Run(int connection, const Words& command) = 0;
  // The next reply of a connection that was blocked, if it has come.
  virtual std::optional<store::Reply> Poll(int connection) = 0;
};

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_TARGET_H_
