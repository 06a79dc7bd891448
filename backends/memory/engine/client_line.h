// The line of one session in CLIENT LIST and CLIENT INFO, and the memory that it reports.
//
// Addresses, file descriptors and buffer sizes come from the host (server/host.h). Without a host
// they have fixed values, so that the line depends on the commands and the clock only.
//
// Thread-safety: one thread.
// Source: Redis 7.0 CLIENT LIST.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_CLIENT_LINE_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_CLIENT_LINE_H_

#include <cstddef>
#include <string>

#include "redouble/backends/memory/server/host.h"

namespace redouble::inline v0_1::memory {

class EngineCore;

// The host's figures of the session's socket; fixed values without a host.
ConnectionFigures FiguresOf(const EngineCore& engine, const SessionCore& session);

bool IsReplica(const EngineCore& engine, const SessionCore& session);

// The memory of the session and its buffers in bytes: the field tot-mem.
size_t BytesOf(EngineCore& engine, const SessionCore& session);

// The line, without a line break at its end.
std::string ClientLine(EngineCore& engine, const SessionCore& session);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_CLIENT_LINE_H_
