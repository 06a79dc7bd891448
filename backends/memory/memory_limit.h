// MemoryLimit: what the keys take, and which of them goes when that is too much.
//
// The accounted size is what a redis-server would have in use: a constant for an empty server
// (kEmptyServerBytes) and, for each key, what MEMORY USAGE tells (values/memory_usage.h) with its
// share of the tables. It depends on the keys alone, so that the same commands meet the same limit
// on every machine; this engine's own use of memory is another matter. It is brought up to date
// between commands, from the keys that have changed.
//
// Before a command runs, keys are evicted by maxmemory-policy until the size is within the limit,
// as in Redis: `maxmemory_samples` keys of each database are drawn, and the best that was drawn so
// far goes (eviction_pool.h). What is drawn comes from the engine's Rng, so that equal seeds evict
// equal keys.
//
// Thread-safety: one thread.
// Source: Redis 7.0 redis.conf, "maxmemory".
#ifndef REDOUBLE_BACKENDS_MEMORY_MEMORY_LIMIT_H_
#define REDOUBLE_BACKENDS_MEMORY_MEMORY_LIMIT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/memory/database.h"
#include "backends/memory/engine_options.h"
#include "backends/memory/eviction_pool.h"
#include "core/base/rng.h"

namespace redouble::memory {

class MemoryLimit {
 public:
  // What redis-server 7.0.15 has in use when it was just started.
  static constexpr uint64_t kEmptyServerBytes = 876'064;

  using Databases = std::vector<std::unique_ptr<Database>>;
  // Removes an evicted key and tells of it.
  using Evict = std::function<void(int db, std::string_view key)>;

  explicit MemoryLimit(const Databases& databases) : databases_(databases) {}

  // Follows maxmemory as it is now: what there is, is measured when it is turned on. O(keys) then.
  void Configure(const EngineOptions& options);
  bool on() const { return on_; }

  // The key may take another size now.
  void NoteChange(Database& db, std::string_view key);

  // The accounted size in bytes; only when on().
  uint64_t UsedBytes();

  // Evicts until the size is within the limit. False when nothing is left that may go.
  bool MakeRoom(const EngineOptions& options, uint32_t now_s, base::Rng& rng, const Evict& evict);

 private:
  struct Change {
    Database* db;
    std::string key;
  };
  struct Chosen {
    int db = 0;
    Database::Entry* entry = nullptr;
  };

  void Measure();
  // A key that the policy lets go; no entry when there is none.
  Chosen Choose(const EngineOptions& options, uint32_t now_s, base::Rng& rng);
  Chosen ChooseByChance(MaxmemoryPolicy policy, base::Rng& rng);
  // Offers some keys of each database to the pool; false when there are none.
  bool Sample(const EngineOptions& options, uint32_t now_s, base::Rng& rng);

  const Databases& databases_;
  bool on_ = false;
  std::vector<Change> changed_;
  EvictionPool pool_;
  // Where random eviction looks first.
  size_t next_db_ = 0;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_MEMORY_LIMIT_H_
