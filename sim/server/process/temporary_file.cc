#include "redouble/sim/server/process/temporary_file.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/backends/memory/snapshot/file_system.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::sim {
namespace {

// Makes a file without a name. Returns its descriptor, -1 if it cannot.
int MakeFile(const std::string& folder) {
  constexpr mode_t kMode = 0600;
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMode);
  if (file >= 0) return file;
  // Some file systems have only files with names.
  std::string path = folder + "/temp-redouble-XXXXXX";
  const int named = mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) unlink(path.c_str());
  return named;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TemporaryFile>> TemporaryFile::Create() {
  int file = MakeFile(".");
  if (file < 0) {
    std::error_code ignored;
    file = MakeFile(std::filesystem::temp_directory_path(ignored).string());
  }
  if (file < 0) return absl::ErrnoToStatus(errno, "cannot make a temporary file");
  return std::unique_ptr<TemporaryFile>(new TemporaryFile(file));
}

TemporaryFile::~TemporaryFile() { close(file_); }

absl::Status TemporaryFile::Write(std::string_view bytes) {
  bytes_ += bytes.size();
  return memory::WriteAll(memory::RealFileSystem(), file_, bytes);
}

absl::StatusOr<size_t> TemporaryFile::Read(std::span<char> to) {
  REDOUBLE_ASSIGN_OR_RETURN(const size_t count, ReadAt(read_bytes_, to));
  read_bytes_ += count;
  return count;
}

absl::StatusOr<size_t> TemporaryFile::ReadAt(uint64_t offset, std::span<char> to) const {
  ssize_t count = -1;
  do {
    count = pread(file_, to.data(), to.size(), static_cast<off_t>(offset));
  } while (count < 0 && errno == EINTR);
  if (count < 0) return absl::ErrnoToStatus(errno, "cannot read a temporary file");
  return static_cast<size_t>(count);
}

}  // namespace redouble::inline v0_1::sim
