// SaveRdb: writes an engine's data as an RDB file of version 10, which redis-server 7.0 loads.
//
//   StringSink sink;
//   REDOUBLE_RETURN_IF_ERROR(SaveRdb(engine, sink));
//   LoadRdb(other_engine, ...sink.bytes()...)
//
// Equal data at an equal time is written as equal bytes: keys come in the engine's order, which
// depends on the commands only. The bytes are written in parts; memory is bounded by the largest
// value.
//
// RdbSave writes the same bytes while commands run between the parts:
//
//   RdbSave save(engine);
//   for (;;) {
//     REDOUBLE_ASSIGN_OR_RETURN(const bool continues, save.Continue(sink));
//     if (!continues) break;
//     ...                        // Commands run. The file has the keys from before them.
//   }
//
// Thread-safety: the engine's. SaveRdb and RdbSave::Continue must not be called from within a
// command.
// Source: Redis 7.0 SAVE; the RDB file format, version 10.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_SAVE_RDB_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_SAVE_RDB_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/backends/memory/snapshot/key_filter.h"

namespace redouble::inline v0_1::memory {

struct RdbSaveOptions {
  // Compresses strings of more than 20 bytes by LZF (rdbcompression).
  bool compresses = true;
  // Ends the file with a checksum (rdbchecksum).
  bool has_checksum = true;
  // The file is the base of an append-only log: its field `aof-base` is 1.
  bool is_log_base = false;
  // For a replica: which stream follows the file, and the database that it has selected there. Its
  // fields are `repl-stream-db`, `repl-id` and `repl-offset`.
  struct Stream {
    int db = 0;
    std::string id;
    int64_t offset = 0;
  };
  std::optional<Stream> stream = std::nullopt;
  // Only keys that it keeps are saved, for example those of a family (key_filter.h).
  KeyFilter keeps = {};
};

// Writes the function libraries and the keys of all databases, with their deadlines and, if
// maxmemory-policy uses them, their idle times or frequencies. Removes expired keys first. The
// file's `ctime` is the time of the engine's clock. Linear in the size.
//
// Errors: those of the sink.
absl::Status SaveRdb(Engine& engine, ByteSink& sink, const RdbSaveOptions& options = {});

// A file that is written in parts, with the data that the engine had when the object was made:
// SaveRdb would have written the same bytes then.
//
// Nothing is copied at the beginning. A key that changes before it has been written is kept as the
// file has it (keyspace/keyspace_walk.h), so that memory is bounded by those keys and the largest
// value. A database that is flushed or replaced is kept until the end.
class RdbSave {
 public:
  static constexpr size_t kPartBytes = size_t{1} << 16;

  // Removes expired keys first. `engine` must outlive the object, and must not have an access
  // observer meanwhile. May be made within a command.
  explicit RdbSave(Engine& engine, RdbSaveOptions options = {});
  RdbSave(const RdbSave&) = delete;
  RdbSave& operator=(const RdbSave&) = delete;
  ~RdbSave();

  // Writes the next part to the sink, which must be the same each time. A part ends with the value
  // that brings it to `part_bytes`. Returns false after the last part. Errors: those of the sink,
  // after which it must not be called again.
  absl::StatusOr<bool> Continue(ByteSink& sink, size_t part_bytes = kPartBytes);

  // The keys of the file, and those of them that have been written.
  uint64_t keys() const;
  uint64_t written_keys() const;

 private:
  class Saver;
  const std::unique_ptr<Saver> saver_;
};

// Writes the next part of a save to a file, and waits for the disk when that is due. Returns false
// after the last part and after an error, which file.Finish() returns.
bool ContinueInFile(RdbSave& save, FileReplacement& file);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_SAVE_RDB_H_
