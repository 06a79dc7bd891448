// The stream part of a DUMP payload: the nodes of the stream, its counters (last id, greatest
// deleted id, entries added), and its groups with their consumers and pending entries.
//
//   std::string out;
//   AppendStreamDump(stream, out);
//   RdbReader reader(out);
//   std::unique_ptr<Stream> copy = ReadStreamDump(reader, StreamDumpFormat::kRedis7);
//
// Thread-safety: free functions.
// Source: Redis 7.0 DUMP of a stream (RDB_TYPE_STREAM_LISTPACKS, and _2 of Redis 7.0, _3 of
// Redis 7.2).
#ifndef REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_STREAM_DUMP_H_
#define REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_STREAM_DUMP_H_

#include <memory>
#include <string>

#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/backends/memory/values/stream.h"

namespace redouble::inline v0_1::memory {

// The format of a payload.
enum class StreamDumpFormat { kRedis5, kRedis7, kRedis72 };

// Appends the stream in the format of Redis 7.0 or 7.2. Linear in the size.
void AppendStreamDump(const Stream& stream, std::string& out,
                      RdbCompression compression = RdbCompression::kOn,
                      StreamDumpFormat format = StreamDumpFormat::kRedis7);

// The stream at the reader's position; null if the bytes are invalid, and reader.failure() says
// why. Counters that a Redis 5 payload does not have are derived from its entries, as in Redis 7.0.
std::unique_ptr<Stream> ReadStreamDump(RdbReader& reader, StreamDumpFormat format);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_STREAM_DUMP_H_
