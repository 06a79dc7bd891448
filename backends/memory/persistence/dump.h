// DUMP payloads: conversion between a value and the bytes of Redis's DUMP and RESTORE.
//
// A payload consists of a type, the value in RDB encoding, two bytes of format version and a CRC-64
// over all of it. redis-server 7.0 restores the payloads of its version that are written here. All
// payloads of redis-server 7.0, compressed or not, and those of earlier versions since 2.4 can be
// loaded.
//
//   const std::string payload = DumpValue(value);
//   if (DumpIsIntact(payload)) std::optional<Value> copy = LoadDump(payload, limits);
//
// Thread-safety: free functions.
// Source: Redis 7.0 DUMP, RESTORE.
#ifndef REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_DUMP_H_
#define REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_DUMP_H_

#include <optional>
#include <string>
#include <string_view>

#include "redouble/backends/memory/persistence/rdb_value.h"
#include "redouble/backends/memory/values/encoding_limits.h"
#include "redouble/backends/memory/values/value.h"

namespace redouble::inline v0_1::memory {

// The reply of RESTORE and FUNCTION RESTORE for a payload that is not intact.
inline constexpr char kDamagedDump[] = "ERR DUMP payload version or checksum are wrong";

// The payload of a value. `times`: the deadlines of the fields of a hash that is tracked; else
// null. Linear in the size.
std::string DumpValue(const Value& value, const RdbFormat& format = {},
                      const FieldTimes* times = nullptr);

// Whether a payload's checksum must be correct.
enum class ChecksumPolicy { kVerify, kIgnore };

// True if a server of the RDB version reads the payload's version and the checksum is correct or
// ignored.
bool DumpIsIntact(std::string_view payload, ChecksumPolicy policy = ChecksumPolicy::kVerify,
                  int version = kRdbVersionOfRedis70);

// The value of an intact payload; nullopt if the bytes are not a valid value, or are an empty
// collection other than a stream. Encodings are chosen again according to `limits`. `times` gets
// the deadlines of a hash with field expiries.
std::optional<Value> LoadDump(std::string_view payload, const EncodingLimits& limits,
                              int version = kRdbVersionOfRedis70,
                              std::optional<FieldTimes>* times = nullptr);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_DUMP_H_
