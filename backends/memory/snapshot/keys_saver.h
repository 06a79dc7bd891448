// KeysSaver: the part of a KeysSave that files of all formats share: which keys it has, and the
// walk over them.
//
//   class TextSaver final : public KeysSaver { ... AppendKey ... };
//
// A format overrides AppendDatabase, AppendKey and EndPart. Its constructor appends what the file
// begins with to `buffer()`.
//
// Thread-safety: the engine's.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_KEYS_SAVER_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_KEYS_SAVER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/backends/memory/keyspace/eviction_record.h"
#include "redouble/backends/memory/keyspace/keyspace_walk.h"
#include "redouble/backends/memory/snapshot/key_filter.h"
#include "redouble/backends/memory/snapshot/keys_save.h"

namespace redouble::inline v0_1::memory {

class KeysSaver : public KeysSave {
 public:
  ~KeysSaver() override;

  using KeysSave::Continue;
  absl::StatusOr<bool> Continue(ByteSink& sink, size_t part_bytes) final;
  SaveProgress progress() const final;

 protected:
  // Of a database: the keys that are saved, and those of them with a deadline.
  struct Sizes {
    uint64_t keys = 0;
    uint64_t expiring = 0;
  };

  // Removes expired keys first. `keeps`: only keys that it keeps are saved, if it is set.
  // `keeps_use`: AppendKey reads the record of a key's use.
  KeysSaver(EngineCore& core, KeyFilter keeps, bool keeps_use);

  // Appends what comes before the keys of a database that has some.
  virtual void AppendDatabase(size_t index, const Sizes& sizes, std::string& out) const = 0;
  virtual void AppendKey(const Database& db, const Database::Entry& entry, EvictionRecord use,
                         std::string& out) const = 0;
  // Is called with each part before it is written.
  virtual void EndPart(std::string& part, bool is_last) = 0;

  EngineCore& core() const { return core_; }
  std::string& buffer() { return buffer_; }

 private:
  std::vector<Database*> Databases() const;
  std::vector<Sizes> SizesOfAll();
  Sizes SizesOf(const Database& db) const;

  EngineCore& core_;
  const KeyFilter keeps_;
  const bool delays_keys_;  // Each part has one key.
  const std::vector<Sizes> sizes_;
  KeyspaceWalk walk_;
  size_t index_ = 0;  // Of the database.
  bool has_begun_database_ = false;
  uint64_t written_keys_ = 0;
  uint64_t peak_kept_bytes_ = 0;  // Until the last part.
  std::string buffer_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_KEYS_SAVER_H_
