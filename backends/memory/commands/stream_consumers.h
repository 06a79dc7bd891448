// What the commands that act for a consumer have in common.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAM_CONSUMERS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAM_CONSUMERS_H_

#include <string_view>

#include "backends/memory/command_context.h"
#include "backends/memory/values/stream.h"

namespace redouble::memory {

// Adds a consumer that does not exist, and tells of it.
StreamConsumer& AddConsumer(CommandContext& context, std::string_view key, StreamGroup& group,
                            std::string_view name);
// The consumer of that name, seen now; added when there is none.
StreamConsumer& SeeConsumer(CommandContext& context, std::string_view key, StreamGroup& group,
                            std::string_view name);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAM_CONSUMERS_H_
