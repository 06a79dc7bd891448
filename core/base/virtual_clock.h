// VirtualClock: a clock that moves only when told to.
//
// Advancing it fires what became due, in the order (deadline, order of creation), with the clock
// standing at each deadline while its timer runs. One virtual clock moves everything of a test or
// a simulation together: key expiry, TIME, stream ids, block time-outs, SleepUntil.
//
//   base::VirtualClock clock(absl::FromCivil(absl::CivilSecond(2026, 5, 9, 23, 59, 59), utc));
//   clock.Advance(absl::Seconds(2));
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_BASE_VIRTUAL_CLOCK_H_
#define REDOUBLE_CORE_BASE_VIRTUAL_CLOCK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/task.h"

namespace redouble::base {

class VirtualClock final : public Clock {
 public:
  // Names one scheduled timer; never reused.
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
  // A deadline between two microseconds is rounded up.
  Task<void> SleepUntil(absl::Time deadline) override;

  // Moves to `time`, rounded down to microseconds, and fires on the way what is due at or before
  // it, including what timers schedule meanwhile. A time in the past moves nothing (but still fires
  // what is due now). Must not be called from inside a timer.
  void AdvanceTo(absl::Time time) { AdvanceToMicros(absl::ToUnixMicros(time)); }
  // As AdvanceTo, by a distance.
  void Advance(absl::Duration duration) { AdvanceTo(Now() + duration); }
  // As AdvanceTo, in microseconds since the epoch.
  void AdvanceToMicros(int64_t time_us);

  // Moves back to `time_us`, which must not lie ahead: a world that was kept is brought back.
  // Nothing fires; timers keep their deadlines.
  void TurnBackToMicros(int64_t time_us);

  // The next moment at which something happens: the earliest deadline, where a check counts for
  // what it looks for (ScheduleCheckAt) and not for itself. None when nothing will happen.
  std::optional<absl::Time> NextDeadline() const;
  // When the clock has to be moved next for nothing to come late: NextDeadline() or earlier. O(1).
  std::optional<int64_t> NextTimerMicros() const;
  // Moves to NextDeadline() and fires what is due there. False, and no move, when there is none.
  bool AdvanceToNext();

  // Calls `timer` once when the clock reaches `deadline_us` (a deadline not in the future: at the
  // next advance). O(log timers).
  TimerId ScheduleAt(int64_t deadline_us, std::function<void()> timer);
  // As ScheduleAt, for a timer that may have nothing to do when it fires: who keeps many deadlines
  // of its own needs only a bound below them to be called in time. `next_us` tells when the first
  // of them really is, not before `bound_us`; none when it is gone. It is called only when somebody
  // asks for the next deadline, and must neither schedule nor cancel.
  TimerId ScheduleCheckAt(int64_t bound_us, std::function<void()> check,
                          std::function<std::optional<int64_t>()> next_us);
  // Forgets a timer; false when it already ran or was cancelled.
  bool Cancel(TimerId id);

 private:
  struct Timer {
    std::function<void()> fire;
    std::function<std::optional<int64_t>()> next_us;  // Of a check.
  };

  std::optional<int64_t> NextDeadlineMicros() const;

  int64_t now_us_;
  uint64_t next_sequence_ = 1;
  bool advancing_ = false;
  std::map<TimerId, Timer> timers_;
};

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_VIRTUAL_CLOCK_H_
