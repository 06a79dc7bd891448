// AppendOnlyFile: the append-only log of a served engine: what redis-server does with `appendonly
// yes`.
//
// As with files of keys (rdb_key_file.h), a rewrite is not made by a child process: the keys are
// written in parts, one in a turn of the event loop, and commands run meanwhile. The same is true
// of a log that CONFIG SET begins.
//
//   AppendOnlyFile file(engine, later, log, [&] { StopWithoutReplies(); });
//   absl::Status status = file.Load();   // If `appendonly` is on.
//   file.BeforeReplies();                // Each time before bytes are sent to a client.
//   file.Upkeep();                       // Ten times a second.
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 aof.c.
#ifndef REDOUBLE_SIM_SERVER_APPEND_ONLY_FILE_H_
#define REDOUBLE_SIM_SERVER_APPEND_ONLY_FILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/memory/append_only/append_only_log.h"
#include "redouble/backends/memory/append_only/load_append_only.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/server/append_log.h"
#include "redouble/backends/memory/snapshot/file_system.h"
#include "redouble/sim/server/process/log.h"

namespace redouble::inline v0_1::sim {

class AppendOnlyFile final : public memory::AppendLog {
 public:
  // `later` calls its argument in a later turn, after commands that have arrived. `on_lost` is
  // called when commands could not be written although `appendfsync always` promises that they are:
  // their replies must not be sent. `engine`, `log` and `files` must outlive the object.
  AppendOnlyFile(memory::Engine& engine, std::function<void(std::function<void()>)> later,
                 const Log& log, std::function<void()> on_lost,
                 memory::FileSystem& files = memory::RealFileSystem());

  // Whether there is a log, or there will be one.
  bool on() const { return file_.on() || awaits_start_; }
  // Replaces the engine's keys by those of the log, if there is one, and continues it. Errors:
  // those of memory::LoadAppendOnly and of the file system.
  absl::Status Load();
  // Writes the effects of the commands so far, and syncs them if `appendfsync` is `always`.
  void BeforeReplies() {
    if (file_.has_unflushed()) Flush();
  }
  // Syncs once a second, and rewrites the log if it has grown or a rewrite was scheduled.
  // `may_rewrite`: no file of keys is being written.
  void Upkeep(bool may_rewrite);
  // Writes and syncs everything, the first base file of a log that is starting too, and ends the
  // log.
  void Close();

  absl::Status Switch(bool on) override;
  absl::Status Rewrite() override { return Begin(); }
  void ScheduleStart() override;
  void ScheduleRewrite() override { figures_.rewrite_scheduled = true; }
  absl::Status Reload() override;
  void SetFlushDelay(int64_t duration_us) override { flush_delay_us_ = duration_us; }
  memory::AppendLogFigures figures() const override;

 private:
  void WriteLog(LogLevel level, std::string_view text) const;
  int64_t NowSeconds() const;
  const memory::ServerOptions& server() const { return engine_.options().server; }
  // Replaces the keys of `engine` by those of the log. Errors: those of memory::LoadAppendOnly.
  absl::StatusOr<memory::AppendOnlyLoadReport> LoadInto(memory::Engine& engine);
  void Configure();
  void Flush();
  void Sync();
  // Notes whether writing succeeded.
  void NoteWrite(const absl::Status& status);
  // Ends the log, and gives up a rewrite.
  void End();
  // Begins a log or a rewrite.
  absl::Status Begin();
  void ContinueLater();
  void FinishRewrite();
  void NoteFailedRewrite();
  bool HasGrown() const;

  memory::Engine& engine_;
  const std::function<void(std::function<void()>)> later_;
  const Log& log_;
  const std::function<void()> on_lost_;
  memory::AppendOnlyLog file_;
  memory::FileSystem& files_;
  memory::AppendLogFigures figures_;  // Those that `file_` does not have.
  bool awaits_start_ = false;         // The log is to begin, and has not.
  int64_t synced_at_s_ = 0;
  int64_t rewrite_began_s_ = 0;
  int64_t flush_delay_us_ = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_APPEND_ONLY_FILE_H_
