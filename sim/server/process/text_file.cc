#include "redouble/sim/server/process/text_file.h"

#include "absl/strings/string_view.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/file_stream.h"

namespace redouble::inline v0_1::sim {
namespace {

// "cannot open x: No such file or directory" without what was tried.
absl::Status ReasonOf(const absl::Status& status) {
  const absl::string_view message = status.message();
  const size_t colon = message.rfind(": ");
  if (status.ok() || colon == message.npos) return status;
  return absl::Status(status.code(), message.substr(colon + 2));
}

}  // namespace

absl::StatusOr<std::string> ReadTextFile(const std::string& path, memory::FileSystem& files) {
  absl::StatusOr<std::string> text = memory::ReadFile(path, files);
  if (!text.ok()) return ReasonOf(text.status());
  return text;
}

absl::Status ReplaceTextFile(const std::string& path, std::string_view text,
                             memory::FileSystem& files) {
  const auto write = [text](memory::ByteSink& sink) { return sink.Write(text); };
  return ReasonOf(memory::ReplaceFile(path, write, files));
}

}  // namespace redouble::inline v0_1::sim
