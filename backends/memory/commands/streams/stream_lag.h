// How far a consumer group has read, as the version of the engine counts it.
//
//   info.Add("lag", CountOrNilReply(LagOf(context, *stream, group)));
//
// Redis 7.0 counts as Stream does. Later versions (Feature::kStreamLags) also know the lag of a
// group that has read none of the remaining entries.
//
// Thread-safety: as Stream.
// Source: Redis 8.0, t_stream.c, streamReplyWithCGLag and streamReplyWithRange.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAMS_STREAM_LAG_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAMS_STREAM_LAG_H_

#include <cstdint>
#include <optional>

#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/values/stream.h"

namespace redouble::inline v0_1::memory {

// The number of entries that the group has not read; nullopt if it cannot be determined.
std::optional<int64_t> LagOf(const CommandContext& context, const Stream& stream,
                             const StreamGroup& group);

// Moves the group's position to an entry that it reads.
void AdvanceGroup(const CommandContext& context, const Stream& stream, StreamGroup& group,
                  StreamId id);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAMS_STREAM_LAG_H_
