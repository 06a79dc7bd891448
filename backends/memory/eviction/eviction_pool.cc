#include "redouble/backends/memory/eviction/eviction_pool.h"

#include <algorithm>
#include <utility>

namespace redouble::inline v0_1::memory {

void EvictionPool::Offer(Candidate candidate) {
  auto place =
      std::lower_bound(candidates_.begin(), candidates_.end(), candidate.score,
                       [](const Candidate& other, uint64_t score) { return other.score < score; });
  if (candidates_.size() == kSize) {
    if (place == candidates_.begin()) return;
    // Drops the worst candidate and moves the ones below the position down.
    place = std::move(candidates_.begin() + 1, place, candidates_.begin());
    *place = std::move(candidate);
    return;
  }
  candidates_.insert(place, std::move(candidate));
}

std::optional<EvictionPool::Candidate> EvictionPool::TakeBest() {
  if (candidates_.empty()) return std::nullopt;
  Candidate best = std::move(candidates_.back());
  candidates_.pop_back();
  return best;
}

}  // namespace redouble::inline v0_1::memory
