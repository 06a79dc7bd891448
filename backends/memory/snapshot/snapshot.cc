#include "redouble/backends/memory/snapshot/snapshot.h"

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/snapshot/file_stream.h"

namespace redouble::inline v0_1::memory {
namespace {

// The status with the path in front, unless a system call has named it already.
absl::Status WithPath(const absl::Status& status, const std::string& path) {
  if (status.ok() || absl::StrContains(status.message(), path)) return status;
  return {status.code(), absl::StrCat(path, ": ", status.message())};
}

}  // namespace

absl::StatusOr<RdbLoadReport> LoadRdbFile(Engine& engine, const std::string& path,
                                          const RdbLoadOptions& options, FileSystem& files) {
  const absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenFile(path, files);
  if (!source.ok()) return WithPath(source.status(), path);
  absl::StatusOr<RdbLoadReport> report = LoadRdb(engine, **source, options);
  if (!report.ok()) return WithPath(report.status(), path);
  return report;
}

absl::Status SaveRdbFile(Engine& engine, const std::string& path, const RdbSaveOptions& options,
                         FileSystem& files) {
  const auto write = [&](ByteSink& sink) { return SaveRdb(engine, sink, options); };
  return WithPath(ReplaceFile(path, write, files), path);
}

}  // namespace redouble::inline v0_1::memory
