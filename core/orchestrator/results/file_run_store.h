// FileRunStore: a run store in one file, for a program that is a single process.
//
// The file has one line for each change: the record after it, as JSON. Opening reads the lines; the
// last line of a run is its record. A line that a crash has cut off is the last one and is dropped;
// the change that it belongs to had not been reported as done.
//
//   absl::StatusOr<std::unique_ptr<FileRunStore>> runs = FileRunStore::Open("runs.jsonl");
//   absl::StatusOr<bool> inserted = co_await (*runs)->Insert(record);
//
// A change is in the file when its task ends, so it survives a crash of the process. It survives a
// crash of the machine only after the system has written its buffers. One process at a time may use
// the file.
//
// Thread-safety: one thread.
// Source: docs/systems/orchestrator.md 2.12.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RESULTS_FILE_RUN_STORE_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RESULTS_FILE_RUN_STORE_H_

#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/results/run_store.h"

namespace redouble::inline v0_1::orchestrator {

class FileRunStore final : public RunStore {
 public:
  // Reads the file, or creates it, and writes it again without the lines that later ones replace.
  // Errors: Unavailable if the file cannot be read or written; DataLoss for a line before the last
  // that is no record.
  static absl::StatusOr<std::unique_ptr<FileRunStore>> Open(std::string path);

  // Errors also: Unavailable if the line cannot be written; the record is then unchanged.
  base::Task<absl::StatusOr<bool>> Insert(const RunRecord& record) override;
  base::Task<absl::Status> Update(std::string_view run_id,
                                  std::function<void(RunRecord&)> change) override;
  base::Task<absl::StatusOr<std::optional<RunRecord>>> Find(std::string_view run_id) override;
  base::Task<absl::StatusOr<std::vector<RunRecord>>> List(RunQuery query) override;

 private:
  explicit FileRunStore(std::string path) : path_(std::move(path)) {}
  absl::Status Read();
  absl::Status Compact();
  absl::Status Append(const RunRecord& record);

  const std::string path_;
  MemoryRunStore records_;
  std::ofstream file_;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RESULTS_FILE_RUN_STORE_H_
