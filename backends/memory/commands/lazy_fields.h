// Fields of hashes that have expired and are still stored.
//
// The engine removes fields at their deadlines. While keys expire lazily (DEBUG SET-ACTIVE-EXPIRE
// 0, a pause of the clients, a replica) a field stays until a command reads it, as in Redis. It
// counts in HLEN, and HSET, HDEL and HEXPIRE find it; no command shows it.
//
//   ExpireNamedFields(context, key, {&field, 1});  // Before HGET looks the hash up.
//   if (HidesField(context, key, field)) return Reply::Nil();
//
// In a pause and on a replica fields are only hidden; commands of a replica's master see them.
// Without deadlines of fields, which Redis 7.0 does not have, each function costs one comparison.
//
// Thread-safety: one thread.
// Source: Redis 8.0 HGET, HGETALL, HRANDFIELD.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_LAZY_FIELDS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_LAZY_FIELDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/keyspace/database.h"

namespace redouble::inline v0_1::memory {

inline bool MayHaveLazyFields(const CommandContext& context) {
  return context.db().field_deadlines() != nullptr && context.db().expires_lazily();
}

// Whether the field has expired and is still stored. At its deadline it is still shown.
bool HidesField(const CommandContext& context, std::string_view key, std::string_view field);
// All such fields of the hash, in the order of the fields.
std::vector<std::string> HiddenFields(const CommandContext& context, std::string_view key);

// How the events "hexpired" and "del" are published: for each field; once for all of them, and not
// at all if a single one empties the hash (HMGET).
enum class FieldEvents : uint8_t { kEach, kTogether };

// Removes those of `fields` that have expired, and the key if nothing remains.
void RemoveExpiredFields(CommandContext& context, std::string_view key, Arguments fields,
                         FieldEvents events);
inline void ExpireNamedFields(CommandContext& context, std::string_view key, Arguments fields,
                              FieldEvents events = FieldEvents::kEach) {
  if (MayHaveLazyFields(context)) RemoveExpiredFields(context, key, fields, events);
}
// Removes all fields of the hash that have expired, with one event.
void ExpireAllFields(CommandContext& context, std::string_view key);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_LAZY_FIELDS_H_
