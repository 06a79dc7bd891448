// ByteSource and ByteSink: where snapshots are read from and written to.
//
// The RDB codec reads and writes in parts through these interfaces, so that a file, a socket or a
// string can hold a snapshot, and no copy of all its bytes is made.
//
//   StringSource source(bytes);
//   absl::StatusOr<size_t> count = source.Read(buffer);   // 0 at the end
//
// Thread-safety: one thread for each object.
#ifndef REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_BYTE_STREAM_H_
#define REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_BYTE_STREAM_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace redouble::inline v0_1::memory {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Reads up to `to.size()` bytes, at least one unless the source has ended. Returns their number,
  // 0 at the end. Errors: any; the source must not be used after one.
  virtual absl::StatusOr<size_t> Read(std::span<char> to) = 0;
};

class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // Writes all of `bytes`. Errors: any; how much was written is then unknown.
  virtual absl::Status Write(std::string_view bytes) = 0;
};

// Reads bytes that the caller keeps alive.
class StringSource final : public ByteSource {
 public:
  explicit StringSource(std::string_view bytes) : left_(bytes) {}

  absl::StatusOr<size_t> Read(std::span<char> to) override {
    const size_t count = std::min(to.size(), left_.size());
    std::memcpy(to.data(), left_.data(), count);
    left_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view left_;
};

// Collects the written bytes in a string.
class StringSink final : public ByteSink {
 public:
  absl::Status Write(std::string_view bytes) override {
    bytes_.append(bytes);
    return absl::OkStatus();
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_BYTE_STREAM_H_
