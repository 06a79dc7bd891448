// RdbKeyFile: the file of keys of a served engine, in Redis's RDB format.
//
// Saves in the background are not made by a child process: the keys are written to a file beside
// the old one in parts, one in a turn of the event loop, and commands run meanwhile. The last turn
// waits for the disk and renames the file. It has the keys from the beginning of the save; those
// that change before they are written are held in memory as they were (memory::KeysSave).
//
//   RdbKeyFile file(engine, [&](std::function<void()> task) { asio::post(context, task); }, log);
//   absl::StatusOr<std::vector<std::string>> lines = file.Load();   // If there is a file.
//   file.SaveIfDue(/*may_save=*/true);                              // Ten times a second.
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 rdb.c and server.c.
#ifndef REDOUBLE_SIM_SERVER_RDB_KEY_FILE_H_
#define REDOUBLE_SIM_SERVER_RDB_KEY_FILE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/server/key_file.h"
#include "redouble/backends/memory/server/loading.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/backends/memory/snapshot/file_system.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/sim/server/process/log.h"

namespace redouble::inline v0_1::sim {

class RdbKeyFile final : public memory::KeyFile {
 public:
  // `later` calls its argument in a later turn, after commands that have arrived. `engine`, `log`
  // and `files` must outlive the object.
  RdbKeyFile(memory::Engine& engine, std::function<void(std::function<void()>)> later,
             const Log& log, memory::FileSystem& files = memory::RealFileSystem());

  using Stream = memory::RdbSaveOptions::Stream;

  // Files that are written from now on have what this returns.
  void set_stream_source(std::function<std::optional<Stream>()> source) {
    stream_source_ = std::move(source);
  }

  struct LoadOptions {
    bool keeps_expired = false;
    // Called with each key that is dropped because it has expired. May be empty.
    std::function<void(int db, std::string_view key)> on_expired = {};
    // Called after each part but the last; the engine is loading then. May be empty.
    std::function<bool()> after_part = {};
  };
  // Replaces the engine's keys by those of the file, and returns lines for the log. Without a file
  // it does nothing. Errors: those of memory::LoadRdbFile; Cancelled if `after_part` has returned
  // false.
  absl::StatusOr<std::vector<std::string>> Load(const LoadOptions& options);
  absl::StatusOr<std::vector<std::string>> Load() { return Load({}); }
  // The stream of the file that was loaded; nullopt if it has none.
  const std::optional<Stream>& loaded_stream() const { return loaded_stream_; }
  // Saves in the background if that was scheduled or a save point says so. `may_save`: nothing
  // else is written in the background.
  void SaveIfDue(bool may_save);

  absl::Status Save() override;
  void SaveInBackground() override;
  void StopSaving() override;
  void NoteFlush() override;
  void ScheduleSave() override { figures_.scheduled = true; }
  absl::Status Reload(const memory::ReloadOptions& options) override;
  void ForgetChanges() override { figures_.changes_at_save = engine_.changes(); }
  const memory::KeyFileFigures& figures() const override { return figures_; }

 private:
  struct BackgroundSave {
    explicit BackgroundSave(const RdbKeyFile& owner)
        : file(owner.path(), ".background", owner.files_),
          keys(memory::BeginSavingRdb(owner.engine_, owner.SaveOptions())),
          changes(owner.engine_.changes()) {}

    memory::FileReplacement file;
    const std::unique_ptr<memory::KeysSave> keys;
    const int64_t changes;  // The engine's, at the beginning.
  };

  // A path relative to the working folder, which CONFIG SET dir moves.
  const std::string& path() const { return engine_.options().server.dbfilename; }
  memory::RdbSaveOptions SaveOptions() const;
  int64_t NowSeconds() const;
  void WriteLog(LogLevel level, std::string_view text) const;
  absl::Status SaveNow();
  void ShowLoading(memory::LoadingFigures figures, const memory::RdbLoad& load);
  void NoteLoad(const memory::RdbLoadReport& report);
  void ContinueLater();
  void Continue();
  void FinishInBackground();
  // The save in the background has ended.
  void EndBackground();
  void NoteProgress();
  void NoteSave(const absl::Status& status, int64_t changes);

  memory::Engine& engine_;
  const std::function<void(std::function<void()>)> later_;
  const Log& log_;
  std::function<std::optional<Stream>()> stream_source_;
  std::optional<Stream> loaded_stream_;
  memory::FileSystem& files_;
  memory::KeyFileFigures figures_;
  std::shared_ptr<BackgroundSave> background_;  // Null if there is none.
  int64_t tried_at_s_ = 0;                      // The last save in the background.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_RDB_KEY_FILE_H_
