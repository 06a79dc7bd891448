#include "redouble/backends/memory/persistence/dump.h"

#include <cstddef>
#include <cstdint>

#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/backends/memory/persistence/rdb_value.h"
#include "redouble/core/base/hash/crc.h"

namespace redouble::memory {
namespace {

constexpr uint64_t kVersion = 10;
constexpr size_t kVersionBytes = 2;
constexpr size_t kChecksumBytes = 8;
constexpr size_t kTrailerBytes = kVersionBytes + kChecksumBytes;

}  // namespace

std::string DumpValue(const Value& value) {
  std::string out(1, static_cast<char>(RdbTypeOf(value)));
  AppendRdbValue(value, out);
  AppendLittleEndian(kVersion, kVersionBytes, out);
  AppendLittleEndian(base::Crc64(out), kChecksumBytes, out);
  return out;
}

bool DumpIsIntact(std::string_view payload, ChecksumPolicy policy) {
  if (payload.size() < kTrailerBytes) return false;
  const size_t covered = payload.size() - kChecksumBytes;
  RdbReader trailer(payload.substr(covered - kVersionBytes));
  if (*trailer.ReadLittleEndian(kVersionBytes) > kVersion) return false;
  if (policy == ChecksumPolicy::kIgnore) return true;
  return *trailer.ReadLittleEndian(kChecksumBytes) == base::Crc64(payload.substr(0, covered));
}

std::optional<Value> LoadDump(std::string_view payload, const EncodingLimits& limits) {
  // As in Redis, a value may extend into the trailer, and may end before it.
  RdbReader reader(payload);
  const std::optional<uint64_t> number = reader.ReadLittleEndian(1);
  if (!number || *number > static_cast<uint64_t>(kLastType)) return std::nullopt;
  std::optional<Value> value = ReadRdbValue(static_cast<RdbType>(*number), reader, limits);
  if (value && value->empty()) return std::nullopt;
  return value;
}

}  // namespace redouble::memory
