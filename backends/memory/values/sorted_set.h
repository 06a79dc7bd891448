// SortedSet: a Redis sorted set: a listpack of members and scores while it is small, a table and a
// ranked order otherwise.
//
// Members are ordered by score; members of equal score are ordered by their bytes. A rank is a
// position in that order, from 0. A listpack stores an integral score as an integer and therefore
// loses the sign of -0, as in Redis; the table keeps it.
//
//   SortedSet set;
//   set.Set("ann", 2.5, limits);
//   set.Rank("ann");                                       // 0
//   set.ForEach(0, set.size(), false, [](std::string_view member, double score) { ... });
//
// Thread-safety: one thread.
// Source: Redis 7.0 ZADD, ZRANGE, ZRANK.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_SORTED_SET_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_SORTED_SET_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "redouble/backends/memory/values/encoding_limits.h"
#include "redouble/backends/memory/values/encodings/compact_string.h"
#include "redouble/backends/memory/values/encodings/dense_table.h"
#include "redouble/backends/memory/values/encodings/listpack.h"
#include "redouble/backends/memory/values/encodings/packed_or_table.h"
#include "redouble/backends/memory/values/encodings/ranked_sequence.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/store/table/key_type.h"

namespace redouble::inline v0_1::memory {

// Scores from `min` to `max`; each end is included unless it is marked exclusive.
struct ScoreRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_exclusive = false;
  bool max_exclusive = false;

  bool AtLeastMin(double score) const { return min_exclusive ? score > min : score >= min; }
  bool AtMostMax(double score) const { return max_exclusive ? score < max : score <= max; }
  bool empty() const { return min > max || (min == max && (min_exclusive || max_exclusive)); }
};

// One end of a range of members. The views belong to the caller.
struct LexBound {
  enum class Kind { kLowest, kMember, kHighest };  // "-", "[m" or "(m", "+"
  Kind kind = Kind::kLowest;
  std::string_view member = {};
  bool exclusive = true;
};

// Members between two bounds, compared by their bytes. Only meaningful if all scores are equal.
struct LexRange {
  LexBound min = {};
  LexBound max = {.kind = LexBound::Kind::kHighest, .member = {}, .exclusive = true};

  bool AtLeastMin(std::string_view member) const;
  bool AtMostMax(std::string_view member) const;
  bool empty() const;
};

// The ranks from `first` up to, but not including, `end`.
struct RankRange {
  size_t first = 0;
  size_t end = 0;
  size_t size() const { return end - first; }
};

class SortedSet {
 public:
  static constexpr store::KeyType kType = store::KeyType::kSortedSet;

  // The set that `listpack` is, members and scores alternating, without a copy. nullopt, and
  // `listpack` is unchanged, if it does not have a score for each member, is not in order, has a
  // member twice or has more members than the limit.
  static std::optional<SortedSet> Adopt(Listpack& listpack, const EncodingLimits& limits);
  SortedSet() = default;

  // A copy that shares nothing with this set. O(size log size).
  SortedSet Clone() const;
  std::string_view encoding() const { return members_.is_table() ? "skiplist" : "listpack"; }
  bool empty() const { return size() == 0; }

  size_t size() const {
    return members_.is_table() ? table().members.size() : members_.packed().count() / 2;
  }
  // The listpack; null if the set is a table.
  const Listpack* listpack() const { return members_.is_table() ? nullptr : &members_.packed(); }

  std::optional<double> Score(std::string_view member) const;
  bool Contains(std::string_view member) const { return Score(member).has_value(); }
  std::optional<size_t> Rank(std::string_view member) const;

  // Adds a member or changes its score, which must not be NaN. Returns true if the member is new.
  // Setting an equal score changes nothing, not even the sign of 0.
  bool Set(std::string_view member, double score, const EncodingLimits& limits);
  // Removes a member. Returns false if it does not exist.
  bool Remove(std::string_view member);
  // Removes the members of these ranks.
  void RemoveRange(const RankRange& range);
  // Converts the set to a table, regardless of the limits.
  void ConvertToTable();

