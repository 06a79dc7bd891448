// The ranges of sorted set commands: of ranks, of scores and of members.
//
// Scores are written "1.5", "(1.5" or "-inf"; members "[a", "(a", "-" or "+". ReadRange parses a
// range before the key is looked up, as Redis does; Resolve applies it to a sorted set.
//
// Thread-safety: pure functions.
// Source: Redis 7.0 ZRANGE.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SORTED_SETS_SORTED_SET_RANGES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SORTED_SETS_SORTED_SET_RANGES_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/values/sorted_set.h"

namespace redouble::inline v0_1::memory {

enum class RangeKind { kRank, kScore, kLex };

// A parsed range.
struct MemberRange {
  RangeKind kind = RangeKind::kRank;
  int64_t first = 0;  // kRank; negative ranks count from the end.
  int64_t last = 0;
  ScoreRange scores = {};  // kScore
  LexRange members = {};   // kLex; views of the arguments.
};

// Reads the range from `min` to `max` into `range`, whose kind is set. Returns the error reply if
// it is invalid.
std::optional<Reply> ReadRange(const CommandContext& context, std::string_view min,
                               std::string_view max, MemberRange& range);

// The ascending ranks of the range in `set`. If `downwards`, a range of ranks counts from the
// highest member, and a range of members is searched from the end.
RankRange Resolve(const SortedSet& set, const MemberRange& range, bool downwards);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SORTED_SETS_SORTED_SET_RANGES_H_
