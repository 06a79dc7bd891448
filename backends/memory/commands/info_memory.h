// The section "memory" of INFO.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_INFO_MEMORY_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_INFO_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/memory/engine.h"
#include "core/store/reply.h"

namespace redouble::memory {

// What a redis-server with these keys would have in use (memory_limit.h): what maxmemory counts.
// Without maxmemory nobody keeps account: of many keys some thousands are asked, for all of them.
uint64_t UsedMemory(Engine& engine);

// The same figures as MEMORY STATS names them: names and values in turn.
std::vector<store::Reply> MemoryStats(Engine& engine);

// Appends the section's lines.
void AppendMemory(Engine& engine, std::string& out);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_INFO_MEMORY_H_
