// Data files: what redis-server keeps its keys in, as a program's argument names it: an RDB file,
// the folder of an append-only log, or a file of commands. Subcommands use it to read any of them.
//
//   if (IsDataFile(path)) lines = LoadDataFile(path, {}, engine, context);
//
// Thread-safety: the engine's.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_DATA_FILES_H_
#define REDOUBLE_SIM_CLI_SUPPORT_DATA_FILES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/snapshot/key_filter.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// Whether the file begins as an RDB file.
bool IsRdbFile(const std::filesystem::path& path);
// Whether the path is a folder with the manifest of an append-only log, or that manifest.
bool IsAppendOnlyLog(const std::filesystem::path& path);

// Whether the file is one of commands: its name ends with .aof.
bool IsCommandFile(const std::filesystem::path& path);

inline bool IsDataFile(const std::filesystem::path& path) {
  return IsRdbFile(path) || IsAppendOnlyLog(path) || IsCommandFile(path);
}

// When the RDB file, or the newest file of the log, was written.
absl::Time LastWriteOf(const std::filesystem::path& path);

struct DataFileOptions {
  // The moment of a log, from which kShiftToNow shifts, is its last write.
  memory::RdbLoadOptions::TimePolicy time_policy = memory::RdbLoadOptions::TimePolicy::kAbsolute;
  // Which keys are loaded; empty: all.
  memory::KeyFilter keeps = {};
};

// Replaces the engine's keys by those of the file. Returns lines about what was left out. On a
// terminal, a bar shows how much of an RDB file has been read. Errors: those of memory::LoadRdbFile
// and memory::LoadAppendOnly; a log that is truncated is an error and stays as it is.
absl::StatusOr<std::vector<std::string>> LoadDataFile(const std::filesystem::path& path,
                                                      const DataFileOptions& options,
                                                      memory::Engine& engine,
                                                      const ProgramContext& context);

// Removes the keys that the filter does not keep. An empty filter keeps all.
void RemoveOtherKeys(memory::Engine& engine, const memory::KeyFilter& keeps);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_DATA_FILES_H_
