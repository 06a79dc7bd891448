#include "redouble/sim/server/rdb_key_file.h"

#include <cassert>
#include <memory>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::sim {

using memory::SavePoint;

RdbKeyFile::RdbKeyFile(memory::Engine& engine, std::function<void(std::function<void()>)> later,
                       const Log& log, memory::FileSystem& files)
    : engine_(engine), later_(std::move(later)), log_(log), files_(files) {
  figures_.saved_at_s = NowSeconds();
}

memory::RdbSaveOptions RdbKeyFile::SaveOptions() const {
  const memory::ServerOptions& server = engine_.options().server;
  return {.compresses = server.rdbcompression,
          .has_checksum = server.rdbchecksum,
          .stream = stream_source_ ? stream_source_() : std::nullopt};
}

int64_t RdbKeyFile::NowSeconds() const { return engine_.clock().NowMillis() / 1000; }

void RdbKeyFile::WriteLog(LogLevel level, std::string_view text) const {
  log_.Write(level, engine_.clock().Now(), text);
}

absl::StatusOr<std::vector<std::string>> RdbKeyFile::Load(const LoadOptions& options) {
  using TimePolicy = memory::RdbLoadOptions::TimePolicy;
  std::vector<std::string> lines;
  const auto load = memory::BeginLoadingRdbFile(
      engine_, path(),
      {.time_policy = options.keeps_expired ? TimePolicy::kKeepExpired : TimePolicy::kAbsolute,
       .on_expired = options.on_expired},
      files_);
  if (absl::IsNotFound(load.status())) return lines;
  REDOUBLE_RETURN_IF_ERROR(load.status());
  const memory::LoadingFigures figures{.since_s = NowSeconds(),
                                       .total_bytes = files_.SizeOf(path()).value_or(0)};
  const absl::Cleanup finisher = [this] { engine_.core().SetLoading(std::nullopt); };
  for (;;) {
    REDOUBLE_ASSIGN_OR_RETURN(const bool continues,
                              (*load)->Continue(memory::LoadPartBytes(engine_.options())));
    if (!continues) break;
    ShowLoading(figures, **load);
    if (options.after_part && !options.after_part()) {
      return absl::CancelledError("stopped while loading");
    }
  }
  const memory::RdbLoadReport& report = (*load)->report();
  NoteLoad(report);
  for (const memory::RdbLoadReport::ModuleKey& skipped : report.module_keys) {
    lines.push_back(absl::StrCat("Skipped the key ", skipped.key, " in database ", skipped.db,
                                 ": a value of the module ", skipped.module));
  }
  lines.push_back(absl::StrCat("Done loading RDB, keys loaded: ", report.keys,
                               ", keys expired: ", report.expired_keys, "."));
  return lines;
}

void RdbKeyFile::NoteLoad(const memory::RdbLoadReport& report) {
  figures_.loaded_keys = static_cast<int64_t>(report.keys);
  figures_.expired_keys = static_cast<int64_t>(report.expired_keys);
  figures_.changes_at_save = engine_.changes();
  const std::optional<std::string> id = report.Field("repl-id");
  const auto number = [&](std::string_view field) {
    return base::ParseInt64(report.Field(field).value_or(""));
  };
  const std::optional<int64_t> offset = number("repl-offset");
  if (!id || !offset) return;
  loaded_stream_ = Stream{
      .db = static_cast<int>(number("repl-stream-db").value_or(0)), .id = *id, .offset = *offset};
}

void RdbKeyFile::ShowLoading(memory::LoadingFigures figures, const memory::RdbLoad& load) {
  figures.loaded_bytes = load.progress().bytes;
  engine_.core().SetLoading(figures);
}

absl::Status RdbKeyFile::Save() {
  ++figures_.saves;
  return SaveNow();
}

void RdbKeyFile::NoteFlush() {
  StopSaving();
  if (!engine_.options().server.save_points.empty()) SaveNow().IgnoreError();
}

absl::Status RdbKeyFile::SaveNow() {
  const int64_t changes = engine_.changes();
  const absl::Status status = memory::SaveRdbFile(engine_, path(), SaveOptions(), files_);
  if (status.ok()) {
    WriteLog(LogLevel::kNotice, "DB saved on disk");
    NoteSave(status, changes);
  } else {
    // As in Redis, a save that a client waits for does not make writes fail.
    WriteLog(LogLevel::kWarning, absl::StrCat("Failed saving the DB: ", status.message()));
  }
  return status;
}

