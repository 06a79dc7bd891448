// Snapshots: an engine's data as RDB files, which redis-server 7.0 reads and writes.
//
// Use it to start a test from a copy of production's data, and to keep an engine's data between
// runs:
//
//   base::VirtualClock clock(start);
//   memory::Engine engine(clock);
//   absl::StatusOr<memory::RdbLoadReport> report = memory::LoadRdbFile(engine, "dump.rdb");
//   ...
//   absl::Status saved = memory::SaveRdbFile(engine, "after.rdb");
//
// load_rdb.h and save_rdb.h describe what is read and written, and take bytes from anywhere.
//
// Thread-safety: the engine's. Must not be called from within a command.
// Source: Redis 7.0 SAVE; the RDB file format, versions 1 to 12.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_SNAPSHOT_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_SNAPSHOT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/snapshot/file_system.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"

namespace redouble::inline v0_1::memory {

// Replaces the engine's data by that of a file, as LoadRdb does. Errors: those of LoadRdb, with the
// path before the offset, and those of the system calls.
absl::StatusOr<RdbLoadReport> LoadRdbFile(Engine& engine, const std::string& path,
                                          const RdbLoadOptions& options = {},
                                          FileSystem& files = RealFileSystem());

// The same in parts. Both references must outlive the result. Errors: those of the system calls.
absl::StatusOr<std::unique_ptr<RdbLoad>> BeginLoadingRdbFile(Engine& engine,
                                                             const std::string& path,
                                                             RdbLoadOptions options = {},
                                                             FileSystem& files = RealFileSystem());

// Writes a file, as SaveRdb does, and replaces the one at `path` in one step (ReplaceFile): a
// reader, or a crash at any moment, sees the whole old file or the whole new one. Errors: those of
// the system calls, with the path.
absl::Status SaveRdbFile(Engine& engine, const std::string& path,
                         const RdbSaveOptions& options = {}, FileSystem& files = RealFileSystem());

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_SNAPSHOT_H_
