#include "redouble/backends/redis/spawn/private_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::redis {
namespace {

// The longest name of a file in the folder, with its slash.
constexpr size_t kRoomForSocketName = 24;
constexpr size_t kLongestSocketPath = sizeof(sockaddr_un::sun_path) - 1;

absl::Status ErrnoOf(const char* action, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(action, " ", path));
}

// The TMPDIR of Bazel tests has about two hundred bytes.
std::string PatternFor(const std::string& prefix) {
  const char* chosen = getenv("TMPDIR");
  std::string pattern = absl::StrCat(chosen == nullptr ? "" : chosen, "/", prefix, "XXXXXX");
  const bool usable = chosen != nullptr && chosen[0] == '/' &&
                      pattern.size() + kRoomForSocketName <= kLongestSocketPath;
  return usable ? pattern : absl::StrCat("/tmp/", prefix, "XXXXXX");
}

}  // namespace

absl::StatusOr<PrivateFolder> PrivateFolder::Create(const std::string& prefix) {
  std::string path = PatternFor(prefix);
  if (mkdtemp(path.data()) == nullptr) return ErrnoOf("cannot make a folder like", path);
  return PrivateFolder(std::move(path));
}

PrivateFolder::PrivateFolder(std::string path) : path_(std::move(path)) {}

PrivateFolder::~PrivateFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, std::string())) {}

PrivateFolder& PrivateFolder::operator=(PrivateFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

absl::Status WriteFile(const std::string& path, const std::string& content) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return ErrnoOf("cannot create", path);
  absl::Cleanup closer = [file] { close(file); };
  size_t written = 0;
  while (written < content.size()) {
    const ssize_t count = write(file, content.data() + written, content.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoOf("cannot write", path);
    written += static_cast<size_t>(count);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return ErrnoOf("cannot open", path);
  absl::Cleanup closer = [file] { close(file); };
  std::string content;
  char block[4096];
  for (;;) {
    const ssize_t count = read(file, block, sizeof(block));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoOf("cannot read", path);
    if (count == 0) return content;
    content.append(block, static_cast<size_t>(count));
  }
}

}  // namespace redouble::inline v0_1::redis
