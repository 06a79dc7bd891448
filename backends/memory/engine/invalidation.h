// Invalidation messages of CLIENT TRACKING: which reads are remembered, and how clients are
// notified.
//
// A RESP3 client receives a push; a RESP2 client must redirect to a client that has subscribed to
// __redis__:invalidate. keyspace/tracking.h decides which keys and clients are affected.
//
// Thread-safety: one thread.
// Source: Redis 7.0 CLIENT TRACKING.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_INVALIDATION_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_INVALIDATION_H_

#include <span>
#include <string_view>

#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {

class EngineCore;
class SessionCore;

// Remembers the keys that the session has read with this command, if its tracking mode asks for it.
// `arguments` are the words after the command's name, the subcommand included.
void RememberReads(EngineCore& engine, const SessionCore& session, store::CommandId id,
                   std::span<const std::string_view> arguments);

// Sends the invalidations that Tracking has collected.
void SendInvalidations(EngineCore& engine);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_INVALIDATION_H_
