// The value of a key in RDB encoding: what follows a key in an RDB file, and the type in DUMP.
//
// Written are the types of Redis 7.0. Read are also the earlier ones, and those of later versions
// whose values exist here. Collections get the encodings that the limits ask for.
//
//   std::string out;
//   AppendRdbValue(value, out);
//   RdbReader reader(out);
//   std::optional<Value> copy = ReadRdbValue(RdbTypeOf(value), reader, limits);
//
// Thread-safety: free functions.
// Source: Redis 7.0 DUMP; the RDB file format, versions 1 to 12.
#ifndef REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_RDB_VALUE_H_
#define REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_RDB_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/backends/memory/values/encoding_limits.h"
#include "redouble/backends/memory/values/value.h"

namespace redouble::inline v0_1::memory {

// RDB's numbers of types and encodings.
enum class RdbType : uint8_t {
  kString = 0,
  kList = 1,
  kSet = 2,
  kSortedSetOfText = 3,
  kHash = 4,
  kSortedSet = 5,
  kPreReleaseModule = 6,
  kModule = 7,
  kHashZipmap = 9,
  kListZiplist = 10,
  kSetIntset = 11,
  kSortedSetZiplist = 12,
  kHashZiplist = 13,
  kListQuicklist = 14,
  kStream5 = 15,
  kHashListpack = 16,
  kSortedSetListpack = 17,
  kListQuicklist2 = 18,
  kStream7 = 19,
  kSetListpack = 20,
  kStream72 = 21,
  kPreReleaseHashWithExpiries = 22,
  kPreReleaseHashListpackWithExpiries = 23,
  kHashWithExpiries = 24,
  kHashListpackWithExpiries = 25,
};

// The deadlines of a hash's fields (keyspace/field_deadlines.h).
using FieldTimes = std::vector<std::pair<std::string, int64_t>>;

// The RDB version that Redis 7.0 writes; those of others are in core/store/table/version.inc.
inline constexpr int kRdbVersionOfRedis70 = 10;

// What is written depends on the RDB version.
struct RdbFormat {
  int version = kRdbVersionOfRedis70;
  RdbCompression compression = RdbCompression::kOn;
};

// The last type that a server of that RDB version reads.
RdbType LastRdbType(int version);

// Whether the fields of a hash have deadlines in a file of that RDB version.
bool HasFieldTimes(int version);

// What a type is, for messages: "hash in a ziplist"; empty if no Redis up to 8.0 has the number.
std::string_view NameOfRdbType(RdbType type);
// True if ReadRdbValue reads the type.
bool ReadsRdbType(RdbType type);

// The type that AppendRdbValue writes. `times`: the deadlines of a hash that is tracked; else null.
// Requires that the version has them.
RdbType RdbTypeOf(const Value& value, const RdbFormat& format = {},
                  const FieldTimes* times = nullptr);
// Appends the value without its type. Linear in the size.
void AppendRdbValue(const Value& value, std::string& out, const RdbFormat& format = {},
                    const FieldTimes* times = nullptr);

// Reads a value of the type. A collection without elements is returned as such. Returns nullopt if
// the bytes are not such a value; reader.failure() says why. `times` gets the deadlines of a hash
// with field expiries, and is left alone for other values. Without it such a hash is a failure.
std::optional<Value> ReadRdbValue(RdbType type, RdbReader& reader, const EncodingLimits& limits,
                                  std::optional<FieldTimes>* times = nullptr);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_RDB_VALUE_H_
