#include "redouble/core/base/time/virtual_clock.h"

#include <algorithm>
#include <cassert>
#include <coroutine>
#include <limits>

#include "absl/cleanup/cleanup.h"
#include "redouble/core/base/task/resume.h"

namespace redouble::inline v0_1::base {
namespace {

// The deadline of a sleep that does not end.
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

class TimerAwaiter {
 public:
  TimerAwaiter(VirtualClock& clock, int64_t deadline_us)
      : clock_(clock), deadline_us_(deadline_us) {}
  TimerAwaiter(const TimerAwaiter&) = delete;
  TimerAwaiter& operator=(const TimerAwaiter&) = delete;
  ~TimerAwaiter() {
    if (id_) clock_.Cancel(*id_);
  }

  bool await_ready() const { return deadline_us_ != kNever && clock_.NowMicros() >= deadline_us_; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    if (deadline_us_ == kNever) return;
    id_ = clock_.ScheduleAt(deadline_us_, [awaiting] { Resume(awaiting); });
  }
  void await_resume() { id_.reset(); }

 private:
  VirtualClock& clock_;
  int64_t deadline_us_;
  std::optional<VirtualClock::TimerId> id_;
};

// Rounds up, so that a sleep does not end before its deadline.
int64_t CeilMicros(absl::Time time) {
  const int64_t floor_us = absl::ToUnixMicros(time);
  if (floor_us == kNever) return kNever;
  return absl::FromUnixMicros(floor_us) < time ? floor_us + 1 : floor_us;
}

}  // namespace

Task<void> VirtualClock::SleepUntil(absl::Time deadline) {
  co_await TimerAwaiter(*this, CeilMicros(deadline));
}

void VirtualClock::AdvanceToMicros(int64_t time_us) {
  assert(!advancing_ && "a timer must not advance its own clock");
  advancing_ = true;
  const absl::Cleanup advanced = [this] { advancing_ = false; };
  while (!timers_.empty()) {
    auto first = timers_.begin();
    if (first->first.deadline_us > std::max(time_us, now_us_)) break;
    // A deadline may be in the past; the clock does not step back.
    now_us_ = std::max(now_us_, first->first.deadline_us);
    const std::function<void()> fire = std::move(first->second.fire);
    timers_.erase(first);
    fire();
  }
  now_us_ = std::max(now_us_, time_us);
}

std::optional<int64_t> VirtualClock::NextDeadlineMicros() const {
  std::optional<int64_t> next_us;
  for (const auto& [id, timer] : timers_) {
    if (next_us && id.deadline_us >= *next_us) break;
    const std::optional<int64_t> exact_us = timer.next_us ? timer.next_us() : id.deadline_us;
    if (exact_us) next_us = std::min(*exact_us, next_us.value_or(kNever));
  }
  return next_us;
}

void VirtualClock::TurnBackToMicros(int64_t time_us) {
  assert(!advancing_ && time_us <= now_us_);
  now_us_ = time_us;
}

std::optional<int64_t> VirtualClock::NextTimerMicros() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.deadline_us;
}

std::optional<absl::Time> VirtualClock::NextDeadline() const {
  const std::optional<int64_t> next_us = NextDeadlineMicros();
  if (!next_us) return std::nullopt;
  return absl::FromUnixMicros(*next_us);
}

bool VirtualClock::AdvanceToNext() {
  const std::optional<int64_t> next_us = NextDeadlineMicros();
  if (!next_us) return false;
  AdvanceToMicros(*next_us);
  return true;
}

VirtualClock::TimerId VirtualClock::ScheduleAt(int64_t deadline_us, std::function<void()> timer) {
  const TimerId id{deadline_us, next_sequence_++};
  timers_.emplace(id, Timer{.fire = std::move(timer), .next_us = nullptr});
  return id;
}

VirtualClock::TimerId VirtualClock::ScheduleCheckAt(
    int64_t bound_us, std::function<void()> check,
    std::function<std::optional<int64_t>()> next_us) {
  const TimerId id{bound_us, next_sequence_++};
  timers_.emplace(id, Timer{.fire = std::move(check), .next_us = std::move(next_us)});
  return id;
}

bool VirtualClock::Cancel(TimerId id) { return timers_.erase(id) > 0; }

}  // namespace redouble::inline v0_1::base
