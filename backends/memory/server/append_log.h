// AppendLog: the append-only log of a server: CONFIG SET appendonly, BGREWRITEAOF and INFO.
//
// An engine without a host has none.
//
//   if (AppendLog* log = host->append_log()) status = log->Switch(true);
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 aof.c.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_APPEND_LOG_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_APPEND_LOG_H_

#include <cstdint>

#include "absl/status/status.h"
#include "redouble/backends/memory/server/save_progress.h"

namespace redouble::inline v0_1::memory {

// The fields of INFO persistence.
struct AppendLogFigures {
  bool on = false;
  bool starting = false;  // It is on, but its first base file is not whole.
  bool rewriting = false;
  bool rewrite_scheduled = false;
  int64_t rewrite_began_s = 0;
  SaveProgress progress = {};    // Of the rewrite.
  uint64_t last_kept_bytes = 0;  // The peak of the last one.
  bool last_rewrite_ok = true;
  bool last_write_ok = true;
  int64_t last_rewrite_duration_s = -1;  // -1: there was none.
  int64_t rewrites = 0;                  // Attempts.
  int64_t failed_rewrites = 0;           // Since the last one that succeeded.
  uint64_t bytes = 0;                    // Of all files.
  uint64_t base_bytes = 0;               // The same after the last rewrite.
  uint64_t buffered_bytes = 0;           // Not yet in a file.
};

class AppendLog {
 public:
  virtual ~AppendLog() = default;

  // Begins a log with the keys as they are now, whose base file is written while further commands
  // run, or ends it. Errors: those of the file system, which are logged. Does nothing if it is so
  // already.
  virtual absl::Status Switch(bool on) = 0;
  // Begins a log, but not before the command has ended and no file of keys is being written.
  virtual void ScheduleStart() = 0;
  // Begins to write the keys as they are now as a new base file, while further commands run.
  // Errors: those of the file system. Must not be called while `rewriting`, or within a
  // transaction.
  virtual absl::Status Rewrite() = 0;
  // The same, but not before the command has ended and no file of keys is being written.
  virtual void ScheduleRewrite() = 0;
  // Writes the effects so far, and replaces the keys and function libraries by those of the log,
  // within a command (DEBUG LOADAOF). Errors: NotFound if there is no log, those of a damaged one
  // and of the file system. After an error the keys are as they were.
  virtual absl::Status Reload() = 0;
  // DEBUG AOF-FLUSH-SLEEP: blocks the process for so long before each write.
  virtual void SetFlushDelay(int64_t duration_us) = 0;
  virtual AppendLogFigures figures() const = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_APPEND_LOG_H_
