// ExecConnection: an ExecMachine on a scripted connection, for tests.
//
// A test plays the connection: it takes bytes, delivers replies, loses the connection and moves the
// time, and reads what the machine asked for.
//
//   ExecConnection connection;
//   connection.Submit(get);
//   EXPECT_EQ(connection.pending, "*2...");  // Asked to be written,
//   connection.TakeAll();                    // written,
//   connection.Receive("$5...");             // and answered.
//
// Thread-safety: one thread at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_EXEC_CONNECTION_FOR_TEST_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_EXEC_CONNECTION_FOR_TEST_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "redouble/backends/redis/fsm/exec_machine.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {

inline constexpr int64_t kTimeoutUs = 1000;
inline constexpr std::string_view kPing = "*1\r\n$4\r\nPING\r\n";

inline ExecOptions TestOptions() {
  ExecOptions options;
  options.address = "redis://h:6379";
  options.command_timeout_us = kTimeoutUs;
  return options;
}

class ExecConnection {
 public:
  explicit ExecConnection(ExecOptions options = TestOptions()) : machine(std::move(options)) {}

  // Submits and ends the turn. The bytes to write are kept in `pending`, not taken.
  void Submit(RequestForTest& request) {
    machine.Submit(request);
    EndTurn();
  }
  void EndTurn() { Keep(machine.Resume(ConnectionEvent::TurnEnded(now_us))); }
  // The connection takes `size` bytes, or all pending bytes if there are fewer.
  void Take(size_t size) {
    const size_t taken = std::min(size, pending.size());
    sent += pending.substr(0, taken);
    pending = {};
    Keep(machine.Resume(ConnectionEvent::Written(taken)));
  }
  void TakeAll() {
    while (!pending.empty()) Take(pending.size());
  }
  bool Receive(std::string_view bytes) {
    return machine.Resume(ConnectionEvent::Received(bytes, now_us)).close;
  }
  void Lose() { EXPECT_TRUE(machine.Resume(ConnectionEvent::Lost("reset")).close); }
  // The connection is lost, but another one may follow.
  void LoseForNow() {
    pending = {};
    EXPECT_TRUE(machine.Resume(ConnectionEvent::Lost("reset")).close);
  }
  void Connect() { Keep(machine.Resume(ConnectionEvent::Connected(now_us))); }
  void Pass(int64_t duration_us) {
    now_us += duration_us;
    if (wake_at_us && *wake_at_us <= now_us) {
      wake_at_us.reset();
      Keep(machine.Resume(ConnectionEvent::Timer(now_us)));
    }
  }

  ExecMachine machine;
  std::string_view pending;
  std::string sent;
  int writes = 0;
  int timers = 0;
  int64_t now_us = 5'000;
  std::optional<int64_t> wake_at_us;

 private:
  void Keep(const ConnectionAction& action) {
    EXPECT_FALSE(action.close);
    if (!action.write.empty()) {
      EXPECT_TRUE(pending.empty());
      pending = action.write;
      ++writes;
    }
    if (action.wake_at_us) {
      EXPECT_TRUE(!wake_at_us.has_value() || *action.wake_at_us < *wake_at_us);
      wake_at_us = action.wake_at_us;
      ++timers;
    }
  }
};

inline void ExpectFailure(RequestForTest& request, store::ErrorKind kind, absl::StatusCode code,
                          const std::string& message) {
  ASSERT_TRUE(request.completed());
  const absl::Status& status = request.result().status();
  EXPECT_EQ(store::ErrorKindOf(status), kind);
  EXPECT_EQ(status.code(), code);
  EXPECT_EQ(status.message(), message);
}

inline void ExpectReply(RequestForTest& request, const store::Reply& expected) {
  ASSERT_TRUE(request.completed());
  ASSERT_TRUE(request.result().ok()) << request.result().status();
  EXPECT_EQ(*request.result(), expected);
}

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_EXEC_CONNECTION_FOR_TEST_H_
