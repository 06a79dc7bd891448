// PrivateFolder: a temporary folder that only this user can read, removed with its content.
//
// A spawned server keeps its socket, configuration, log and persisted data in such a folder, so
// that servers do not interfere and no files are left behind.
//
//     absl::StatusOr<redouble::redis::PrivateFolder> folder =
//         redouble::redis::PrivateFolder::Create("redouble-");
//     if (!folder.ok()) return folder.status();
//     std::string socket = folder->PathOf("redis.sock");
//
// Thread-safety: as a std::string; const calls may be concurrent.

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_PRIVATE_FOLDER_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_PRIVATE_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace redouble::inline v0_1::redis {

class PrivateFolder {
 public:
  // Makes a new, empty folder of mode 0700 whose name starts with `prefix`: in $TMPDIR, or in /tmp
  // if that is unset or too long for a Unix socket in the folder (107 bytes).
  // Errors: the errno of mkdtemp as a status (not found, permission denied, ...), with the path.
  static absl::StatusOr<PrivateFolder> Create(const std::string& prefix);

  // Removes the folder and its content. Files that cannot be removed stay.
  ~PrivateFolder();

  // The folder moves with the object; a moved-from object owns no folder.
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&& other) noexcept;

  // The absolute path, without a trailing slash.
  const std::string& path() const { return path_; }

  // The absolute path of `name` within the folder.
  std::string PathOf(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit PrivateFolder(std::string path);

  std::string path_;
};

// Writes `content` to a new or emptied file of mode 0600.
// Errors: the errno of open or write as a status, with the path.
absl::Status WriteFile(const std::string& path, const std::string& content);

// Returns the whole content of a file.
// Errors: the errno of open or read as a status, with the path.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_PRIVATE_FOLDER_H_
