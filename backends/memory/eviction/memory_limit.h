// MemoryLimit: the accounted size of the keys, and eviction by maxmemory-policy.
//
// The accounted size is what a redis-server would have in use: a constant for an empty server
// (kEmptyServerBytes) and, for each key, the result of MEMORY USAGE (values/memory_usage.h) with
// its share of the tables. It depends on the keys only, so that equal commands reach the limit at
// the same point on every machine; it is not the memory that this process uses. It is updated
// between commands, from the keys that have changed.
//
// Before a command runs, keys are evicted until the size is within the limit. As in Redis,
// `maxmemory_samples` keys of each database are sampled, and the best candidate so far is evicted
// (eviction_pool.h). Samples come from the engine's Rng, so that equal seeds evict equal keys.
//
// Thread-safety: one thread.
// Source: Redis 7.0 redis.conf, "maxmemory".
#ifndef REDOUBLE_BACKENDS_MEMORY_EVICTION_MEMORY_LIMIT_H_
#define REDOUBLE_BACKENDS_MEMORY_EVICTION_MEMORY_LIMIT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/eviction/eviction_pool.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::memory {

// Returns whether the policy evicts the keys that have been idle longest.
inline bool IsLru(MaxmemoryPolicy policy) {
  return policy == MaxmemoryPolicy::kVolatileLru || policy == MaxmemoryPolicy::kAllKeysLru;
}

class MemoryLimit {
 public:
  // The memory in use of redis-server 7.0.15 after its start.
  static constexpr uint64_t kEmptyServerBytes = 876'064;

  using Databases = std::vector<std::unique_ptr<Database>>;
  // Removes an evicted key and publishes the event.
  using Evict = std::function<void(int db, std::string_view key)>;

  explicit MemoryLimit(const Databases& databases) : databases_(databases) {}

  // Applies the present maxmemory. Turning it on measures all keys: O(keys).
  void Configure(const EngineOptions& options);
  bool on() const { return on_; }

  // Forgets the reported changes and candidates. To be called before databases are replaced.
  void Forget();
  // Forgets the changes of one database. To be called before it is replaced by an empty one.
  void Forget(const Database& db);
  // Measures all keys if the limit is on: O(keys). To be called after databases were replaced.
  void MeasureAll();

  // Reports that the key's size may have changed.
  void NoteChange(Database& db, std::string_view key);

  // Sets the size of the clients' buffers, which count towards the limit.
  void set_client_bytes(uint64_t bytes) { client_bytes_ = bytes; }
  // The accounted size in bytes. Requires on().
  uint64_t UsedBytes();

  // Evicts keys until the size is within the limit. Returns false if no key is left that may be
  // evicted.
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
  // A key that the policy evicts; `entry` is null if there is none.
  Chosen Choose(const EngineOptions& options, uint32_t now_s, base::Rng& rng);
  Chosen ChooseByChance(MaxmemoryPolicy policy, base::Rng& rng);
  // Offers sampled keys of each database to the pool. Returns false if there are none.
  bool Sample(const EngineOptions& options, uint32_t now_s, base::Rng& rng);

  const Databases& databases_;
  bool on_ = false;
  uint64_t client_bytes_ = 0;
  std::vector<Change> changed_;
  EvictionPool pool_;
  // The database in which random eviction looks next.
  size_t next_db_ = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_EVICTION_MEMORY_LIMIT_H_
