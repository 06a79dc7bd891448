// What is said of one connection, in a line.
#ifndef REDOUBLE_BACKENDS_MEMORY_CLIENT_LINE_H_
#define REDOUBLE_BACKENDS_MEMORY_CLIENT_LINE_H_

#include <cstddef>
#include <string>

#include "backends/memory/host.h"

namespace redouble::memory {

class Engine;

// What the host knows of the session's socket; what a session without one has.
ConnectionFigures FiguresOf(const Engine& engine, const Session& session);

// What the session and its buffers take: tot-mem of its line.
size_t BytesOf(const Engine& engine, const Session& session);

// The line of CLIENT LIST, without its end.
std::string ClientLine(Engine& engine, const Session& session);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_CLIENT_LINE_H_
