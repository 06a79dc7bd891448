#include "redouble/sim/server/process/text_file.h"

#include <array>
#include <cstddef>
#include <memory>

#include "absl/strings/string_view.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::sim {
namespace {

// "cannot open x: No such file or directory" without what was tried.
absl::Status ReasonOf(const absl::Status& status) {
  const absl::string_view message = status.message();
  const size_t colon = message.rfind(": ");
  if (status.ok() || colon == message.npos) return status;
  return absl::Status(status.code(), message.substr(colon + 2));
}

absl::StatusOr<std::string> ReadWhole(const std::string& path, memory::FileSystem& files) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::unique_ptr<memory::ByteSource> source,
                            memory::OpenFile(path, files));
  std::string text;
  std::array<char, 4096> buffer = {};
  for (;;) {
    REDOUBLE_ASSIGN_OR_RETURN(const size_t size, source->Read(buffer));
    if (size == 0) return text;
    text.append(buffer.data(), size);
  }
}

}  // namespace

absl::StatusOr<std::string> ReadTextFile(const std::string& path, memory::FileSystem& files) {
  absl::StatusOr<std::string> text = ReadWhole(path, files);
  if (!text.ok()) return ReasonOf(text.status());
  return text;
}

absl::Status ReplaceTextFile(const std::string& path, std::string_view text,
                             memory::FileSystem& files) {
  const auto write = [text](memory::ByteSink& sink) { return sink.Write(text); };
  return ReasonOf(memory::ReplaceFile(path, write, files));
}

}  // namespace redouble::sim
