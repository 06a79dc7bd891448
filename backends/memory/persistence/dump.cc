#include "redouble/backends/memory/persistence/dump.h"

#include <cstddef>
#include <cstdint>

#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/backends/memory/persistence/rdb_value.h"
#include "redouble/core/base/hash/crc.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kVersionBytes = 2;
constexpr size_t kChecksumBytes = 8;
constexpr size_t kTrailerBytes = kVersionBytes + kChecksumBytes;

}  // namespace

std::string DumpValue(const Value& value, const RdbFormat& format, const FieldTimes* times) {
  std::string out(1, static_cast<char>(RdbTypeOf(value, format, times)));
  AppendRdbValue(value, out, format, times);
  AppendLittleEndian(static_cast<uint64_t>(format.version), kVersionBytes, out);
  AppendLittleEndian(base::Crc64(out), kChecksumBytes, out);
  return out;
}

bool DumpIsIntact(std::string_view payload, ChecksumPolicy policy, int version) {
  if (payload.size() < kTrailerBytes) return false;
  const size_t covered = payload.size() - kChecksumBytes;
  RdbReader trailer(payload.substr(covered - kVersionBytes));
  if (*trailer.ReadLittleEndian(kVersionBytes) > static_cast<uint64_t>(version)) return false;
  if (policy == ChecksumPolicy::kIgnore) return true;
  return *trailer.ReadLittleEndian(kChecksumBytes) == base::Crc64(payload.substr(0, covered));
}

std::optional<Value> LoadDump(std::string_view payload, const EncodingLimits& limits, int version,
                              std::optional<FieldTimes>* times) {
  // As in Redis, a value may extend into the trailer, and may end before it.
  RdbReader reader(payload);
  const std::optional<uint64_t> number = reader.ReadLittleEndian(1);
  if (!number || *number > static_cast<uint64_t>(LastRdbType(version))) return std::nullopt;
  std::optional<Value> value = ReadRdbValue(static_cast<RdbType>(*number), reader, limits, times);
  if (value && value->empty()) return std::nullopt;
  return value;
}

}  // namespace redouble::inline v0_1::memory
