// The records of an RDB file besides keys, and what its frame consists of.
//
// A file is the word REDIS, four digits of version, records, and from version 5 on a CRC-64 of all
// before it. A record is one byte and what belongs to it; a byte that is a type (rdb_value.h)
// begins a key.
//
//   | record                  | content                                         | since version |
//   | ----------------------- | ----------------------------------------------- | ------------- |
//   | kSlotInfo               | slot, keys in it, keys with an expiry in it     | 12            |
//   | kFunction               | the code of a function library                  | 10            |
//   | kModuleAux              | data of a module                                | 9             |
//   | kIdle, kFrequency       | of the next key: seconds, one byte              | 9             |
//   | kAux                    | a name and a value                              | 7             |
//   | kResize                 | keys of the database, those with an expiry      | 7             |
//   | kExpiryMs, kExpirySeconds | of the next key: Unix time, 8 or 4 bytes      | 3, 1          |
//   | kSelectDb               | number of the database of the next keys         | 1             |
//   | kEnd                    | none                                            | 1             |
//
// Thread-safety: constants.
// Source: the RDB file format, versions 1 to 12.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_RDB_OPCODE_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_RDB_OPCODE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redouble::inline v0_1::memory {

enum class RdbOpcode : uint8_t {
  kSlotInfo = 244,
  kFunction = 245,
  kPreReleaseFunction = 246,
  kModuleAux = 247,
  kIdle = 248,
  kFrequency = 249,
  kAux = 250,
  kResize = 251,
  kExpiryMs = 252,
  kExpirySeconds = 253,
  kSelectDb = 254,
  kEnd = 255,
};

inline constexpr std::string_view kRdbMagic = "REDIS";
inline constexpr size_t kRdbVersionDigits = 4;
// The version that Redis 7.0 and SaveRdb write, and the last one that LoadRdb reads, of Redis 8.0.
inline constexpr int kLastRdbVersion = 12;
// The first version with a checksum.
inline constexpr int kFirstChecksumVersion = 5;
inline constexpr size_t kRdbChecksumBytes = 8;

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_RDB_OPCODE_H_
