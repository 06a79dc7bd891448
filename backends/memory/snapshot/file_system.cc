#include "redouble/backends/memory/snapshot/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::memory {
namespace {

absl::Status ErrnoOf(absl::string_view action) { return absl::ErrnoToStatus(errno, action); }

// Calls `call` until it is not interrupted by a signal.
template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class MachineFileSystem final : public FileSystem {
 public:
  absl::StatusOr<int> Open(const std::string& path) override {
    const int file = Retry([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); });
    if (file < 0) return ErrnoOf(absl::StrCat("cannot open ", path));
    return file;
  }

  absl::StatusOr<int> Create(const std::string& path) override {
    return OpenToWrite(path, O_TRUNC);
  }

  absl::StatusOr<int> Append(const std::string& path) override {
    return OpenToWrite(path, O_APPEND);
  }

  absl::Status MakeFolder(const std::string& path) override {
    constexpr mode_t kMode = 0755;
    if (mkdir(path.c_str(), kMode) == 0 || errno == EEXIST) return absl::OkStatus();
    return ErrnoOf(absl::StrCat("cannot make the folder ", path));
  }

  absl::StatusOr<uint64_t> SizeOf(const std::string& path) override {
    struct stat status = {};
    if (stat(path.c_str(), &status) == 0) return static_cast<uint64_t>(status.st_size);
    return ErrnoOf(absl::StrCat("cannot open ", path));
  }

  absl::Status Truncate(const std::string& path, uint64_t bytes) override {
    const auto size = static_cast<off_t>(bytes);
    if (Retry([&] { return truncate(path.c_str(), size); }) == 0) return absl::OkStatus();
    return ErrnoOf(absl::StrCat("cannot truncate ", path));
  }

  absl::StatusOr<size_t> Read(int file, std::span<char> to) override {
    const ssize_t count = Retry([&] { return read(file, to.data(), to.size()); });
    if (count < 0) return ErrnoOf("cannot read");
    return static_cast<size_t>(count);
  }

  absl::StatusOr<size_t> Write(int file, std::string_view bytes) override {
    const ssize_t count = Retry([&] { return write(file, bytes.data(), bytes.size()); });
    if (count < 0) return ErrnoOf("cannot write");
    return static_cast<size_t>(count);
  }

  absl::Status Sync(int file) override {
    return Retry([&] { return fsync(file); }) == 0 ? absl::OkStatus() : ErrnoOf("cannot sync");
  }

  // Not retried: Linux has closed the descriptor even if a signal interrupts the call.
  absl::Status Close(int file) override {
    return close(file) == 0 || errno == EINTR ? absl::OkStatus() : ErrnoOf("cannot close");
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (std::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
    return ErrnoOf(absl::StrCat("cannot rename ", from, " to ", to));
  }

  absl::Status Remove(const std::string& path) override {
    return unlink(path.c_str()) == 0 ? absl::OkStatus()
                                     : ErrnoOf(absl::StrCat("cannot remove ", path));
  }

 private:
  static absl::StatusOr<int> OpenToWrite(const std::string& path, int flags) {
    constexpr mode_t kMode = 0666;  // Less the process's umask, as redis-server.
    const int file =
        Retry([&] { return open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, kMode); });
    if (file < 0) return ErrnoOf(absl::StrCat("cannot create ", path));
    return file;
  }
};

}  // namespace

FileSystem& RealFileSystem() {
  static MachineFileSystem files;
  return files;
}

}  // namespace redouble::inline v0_1::memory
