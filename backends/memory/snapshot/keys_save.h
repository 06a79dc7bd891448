// KeysSave: a file of an engine's keys that is written in parts, between which commands may run.
//
//   const std::unique_ptr<KeysSave> save = BeginSavingRdb(engine);
//   for (;;) {
//     REDOUBLE_ASSIGN_OR_RETURN(const bool continues, save->Continue(sink));
//     if (!continues) break;
//     ...                        // Commands run. The file has the keys from before them.
//   }
//
// The file has the data that the engine had when the object was made. Nothing is copied at the
// beginning. A key that changes before it has been written is kept as the file has it
// (keyspace/keyspace_walk.h), so that memory is bounded by those keys and the largest value. A
// database that is flushed or replaced is kept until the end.
//
// Thread-safety: the engine's. Continue must not be called from within a command.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_KEYS_SAVE_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_KEYS_SAVE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/server/save_progress.h"
#include "redouble/backends/memory/snapshot/file_stream.h"

namespace redouble::inline v0_1::memory {

class KeysSave {
 public:
  static constexpr size_t kPartBytes = size_t{1} << 16;

  KeysSave(const KeysSave&) = delete;
  KeysSave& operator=(const KeysSave&) = delete;
  virtual ~KeysSave() = default;

  // Writes the next part to the sink, which must be the same each time. A part ends with the value
  // that brings it to `part_bytes`. Returns false after the last part. Errors: those of the sink,
  // after which it must not be called again.
  virtual absl::StatusOr<bool> Continue(ByteSink& sink, size_t part_bytes) = 0;
  absl::StatusOr<bool> Continue(ByteSink& sink) { return Continue(sink, kPartBytes); }

  virtual SaveProgress progress() const = 0;

 protected:
  KeysSave() = default;
};

// The parameter rdb-key-save-delay: how long a save in the background waits after each key, so that
// a test can look at it meanwhile. Each part has a key then. 0 or less: it does not wait.
int64_t KeySaveDelayMicros(const EngineOptions& options);

// Writes all that is left. Errors: those of the sink.
absl::Status FinishSaving(KeysSave& save, ByteSink& sink);

// Writes the next part of a save to a file, and waits for the disk when that is due. Returns false
// after the last part and after an error, which file.Finish() returns.
bool ContinueInFile(KeysSave& save, FileReplacement& file,
                    size_t part_bytes = KeysSave::kPartBytes);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_KEYS_SAVE_H_
