// SaveCommands: writes an engine's data as commands that make it again.
//
// It is the base file of an append-only log with `aof-use-rdb-preamble no`. For most purposes an
// RDB file (snapshot/save_rdb.h) is smaller and faster.
//
//   StringSink sink;
//   REDOUBLE_RETURN_IF_ERROR(SaveCommands(engine, sink));
//
// BeginSavingCommands writes the same bytes while commands run between the parts
// (snapshot/keys_save.h).
//
// Thread-safety: the engine's. SaveCommands must not be called from within a command.
// Source: Redis 7.0 BGREWRITEAOF.
#ifndef REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_SAVE_COMMANDS_H_
#define REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_SAVE_COMMANDS_H_

#include <memory>

#include "absl/status/status.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/keys_save.h"

namespace redouble::inline v0_1::memory {

struct CommandSaveOptions {
  // Begins with a comment that has the time of the engine's clock (aof-timestamp-enabled).
  bool writes_time = false;
};

// Writes the function libraries and the keys of all databases, with their deadlines. Elements of a
// collection come in commands of at most 64, as in Redis. Removes expired keys first. Linear in the
// size; memory is bounded by the largest value. Errors: those of the sink.
absl::Status SaveCommands(Engine& engine, ByteSink& sink);

// The same in parts, with the data that the engine has now. `engine` must outlive the result, and
// must not have an access observer meanwhile. May be called within a command.
std::unique_ptr<KeysSave> BeginSavingCommands(Engine& engine, CommandSaveOptions options = {});

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_SAVE_COMMANDS_H_
