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
// BeginSavingRdb writes the same bytes while commands run between the parts (keys_save.h).
//
// Thread-safety: the engine's. SaveRdb must not be called from within a command.
// Source: Redis 7.0 SAVE; the RDB file format, version 10.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_SAVE_RDB_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_SAVE_RDB_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/key_filter.h"
#include "redouble/backends/memory/snapshot/keys_save.h"

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
  bool has_libraries = true;
};

// Writes the function libraries and the keys of all databases, with their deadlines and, if
// maxmemory-policy uses them, their idle times or frequencies. Removes expired keys first. The
// file's `ctime` is the time of the engine's clock. Linear in the size.
//
// Errors: those of the sink.
absl::Status SaveRdb(Engine& engine, ByteSink& sink, const RdbSaveOptions& options = {});

// A file that is written in parts, with the data that the engine has now: SaveRdb would write the
// same bytes. Removes expired keys first. `engine` must outlive the result, and must not have an
// access observer meanwhile. May be called within a command.
std::unique_ptr<KeysSave> BeginSavingRdb(Engine& engine, RdbSaveOptions options = {});

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_SAVE_RDB_H_
