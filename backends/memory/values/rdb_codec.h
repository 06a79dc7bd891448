// The parts that RDB, Redis's format on disk and in DUMP, is made of: lengths and strings.
//
// Lengths take 1, 2, 5 or 9 bytes. A string that is the text of a 32-bit integer is written as
// that integer; a longer one is compressed by LZF when that saves four bytes, as Redis does unless
// rdbcompression is off.
//
//   std::string out;
//   AppendRdbString("hello", out);
//   RdbReader reader(out);
//   std::optional<std::string> text = reader.ReadString();
//
// Thread-safety: free functions, and a reader for one thread.
// Source: Redis 7.0 DUMP; the RDB file format, version 10.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_RDB_CODEC_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_RDB_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redouble::memory {

// Appends `size` bytes of the number, the lowest first.
void AppendLittleEndian(uint64_t value, size_t size, std::string& out);
void AppendRdbLength(uint64_t length, std::string& out);
void AppendRdbString(std::string_view text, std::string& out);

// Takes bytes apart from the front. Every function gives no value when what follows is not what is
// asked for; the reader is of no use afterwards. Whatever the bytes are, it never reads beyond
// them, and a string that claims to be longer than they could hold costs no memory.
class RdbReader {
 public:
  explicit RdbReader(std::string_view bytes) : left_(bytes) {}

  std::optional<uint64_t> ReadLittleEndian(size_t size);
  std::optional<uint64_t> ReadLength();
  std::optional<std::string> ReadString();
  // `size` bytes as they are.
  std::optional<std::string_view> ReadBytes(size_t size);

 private:
  struct Length {
    uint64_t value;
    bool is_encoding;  // Of a string: `value` says how it is written.
  };
  std::optional<Length> ReadLengthOrEncoding();
  std::optional<uint64_t> ReadBigEndian(size_t size);
  std::optional<std::string> ReadInteger(size_t size);
  std::optional<std::string> ReadCompressed();

  std::string_view left_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_RDB_CODEC_H_
