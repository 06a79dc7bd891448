// FileArtifacts: the outputs of nodes in a folder, one file for each content.
//
//   absl::StatusOr<std::unique_ptr<FileArtifacts>> outputs = FileArtifacts::Open("artifacts");
//   absl::StatusOr<std::string> ref = co_await (*outputs)->Put(R"({"n":1})");  // cas://sha256:...
//
// A file has the hexadecimal digits of its reference as its name and appears whole: it is written
// under another name and then renamed. After a crash between the two, the next Put of the same
// output replaces the unfinished file.
//
// Thread-safety: one thread. Several processes may share a folder.
// Source: docs/systems/orchestrator.md 2.2.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RESULTS_FILE_ARTIFACTS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RESULTS_FILE_ARTIFACTS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/run/artifacts.h"

namespace redouble::inline v0_1::orchestrator {

class FileArtifacts final : public Artifacts {
 public:
  // Creates the folder if it is missing. Errors: Unavailable if it cannot be created.
  static absl::StatusOr<std::unique_ptr<FileArtifacts>> Open(std::string folder);

  // Errors: Unavailable if the file cannot be written.
  base::Task<absl::StatusOr<std::string>> Put(std::string_view output_json) override;
  // Nullopt also for a reference that ContentRef does not return. Errors: DataLoss if the file does
  // not have the content of its reference.
  base::Task<absl::StatusOr<std::optional<std::string>>> Get(std::string_view ref) override;

 private:
  explicit FileArtifacts(std::string folder) : folder_(std::move(folder)) {}

  const std::string folder_;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RESULTS_FILE_ARTIFACTS_H_
