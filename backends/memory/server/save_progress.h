// SaveProgress: how much of a file of keys has been written in the background. KeysSave tells it,
// and INFO persistence shows it:
//
//   const SaveProgress progress = save->progress();
//   Show(progress.written_keys, progress.keys);
//
// Thread-safety: a plain value.
// Source: Redis 7.0 INFO persistence, `current_*`.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_SAVE_PROGRESS_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_SAVE_PROGRESS_H_

#include <cstdint>

namespace redouble::inline v0_1::memory {

// All are 0 when nothing is written.
struct SaveProgress {
  uint64_t keys = 0;  // Of the file.
  uint64_t written_keys = 0;
  // The size of the keys that have changed and are kept until they are written: now, and the most
  // so far. It takes the place of the memory that Redis's child process copies.
  uint64_t kept_bytes = 0;
  uint64_t peak_kept_bytes = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_SAVE_PROGRESS_H_
