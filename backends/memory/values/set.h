// Set: a Redis set: an intset while it holds few members that are all integers, a table otherwise.
// A small set that Redis 7.2 would have in a listpack is a table too, which knows it (is_packed).
//
// The members of an intset are in ascending order, as in Redis. The order of the table depends only
// on the operations on it.
//
//   Set set;
//   set.Add("7", limits);               // true: the member is new
//   set.Contains("7");                  // true
//
// Thread-safety: one thread.
// Source: Redis 7.0 SADD, SREM, SMEMBERS.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_SET_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_SET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "redouble/backends/memory/values/encoding_limits.h"
#include "redouble/backends/memory/values/encodings/compact_string.h"
#include "redouble/backends/memory/values/encodings/dense_table.h"
#include "redouble/backends/memory/values/encodings/intset.h"
#include "redouble/backends/memory/values/encodings/packed_or_table.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/store/table/key_type.h"

namespace redouble::inline v0_1::memory {

class Set {
 public:
  static constexpr store::KeyType kType = store::KeyType::kSet;

  // The set that `intset` is, without a copy. nullopt, and `intset` is unchanged, if it has more
  // members than the limit.
  static std::optional<Set> Adopt(Intset& intset, const EncodingLimits& limits);
  Set() = default;

  // A copy that shares nothing with this set. O(size).
  Set Clone() const;
  std::string_view encoding() const {
    if (!members_.is_table()) return "intset";
    return is_packed() ? "listpack" : "hashtable";
  }
  // Whether Redis 7.2 would have the set in a listpack: few short members, in the order in which
  // they were added.
  bool is_packed() const { return members_.is_marked(); }
  bool empty() const { return size() == 0; }

  size_t size() const {
    return members_.is_table() ? members_.table().size() : members_.packed().count();
  }
  // The intset; null if the set is a table.
  const Intset* intset() const { return members_.is_table() ? nullptr : &members_.packed(); }

  bool Contains(std::string_view member) const;
  // Adds a member. Returns true if it is new.
  bool Add(std::string_view member, const EncodingLimits& limits);
  // Removes a member. Returns false if it does not exist.
  bool Remove(std::string_view member);
  // Removes the member at a position, 0 <= position < size().
  void RemoveAt(size_t position);
  // Chooses the encoding again, as if the members were added to an empty set. O(size).
  void Rebuild(const EncodingLimits& limits);

  // The member at a position, 0 <= position < size(); ascending for an intset.
  std::string At(size_t position) const;
  // Calls `visit(member)` for each member. The view is valid during the call.
  template <typename Visit>
  void ForEach(Visit visit) const;
  // One step of a scan (DenseTable::Scan). An intset is visited whole in one step.
  template <typename Visit>
  uint64_t Scan(uint64_t cursor, size_t count, Visit visit) const;

 private:
  struct Member {
    explicit Member(std::string_view member) : name(member) {}
    BasicCompactString<23> name;
    std::string_view key() const { return name.view(); }
  };

  using Table = DenseTable<Member>;

  explicit Set(Intset intset) : members_(std::move(intset)) {}

  std::unique_ptr<Table> MakeTable() const;
  void ConvertToTable();
  // Whether a listpack with this many members may get the member.
  static bool FitsListpack(size_t count, std::string_view member, const EncodingLimits& limits);
  // Removes a member and keeps the order of the others.
  void RemoveInOrder(size_t position);

  PackedOrTable<Intset, Table> members_;
};

template <typename Visit>
void Set::ForEach(Visit visit) const {
  if (members_.is_table()) {
    const Table& table = members_.table();
    for (size_t i = 0; i < table.size(); ++i) visit(table.at(i).key());
    return;
  }
  const Intset& integers = members_.packed();
  base::Int64Buffer buffer;
  for (size_t i = 0; i < integers.count(); ++i) {
    visit(base::FormatInt64(integers.At(i), buffer));
  }
}

template <typename Visit>
uint64_t Set::Scan(uint64_t cursor, size_t count, Visit visit) const {
  if (members_.is_table()) {
    return members_.table().Scan(cursor, count, [&](const Member& member) { visit(member.key()); });
  }
  ForEach(visit);
  return 0;
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_SET_H_
