// The page of memory that a held clock and the server preloaded with it share.
//
// A file of this layout is mapped MAP_SHARED by both sides. The header is plain C, because the side
// inside the server (held_clock.c) must not drag a C++ runtime into somebody else's process.
// Every field is read and written with atomic operations only.

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_PAGE_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_PAGE_H_

#include <stdint.h>

// Names the file of the page. Unset, empty or unusable: the process sees real time.
#define REDOUBLE_HELD_CLOCK_PAGE_VARIABLE "REDOUBLE_HELD_CLOCK_PAGE"

struct HeldClockPage {
  // What the server's wall clock says: microseconds since the Unix epoch, never negative.
  int64_t now_us;

  // How many times the server has slept until its timer was due, run the timer's work and
  // everything that follows it, and come back to sleep. See HeldClock::idle_turns().
  int64_t idle_turns;
};

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_PAGE_H_
