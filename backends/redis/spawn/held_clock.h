// HeldClock: the wall clock of another process, held at a time and moved only when told.
//
// Tests of expiry, stream ids and block time-outs need a real redis-server at an exact moment, and
// at the millisecond after it, without sleeping. A HeldClock puts two files into a folder: a page
// of shared memory that holds the time, and a small library that, preloaded into the server
// (held_clock.c), answers gettimeofday, time and clock_gettime(CLOCK_REALTIME) from that page. The
// library travels inside this program, so it is there wherever the program is copied.
// Monotonic clocks stay real: the server's own timers keep running.
//
// Thread-safety: every function may be called from any thread; the page is read and written
// atomically, also between the processes.
//
//     auto clock = HeldClock::Create(folder.path(), absl::FromUnixSeconds(1'700'000'000));
//     if (!clock.ok()) return clock.status();
//     child_options.environment = (*clock)->Environment();  // Then start the child,
//     (*clock)->SetTime(absl::FromUnixMillis(1'700'000'000'001));  // and move its time.

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backends/redis/spawn/held_clock_page.h"

namespace redouble::redis {

class HeldClock {
 public:
  // Writes the page and the library into `folder`, an existing folder of the caller, with the time
  // at `now`. The files are not removed; the folder is the caller's.
  // Errors: InvalidArgument for a time the page cannot hold (see SetTime); the errno of writing or
  // mapping the files as a status, with the path.
  static absl::StatusOr<std::unique_ptr<HeldClock>> Create(const std::string& folder,
                                                           absl::Time now);

  // Unmaps the page. A process that is still attached keeps the last time.
  ~HeldClock();

  HeldClock(const HeldClock&) = delete;
  HeldClock& operator=(const HeldClock&) = delete;

  // Holds the clock at `now`, forwards or backwards, rounded down to a microsecond. Every reading
  // that the other process takes after this returns sees the new time.
  // Errors: InvalidArgument before 1970 or beyond what 64-bit microseconds count (year 294246).
  absl::Status SetTime(absl::Time now);

  // Moves the clock by `step`, forwards or, if negative, backwards. Not atomic with another
  // thread's SetTime.
  // Errors: as SetTime.
  absl::Status AdvanceTime(absl::Duration step);

  // The time that the clock is held at.
  absl::Time Now() const;

  // Whether a running process has this clock's page in its memory, i.e. follows this clock. The
  // dynamic linker only warns when a library cannot be preloaded, so a starter asks this once the
  // process has shown a sign of life; before, its libraries may not have been loaded yet.
  // False, too, for a process that does not exist or belongs to someone else.
  bool IsFollowedBy(pid_t pid) const;

  // How many turns of an attached Redis's event loop have begun with its timer being due and ended.
  // Each such turn runs serverCron (active expiry), then beforeSleep (block time-outs, writing of
  // replies and messages). A turn that had begun before SetTime adds at most one to this count,
  // so the second one has seen the new time throughout.
  int64_t idle_turns() const;

  // The variables that attach a process started with them, for ChildProcessOptions.
  // LD_PRELOAD keeps what this process has in it.
  std::vector<std::pair<std::string, std::string>> Environment() const;

 private:
  HeldClock(HeldClockPage* page, std::string page_path, std::string library_path);

  HeldClockPage* const page_;
  const std::string page_path_;
  const std::string library_path_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_H_
