// Set: a Redis set: an intset while it holds few integers, a table afterwards.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_SET_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_SET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backends/memory/encoding_limits.h"
#include "backends/memory/values/compact_string.h"
#include "backends/memory/values/dense_table.h"
#include "backends/memory/values/intset.h"
#include "backends/memory/values/value.h"
#include "core/base/redis_number.h"
#include "core/store/key_type.h"

namespace redouble::memory {

class Set final : public Collection {
 public:
  static constexpr store::KeyType kType = store::KeyType::kSet;

  store::KeyType type() const override { return kType; }
  std::unique_ptr<Collection> Clone() const override;
  std::string_view encoding() const override { return table_ ? "hashtable" : "intset"; }
  bool empty() const override { return size() == 0; }

  size_t size() const { return table_ ? table_->size() : integers_.count(); }
  // The intset; null when the set is a table.
  const Intset* intset() const { return table_ ? nullptr : &integers_; }

  bool Contains(std::string_view member) const;
  // True when the member is new.
  bool Add(std::string_view member, const EncodingLimits& limits);
  // False when there is no such member.
  bool Remove(std::string_view member);
  // Chooses the encoding anew, as if the members were added to an empty set.
  void Rebuild(const EncodingLimits& limits);

  // The member at a position, 0 <= position < size(): ascending for an intset.
  std::string At(size_t position) const;
  // Calls `visit(member)` for each member; the view is good during the call.
  template <typename Visit>
  void ForEach(Visit visit) const;
  // One step of a scan (DenseTable::Scan); an intset is given whole.
  template <typename Visit>
  uint64_t Scan(uint64_t cursor, size_t count, Visit visit) const;

 private:
  struct Member {
    CompactString name;
    std::string_view key() const { return name.view(); }
  };

  void ConvertToTable();

  Intset integers_;
  std::unique_ptr<DenseTable<Member>> table_;
};

template <typename Visit>
void Set::ForEach(Visit visit) const {
  if (table_) {
    for (size_t i = 0; i < table_->size(); ++i) visit(table_->at(i).key());
    return;
  }
  base::Int64Buffer buffer;
  for (size_t i = 0; i < integers_.count(); ++i) {
    visit(base::FormatInt64(integers_.At(i), buffer));
  }
}

template <typename Visit>
uint64_t Set::Scan(uint64_t cursor, size_t count, Visit visit) const {
  if (table_) {
    return table_->Scan(cursor, count, [&](const Member& member) { visit(member.key()); });
  }
  ForEach(visit);
  return 0;
}

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_SET_H_
