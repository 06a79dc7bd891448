// AppendOnlyLog: writes an engine's effects to an append-only log, which redis-server 7.0 reads.
//
//   AppendOnlyLog log(engine, {.folder = "data/appendonlydir"});
//   REDOUBLE_RETURN_IF_ERROR(log.Start());
//   ...                                      // Commands run on the engine.
//   REDOUBLE_RETURN_IF_ERROR(log.Flush());   // Before the replies are sent.
//   REDOUBLE_RETURN_IF_ERROR(log.Sync());    // appendfsync: now, each second, or never.
//
// Whatever fails, and wherever the process ends, the files of the manifest hold every command that
// was flushed and, if the machine ends, every command that was synced; the last one may be written
// in part (LoadAppendOnly).
//
// A rewrite is made in steps, between which commands may run: BeginRewrite begins a new increment
// and a base file with the keys as they are then; ContinueRewrite writes a part of it;
// FinishRewrite writes the rest and makes it the base. BeginStart begins a log in the same steps.
//
// Thread-safety: the engine's. Must not be used from within a command, but for Start, BeginStart
// and BeginRewrite.
// Source: Redis 7.0 redis.conf, "appendonly"; BGREWRITEAOF.
#ifndef REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_APPEND_ONLY_LOG_H_
#define REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_APPEND_ONLY_LOG_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "redouble/backends/memory/append_only/load_append_only.h"
#include "redouble/backends/memory/append_only/log_manifest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/propagation/effect.h"
#include "redouble/backends/memory/propagation/effect_writer.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/backends/memory/snapshot/file_system.h"
#include "redouble/backends/memory/snapshot/keys_save.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"

namespace redouble::inline v0_1::memory {

struct AppendOnlyOptions {
  bool has_rdb_base = true;   // aof-use-rdb-preamble
  bool writes_times = false;  // aof-timestamp-enabled
  RdbSaveOptions rdb = {};
};

class AppendOnlyLog final : public EffectSink {
 public:
  // `engine` and `files` must outlive the object.
  AppendOnlyLog(Engine& engine, AppendOnlyPlace place, FileSystem& files = RealFileSystem());
  AppendOnlyLog(const AppendOnlyLog&) = delete;
  AppendOnlyLog& operator=(const AppendOnlyLog&) = delete;
  // As Stop, without an error.
  ~AppendOnlyLog();

  void set_options(const AppendOnlyOptions& options) { options_ = options; }
  const AppendOnlyPlace& place() const { return place_; }

  // Continues a log that LoadAppendOnly has loaded: commands are appended to its last increment.
  // If there is none, begins a log with the engine's data. Requires !on().
  absl::Status Continue(const AppendOnlyLoadReport& loaded);
  // Begins a log with the engine's data, which replaces the one of the manifest. Requires !on().
  // After an error the log is off.
  absl::Status Start();
  // Begins a log with the keys as they are now, whose base file is written by ContinueRewrite and
  // FinishRewrite. Until FinishRewrite has succeeded the log is `starting`: effects are written,
  // but the manifest still names the files of before. Requires !on(). After an error the log is
  // off.
  absl::Status BeginStart();
  // Flushes, syncs and closes the file. Effects are no longer written. A rewrite is given up.
  absl::Status Stop();
  bool on() const { return file_.has_value(); }
  bool starting() const { return is_starting_; }

  // Begins a base file with the keys as they are now beside the log. If the log is on, begins a new
  // increment; if it is starting because FinishRewrite has failed, begins the log anew, and after
  // an error the log is off. Requires !rewriting().
  absl::Status BeginRewrite();
  // Writes the next part of the base file. Returns false if all of it is written, or after an
  // error, which is reported by FinishRewrite. Requires rewriting().
  bool ContinueRewrite();
  // Writes what is left of the base file and waits until it is on the disk, makes it the base and
  // removes the files that it replaces. After an error the log is the one of before, with the new
  // increment; if it was starting, it still is.
  absl::Status FinishRewrite();
  bool rewriting() const { return next_base_ != nullptr; }
  // Of the base file that is being written.
  SaveProgress progress() const { return base_keys_ ? base_keys_->progress() : progress_; }

  // Writes the effects so far to the file. After an error they are kept and written by the next
  // call. Does nothing if there are none.
  absl::Status Flush();
  // Waits until what was flushed is on the disk. Does nothing if it is.
  absl::Status Sync();

  bool has_unflushed() const { return !buffer_.empty(); }
  bool has_unsynced() const { return has_unsynced_; }
  size_t buffered_bytes() const { return buffer_.size(); }
  // The size of all files of the log, and their size after the last rewrite (auto-aof-rewrite-*).
  uint64_t bytes() const { return bytes_; }
  uint64_t base_bytes() const { return base_bytes_; }
  const LogManifest& manifest() const { return manifest_; }
  // The name of the file that effects are written to. Requires on().
  const std::string& increment() const { return file_name_; }

 private:
  void OnEffects(std::span<const Effect> effects, bool is_atomic) override;
  void AppendTime();
  absl::Status ReadManifest();
  void BeginBase();
  // Writes what is left of the base file, and waits until it is on the disk. Returns its size.
  absl::StatusOr<uint64_t> FinishBase();
  void GiveUpBase();
  // Makes an empty increment and writes to it from now on. Unless the log is starting, adds it to
  // the manifest.
  absl::Status BeginIncrement();
  // Makes `file` the increment to write to.
  void WriteTo(int file, std::string name);
  absl::Status WriteManifest(const LogManifest& manifest);
  void RemoveHistory();

  Engine& engine_;
  const AppendOnlyPlace place_;
  FileSystem& files_;
  AppendOnlyOptions options_;
  LogManifest manifest_;
  bool has_read_manifest_ = false;
  std::optional<int> file_;
  std::string file_name_;  // If the log is on.
  bool is_starting_ = false;
  EffectWriter writer_{EffectTargets::kLog};
  std::string buffer_;
  bool has_unsynced_ = false;
  uint64_t file_bytes_ = 0;  // What the increment has of the effects.
  bool is_torn_ = false;     // It may have more, because writing failed.
  int64_t written_second_ = 0;
  std::unique_ptr<FileReplacement> next_base_;  // While rewriting.
  bool next_base_is_rdb_ = true;
  std::unique_ptr<KeysSave> base_keys_;  // What it still gets.
  SaveProgress progress_;                // When it has got everything.
  uint64_t bytes_ = 0;
  uint64_t base_bytes_ = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_APPEND_ONLY_LOG_H_
