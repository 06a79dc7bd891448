#include "redouble/backends/memory/commands/random_picks.h"

#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace redouble::memory {
namespace {

std::vector<size_t> PickWithRepetitions(base::Rng& rng, size_t size, uint64_t count) {
  std::vector<size_t> picks;
  picks.reserve(count);
  while (picks.size() < count) picks.push_back(rng.Below(size));
  return picks;
}

// A partial Fisher-Yates shuffle that stores only the positions that have moved.
std::vector<size_t> PickDistinct(base::Rng& rng, size_t size, size_t count) {
  absl::flat_hash_map<size_t, size_t> moved;
  const auto at = [&](size_t index) {
    const auto found = moved.find(index);
    return found == moved.end() ? index : found->second;
  };
  std::vector<size_t> picks;
  picks.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t other = i + rng.Below(size - i);
    picks.push_back(at(other));
    moved[other] = at(i);
  }
  return picks;
}

}  // namespace

std::optional<store::Reply> RefuseAbsurdCount(int64_t count) {
  constexpr int64_t kMaxRepetitions = int64_t{1} << 24;
  if (count >= -kMaxRepetitions) return std::nullopt;
  return store::Reply::Error("ERR the reply would have more than 16777216 elements");
}

std::vector<size_t> PickPositions(base::Rng& rng, size_t size, int64_t count) {
  if (count < 0) return PickWithRepetitions(rng, size, -static_cast<uint64_t>(count));
  if (static_cast<uint64_t>(count) < size) return PickDistinct(rng, size, count);
  std::vector<size_t> all(size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace redouble::memory
