// Lookup and creation of a group's consumers, as XREADGROUP, XCLAIM and XAUTOCLAIM do it.
//
// A consumer is created when a command first names it; its creation publishes the event
// "xgroup-createconsumer". Use SeeConsumer in commands that deliver or claim entries, AddConsumer
// only in XGROUP CREATECONSUMER.
//
//   StreamConsumer& consumer = SeeConsumer(context, key, group, reader.consumer);
//
// Thread-safety: one thread.
// Source: Redis 7.0 XREADGROUP, XCLAIM, XGROUP CREATECONSUMER.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAMS_STREAM_CONSUMERS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAMS_STREAM_CONSUMERS_H_

#include <string_view>

#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/values/stream.h"

namespace redouble::inline v0_1::memory {

// Adds a consumer, which must not exist, and publishes the event.
StreamConsumer& AddConsumer(CommandContext& context, std::string_view key, StreamGroup& group,
                            std::string_view name);
// Returns the consumer, added if it does not exist, and updates its seen time.
StreamConsumer& SeeConsumer(CommandContext& context, std::string_view key, StreamGroup& group,
                            std::string_view name);

// A group as commands name it.
struct GroupName {
  std::string_view key;
  std::string_view group;
};
// Propagates an entry that is pending for its consumer: XCLAIM with all of its state. The id is
// that of the entry, as the client wrote it if it did.
void PropagateClaim(const CommandContext& context, const GroupName& name, const StreamGroup& group,
                    std::string_view id, const StreamPending& pending);
// Propagates the group's position: XGROUP SETID.
void PropagatePosition(const CommandContext& context, const GroupName& name,
                       const StreamGroup& group);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAMS_STREAM_CONSUMERS_H_
