#include "redouble/backends/memory/snapshot/file_stream.h"

#include <array>
#include <cstddef>
#include <span>

#include "redouble/core/base/status/status_macros.h"

namespace redouble::memory {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(FileSystem& files, int file) : files_(files), file_(file) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  // A file that was only read loses nothing when closing it fails.
  ~FileSource() override { files_.Close(file_).IgnoreError(); }

  absl::StatusOr<size_t> Read(std::span<char> to) override { return files_.Read(file_, to); }

 private:
  FileSystem& files_;
  const int file_;
};

class FileSink final : public ByteSink {
 public:
  FileSink(FileSystem& files, int file) : files_(files), file_(file) {}

  absl::Status Write(std::string_view bytes) override { return WriteAll(files_, file_, bytes); }

 private:
  FileSystem& files_;
  const int file_;
};

absl::Status WriteAndSync(const std::string& path, absl::FunctionRef<absl::Status(ByteSink&)> write,
                          FileSystem& files) {
  REDOUBLE_ASSIGN_OR_RETURN(const int file, files.Create(path));
  FileSink sink(files, file);
  absl::Status status = write(sink);
  status.Update(status.ok() ? files.Sync(file) : absl::OkStatus());
  status.Update(files.Close(file));
  return status;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

absl::Status WriteAll(FileSystem& files, int file, std::string_view bytes) {
  while (!bytes.empty()) {
    REDOUBLE_ASSIGN_OR_RETURN(const size_t count, files.Write(file, bytes));
    bytes.remove_prefix(count);
  }
  return absl::OkStatus();
}

// A new name is on the disk only after its folder is.
absl::Status SyncFolder(const std::string& folder, FileSystem& files) {
  REDOUBLE_ASSIGN_OR_RETURN(const int file, files.Open(folder));
  absl::Status status = files.Sync(file);
  status.Update(files.Close(file));
  return status;
}

absl::StatusOr<std::string> ReadFile(const std::string& path, FileSystem& files) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenFile(path, files));
  std::string text;
  std::array<char, 4096> buffer = {};
  for (;;) {
    REDOUBLE_ASSIGN_OR_RETURN(const size_t size, source->Read(buffer));
    if (size == 0) return text;
    text.append(buffer.data(), size);
  }
}

absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path, FileSystem& files) {
  REDOUBLE_ASSIGN_OR_RETURN(const int file, files.Open(path));
  return std::make_unique<FileSource>(files, file);
}

absl::Status ReplaceFile(const std::string& path, absl::FunctionRef<absl::Status(ByteSink&)> write,
                         FileSystem& files) {
  const std::string partial = path + ".partial";
  absl::Status status = WriteAndSync(partial, write, files);
  if (status.ok()) status = files.Rename(partial, path);
  if (!status.ok()) {
    // The first error is the one to report.
    files.Remove(partial).IgnoreError();
    return status;
  }
  return SyncFolder(FolderOf(path), files);
}

}  // namespace redouble::memory
