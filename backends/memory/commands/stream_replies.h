// How the stream commands write ids and entries.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAM_REPLIES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAM_REPLIES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/memory/command_context.h"
#include "backends/memory/commands/stream_arguments.h"
#include "backends/memory/values/stream.h"

namespace redouble::memory {

inline Reply StreamIdReply(StreamId id) { return Reply::Bulk(id.ToString()); }
inline Reply CountReply(uint64_t count) { return Reply::Integer(static_cast<int64_t>(count)); }
// Nil for no value.
inline Reply CountOrNilReply(std::optional<int64_t> count) {
  return count ? Reply::Integer(*count) : Reply::Nil();
}

// An entry: its id, and its fields and values alternating.
Reply StreamEntryReply(const Stream::Cursor& at);
// The entry with that id, which exists.
Reply StreamEntryReply(const Stream& stream, StreamId id);
// The entries of the interval, `count` at most, 0 for all; the last one first when `backwards`.
std::vector<Reply> StreamEntryReplies(const Stream& stream, const StreamInterval& interval,
                                      uint64_t count, bool backwards = false);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAM_REPLIES_H_
