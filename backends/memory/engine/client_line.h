// The line of one session in CLIENT LIST and CLIENT INFO, and the memory that it reports; the line
// of its command in MONITOR.
//
// Addresses, file descriptors and buffer sizes come from the host (server/host.h). Without a host
// they have fixed values, so that the line depends on the commands and the clock only.
//
// Thread-safety: one thread.
// Source: Redis 7.0 CLIENT LIST, MONITOR.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_CLIENT_LINE_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_CLIENT_LINE_H_

#include <cstddef>
#include <string>

#include "redouble/backends/memory/engine/administration.h"
#include "redouble/backends/memory/server/host.h"

namespace redouble::memory {

class EngineCore;

// The host's figures of the session's socket; fixed values without a host.
ConnectionFigures FiguresOf(const EngineCore& engine, const SessionCore& session);

// The memory of the session and its buffers in bytes: the field tot-mem.
size_t BytesOf(const EngineCore& engine, const SessionCore& session);

// The line, without a line break at its end.
std::string ClientLine(EngineCore& engine, const SessionCore& session);

// Sends the command's line to each session that ran MONITOR. The engine calls it after a command;
// a command that runs a script calls it before, so that its line comes before those of the script's
// commands.
void FeedMonitors(EngineCore& engine, const SessionCore& session, const Administration::Sent& sent);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_CLIENT_LINE_H_
