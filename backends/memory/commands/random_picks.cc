#include "redouble/backends/memory/commands/random_picks.h"

#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace redouble::inline v0_1::memory {
namespace {

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

std::optional<store::Reply> RefuseAbsurdCount(int64_t count, const ReplySink* sink) {
  constexpr int64_t kMaxRepetitions = int64_t{1} << 24;
  if (count >= -kMaxRepetitions || (sink != nullptr && sink->limits_output())) return std::nullopt;
  return store::Reply::Error("ERR the reply would have more than 16777216 elements");
}

std::vector<size_t> PickPositions(base::Rng& rng, size_t size, uint64_t count) {
  if (count < size) return PickDistinct(rng, size, count);
  std::vector<size_t> all(size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void VisitPositions(base::Rng& rng, size_t size, int64_t count,
                    absl::FunctionRef<bool(size_t)> visit) {
  if (count >= 0) {
    for (const size_t position : PickPositions(rng, size, static_cast<uint64_t>(count))) {
      if (!visit(position)) return;
    }
    return;
  }
  for (uint64_t left = -static_cast<uint64_t>(count); left > 0; --left) {
    if (!visit(rng.Below(size))) return;
  }
}

}  // namespace redouble::inline v0_1::memory