  // The ranks of the members within a range.
  RankRange Find(const ScoreRange& range) const;
  // If the scores differ, a listpack is searched as Redis searches it: from the first member above
  // the lower bound to the first one beyond the upper bound; in the opposite direction if
  // `downwards`.
  RankRange Find(const LexRange& range, bool downwards = false) const;

  struct Element {
    std::string member;
    double score;
  };
  // The member of a rank, 0 <= rank < size().
  Element At(size_t rank) const;
  // Calls `visit(member, score)` for `count` members from rank `first` on, upwards or downwards.
  // All of them must exist. The view of the member is valid during the call.
  template <typename Visit>
  void ForEach(size_t first, size_t count, bool downwards, Visit visit) const;
  // One step of a scan (DenseTable::Scan); a listpack is visited whole in one step. Calls
  // `visit(member, text)` with the text of the score. For a large integral score in a listpack,
  // this text differs from the text in other replies, as in Redis.
  template <typename Visit>
  uint64_t Scan(uint64_t cursor, size_t count, Visit visit) const;

 private:
  struct Member {
    CompactString name;
    double score;
    std::string_view key() const { return name.view(); }
    // Compares in the order of the set.
    bool IsBefore(double other_score, std::string_view other) const {
      return score < other_score || (score == other_score && key() < other);
    }
  };
  struct Table {
    DenseTable<Member> members;
    RankedSequence order;  // The positions of the members.

    size_t RankOf(const Member& member) const;
    void Add(std::string_view member, double score);
    void RemoveAt(size_t position);
    void InsertInOrder(size_t position);
  };

  explicit SortedSet(Listpack listpack) : members_(std::move(listpack)) {}

  std::unique_ptr<Table> MakeTable() const;
  double ScoreAt(Listpack::Position member) const;
  void InsertInListpack(std::string_view member, double score, const EncodingLimits& limits);
  bool SetInTable(std::string_view member, double score);
  template <typename Visit>
  void ForEachInListpack(size_t first, size_t count, bool downwards, Visit visit) const;

  Table& table() const { return members_.table(); }

  PackedOrTable<Listpack, Table> members_;
};

template <typename Visit>
void SortedSet::ForEachInListpack(size_t first, size_t count, bool downwards, Visit visit) const {
  const Listpack& listpack = members_.packed();
  base::Int64Buffer buffer;
  Listpack::Position at = listpack.Seek(static_cast<int64_t>(first) * 2);
  while (count > 0) {
    visit(listpack.Get(at).View(buffer), ScoreAt(at));
    if (--count == 0) return;
    at = downwards ? listpack.Previous(listpack.Previous(at)) : listpack.Next(listpack.Next(at));
  }
}

template <typename Visit>
void SortedSet::ForEach(size_t first, size_t count, bool downwards, Visit visit) const {
  if (!members_.is_table()) return ForEachInListpack(first, count, downwards, visit);
  table().order.ForEach(first, count, downwards, [&](uint32_t position) {
    const Member& member = table().members.at(position);
    visit(member.key(), member.score);
  });
}

template <typename Visit>
uint64_t SortedSet::Scan(uint64_t cursor, size_t count, Visit visit) const {
  if (members_.is_table()) {
    return table().members.Scan(cursor, count, [&](const Member& member) {
      base::DoubleBuffer buffer;
      visit(member.key(), base::FormatDouble(member.score, buffer));
    });
  }
  const Listpack& listpack = members_.packed();
  base::Int64Buffer member_buffer;
  base::Int64Buffer score_buffer;
  for (Listpack::Position at = listpack.First(); at != Listpack::kNone;) {
    const ListpackValue member = listpack.Get(at);
    at = listpack.Next(at);
    visit(member.View(member_buffer), listpack.Get(at).View(score_buffer));
    at = listpack.Next(at);
  }
  return 0;
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_SORTED_SET_H_
