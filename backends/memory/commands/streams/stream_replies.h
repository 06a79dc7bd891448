// Replies of stream commands: ids, counts and entries.
//
// Use them in handlers of XRANGE, XREAD, XINFO and the commands of consumer groups, so that an
// entry has the same form in each reply.
//
//   return Reply::Array(StreamEntryReplies(*stream, {.first = *after.Next()}, count));
//
// Thread-safety: pure functions.
// Source: Redis 7.0 XRANGE, XREAD.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAMS_STREAM_REPLIES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAMS_STREAM_REPLIES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "redouble/backends/memory/commands/streams/stream_arguments.h"
#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/values/stream.h"

namespace redouble::inline v0_1::memory {

inline Reply StreamIdReply(StreamId id) { return Reply::Bulk(id.ToString()); }
inline Reply CountReply(uint64_t count) { return Reply::Integer(static_cast<int64_t>(count)); }
// Nil for nullopt.
inline Reply CountOrNilReply(std::optional<int64_t> count) {
  return count ? Reply::Integer(*count) : Reply::Nil();
}

// How the engine's version counts what groups have read.
Stream::LagRule LagRuleOf(const CommandContext& context);

// An entry: its id, and its alternating fields and values.
Reply StreamEntryReply(const Stream::Cursor& at);
// The entry with that id, which must exist.
Reply StreamEntryReply(const Stream& stream, StreamId id);
// Visits the entries of the interval, at most `count` (0: all), in reverse order if `backwards`.
void VisitStreamEntries(const Stream& stream, const StreamInterval& interval, uint64_t count,
                        bool backwards, absl::FunctionRef<void(const Stream::Cursor&)> visit);
// The entries of the interval, at most `count` (0: all).
std::vector<Reply> StreamEntryReplies(const Stream& stream, const StreamInterval& interval,
                                      uint64_t count);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAMS_STREAM_REPLIES_H_
