// HeldClock: the wall clock of another process, which moves only on request.
//
// Tests of expiry, stream ids and block timeouts need a real redis-server at an exact moment, and
// at the millisecond after it, without sleeping. A HeldClock writes two files into a folder: a page
// of shared memory with the time, and a small library (held_clock.c). Preloaded into the server,
// the library answers gettimeofday, time and clock_gettime(CLOCK_REALTIME) from that page. The
// library is embedded in this program, so it exists wherever the program is copied. Monotonic
// clocks stay real: the server's own timers keep running.
//
//     auto clock = HeldClock::Create(folder.path(), absl::FromUnixSeconds(1'700'000'000));
//     if (!clock.ok()) return clock.status();
//     child_options.environment = (*clock)->Environment();  // Then start the child,
//     (*clock)->SetTime(absl::FromUnixMillis(1'700'000'000'001));  // and move its time.
//
// Thread-safety: every function may be called from any thread; the page is read and written
// atomically, also between the processes.

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
#include "redouble/backends/redis/spawn/held_clock_page.h"

namespace redouble::inline v0_1::redis {

class HeldClock {
 public:
  // Writes the page and the library into `folder`, which must exist, and sets the time to `now`.
  // The files are not removed.
  // Errors: InvalidArgument for a time that the page cannot hold (see SetTime); the errno of
  // writing or mapping the files as a status, with the path.
  static absl::StatusOr<std::unique_ptr<HeldClock>> Create(const std::string& folder,
                                                           absl::Time now);

  // Unmaps the page. A process that is still attached keeps the last time.
  ~HeldClock();

  HeldClock(const HeldClock&) = delete;
  HeldClock& operator=(const HeldClock&) = delete;

  // Sets the clock to `now`, forwards or backwards, rounded down to a microsecond. The other
  // process sees the new time in every reading after this function returns.
  // Errors: InvalidArgument before 1970 or beyond the range of 64-bit microseconds (year 294246).
  absl::Status SetTime(absl::Time now);

  // Moves the clock by `step`, which may be negative. Not atomic with a SetTime in another thread.
  // Errors: as SetTime.
  absl::Status AdvanceTime(absl::Duration step);

  // The time of the clock.
  absl::Time Now() const;

  // Whether a running process has mapped this clock's page, so that it follows this clock. The
  // dynamic linker only warns if a library cannot be preloaded, so call this once after the process
  // has shown that it runs; before that, its libraries may not have been loaded. False for a
  // process that does not exist or belongs to another user.
  bool IsFollowedBy(pid_t pid) const;

  // The number of completed turns of an attached Redis's event loop in which its timer was due.
  // Each such turn runs serverCron (active expiry) and then beforeSleep (block timeouts, writing of
  // replies and messages). A turn that began before SetTime adds at most one to this count, so the
  // second one has seen the new time throughout.
  int64_t idle_turns() const;

  // The environment variables that attach a new process, for ChildProcessOptions. LD_PRELOAD keeps
  // the value that it has in this process.
  std::vector<std::pair<std::string, std::string>> Environment() const;

 private:
  HeldClock(HeldClockPage* page, std::string page_path, std::string library_path);

  HeldClockPage* const page_;
  const std::string page_path_;
  const std::string library_path_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_H_
