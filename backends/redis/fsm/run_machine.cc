#include "redouble/backends/redis/fsm/run_machine.h"

#include <algorithm>

namespace redouble::inline v0_1::redis {

RunOptions RunOptions::From(const Options& options) {
  RunOptions run;
  run.reconnect = options.reconnect;
  run.backoff_base_us = DurationMicros(options.backoff_base);
  run.backoff_cap_us = DurationMicros(options.backoff_cap);
  run.health_check_interval_us = DurationMicros(options.health_check_interval);
  absl::Duration silence = options.command_timeout;
  if (silence == absl::InfiniteDuration()) silence = options.connect_timeout;
  if (silence == absl::InfiniteDuration()) silence = options.health_check_interval;
  run.health_timeout_us = DurationMicros(silence);
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
      backoff_.Reset();
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
  const int64_t wait_us = backoff_.AddFailure();
  if (backoff_.failures() == 1) return Connect();
  phase_ = Phase::kWaiting;
  wake_at_us_ = LaterMicros(now_us, wait_us);
  return {RunAction::Kind::kWait, wake_at_us_};
}

// Sets the timer for the next health check.
RunAction RunMachine::Watch(int64_t now_us) {
  wake_at_us_ = LaterMicros(std::min(last_received_us_, now_us), options_.health_check_interval_us);
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
      wake_at_us_ = LaterMicros(now_us, options_.health_timeout_us);
      return {RunAction::Kind::kPing, wake_at_us_};
    case Phase::kIdle:
    case Phase::kConnecting:
    case Phase::kFinished:
      break;
  }
  return {};
}

}  // namespace redouble::inline v0_1::redis
