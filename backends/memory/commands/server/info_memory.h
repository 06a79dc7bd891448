// The memory figures of INFO memory and MEMORY STATS.
//
// They are those that a redis-server with the same keys would report (eviction/memory_limit.h), so
// that they do not depend on this process; figures of the process itself come from the host.
//
// Thread-safety: one thread.
// Source: Redis 7.0 INFO, MEMORY STATS.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_INFO_MEMORY_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_INFO_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

// The memory in use in bytes, as maxmemory counts it. Without maxmemory the size of the keys is
// estimated from a sample of some thousand keys.
uint64_t UsedMemory(EngineCore& engine);

// The reply of MEMORY STATS: alternating names and values.
std::vector<store::Reply> MemoryStats(EngineCore& engine);

// Appends the section's lines.
void AppendMemory(EngineCore& engine, std::string& out);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_INFO_MEMORY_H_
