// LoadAppendOnly: replaces an engine's data by the content of an append-only log.
//
// Use it to start a test from a log that redis-server 2.6 to 7.0 wrote with `appendonly yes`. It
// reads the manifest, its base file (RDB or commands) and its increments, or a single file of
// Redis 6.2 and before, which it moves into the folder as redis-server 7.0 does.
//
//   REDOUBLE_ASSIGN_OR_RETURN(const AppendOnlyLoadReport report,
//                             LoadAppendOnly(engine, {.folder = "data/appendonlydir"}));
//
// A log whose last command was not written whole is loaded up to that command, and the file is
// truncated there (aof-load-truncated). As on a redis-server, keys whose deadline has passed expire
// after loading.
//
// Thread-safety: the engine's. Must not be called from within a command.
// Source: Redis 7.0 redis.conf, "appendonly".
#ifndef REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_LOAD_APPEND_ONLY_H_
#define REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_LOAD_APPEND_ONLY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/append_only/log_manifest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/snapshot/file_system.h"

namespace redouble::inline v0_1::memory {

// Where a log is.
struct AppendOnlyPlace {
  std::string folder = "appendonlydir";  // appenddirname, with the path to it.
  std::string name = "appendonly.aof";   // appendfilename, with which the names of files begin.

  std::string PathOf(std::string_view file) const;
  std::string manifest_path() const { return PathOf(name + ".manifest"); }
  // The file of Redis 6.2 and before: beside the folder.
  std::string old_path() const;
};

struct AppendOnlyLoadOptions {
  // aof-load-truncated. If false, a truncated file is an error.
  bool loads_truncated = true;
  // Called with each line that redis-server writes to its log meanwhile. May be empty.
  std::function<void(bool is_warning, std::string_view line)> on_line = {};
};

struct AppendOnlyLoadReport {
  LogManifest manifest;     // Empty: there is no log, and the engine's data are as they were.
  uint64_t commands = 0;    // Those that were run, without the keys of an RDB file.
  uint64_t bytes = 0;       // The sizes of all files.
  uint64_t base_bytes = 0;  // The size of the base file.
  bool is_truncated = false;
};

// Replaces all keys and function libraries. Linear in the size of the files.
//
// Errors, in redis-server's words and with the offset in the file: DataLoss for a damaged manifest
// or file, a file that is missing, or a truncated one that is not the last or may not be loaded;
// those of the system calls. After an error the engine has no keys.
absl::StatusOr<AppendOnlyLoadReport> LoadAppendOnly(Engine& engine, const AppendOnlyPlace& place,
                                                    const AppendOnlyLoadOptions& options = {},
                                                    FileSystem& files = RealFileSystem());

// The same for a single file of commands, which may begin with an RDB file: what Redis 6.2 and
// before write, or one file of a log. The manifest of the report has its name only.
absl::StatusOr<AppendOnlyLoadReport> LoadCommandFile(Engine& engine, const std::string& path,
                                                     const AppendOnlyLoadOptions& options = {},
                                                     FileSystem& files = RealFileSystem());

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_LOAD_APPEND_ONLY_H_
