// DumpPayloadOf: the payload of a key, as DUMP replies it and MIGRATE sends it.
//
// It has the RDB version of the engine's compatibility, the deadlines of a hash's fields, and is
// compressed as the parameter rdbcompression says.
//
//   return Reply::Bulk(DumpPayloadOf(context, *entry));
//
// Thread-safety: one thread, the engine's.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_KEYS_DUMP_PAYLOAD_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_KEYS_DUMP_PAYLOAD_H_

#include <string>

#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/keyspace/database.h"

namespace redouble::inline v0_1::memory {

// `entry` is one of the context's database.
std::string DumpPayloadOf(const CommandContext& context, const Database::Entry& entry);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_KEYS_DUMP_PAYLOAD_H_
