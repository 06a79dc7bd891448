// FileSystem: the system calls by which snapshots are read and written.
//
// The interface has one function for each call, so that a test can make any of them fail, or stop
// the process at any of them. RealFileSystem() is the machine's.
//
//   absl::StatusOr<int> file = files.Open(path);
//   absl::StatusOr<size_t> count = files.Read(*file, buffer);
//
// Thread-safety: an object is used by one thread; RealFileSystem() by any.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_FILE_SYSTEM_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace redouble::inline v0_1::memory {

// Errors of all functions: the errno of the call as a status, with the path if there is one.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Opens a file or a folder for reading. Returns its descriptor.
  virtual absl::StatusOr<int> Open(const std::string& path) = 0;
  // Makes a file, or empties it, for writing. Returns its descriptor.
  virtual absl::StatusOr<int> Create(const std::string& path) = 0;
  // Opens a file for writing at its end, and makes it if there is none. Returns its descriptor.
  virtual absl::StatusOr<int> Append(const std::string& path) = 0;
  // Makes a folder. A folder that exists is no error.
  virtual absl::Status MakeFolder(const std::string& path) = 0;
  // The size of a file in bytes.
  virtual absl::StatusOr<uint64_t> SizeOf(const std::string& path) = 0;
  // Shortens a file to this size.
  virtual absl::Status Truncate(const std::string& path, uint64_t bytes) = 0;
  // Reads up to `to.size()` bytes. Returns their number, 0 at the end.
  virtual absl::StatusOr<size_t> Read(int file, std::span<char> to) = 0;
  // Writes the first bytes of `bytes`. Returns their number, at least one.
  virtual absl::StatusOr<size_t> Write(int file, std::string_view bytes) = 0;
  // Waits until the content of the file or folder is on the disk.
  virtual absl::Status Sync(int file) = 0;
  // The descriptor is closed even if it fails.
  virtual absl::Status Close(int file) = 0;
  // Replaces the file `to`, if there is one, in one step.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status Remove(const std::string& path) = 0;
};

FileSystem& RealFileSystem();

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_FILE_SYSTEM_H_
