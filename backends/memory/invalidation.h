// How clients learn that keys they may hold have changed: pushes, or messages to whom they
// redirect.
#ifndef REDOUBLE_BACKENDS_MEMORY_INVALIDATION_H_
#define REDOUBLE_BACKENDS_MEMORY_INVALIDATION_H_

#include <span>
#include <string_view>

#include "core/store/command_table.h"

namespace redouble::memory {

class Engine;
class Session;

// The session has read the keys of this command: they are remembered when its mode says so.
// `arguments` are what follows the command's name, the subcommand included.
void RememberReads(Engine& engine, const Session& session, store::CommandId id,
                   std::span<const std::string_view> arguments);

// Sends what Tracking has collected. A client of RESP2 can be told only through another one.
void SendInvalidations(Engine& engine);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_INVALIDATION_H_
