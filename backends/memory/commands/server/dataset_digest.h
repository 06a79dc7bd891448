// The digests of DEBUG DIGEST and DEBUG DIGEST-VALUE, equal to those of redis-server 7.0.15.
//
// Two servers with the same keys and values have the same digest, whatever the order of the
// commands and the encodings of the values. Cost: O(size of all values).
//
// Thread-safety: one thread.
// Source: Redis 7.0 DEBUG DIGEST, DEBUG DIGEST-VALUE.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_DATASET_DIGEST_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_DATASET_DIGEST_H_

#include <string>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/keyspace/database.h"

namespace redouble::inline v0_1::memory {

// The digest of all databases: 40 lower-case hexadecimal digits, all zeros if there is no key.
std::string DatasetDigest(EngineCore& engine);
// The digest of a key's value and whether it has an expiry, without the key's name.
std::string ValueDigest(const EngineCore& engine, const Database& database,
                        const Database::Entry& entry);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_DATASET_DIGEST_H_
