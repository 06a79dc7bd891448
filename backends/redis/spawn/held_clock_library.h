// The bytes of the preloaded library built from held_clock.c, embedded by the build.

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_LIBRARY_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_LIBRARY_H_

#include <string>

namespace redouble::redis {

// The content of the shared object, ready to be written to a file.
std::string HeldClockLibrary();

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_HELD_CLOCK_LIBRARY_H_
