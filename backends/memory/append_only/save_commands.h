// SaveCommands: writes an engine's data as commands that make them again.
//
// It is the base file of an append-only log with `aof-use-rdb-preamble no`. For most purposes an
// RDB file (snapshot/save_rdb.h) is smaller and faster.
//
//   StringSink sink;
//   REDOUBLE_RETURN_IF_ERROR(SaveCommands(engine, sink));
//
// Thread-safety: the engine's. Must not be called from within a command.
// Source: Redis 7.0 BGREWRITEAOF.
#ifndef REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_SAVE_COMMANDS_H_
#define REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_SAVE_COMMANDS_H_

#include "absl/status/status.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/persistence/byte_stream.h"

namespace redouble::inline v0_1::memory {

// Writes the function libraries and the keys of all databases, with their deadlines. Elements of a
// collection come in commands of at most 64, as in Redis. Linear in the size; memory is bounded by
// 64 elements or one string. Errors: those of the sink.
absl::Status SaveCommands(Engine& engine, ByteSink& sink);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_SAVE_COMMANDS_H_
