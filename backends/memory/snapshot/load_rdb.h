// LoadRdb: replaces an engine's data by the content of an RDB file.
//
// Use it to start a test from a copy of production's data. It reads all that redis-server 2.6 to
// 7.0 write: RDB versions 1 to 10 with every encoding, and versions 11 and 12 (Redis 7.2 to 8.0) as
// far as the engine's version has the values (EngineOptions::compatibility). The bytes are read in
// parts. Memory is bounded by the loaded data and the longest string; a length that the file claims
// allocates nothing before its bytes were read.
//
//   StringSource source(bytes);
//   const absl::StatusOr<RdbLoadReport> report = LoadRdb(engine, source);
//   EXPECT_EQ(report->keys, 3u);
//
// Everything is read before anything is replaced: after an error the engine is as it was. While
// loading, the old data and the new data are both in memory.
//
// In parts, between which commands may run on the former data:
//
//   const std::unique_ptr<RdbLoad> load = BeginLoadingRdb(engine, source);
//   for (;;) {
//     REDOUBLE_ASSIGN_OR_RETURN(const bool continues, load->Continue(1 << 20));
//     if (!continues) break;
//     ...
//   }
//
// Thread-safety: the engine's. Must not be called from within a command.
// Source: the RDB file format, versions 1 to 12.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_LOAD_RDB_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_LOAD_RDB_H_

#include <cstdint>
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
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/key_filter.h"

namespace redouble::inline v0_1::memory {

// What has been read so far.
struct RdbProgress {
  uint64_t bytes;
  uint64_t keys;
};

struct RdbLoadOptions {
  enum class TimePolicy : uint8_t {
    // Deadlines stay as they are. Keys whose deadline the engine's clock has passed are dropped, as
    // a master drops them.
    kAbsolute,
    // All times are shifted so that the moment of the file, its `ctime`, is the clock's now: a key
    // that had ten seconds to live has ten seconds. Shifted are deadlines, and the times of a
    // stream's consumers and pending entries; ids of streams are not. Redis 3.2 and later write
    // `ctime`.
    kShiftToNow,
    // Deadlines stay as they are, and keys whose deadline has passed are loaded. A log or a master
    // that the engine obeys removes them.
    kKeepExpired,
  };
  TimePolicy time_policy = TimePolicy::kAbsolute;
  // What becomes of the engine's keys and function libraries.
  enum class Present : uint8_t {
    kRemoved,
    kKept,      // A key or a library that is also in the file is an error.
    kReplaced,  // They stay, but for those that are also in the file.
  };
  Present present = Present::kRemoved;
  // Whether the engine is running a command, which serves blocked clients when it ends.
  bool within_command = false;
  // Only keys that it keeps are loaded, for example KeysLike({"user:*"}) (key_filter.h).
  KeyFilter keeps = {};
  // Called with each key that is dropped because its deadline has passed. May be empty.
  std::function<void(int db, std::string_view key)> on_expired = {};
  // Called about every two megabytes, and at the end. May be empty.
  std::function<void(const RdbProgress& progress)> on_progress = {};
};

struct RdbLoadReport {
  struct ModuleKey {
    int db;
    std::string key;
    std::string module;  // The name of the value's type, "ReJSON-RL".
    friend bool operator==(const ModuleKey&, const ModuleKey&) = default;
  };

  int version = 0;
  // The file's fields in their order: {"redis-ver", "7.0.15"}, {"ctime", "1700000000"}, ...
  std::vector<std::pair<std::string, std::string>> fields;
  // The size of the file, without what follows its end.
  uint64_t bytes = 0;
  // Whether the file has a checksum. A wrong one is an error.
  bool has_checksum = false;
  // Keys that were loaded.
  uint64_t keys = 0;
  // Keys that were not: their deadline has passed, the filter does not keep them, or
  // they are collections without elements, which early versions of Redis wrote at times.
  uint64_t expired_keys = 0;
  uint64_t filtered_keys = 0;
  uint64_t empty_keys = 0;
  // Function libraries that were loaded.
  uint64_t libraries = 0;
  // Values of modules, which were skipped, and the modules whose other data was skipped.
  std::vector<ModuleKey> module_keys;
  std::vector<std::string> module_data;

  // The value of a field; nullopt if the file does not have it.
  std::optional<std::string> Field(std::string_view name) const;
};

// A file that is being loaded. Until the end the engine's data are as they were.
class RdbLoad {
 public:
  RdbLoad(const RdbLoad&) = delete;
  RdbLoad& operator=(const RdbLoad&) = delete;
  virtual ~RdbLoad() = default;

  // Reads the next part, which ends with the key that brings it to `part_bytes`. Returns false
  // after the last part, when the data are the engine's. Errors: those of LoadRdb, after which it
  // must not be called again.
  virtual absl::StatusOr<bool> Continue(uint64_t part_bytes) = 0;
  // What has been read so far.
  virtual RdbProgress progress() const = 0;
  virtual const RdbLoadReport& report() const = 0;

 protected:
  RdbLoad() = default;
};

// Reads all that is left. Errors: those of Continue.
absl::Status FinishLoading(RdbLoad& load);

// The parameter key-load-delay: how long a load in parts waits after each key, so that a test can
// look at it meanwhile. Each part has a key then. 0 or less: it does not wait.
int64_t KeyLoadDelayMicros(const EngineOptions& options);
// The size of a part: loading-process-events-interval-bytes, or a key.
uint64_t LoadPartBytes(const EngineOptions& options);

// Both must outlive the result.
std::unique_ptr<RdbLoad> BeginLoadingRdb(Engine& engine, ByteSource& source,
                                         RdbLoadOptions options = {});

// Replaces all keys of all databases, and all function libraries, or adds to them (Present).
// Transactions that watch a key which is removed fail; blocked commands are served if the loaded
// data replace all others and allow it. Linear in the size.
//
// Errors, each with the offset and what was expected there: DataLoss for damaged bytes;
// Unimplemented for a later version of the format, or a value that the engine's version does not
// have, with the key and the type; FailedPrecondition for a database that the engine does not have,
// or kShiftToNow without `ctime`; AlreadyExists for a key or library that Present::kKept keeps; the
// error of the source as it is. After an error the engine's data are as they were.
absl::StatusOr<RdbLoadReport> LoadRdb(Engine& engine, ByteSource& source,
                                      const RdbLoadOptions& options = {});

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_LOAD_RDB_H_
