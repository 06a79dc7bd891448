// EvictionPool: the best keys to evict that sampling has met so far.
//
// Drawing a few keys and evicting the best of them forgets all the others. Redis keeps the best
// sixteen that it has drawn, over all databases and from one eviction to the next, so that what
// goes comes near to the key that had to go of all. A key of the pool may be gone meanwhile, or
// have another score: it is judged by what it was when it was drawn.
//
//   EvictionPool pool;
//   pool.Offer({.score = idle_seconds, .db = 0, .key = "a"});
//   while (std::optional<EvictionPool::Candidate> best = pool.TakeBest()) ...
//
// Thread-safety: one thread.
// Source: Redis 7.0 redis.conf, "maxmemory-samples".
#ifndef REDOUBLE_BACKENDS_MEMORY_EVICTION_POOL_H_
#define REDOUBLE_BACKENDS_MEMORY_EVICTION_POOL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redouble::memory {

class EvictionPool {
 public:
  static constexpr size_t kSize = 16;

  struct Candidate {
    uint64_t score = 0;  // How much the policy wants it to go.
    int db = 0;
    std::string key;
  };

  // Takes the candidate in, unless the pool is full of better ones. Of equal scores the first
  // stays the better one.
  void Offer(Candidate candidate);
  // Removes and gives the best one; none when the pool is empty.
  std::optional<Candidate> TakeBest();
  void Clear() { candidates_.clear(); }

 private:
  std::vector<Candidate> candidates_;  // The worst first.
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_EVICTION_POOL_H_
