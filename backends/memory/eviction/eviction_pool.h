// EvictionPool: the best eviction candidates sampled so far.
//
// Redis keeps the best sixteen keys that it has sampled, over all databases and from one eviction
// to the next, so that approximated LRU comes close to exact LRU. A pooled key may have been
// removed since, or its score may have changed; the pool uses the score at the time of sampling.
//
//   EvictionPool pool;
//   pool.Offer({.score = idle_seconds, .db = 0, .key = "a"});
//   while (std::optional<EvictionPool::Candidate> best = pool.TakeBest()) ...
//
// Thread-safety: one thread.
// Source: Redis 7.0 redis.conf, "maxmemory-samples".
#ifndef REDOUBLE_BACKENDS_MEMORY_EVICTION_EVICTION_POOL_H_
#define REDOUBLE_BACKENDS_MEMORY_EVICTION_EVICTION_POOL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redouble::inline v0_1::memory {

class EvictionPool {
 public:
  static constexpr size_t kSize = 16;

  struct Candidate {
    uint64_t score = 0;  // The higher, the better a candidate for eviction.
    int db = 0;
    std::string key;
  };

  // Adds the candidate, unless the pool is full of better ones. Of equal scores the first one is
  // better.
  void Offer(Candidate candidate);
  // Removes and returns the best candidate; nullopt if the pool is empty.
  std::optional<Candidate> TakeBest();
  void Clear() { candidates_.clear(); }

 private:
  std::vector<Candidate> candidates_;  // Worst first.
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_EVICTION_EVICTION_POOL_H_
