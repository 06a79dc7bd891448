#include "redouble/backends/memory/snapshot/keys_save.h"

#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::memory {

int64_t KeySaveDelayMicros(const EngineOptions& options) {
  return KeptNumber("rdb-key-save-delay", options);
}

absl::Status FinishSaving(KeysSave& save, ByteSink& sink) {
  for (;;) {
    REDOUBLE_ASSIGN_OR_RETURN(const bool continues, save.Continue(sink));
    if (!continues) return absl::OkStatus();
  }
}

bool ContinueInFile(KeysSave& save, FileReplacement& file, size_t part_bytes) {
  bool continues = false;
  const auto write = [&](ByteSink& sink) {
    const absl::StatusOr<bool> written = save.Continue(sink, part_bytes);
    continues = written.ok() && *written;
    return written.status();
  };
  return file.Write(write).ok() && file.SyncIfDue().ok() && continues;
}

}  // namespace redouble::inline v0_1::memory
