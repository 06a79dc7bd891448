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
// FinishRewrite writes the rest and makes it the base.
//
// Thread-safety: the engine's. Must not be used from within a command, but for Start and
// BeginRewrite.
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
  absl::Status Start();
  // Flushes, syncs and closes the file. Effects are no longer written. A rewrite is given up.
  absl::Status Stop();
  bool on() const { return file_.has_value(); }

  // Begins a base file with the keys as they are now beside the log. If the log is on, begins a new
  // increment. Requires !rewriting(). A base of commands is written at once; an error of that is
  // reported by FinishRewrite.
  absl::Status BeginRewrite();
  // Writes the next part of the base file. Returns false if all of it is written, or after an
  // error, which is reported by FinishRewrite. Requires rewriting().
  bool ContinueRewrite();
  // Writes what is left of the base file and waits until it is on the disk, makes it the base and
  // removes the files that it replaces. After an error the log is the one of before, with the new
  // increment.
  absl::Status FinishRewrite();
  bool rewriting() const { return next_base_ != nullptr; }
  // The number of keys of the base file that is being written, and how many of them have been
  // written. Both are 0 if no base file is being written or if it consists of commands.
  uint64_t rewrite_keys() const { return base_keys_ ? base_keys_->keys() : 0; }
  uint64_t rewritten_keys() const { return base_keys_ ? base_keys_->written_keys() : 0; }

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

 private:
  void OnEffects(std::span<const Effect> effects, bool is_atomic) override;
  void AppendTime();
  // Begins a base file of this name, and writes the commands of one that has no RDB file.
  void BeginBase(const std::string& name);
  absl::Status WriteCommands(ByteSink& sink);
  // Writes what is left of the base file, and waits until it is on the disk. Returns its size.
  absl::StatusOr<uint64_t> FinishBase();
  void GiveUpBase();
  // Makes an empty increment, adds it to the manifest `next` and writes to it from now on.
  absl::Status BeginIncrement(LogManifest next);
  // Makes `file` the increment to write to.
  void WriteTo(int file);
  absl::Status WriteManifest(const LogManifest& manifest);
  void RemoveHistory();

  Engine& engine_;
  const AppendOnlyPlace place_;
  FileSystem& files_;
  AppendOnlyOptions options_;
  LogManifest manifest_;
  bool has_read_manifest_ = false;
  std::optional<int> file_;
  EffectWriter writer_{EffectTargets::kLog};
  std::string buffer_;
  bool has_unsynced_ = false;
  uint64_t file_bytes_ = 0;  // What the increment has of the effects.
  bool is_torn_ = false;     // It may have more, because writing failed.
  int64_t written_second_ = 0;
  std::unique_ptr<FileReplacement> next_base_;  // While rewriting.
  bool next_base_is_rdb_ = true;
  std::optional<RdbSave> base_keys_;  // What it still gets; none for commands.
  uint64_t bytes_ = 0;
  uint64_t base_bytes_ = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_APPEND_ONLY_LOG_H_
