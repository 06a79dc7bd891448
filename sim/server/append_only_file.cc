#include "redouble/sim/server/append_only_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/append_only/load_append_only.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {

using memory::AppendFsync;

AppendOnlyFile::AppendOnlyFile(memory::Engine& engine,
                               std::function<void(std::function<void()>)> later, const Log& log,
                               std::function<void()> on_lost, memory::FileSystem& files)
    : engine_(engine),
      later_(std::move(later)),
      log_(log),
      on_lost_(std::move(on_lost)),
      file_(engine,
            {.folder = engine.options().server.appenddirname,
             .name = engine.options().server.appendfilename},
            files),
      files_(files) {}

void AppendOnlyFile::WriteLog(LogLevel level, std::string_view text) const {
  log_.Write(level, engine_.clock().Now(), text);
}

int64_t AppendOnlyFile::NowSeconds() const { return engine_.clock().NowMillis() / 1000; }

void AppendOnlyFile::Configure() {
  file_.set_options(
      {.has_rdb_base = server().aof_use_rdb_preamble,
       .writes_times = server().aof_timestamp_enabled,
       .rdb = {.compresses = server().rdbcompression, .has_checksum = server().rdbchecksum}});
}

absl::StatusOr<memory::AppendOnlyLoadReport> AppendOnlyFile::LoadInto(memory::Engine& engine) {
  const auto write = [this](bool is_warning, std::string_view line) {
    WriteLog(is_warning ? LogLevel::kWarning : LogLevel::kNotice, line);
  };
  return memory::LoadAppendOnly(engine, file_.place(),
                                {.loads_truncated = server().aof_load_truncated, .on_line = write},
                                files_);
}

absl::Status AppendOnlyFile::Load() {
  REDOUBLE_ASSIGN_OR_RETURN(const memory::AppendOnlyLoadReport report, LoadInto(engine_));
  if (!report.manifest.empty()) WriteLog(LogLevel::kNotice, "DB loaded from append only file");
  Configure();
  synced_at_s_ = NowSeconds();
  REDOUBLE_RETURN_IF_ERROR(file_.Continue(report));
  if (report.manifest.empty()) {
    WriteLog(LogLevel::kNotice, absl::StrCat("Creating AOF base file ",
                                             file_.manifest().base()->name, " on server start"));
  }
  const bool is_new = report.manifest.increments().empty();
  WriteLog(LogLevel::kNotice,
           absl::StrCat(is_new ? "Creating" : "Opening", " AOF incr file ",
                        file_.manifest().increments().back().name, " on server start"));
  return absl::OkStatus();
}

absl::Status AppendOnlyFile::Switch(bool on) {
  if (on == this->on()) return absl::OkStatus();
  if (!on) {
    End();
    return absl::OkStatus();
  }
  awaits_start_ = true;
  const absl::Status status = Begin();
  if (!status.ok()) awaits_start_ = figures_.rewrite_scheduled = false;
  return status;
}

void AppendOnlyFile::ScheduleStart() {
  if (on()) return;
  awaits_start_ = figures_.rewrite_scheduled = true;
  WriteLog(LogLevel::kNotice,
           "AOF was enabled but there is already another background operation. An AOF background "
           "was scheduled to start when possible.");
}

void AppendOnlyFile::Close() {
  if (file_.starting() && file_.rewriting()) FinishRewrite();
  End();
}

void AppendOnlyFile::End() {
  figures_.rewriting = figures_.rewrite_scheduled = awaits_start_ = false;
  if (!file_.on()) return;
  if (file_.rewriting()) WriteLog(LogLevel::kNotice, "Killing running AOF rewrite child");
  WriteLog(LogLevel::kNotice, "Calling fsync() on the AOF file.");
  const absl::Status status = file_.Stop();
  if (!status.ok()) {
    WriteLog(LogLevel::kWarning, absl::StrCat("Error writing to the AOF file: ", status.message()));
  }
  engine_.core().NoteLogError({});
}

void AppendOnlyFile::Flush() {
  memory::Host* host = engine_.core().administration().host();
  if (host != nullptr && flush_delay_us_ > 0) host->Sleep(flush_delay_us_);
  absl::Status status = file_.Flush();
  const bool is_always = server().appendfsync == AppendFsync::kAlways;
  if (status.ok() && is_always) status = file_.Sync();
  NoteWrite(status);
  if (status.ok() || !is_always) return;
  WriteLog(LogLevel::kWarning,
           "Can't recover from AOF write error when the AOF fsync policy is 'always'. Exiting...");
  on_lost_();
}

void AppendOnlyFile::Sync() {
  synced_at_s_ = NowSeconds();
  NoteWrite(file_.Sync());
}

void AppendOnlyFile::NoteWrite(const absl::Status& status) {
  if (status.ok() == figures_.last_write_ok) return;
  figures_.last_write_ok = status.ok();
  engine_.core().NoteLogError(base::ToStd(status.message()));
  WriteLog(LogLevel::kWarning,
           status.ok() ? "AOF write error looks solved. The server can write again."
                       : absl::StrCat("Error writing to the AOF file: ", status.message()));
}

