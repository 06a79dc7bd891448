// KeyFile: the file in which a server keeps its keys between runs: SAVE, BGSAVE, LASTSAVE, INFO and
// DEBUG RELOAD.
//
// An engine without a host has none, and refuses to save. The file is dir/dbfilename.
//
//   if (KeyFile* file = host->key_file()) status = file->Save();
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 rdb.c.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_KEY_FILE_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_KEY_FILE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "redouble/backends/memory/server/save_progress.h"

namespace redouble::inline v0_1::memory {

// The fields of INFO persistence.
struct KeyFileFigures {
  bool saving = false;     // In the background.
  bool scheduled = false;  // A save in the background that has not begun.
  // Of the save in the background.
  int64_t saving_since_s = 0;
  SaveProgress progress = {};
  uint64_t last_kept_bytes = 0;  // The peak of the last one.
  // The time of the last save that succeeded, at first the start of the server; and the engine's
  // changes() at that time.
  int64_t saved_at_s = 0;
  int64_t changes_at_save = 0;
  bool last_ok = true;           // Whether the last save succeeded.
  int64_t last_duration_s = -1;  // Of a save in the background; -1: there was none.
  int64_t saves = 0;             // Attempts, but for those of FLUSHALL.
  int64_t loaded_keys = 0;
  int64_t expired_keys = 0;  // Not loaded, because their deadlines had passed.
};

// DEBUG RELOAD.
struct ReloadOptions {
  bool saves = true;    // Writes the file first. NOSAVE: false.
  bool flushes = true;  // The keys that are not in the file are removed. NOFLUSH: false.
  bool merges = false;  // Keys that exist get the file's values. Otherwise they are an error.
};

class KeyFile {
 public:
  virtual ~KeyFile() = default;

  // Writes the file, as the keys are now. Errors: those of the file system, which are logged.
  virtual absl::Status Save() = 0;
  // Begins to write the keys as they are now, while further commands run. Must not be called while
  // `saving`.
  virtual void SaveInBackground() = 0;
  // The same, but not before the command has ended and nothing else is written in the background.
  virtual void ScheduleSave() = 0;
  // Gives up the save in the background, if there is one, so that the file stays as it is.
  virtual void StopSaving() = 0;
  // FLUSHALL has removed all keys. Gives up the save in the background, which would write them, and
  // writes the file if there are save points.
  virtual void NoteFlush() = 0;
  // Loads the file, within a command. Errors: Aborted if it cannot be saved, NotFound if there is
  // none, AlreadyExists for a key or a function library that exists, and those of a damaged file.
  // After an error the keys are as they were.
  virtual absl::Status Reload(const ReloadOptions& options) = 0;
  // The keys are those of another file now: no change is unsaved.
  virtual void ForgetChanges() = 0;
  virtual const KeyFileFigures& figures() const = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_KEY_FILE_H_
