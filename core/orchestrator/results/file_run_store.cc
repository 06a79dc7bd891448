#include "redouble/core/orchestrator/results/file_run_store.h"

#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/orchestrator/errors.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

absl::Status Unwritable(const std::string& path) {
  return MakeError(ErrorCode::kStorageUnavailable, absl::StrCat(path, ": cannot be written"));
}

RunQuery Everything() {
  RunQuery query;
  query.limit = std::numeric_limits<size_t>::max();
  return query;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileRunStore>> FileRunStore::Open(std::string path) {
  std::unique_ptr<FileRunStore> store(new FileRunStore(std::move(path)));
  REDOUBLE_RETURN_IF_ERROR(store->Read());
  REDOUBLE_RETURN_IF_ERROR(store->Compact());
  return store;
}

absl::Status FileRunStore::Read() {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return absl::OkStatus();
  std::ifstream input(path_, std::ios::binary);
  if (!input)
    return MakeError(ErrorCode::kStorageUnavailable, absl::StrCat(path_, ": cannot be read"));
  std::string line;
  for (int number = 1; std::getline(input, line); ++number) {
    if (input.eof()) break;  // A line without its end was cut off.
    absl::StatusOr<RunRecord> record = ParseRunRecord(line);
    if (!record.ok()) {
      return MakeError(ErrorCode::kStorageDamaged,
                       absl::StrCat(path_, ", line ", number, ": ", record.status().message()));
    }
    const std::string run_id = record->run_id;
    const auto replace = [&record](RunRecord& kept) { kept = *std::move(record); };
    REDOUBLE_RETURN_IF_ERROR(base::Run(records_.Update(run_id, replace)));
  }
  return absl::OkStatus();
}

// Writes the records to a new file that then replaces the old one.
absl::Status FileRunStore::Compact() {
  const std::string fresh = path_ + ".new";
  file_.open(fresh, std::ios::binary | std::ios::trunc);
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<RunRecord> records,
                            base::Run(records_.List(Everything())));
  for (const RunRecord& record : records) REDOUBLE_RETURN_IF_ERROR(Append(record));
  if (!file_) return Unwritable(fresh);
  std::error_code error;
  std::filesystem::rename(fresh, path_, error);
  return error ? Unwritable(path_) : absl::OkStatus();
}

absl::Status FileRunStore::Append(const RunRecord& record) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::string line, FormatRunRecord(record));
  file_ << line << '\n';
  file_.flush();
  return file_ ? absl::OkStatus() : Unwritable(path_);
}

base::Task<absl::StatusOr<bool>> FileRunStore::Insert(const RunRecord& record) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto present, co_await records_.Find(record.run_id));
  if (present) co_return false;
  REDOUBLE_CO_RETURN_IF_ERROR(Append(record));
  co_return co_await records_.Insert(record);
}

base::Task<absl::Status> FileRunStore::Update(std::string_view run_id,
                                              std::function<void(RunRecord&)> change) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto present, co_await records_.Find(run_id));
  RunRecord record = present.value_or(RunRecord());
  record.run_id = std::string(run_id);
  change(record);
  REDOUBLE_CO_RETURN_IF_ERROR(Append(record));
  co_return co_await records_.Update(run_id, [&record](RunRecord& kept) { kept = record; });
}

base::Task<absl::StatusOr<std::optional<RunRecord>>> FileRunStore::Find(std::string_view run_id) {
  return records_.Find(run_id);
}

base::Task<absl::StatusOr<std::vector<RunRecord>>> FileRunStore::List(RunQuery query) {
  return records_.List(std::move(query));
}

}  // namespace redouble::inline v0_1::orchestrator