void RdbKeyFile::SaveInBackground() {
  assert(!figures_.saving);
  ++figures_.saves;
  engine_.core().administration().statistics().CountBackgroundJob();
  figures_.scheduled = false;
  figures_.saving_since_s = tried_at_s_ = NowSeconds();
  background_ = std::make_shared<BackgroundSave>(*this);
  NoteProgress();
  figures_.saving = true;
  WriteLog(LogLevel::kNotice, "Background saving started");
  ContinueLater();
}

void RdbKeyFile::ContinueLater() {
  later_([this, save = std::weak_ptr<BackgroundSave>(background_)] {
    if (!save.expired()) Continue();
  });
}

void RdbKeyFile::Continue() {
  const bool continues = memory::ContinueInFile(*background_->keys, background_->file);
  NoteProgress();
  if (continues) return ContinueLater();
  FinishInBackground();
}

void RdbKeyFile::StopSaving() {
  if (background_ == nullptr) return;
  WriteLog(LogLevel::kWarning, "Background saving terminated by the server");
  EndBackground();
}

void RdbKeyFile::NoteProgress() { figures_.progress = background_->keys->progress(); }

void RdbKeyFile::EndBackground() {
  figures_.last_kept_bytes = background_->keys->progress().peak_kept_bytes;
  background_.reset();
  figures_.saving = false;
  figures_.progress = {};
  figures_.last_duration_s = NowSeconds() - figures_.saving_since_s;
}

absl::Status RdbKeyFile::Reload(const memory::ReloadOptions& options) {
  using Present = memory::RdbLoadOptions::Present;
  if (options.saves) {
    const absl::Status saved = memory::SaveRdbFile(engine_, path(), SaveOptions(), files_);
    if (!saved.ok()) return absl::AbortedError(saved.message());
    WriteLog(LogLevel::kNotice, "DB saved on disk");
    NoteSave(saved, engine_.changes());
  }
  Present present = Present::kRemoved;
  if (!options.flushes) present = options.merges ? Present::kReplaced : Present::kKept;
  const auto loaded =
      memory::LoadRdbFile(engine_, path(), {.present = present, .within_command = true}, files_);
  REDOUBLE_RETURN_IF_ERROR(loaded.status());
  NoteLoad(*loaded);
  WriteLog(LogLevel::kWarning, "DB reloaded by DEBUG RELOAD");
  return absl::OkStatus();
}

void RdbKeyFile::FinishInBackground() {
  const absl::Status status = background_->file.Finish();
  const int64_t changes = background_->changes;
  EndBackground();
  WriteLog(status.ok() ? LogLevel::kNotice : LogLevel::kWarning,
           status.ok() ? std::string("Background saving terminated with success")
                       : absl::StrCat("Background saving error: ", status.message()));
  NoteSave(status, changes);
}

void RdbKeyFile::NoteSave(const absl::Status& status, int64_t changes) {
  figures_.last_ok = status.ok();
  engine_.core().NoteSave(status.ok());
  if (!status.ok()) return;
  figures_.saved_at_s = NowSeconds();
  figures_.changes_at_save = changes;
}

void RdbKeyFile::SaveIfDue(bool may_save) {
  // After a failure Redis waits before it tries again.
  constexpr int64_t kRetryDelayS = 5;
  if (!may_save || figures_.saving) return;
  if (!figures_.last_ok && NowSeconds() - tried_at_s_ <= kRetryDelayS) return;
  if (figures_.scheduled) return SaveInBackground();
  const int64_t changes = engine_.changes() - figures_.changes_at_save;
  for (const SavePoint& point : engine_.options().server.save_points) {
    if (changes < point.changes || NowSeconds() - figures_.saved_at_s <= point.seconds) continue;
    WriteLog(LogLevel::kNotice,
             absl::StrCat(point.changes, " changes in ", point.seconds, " seconds. Saving..."));
    return SaveInBackground();
  }
}

}  // namespace redouble::inline v0_1::sim
