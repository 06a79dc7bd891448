// An ExecMachine and a connection that takes, gives and loses bytes as a test says.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_EXEC_LINE_FOR_TEST_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_EXEC_LINE_FOR_TEST_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backends/redis/fsm/exec_machine.h"
#include "backends/redis/fsm/request_for_test.h"
#include "core/store/errors.h"

namespace redouble::redis {

inline constexpr int64_t kTimeoutUs = 1000;
inline constexpr std::string_view kPing = "*1\r\n$4\r\nPING\r\n";

inline ExecOptions TestOptions() {
  ExecOptions options;
  options.address = "redis://h:6379";
  options.command_timeout_us = kTimeoutUs;
  return options;
}

// A machine and a connection that takes and loses bytes as the test says.
class Line {
 public:
  explicit Line(ExecOptions options = TestOptions()) : machine(std::move(options)) {}

  // Submits and ends the turn; what is to be written is kept, not taken.
  void Submit(RequestForTest& request) {
    machine.Submit(request);
    EndTurn();
  }
  void EndTurn() { Keep(machine.Resume(LineEvent::TurnEnded(now_us))); }
  // The connection takes `size` bytes, or all it can.
  void Take(size_t size) {
    const size_t taken = std::min(size, pending.size());
    sent += pending.substr(0, taken);
    pending = {};
    Keep(machine.Resume(LineEvent::Written(taken)));
  }
  void TakeAll() {
    while (!pending.empty()) Take(pending.size());
  }
  bool Receive(std::string_view bytes) { return machine.Resume(LineEvent::Received(bytes)).close; }
  void Lose() { EXPECT_TRUE(machine.Resume(LineEvent::Lost("reset")).close); }
  // The connection is gone, but the machine may get another.
  void LoseForNow() {
    pending = {};
    EXPECT_TRUE(machine.Resume(LineEvent::Lost("reset")).close);
  }
  void Connect() { Keep(machine.Resume(LineEvent::Connected(now_us))); }
  void Pass(int64_t duration_us) {
    now_us += duration_us;
    if (wake_at_us && *wake_at_us <= now_us) {
      wake_at_us.reset();
      Keep(machine.Resume(LineEvent::Timer(now_us)));
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
  void Keep(const LineAction& action) {
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

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_EXEC_LINE_FOR_TEST_H_
