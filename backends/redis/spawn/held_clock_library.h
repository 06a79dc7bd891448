// HeldClockLibrary: the shared object built from held_clock.c, embedded in this program by the
// build.
//
// HeldClock writes it into a file, which a spawned server preloads.
//
// Thread-safety: a free function.

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_LIBRARY_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_LIBRARY_H_

#include <string>

namespace redouble::inline v0_1::redis {

// The content of the shared object, ready to be written to a file.
std::string HeldClockLibrary();

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_LIBRARY_H_
