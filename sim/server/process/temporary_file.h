// TemporaryFile: bytes that are written and then read once, and that are too many for the memory:
// the file of keys that a master sends, and the one that it receives.
//
//   REDOUBLE_ASSIGN_OR_RETURN(const std::unique_ptr<TemporaryFile> file, TemporaryFile::Create());
//   REDOUBLE_RETURN_IF_ERROR(memory::SaveRdb(engine, *file));
//   file->bytes();        // What to announce.
//   file->Read(buffer);   // From the beginning.
//
// The file is in the working folder, or in the system's folder of temporary files if the former
// cannot be written. It has no name, so that nothing is left of it however the process ends.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_PROCESS_TEMPORARY_FILE_H_
#define REDOUBLE_SIM_SERVER_PROCESS_TEMPORARY_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/memory/persistence/byte_stream.h"

namespace redouble::inline v0_1::sim {

class TemporaryFile final : public memory::ByteSink, public memory::ByteSource {
 public:
  // Errors: those of the system calls.
  static absl::StatusOr<std::unique_ptr<TemporaryFile>> Create();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() override;

  absl::Status Write(std::string_view bytes) override;
  // Continues after what was read before.
  absl::StatusOr<size_t> Read(std::span<char> to) override;
  // The bytes from `offset` on, for several readers. 0 at the end.
  absl::StatusOr<size_t> ReadAt(uint64_t offset, std::span<char> to) const;
  // The bytes that were written.
  uint64_t bytes() const { return bytes_; }

 private:
  explicit TemporaryFile(int file) : file_(file) {}

  const int file_;
  uint64_t bytes_ = 0;
  uint64_t read_bytes_ = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_TEMPORARY_FILE_H_
