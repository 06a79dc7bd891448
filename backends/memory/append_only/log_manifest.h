// LogManifest: which files make up an append-only log, and in which order they are read.
//
// A log is a base file, with the keys of one moment, and increments, with the commands since then.
// History files are no longer part of the log and wait to be removed. The manifest is the only file
// that says so: replacing it replaces the log in one step.
//
//   REDOUBLE_ASSIGN_OR_RETURN(LogManifest manifest, LogManifest::Parse(text));
//   manifest.AddIncrement("appendonly.aof");   // appendonly.aof.2.incr.aof
//
// Thread-safety: a plain value.
// Source: Redis 7.0 redis.conf, "appenddirname".
#ifndef REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_LOG_MANIFEST_H_
#define REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_LOG_MANIFEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::inline v0_1::memory {

// A file of a log, in the folder of the manifest.
struct LogFile {
  std::string name;
  int64_t sequence = 0;  // Its number among the files of its kind, from 1.
};

class LogManifest {
 public:
  // Reads the text of a manifest. Errors: DataLoss with the number of the line, the line, and the
  // reason in Redis's words.
  static absl::StatusOr<LogManifest> Parse(std::string_view text);
  // The text that Redis writes.
  std::string Text() const;

  const std::optional<LogFile>& base() const { return base_; }
  const std::vector<LogFile>& increments() const { return increments_; }
  const std::vector<LogFile>& history() const { return history_; }
  bool empty() const { return !base_ && increments_.empty(); }

  // Makes a file that has the name of the log the base, as in Redis 6.2 and before.
  void SetOldBase(std::string_view name);
  // Adds a base with the next number, and makes the present one history. Returns its name.
  const std::string& AddBase(std::string_view log_name, bool is_rdb);
  // Adds an increment with the next number. Returns its name.
  const std::string& AddIncrement(std::string_view log_name);
  // Makes all increments history, except the last one if it `is_used`.
  void RetireIncrements(bool is_used);
  void ForgetHistory() { history_.clear(); }

 private:
  // Adds the file that a line describes. Returns the reason if it cannot.
  std::optional<std::string_view> AddLine(std::string_view line);

  std::optional<LogFile> base_;
  std::vector<LogFile> increments_;
  std::vector<LogFile> history_;
  int64_t last_base_ = 0;
  int64_t last_increment_ = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_LOG_MANIFEST_H_
