// HeldClockPage: the page of memory shared by a HeldClock and the server that follows it.
//
// Both sides map a file of this layout with MAP_SHARED. The header is plain C, because the side
// inside the server (held_clock.c) must not load a C++ runtime into that process.
//
// Thread-safety: every field is read and written with atomic operations only.

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_PAGE_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_PAGE_H_

#include <stdint.h>

// The environment variable with the path of the page. Unset, empty or unusable: the process sees
// real time.
#define REDOUBLE_HELD_CLOCK_PAGE_VARIABLE "REDOUBLE_HELD_CLOCK_PAGE"

struct HeldClockPage {
  // The server's wall clock: microseconds since the Unix epoch, never negative.
  int64_t now_us;

  // The number of times that the server has slept until its timer was due, run the work of the
  // timer and everything after it, and gone back to sleep. See HeldClock::idle_turns().
  int64_t idle_turns;
};

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_PAGE_H_
