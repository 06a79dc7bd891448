// RdbBytes: RDB files built by hand, of any version and with encodings that no server writes today.
//
//   const std::string file = RdbBytes(3).Select(0).ExpirySeconds(5).Key(0, "k", Text("v")).End();
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_RDB_BYTES_FOR_TEST_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_RDB_BYTES_FOR_TEST_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/backends/memory/snapshot/rdb_opcode.h"
#include "redouble/core/base/hash/crc.h"

namespace redouble::inline v0_1::memory {

inline std::string Length(uint64_t length) {
  std::string out;
  AppendRdbLength(length, out);
  return out;
}

inline std::string Text(std::string_view text) {
  std::string out;
  AppendRdbString(text, out);
  return out;
}

inline std::string LittleEndian(uint64_t value, size_t size) {
  std::string out;
  AppendLittleEndian(value, size, out);
  return out;
}

// An id as a key of a stream's tree.
inline std::string StreamKey(uint64_t ms, uint64_t seq) {
  std::string out;
  for (const uint64_t part : {ms, seq}) {
    for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(part >> shift));
  }
  return out;
}

class RdbBytes {
 public:
  explicit RdbBytes(int version = 10)
      : version_(version), bytes_(absl::StrFormat("REDIS%04d", version)) {}

  RdbBytes& Raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  RdbBytes& Opcode(RdbOpcode opcode, std::string_view content = {}) {
    bytes_.push_back(static_cast<char>(opcode));
    return Raw(content);
  }
  RdbBytes& Field(std::string_view name, std::string_view value) {
    return Opcode(RdbOpcode::kAux, Text(name) + Text(value));
  }
  RdbBytes& Select(uint64_t index) { return Opcode(RdbOpcode::kSelectDb, Length(index)); }
  RdbBytes& ExpirySeconds(uint64_t time_s) {
    return Opcode(RdbOpcode::kExpirySeconds, LittleEndian(time_s, 4));
  }
  RdbBytes& ExpiryMs(uint64_t time_ms) {
    return Opcode(RdbOpcode::kExpiryMs, LittleEndian(time_ms, 8));
  }
  // `value` is in the encoding of the type.
  RdbBytes& Key(int type, std::string_view key, std::string_view value) {
    bytes_.push_back(static_cast<char>(type));
    return Raw(Text(key)).Raw(value);
  }

  size_t size() const { return bytes_.size(); }
  // The file without its end.
  const std::string& Open() const { return bytes_; }
  // The whole file, with a correct checksum if its version has one.
  std::string End() {
    Opcode(RdbOpcode::kEnd);
    if (version_ < kFirstChecksumVersion) return bytes_;
    return bytes_ + LittleEndian(base::Crc64(bytes_), kRdbChecksumBytes);
  }

 private:
  const int version_;
  std::string bytes_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_RDB_BYTES_FOR_TEST_H_
