#include "backends/redis/fsm/run_machine.h"

#include <algorithm>

#include "absl/time/time.h"

namespace redouble::redis {
namespace {

int64_t Micros(absl::Duration duration) {
  return duration == absl::InfiniteDuration() ? RunOptions::kNever
                                              : absl::ToInt64Microseconds(duration);
}

int64_t After(int64_t now_us, int64_t wait_us) {
  return wait_us > RunOptions::kNever - now_us ? RunOptions::kNever : now_us + wait_us;
}

}  // namespace

RunOptions RunOptions::From(const Options& options) {
  RunOptions run;
  run.reconnect = options.reconnect;
  run.backoff_base_us = Micros(options.backoff_base);
  run.backoff_cap_us = Micros(options.backoff_cap);
  run.health_check_interval_us = Micros(options.health_check_interval);
  run.health_timeout_us = Micros(options.command_timeout);
  return run;
}

RunAction RunMachine::Resume(const RunEvent& event) {
  if (phase_ == Phase::kFinished) return {RunAction::Kind::kFinish};
  switch (event.kind) {
    case RunEvent::Kind::kStarted:
      return Connect();
    case RunEvent::Kind::kConnected:
      phase_ = Phase::kConnected;
      last_received_us_ = event.now_us;
      return Watch(event.now_us);
    case RunEvent::Kind::kReceived:
      failures_ = 0;
      last_received_us_ = event.now_us;
      if (phase_ != Phase::kPinged) return {};
      phase_ = Phase::kConnected;
      return Watch(event.now_us);
    case RunEvent::Kind::kLost:
    case RunEvent::Kind::kFailed:
      return Retry(event.now_us);
    case RunEvent::Kind::kTimer:
      return OnTimer(event.now_us);
  }
  return {};
}

RunAction RunMachine::Connect() {
  phase_ = Phase::kConnecting;
  return {RunAction::Kind::kConnect};
}

RunAction RunMachine::Retry(int64_t now_us) {
  if (!options_.reconnect) {
    phase_ = Phase::kFinished;
    return {RunAction::Kind::kFinish};
  }
  if (failures_++ == 0) return Connect();
  phase_ = Phase::kWaiting;
  wake_at_us_ = After(now_us, DrawWait());
  return {RunAction::Kind::kWait, wake_at_us_};
}

int64_t RunMachine::DrawWait() {
  int64_t longest_us = std::min(options_.backoff_base_us, options_.backoff_cap_us);
  // Doubling stops at the cap, long before it could overflow.
  for (int i = 2; i < failures_ && longest_us < options_.backoff_cap_us; ++i) {
    longest_us =
        longest_us > options_.backoff_cap_us / 2 ? options_.backoff_cap_us : 2 * longest_us;
  }
  return rng_.Between(0, longest_us);
}

// Asks to be woken when the silence would be too long.
RunAction RunMachine::Watch(int64_t now_us) {
  wake_at_us_ = After(std::min(last_received_us_, now_us), options_.health_check_interval_us);
  if (wake_at_us_ == RunOptions::kNever) return {};
  return {RunAction::Kind::kWait, wake_at_us_};
}

RunAction RunMachine::OnTimer(int64_t now_us) {
  if (now_us < wake_at_us_) return {};
  switch (phase_) {
    case Phase::kWaiting:
      return Connect();
    case Phase::kPinged:
      return {RunAction::Kind::kDrop};
    case Phase::kConnected:
      if (now_us - last_received_us_ < options_.health_check_interval_us) return Watch(now_us);
      phase_ = Phase::kPinged;
      wake_at_us_ = After(now_us, options_.health_timeout_us);
      return {RunAction::Kind::kPing, wake_at_us_};
    case Phase::kIdle:
    case Phase::kConnecting:
    case Phase::kFinished:
      break;
  }
  return {};
}

}  // namespace redouble::redis
