// The building blocks of RDB, Redis's format on disk and in DUMP: lengths and strings.
//
// A length takes 1, 2, 5 or 9 bytes. A string that is the text of a 32-bit integer is written as
// that integer. A longer string is compressed by LZF if that saves four bytes, as Redis does unless
// rdbcompression is off.
//
//   std::string out;
//   AppendRdbString("hello", out);
//   RdbReader reader(out);
//   std::optional<std::string> text = reader.ReadString();
//
// Thread-safety: free functions; a reader is used by one thread.
// Source: Redis 7.0 DUMP; the RDB file format, version 10.
#ifndef REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_RDB_CODEC_H_
#define REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_RDB_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {

// Whether longer strings are compressed (rdbcompression).
enum class RdbCompression : bool { kOff, kOn };

// Appends `size` bytes of the number, the lowest first.
void AppendLittleEndian(uint64_t value, size_t size, std::string& out);
void AppendRdbLength(uint64_t length, std::string& out);
void AppendRdbString(std::string_view text, std::string& out,
                     RdbCompression compression = RdbCompression::kOn);

// Reads bytes from the front. Each function returns nullopt if the bytes do not contain the
// requested item, and failure() then says what was expected where; nothing more may be read. For
// untrusted bytes: it never reads beyond the end, and a string whose claimed length exceeds the
// data allocates no more than a small multiple of the bytes that exist.
class RdbReader {
 public:
  // Reads bytes that the caller keeps alive.
  explicit RdbReader(std::string_view bytes)
      : left_(bytes), unsummed_(bytes.data()), fetched_bytes_(bytes.size()) {}
  // Reads from a source in parts. The reader may take more bytes from it than were asked for. The
  // source must outlive the reader.
  explicit RdbReader(ByteSource& source) : source_(&source) {}
  RdbReader(const RdbReader&) = delete;
  RdbReader& operator=(const RdbReader&) = delete;

  std::optional<uint64_t> ReadLittleEndian(size_t size);
  std::optional<uint64_t> ReadLength();
  std::optional<std::string> ReadString();
  // As ReadString, without a copy where possible. The view is valid until the next read.
  std::optional<std::string_view> ReadStringView();
  // The next `size` bytes unchanged. The view is valid until the next read.
  std::optional<std::string_view> ReadBytes(size_t size);

  // The number of bytes read so far.
  uint64_t offset() const { return fetched_bytes_ - left_.size(); }
  // The CRC-64 of all bytes read so far.
  uint64_t Checksum();

  struct Failure {
    uint64_t offset;  // Where the item begins that is not as expected.
    std::string expected;
  };
  // Records that the item read last is not what it must be. The first failure is kept. Returns
  // nullopt, for `return reader.Fail("a sorted set's score")`.
  std::nullopt_t Fail(std::string_view expected);
  // The first failure; nullopt if there was none.
  const std::optional<Failure>& failure() const { return failure_; }
  // The error of the source, if that is why there are no more bytes.
  const absl::Status& source_status() const { return source_status_; }

 private:
  struct Length {
    uint64_t value;
    bool is_encoding;  // True for an encoded string; `value` is then the encoding.
  };
  void BeginItem() { item_offset_ = offset(); }
  std::optional<std::string_view> Take(size_t size);
  std::optional<uint64_t> TakeLittleEndian(size_t size);
  std::optional<uint64_t> TakeBigEndian(size_t size);
  std::optional<Length> TakeLengthOrEncoding();
  std::optional<uint64_t> TakeLength();
  std::optional<std::string_view> TakeInteger(size_t size);
  std::optional<std::string_view> TakeCompressed();
  bool Fetch(size_t size);
  void SumConsumed();
  void DropConsumed();

  std::string_view left_;
  ByteSource* source_ = nullptr;
  // The bytes fetched from the source that may still be needed; `left_` is its tail.
  std::string buffer_;
  // The first byte that crc_ does not cover.
  const char* unsummed_ = nullptr;
  uint64_t crc_ = 0;
  uint64_t fetched_bytes_ = 0;
  uint64_t item_offset_ = 0;
  std::optional<Failure> failure_;
  absl::Status source_status_;
  // Own the text of the last string that the file stores as an integer or compressed.
  base::Int64Buffer integer_text_;
  std::string decompressed_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_RDB_CODEC_H_
