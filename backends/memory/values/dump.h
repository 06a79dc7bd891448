// DUMP payloads: a value as the bytes that Redis's RESTORE takes, and back.
//
// A payload is a type, the value in RDB's encoding, two bytes of format version and a CRC-64 over
// all of it. What is written here a redis-server 7.0 restores, and what it dumps is read here:
// every type, compressed or not, and what servers from 2.4 on dumped as well.
//
//   const std::string payload = DumpValue(value);
//   if (DumpIsIntact(payload)) std::optional<Value> copy = LoadDump(payload, limits);
//
// Thread-safety: free functions.
// Source: Redis 7.0 DUMP, RESTORE.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_DUMP_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_DUMP_H_

#include <optional>
#include <string>
#include <string_view>

#include "backends/memory/encoding_limits.h"
#include "backends/memory/values/value.h"

namespace redouble::memory {

// The payload. Linear in the size.
std::string DumpValue(const Value& value);

// True when the version is one that Redis 7.0 reads and the checksum is right.
bool DumpIsIntact(std::string_view payload);

// The value of an intact payload; none when the bytes are no value, or an empty collection other
// than a stream. Encodings are chosen anew by `limits`.
std::optional<Value> LoadDump(std::string_view payload, const EncodingLimits& limits);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_DUMP_H_
