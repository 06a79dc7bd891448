// How the sorted set commands write a range: of ranks, of scores ("1.5", "(1.5", "-inf") or of
// members ("[a", "(a", "-", "+").
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SORTED_SET_RANGES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SORTED_SET_RANGES_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/memory/command_context.h"
#include "backends/memory/values/sorted_set.h"

namespace redouble::memory {

enum class RangeKind { kRank, kScore, kLex };

// A range that was read and waits for its sorted set.
struct MemberRange {
  RangeKind kind = RangeKind::kRank;
  int64_t first = 0;  // kRank; negative ranks count from the end.
  int64_t last = 0;
  ScoreRange scores = {};  // kScore
  LexRange members = {};   // kLex; views of the arguments.
};

// Reads the range from `min` to `max` into `range`, whose kind is set; an error reply when it is
// none.
std::optional<Reply> ReadRange(std::string_view min, std::string_view max, MemberRange& range);

// The ranks that the range means in `set`, counted upwards. When `downwards`, a range of ranks
// counts from the highest member, and members are looked for from the end.
RankRange Resolve(const SortedSet& set, const MemberRange& range, bool downwards);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SORTED_SET_RANGES_H_