// The commands of the log cannot run within a command of the same engine: another engine runs them,
// and its keys are passed on.
absl::Status AppendOnlyFile::Reload() {
  REDOUBLE_RETURN_IF_ERROR(file_.Flush());
  memory::Engine other(engine_.clock(), engine_.options());
  REDOUBLE_ASSIGN_OR_RETURN(const memory::AppendOnlyLoadReport report, LoadInto(other));
  if (report.manifest.empty()) return absl::NotFoundError("there is no append only file");
  memory::StringSink sink;
  REDOUBLE_RETURN_IF_ERROR(memory::SaveRdb(other, sink));
  memory::StringSource source(sink.bytes());
  REDOUBLE_RETURN_IF_ERROR(memory::LoadRdb(engine_, source, {.within_command = true}).status());
  WriteLog(LogLevel::kWarning, "Append Only File loaded by DEBUG LOADAOF");
  return absl::OkStatus();
}

absl::Status AppendOnlyFile::Begin() {
  Configure();
  ++figures_.rewrites;
  engine_.core().administration().statistics().CountBackgroundJob();
  rewrite_began_s_ = NowSeconds();
  // If it cannot begin again, it is off and still to begin.
  awaits_start_ = awaits_start_ || file_.starting();
  if (awaits_start_) synced_at_s_ = rewrite_began_s_;
  const bool is_new = awaits_start_ && !file_.on();
  const absl::Status status = is_new ? file_.BeginStart() : file_.BeginRewrite();
  if (!status.ok()) {
    NoteFailedRewrite();
    WriteLog(LogLevel::kWarning,
             absl::StrCat("Can't rewrite append only file in background: ", status.message()));
    return status;
  }
  if (awaits_start_) NoteWrite(status);
  awaits_start_ = figures_.rewrite_scheduled = false;
  if (file_.on()) {
    WriteLog(LogLevel::kNotice,
             absl::StrCat("Creating AOF incr file ", file_.increment(), " on background rewrite"));
  }
  WriteLog(LogLevel::kNotice, "Background append only file rewriting started");
  figures_.rewriting = true;
  ContinueLater();
  return status;
}

void AppendOnlyFile::ContinueLater() {
  later_([this, rewrite = figures_.rewrites] {
    // CONFIG SET appendonly no gives it up.
    if (!file_.rewriting() || rewrite != figures_.rewrites) return;
    if (file_.ContinueRewrite()) return ContinueLater();
    FinishRewrite();
  });
}

void AppendOnlyFile::FinishRewrite() {
  figures_.last_kept_bytes = file_.progress().peak_kept_bytes;
  const absl::Status status = file_.FinishRewrite();
  figures_.rewriting = false;
  figures_.last_rewrite_duration_s = NowSeconds() - rewrite_began_s_;
  if (status.ok()) {
    figures_.last_rewrite_ok = true;
    figures_.failed_rewrites = 0;
    WriteLog(LogLevel::kNotice, "Background AOF rewrite terminated with success");
    WriteLog(LogLevel::kNotice, "Background AOF rewrite finished successfully");
  } else {
    NoteFailedRewrite();
    WriteLog(LogLevel::kWarning,
             absl::StrCat("Background AOF rewrite terminated with error: ", status.message()));
  }
}

// A log that has not begun is tried again.
void AppendOnlyFile::NoteFailedRewrite() {
  ++figures_.failed_rewrites;
  figures_.last_rewrite_ok = false;
  figures_.rewrite_scheduled = awaits_start_ || file_.starting();
}

bool AppendOnlyFile::HasGrown() const {
  const auto bytes = static_cast<int64_t>(file_.bytes());
  const int percentage = server().auto_aof_rewrite_percentage;
  if (percentage == 0 || bytes <= server().auto_aof_rewrite_min_size_bytes) return false;
  const int64_t base_bytes = file_.base_bytes() == 0 ? 1 : static_cast<int64_t>(file_.base_bytes());
  return bytes * 100 / base_bytes - 100 >= percentage;
}

void AppendOnlyFile::Upkeep(bool may_rewrite) {
  BeforeReplies();
  if (file_.has_unsynced() && server().appendfsync != AppendFsync::kNo &&
      NowSeconds() > synced_at_s_) {
    Sync();
  }
  if (!may_rewrite || file_.rewriting()) return;
  // After a failure it is tried again after a minute, so that a full disk is left alone.
  constexpr int64_t kRetryDelayS = 60;
  const bool may_try =
      figures_.failed_rewrites == 0 || NowSeconds() - rewrite_began_s_ >= kRetryDelayS;
  const bool is_due = file_.on() && may_try && HasGrown();
  if (is_due) WriteLog(LogLevel::kNotice, "Starting automatic rewriting of AOF");
  // A client's BGREWRITEAOF does not wait for the minute, a log that begins does.
  const bool begins_log = awaits_start_ || file_.starting();
  const bool is_scheduled = figures_.rewrite_scheduled && (may_try || !begins_log);
  if (is_due || is_scheduled) Begin().IgnoreError();
}

memory::AppendLogFigures AppendOnlyFile::figures() const {
  memory::AppendLogFigures figures = figures_;
  figures.on = on();
  figures.starting = file_.starting();
  figures.bytes = file_.bytes();
  figures.base_bytes = file_.base_bytes();
  figures.buffered_bytes = file_.buffered_bytes();
  figures.rewrite_began_s = rewrite_began_s_;
  figures.progress = file_.progress();
  return figures;
}

}  // namespace redouble::inline v0_1::sim
