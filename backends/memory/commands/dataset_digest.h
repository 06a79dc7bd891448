// The digest of a keyspace, as DEBUG DIGEST tells it: two servers that hold the same have the same,
// whatever the order in which it came about and however it is kept.
//
// Source: Redis 7.0.15, DEBUG DIGEST and DEBUG DIGEST-VALUE.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_DATASET_DIGEST_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_DATASET_DIGEST_H_

#include <string>

#include "backends/memory/database.h"
#include "backends/memory/engine.h"

namespace redouble::memory {

// Of all databases; 40 lower-case hexadecimal digits, zeros when there is no key.
std::string DatasetDigest(Engine& engine);
// Of what a key holds and whether it expires, without its name.
std::string ValueDigest(const Database& database, const Database::Entry& entry);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_DATASET_DIGEST_H_
