// The limit of the memory that all clients may take together: the parameter maxmemory-clients.
//
// The parameter is a number of bytes or a share of maxmemory, so its value is kept as text
// (kept_parameters.h). Administration::EvictClients applies the limit.
//
//   std::optional<uint64_t> bytes = ClientMemoryLimit(options);  // "10%" of 100 MB: 10 MB
//
// Thread-safety: a pure function.
// Source: Redis 7.0 evict.c, getClientEvictionLimit.
#ifndef REDOUBLE_BACKENDS_MEMORY_EVICTION_CLIENT_MEMORY_LIMIT_H_
#define REDOUBLE_BACKENDS_MEMORY_EVICTION_CLIENT_MEMORY_LIMIT_H_

#include <cstdint>
#include <optional>

#include "redouble/backends/memory/engine_options.h"

namespace redouble::inline v0_1::memory {

// Returns the limit in bytes; nullopt if there is no limit. As in Redis, the limit is at least
// 128 KiB, so that an administrator can still connect and raise it.
std::optional<uint64_t> ClientMemoryLimit(const EngineOptions& options);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_EVICTION_CLIENT_MEMORY_LIMIT_H_
