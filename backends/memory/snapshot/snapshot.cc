#include "redouble/backends/memory/snapshot/snapshot.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::memory {
namespace {

// The status with the path in front, unless a system call has named it already.
absl::Status WithPath(const absl::Status& status, const std::string& path) {
  if (status.ok() || absl::StrContains(status.message(), path)) return status;
  return {status.code(), absl::StrCat(path, ": ", status.message())};
}

class RdbFileLoad final : public RdbLoad {
 public:
  RdbFileLoad(Engine& engine, std::string path, std::unique_ptr<ByteSource> source,
              RdbLoadOptions options)
      : path_(std::move(path)),
        source_(std::move(source)),
        load_(BeginLoadingRdb(engine, *source_, std::move(options))) {}

  absl::StatusOr<bool> Continue(uint64_t part_bytes) override {
    absl::StatusOr<bool> continues = load_->Continue(part_bytes);
    if (!continues.ok()) return WithPath(continues.status(), path_);
    return continues;
  }
  RdbProgress progress() const override { return load_->progress(); }
  const RdbLoadReport& report() const override { return load_->report(); }

 private:
  const std::string path_;
  const std::unique_ptr<ByteSource> source_;
  const std::unique_ptr<RdbLoad> load_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RdbLoad>> BeginLoadingRdbFile(Engine& engine,
                                                             const std::string& path,
                                                             RdbLoadOptions options,
                                                             FileSystem& files) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenFile(path, files);
  if (!source.ok()) return WithPath(source.status(), path);
  return std::make_unique<RdbFileLoad>(engine, path, *std::move(source), std::move(options));
}

absl::StatusOr<RdbLoadReport> LoadRdbFile(Engine& engine, const std::string& path,
                                          const RdbLoadOptions& options, FileSystem& files) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::unique_ptr<RdbLoad> load,
                            BeginLoadingRdbFile(engine, path, options, files));
  REDOUBLE_RETURN_IF_ERROR(FinishLoading(*load));
  return load->report();
}

absl::Status SaveRdbFile(Engine& engine, const std::string& path, const RdbSaveOptions& options,
                         FileSystem& files) {
  const auto write = [&](ByteSink& sink) { return SaveRdb(engine, sink, options); };
  return WithPath(ReplaceFile(path, write, files), path);
}

}  // namespace redouble::inline v0_1::memory
