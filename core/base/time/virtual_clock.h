// VirtualClock: a clock for tests and simulations that moves only when it is advanced.
//
// Advancing it fires the timers that are due, ordered by deadline and then by creation; while a
// timer runs, the clock shows its deadline. One virtual clock drives all time in a test or
// simulation: key expiry, TIME, stream ids, the timeouts of blocked commands, SleepUntil.
//
//   base::VirtualClock clock(absl::FromCivil(absl::CivilSecond(2026, 5, 9, 23, 59, 59), utc));
//   clock.Advance(absl::Seconds(2));  // Keys that expire at midnight are gone.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_BASE_TIME_VIRTUAL_CLOCK_H_
#define REDOUBLE_CORE_BASE_TIME_VIRTUAL_CLOCK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"

namespace redouble::inline v0_1::base {

class VirtualClock final : public Clock {
 public:
  // Identifies a scheduled timer; never reused.
  struct TimerId {
    int64_t deadline_us = 0;
    uint64_t sequence = 0;
    auto operator<=>(const TimerId&) const = default;
  };

  // Starts at `start`, rounded down to microseconds.
  explicit VirtualClock(absl::Time start = absl::UnixEpoch())
      : now_us_(absl::ToUnixMicros(start)) {}
  VirtualClock(const VirtualClock&) = delete;
  VirtualClock& operator=(const VirtualClock&) = delete;

  int64_t NowMicros() const override { return now_us_; }
  // As Clock::SleepUntil. A deadline between two microseconds is rounded up.
  Task<void> SleepUntil(absl::Time deadline) override;

  // Moves to `time`, rounded down to microseconds, and fires all timers that are due at or before
  // it, including timers that those schedule. A time in the past does not move the clock, but still
  // fires timers that are due now. Must not be called from inside a timer.
  void AdvanceTo(absl::Time time) { AdvanceToMicros(absl::ToUnixMicros(time)); }
  // As AdvanceTo, by a duration.
  void Advance(absl::Duration duration) { AdvanceTo(Now() + duration); }
  // As AdvanceTo, in microseconds since the epoch.
  void AdvanceToMicros(int64_t time_us);

  // Moves back to `time_us`, which must not be later than now; for restoring a saved world. No
  // timer fires, and timers keep their deadlines.
  void TurnBackToMicros(int64_t time_us);

  // Returns the next moment at which something happens, or nullopt if nothing will. For a check
  // (ScheduleCheckAt) that is the time that its `next_us` returns, not the time of the check.
  std::optional<absl::Time> NextDeadline() const;
  // Returns the time to which the clock must be advanced next so that no timer is late:
  // NextDeadline() or earlier, in microseconds. O(1).
  std::optional<int64_t> NextTimerMicros() const;
  // Moves to NextDeadline() and fires the timers that are due there. Returns false, without moving,
  // if there is no deadline.
  bool AdvanceToNext();

  // Calls `timer` once, when the clock reaches `deadline_us`, or at the next advance if the
  // deadline is not in the future. O(log timers).
  TimerId ScheduleAt(int64_t deadline_us, std::function<void()> timer);
  // As ScheduleAt, for code that keeps many deadlines of its own and schedules one timer at a lower
  // bound of them. `next_us` returns the earliest of these deadlines, which is not before
  // `bound_us`, or nullopt if there is none any more. It is called by NextDeadline() and
  // AdvanceToNext(), and must neither schedule nor cancel timers.
  TimerId ScheduleCheckAt(int64_t bound_us, std::function<void()> check,
                          std::function<std::optional<int64_t>()> next_us);
  // Cancels a timer; returns false if it already ran or was cancelled.
  bool Cancel(TimerId id);

 private:
  struct Timer {
    std::function<void()> fire;
    std::function<std::optional<int64_t>()> next_us;  // Only for a check.
  };

  std::optional<int64_t> NextDeadlineMicros() const;

  int64_t now_us_;
  uint64_t next_sequence_ = 1;
  bool advancing_ = false;
  std::map<TimerId, Timer> timers_;
};

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TIME_VIRTUAL_CLOCK_H_
