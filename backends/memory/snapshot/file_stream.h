// Files as byte streams: one is read in parts, the other is replaced whole.
//
//   REDOUBLE_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenFile(path));
//   REDOUBLE_RETURN_IF_ERROR(
//       ReplaceFile(path, [](ByteSink& sink) { return sink.Write("content"); }));
//
// Thread-safety: one thread for each object. Two writers of one path at a time spoil each other.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_FILE_STREAM_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_FILE_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/file_system.h"

namespace redouble::inline v0_1::memory {

// Opens a file for reading. `files` must outlive the source. Errors: that of the system call.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path,
                                                     FileSystem& files = RealFileSystem());

// Writes all bytes to an open file. Errors: those of the system call.
absl::Status WriteAll(FileSystem& files, int file, std::string_view bytes);

// Waits until the names in a folder are on the disk. Errors: those of the system calls.
absl::Status SyncFolder(const std::string& folder, FileSystem& files = RealFileSystem());

// Reads a whole file. Errors: those of the system calls.
absl::StatusOr<std::string> ReadFile(const std::string& path, FileSystem& files = RealFileSystem());

// A file that replaces another one in two steps, for content that must be noted now while the disk
// may be waited for later:
//
//   FileReplacement file(path, ".background", files);
//   absl::Status status = file.Write([](ByteSink& sink) { return sink.Write("content"); });
//   ...
//   status = file.Finish();
//
// The first step writes a file beside `path`, `path` and the suffix, in one or several calls; the
// second one waits until it is on the disk, renames it to `path` and waits until that is on the
// disk too. Without the second step, or after an error, the file beside `path` is removed.
class FileReplacement {
 public:
  // `files` must outlive the object.
  FileReplacement(std::string path, std::string_view suffix, FileSystem& files = RealFileSystem());
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;
  ~FileReplacement();

  // Appends to the file beside `path`, which the first call creates. Errors: those of `write` and
  // of the system calls. After an error, further calls do nothing and return the same error.
  absl::Status Write(absl::FunctionRef<absl::Status(ByteSink&)> write);
  // Waits for the disk if much has been written since the last time, so that Finish waits less: for
  // a file that is written while clients wait. Errors: as in Write.
  absl::Status SyncIfDue();
  // Is called once, after Write. Errors: that of Write, if it failed; those of the system calls.
  // If only the last step fails, `path` is the new file.
  absl::Status Finish();

  uint64_t bytes() const { return bytes_; }

 private:
  absl::Status Fail(absl::Status status);

  const std::string path_;
  const std::string partial_;
  FileSystem& files_;
  std::optional<int> file_;
  absl::Status status_;
  uint64_t bytes_ = 0;
  uint64_t synced_bytes_ = 0;
};

// Writes a file beside `path` (`path`.partial), waits until it is on the disk, renames it to `path`
// and waits until that is on the disk too. Whatever fails, and wherever the process ends, `path` is
// the whole old file or the whole new one.
//
// Errors: those of `write` and of the system calls. After an error before the renaming, the partial
// file is removed and `path` is the old file; if only the last step fails, `path` is the new file.
absl::Status ReplaceFile(const std::string& path, absl::FunctionRef<absl::Status(ByteSink&)> write,
                         FileSystem& files = RealFileSystem());

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_FILE_STREAM_H_
