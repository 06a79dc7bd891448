// The part of a DUMP payload behind the type of a stream: its nodes, what it remembers of entries
// that are gone, and its groups with their consumers and pending entries.
//
// Thread-safety: free functions.
// Source: Redis 7.0 DUMP of a stream (RDB_TYPE_STREAM_LISTPACKS, and _2 of Redis 7.0).
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_DUMP_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_DUMP_H_

#include <memory>
#include <string>

#include "backends/memory/values/rdb_codec.h"
#include "backends/memory/values/stream.h"

namespace redouble::memory {

// Appends the stream as Redis 7.0 writes it. Linear in the size.
void AppendStreamDump(const Stream& stream, std::string& out);

// Which of the two formats a payload has.
enum class StreamDumpFormat { kRedis5, kRedis7 };

// The stream that follows in the reader; null when the bytes are none. What a payload of Redis 5
// does not have is made up from its entries, as Redis 7.0 does.
std::unique_ptr<Stream> ReadStreamDump(RdbReader& reader, StreamDumpFormat format);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_DUMP_H_
