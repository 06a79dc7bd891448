// FaultyFileSystem: the machine's file system up to the n-th call, which fails; or the process ends
// there, and so no later call has an effect.
//
//   for (int nth = 1;; ++nth) {
//     FaultyFileSystem files(nth, FaultyFileSystem::Fault::kError);
//     const absl::Status saved = SaveRdbFile(engine, path, {}, files);
//     if (!files.reached()) break;
//   }
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_FAULTY_FILE_SYSTEM_FOR_TEST_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_FAULTY_FILE_SYSTEM_FOR_TEST_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/memory/snapshot/file_system.h"

namespace redouble::inline v0_1::memory {

class FaultyFileSystem final : public FileSystem {
 public:
  enum class Fault { kError, kEnd };
  FaultyFileSystem(int nth, Fault fault) : calls_left_(nth), fault_(fault) {}

  bool reached() const { return calls_left_ <= 0; }
  // What the n-th call was: "rename"; empty if it was not reached.
  std::string_view failed_call() const { return failed_call_; }

  absl::StatusOr<int> Open(const std::string& path) override {
    return Fails("open") ? error_ : real_.Open(path);
  }
  absl::StatusOr<int> Create(const std::string& path) override {
    return Fails("create") ? error_ : real_.Create(path);
  }
  absl::StatusOr<int> Append(const std::string& path) override {
    return Fails("open for appending") ? error_ : real_.Append(path);
  }
  absl::Status MakeFolder(const std::string& path) override {
    return Fails("make folder") ? error_ : real_.MakeFolder(path);
  }
  absl::StatusOr<uint64_t> SizeOf(const std::string& path) override {
    return Fails("size") ? error_ : real_.SizeOf(path);
  }
  absl::Status Truncate(const std::string& path, uint64_t bytes) override {
    return Fails("truncate") ? error_ : real_.Truncate(path, bytes);
  }
  absl::StatusOr<size_t> Read(int file, std::span<char> to) override {
    return Fails("read") ? error_ : real_.Read(file, to);
  }
  // A disk that is full, or a process that is killed, may have taken a part.
  absl::StatusOr<size_t> Write(int file, std::string_view bytes) override {
    const std::string_view part = bytes.substr(0, (bytes.size() + 1) / 2);
    const bool ended = reached();
    if (!Fails("write")) return real_.Write(file, part);
    if (!ended) real_.Write(file, part).IgnoreError();
    return error_;
  }
  // What is not synced is not lost: the machine goes on.
  absl::Status Sync(int) override { return Fails("sync") ? error_ : absl::OkStatus(); }
  // The descriptor is closed in any case.
  absl::Status Close(int file) override {
    const bool fails = Fails("close");
    const absl::Status closed = real_.Close(file);
    return fails ? error_ : closed;
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    return Fails("rename") ? error_ : real_.Rename(from, to);
  }
  absl::Status Remove(const std::string& path) override {
    return Fails("remove") ? error_ : real_.Remove(path);
  }

 private:
  bool Fails(std::string_view call) {
    --calls_left_;
    if (calls_left_ == 0) failed_call_ = call;
    return calls_left_ == 0 || (calls_left_ < 0 && fault_ == Fault::kEnd);
  }

  FileSystem& real_ = RealFileSystem();
  int calls_left_;
  std::string_view failed_call_;
  const Fault fault_;
  const absl::Status error_ = absl::ResourceExhaustedError("No space left on device");
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_FAULTY_FILE_SYSTEM_FOR_TEST_H_
