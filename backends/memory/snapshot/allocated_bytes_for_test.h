// AllocatedBytes and MeasuringSource: how much memory reading a file needs at most.
//
//   MeasuringSource source(bytes);
//   const size_t before = AllocatedBytes();
//   Load(source);
//   EXPECT_LT(source.peak.bytes, before + kMost);
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_ALLOCATED_BYTES_FOR_TEST_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_ALLOCATED_BYTES_FOR_TEST_H_

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/persistence/byte_stream.h"

namespace redouble::inline v0_1::memory {

// The bytes of all blocks that exist; 0 with a sanitizer, whose allocator does not say.
inline size_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Notes how much is allocated each time that bytes are passed on.
struct Peak {
  size_t bytes = 0;
  void Note() { bytes = std::max(bytes, AllocatedBytes()); }
};

class MeasuringSource final : public ByteSource {
 public:
  explicit MeasuringSource(std::string_view bytes) : source_(bytes) {}

  absl::StatusOr<size_t> Read(std::span<char> to) override {
    peak.Note();
    return source_.Read(to);
  }

  Peak peak;

 private:
  StringSource source_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_ALLOCATED_BYTES_FOR_TEST_H_
