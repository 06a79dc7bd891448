#include "redouble/backends/memory/snapshot/file_stream.h"

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::memory {
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

  absl::Status Write(std::string_view bytes) override {
    bytes_ += bytes.size();
    return WriteAll(files_, file_, bytes);
  }

  uint64_t bytes() const { return bytes_; }

 private:
  FileSystem& files_;
  const int file_;
  uint64_t bytes_ = 0;
};

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

FileReplacement::FileReplacement(std::string path, std::string_view suffix, FileSystem& files)
    : path_(std::move(path)), partial_(path_ + std::string(suffix)), files_(files) {}

FileReplacement::~FileReplacement() {
  if (file_) Fail(absl::CancelledError()).IgnoreError();
}

// The first error is the one to report.
absl::Status FileReplacement::Fail(absl::Status status) {
  if (file_) files_.Close(*std::exchange(file_, std::nullopt)).IgnoreError();
  files_.Remove(partial_).IgnoreError();
  status_ = status;
  return status;
}

absl::Status FileReplacement::Write(absl::FunctionRef<absl::Status(ByteSink&)> write) {
  REDOUBLE_RETURN_IF_ERROR(status_);
  if (!file_) {
    const absl::StatusOr<int> file = files_.Create(partial_);
    if (!file.ok()) return Fail(file.status());
    file_ = *file;
  }
  FileSink sink(files_, *file_);
  const absl::Status status = write(sink);
  bytes_ += sink.bytes();
  return status.ok() ? status : Fail(status);
}

// Source: Redis 7.0 rdb-save-incremental-fsync.
absl::Status FileReplacement::SyncIfDue() {
  constexpr uint64_t kSyncBytes = uint64_t{4} << 20;
  REDOUBLE_RETURN_IF_ERROR(status_);
  if (bytes_ - synced_bytes_ < kSyncBytes) return absl::OkStatus();
  synced_bytes_ = bytes_;
  const absl::Status status = files_.Sync(*file_);
  return status.ok() ? status : Fail(status);
}

absl::Status FileReplacement::Finish() {
  REDOUBLE_RETURN_IF_ERROR(status_);
  absl::Status status = files_.Sync(*file_);
  status.Update(files_.Close(*std::exchange(file_, std::nullopt)));
  if (status.ok()) status = files_.Rename(partial_, path_);
  if (!status.ok()) return Fail(status);
  return SyncFolder(FolderOf(path_), files_);
}

absl::Status ReplaceFile(const std::string& path, absl::FunctionRef<absl::Status(ByteSink&)> write,
                         FileSystem& files) {
  FileReplacement file(path, ".partial", files);
  REDOUBLE_RETURN_IF_ERROR(file.Write(write));
  return file.Finish();
}

}  // namespace redouble::inline v0_1::memory
