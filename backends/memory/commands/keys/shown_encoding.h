// The encoding and the reference count of a value as OBJECT and DEBUG OBJECT show them.
//
// The encoding depends on the version, and in Valkey 8.1 for strings also on the key and the
// deadline, because a short string lies in one allocation with them.
//
//   KeepEncoding(context, entry);  // Before RENAME: a string that is raw stays raw.
//   ShownEncoding(context, entry);
//
// Thread-safety: one thread.
// Source: Redis 7.0 OBJECT ENCODING; Valkey 8.1.1, which was asked.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_KEYS_SHOWN_ENCODING_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_KEYS_SHOWN_ENCODING_H_

#include <cstdint>
#include <string_view>

#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/keyspace/database.h"

namespace redouble::inline v0_1::memory {

std::string_view ShownEncoding(const CommandContext& context, const Database::Entry& entry);

// Returns the reference count of a value: INT_MAX for an integer that Redis shares between keys,
// otherwise 1.
int64_t ShownReferences(const CommandContext& context, const Database::Entry& entry);

// To be called before the value of an entry gets another key, or the entry loses its deadline.
void KeepEncoding(const CommandContext& context, Database::Entry& entry);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_KEYS_SHOWN_ENCODING_H_
