#include "backends/memory/values/set.h"

#include <cassert>
#include <optional>
#include <utility>

namespace redouble::memory {

std::unique_ptr<Collection> Set::Clone() const {
  auto copy = std::make_unique<Set>();
  if (!table_) {
    copy->integers_ = integers_;
    return copy;
  }
  copy->table_ = std::make_unique<DenseTable<Member>>();
  copy->table_->Reserve(table_->size());
  ForEach([&](std::string_view member) { copy->table_->Append(Member{CompactString(member)}); });
  return copy;
}

bool Set::Contains(std::string_view member) const {
  if (table_) return table_->Find(member) != nullptr;
  const std::optional<int64_t> integer = base::ParseInt64(member);
  return integer && integers_.Contains(*integer);
}

bool Set::Add(std::string_view member, const EncodingLimits& limits) {
  if (!table_) {
    if (const std::optional<int64_t> integer = base::ParseInt64(member)) {
      if (!integers_.Add(*integer)) return false;
      if (integers_.count() > limits.set_max_intset_entries) ConvertToTable();
      return true;
    }
    ConvertToTable();
  }
  if (table_->Find(member) != nullptr) return false;
  table_->Append(Member{CompactString(member)});
  return true;
}

bool Set::Remove(std::string_view member) {
  if (!table_) {
    const std::optional<int64_t> integer = base::ParseInt64(member);
    return integer && integers_.Remove(*integer);
  }
  const size_t position = table_->PositionOf(member);
  if (position == DenseTable<Member>::kNotFound) return false;
  table_->RemoveAt(position);
  return true;
}

void Set::Rebuild(const EncodingLimits& limits) {
  Set rebuilt;
  ForEach([&](std::string_view member) { rebuilt.Add(member, limits); });
  integers_ = std::move(rebuilt.integers_);
  table_ = std::move(rebuilt.table_);
}

std::string Set::At(size_t position) const {
  assert(position < size());
  if (table_) return std::string(table_->at(position).key());
  return base::FormatInt64(integers_.At(position));
}

void Set::ConvertToTable() {
  auto table = std::make_unique<DenseTable<Member>>();
  table->Reserve(size());
  ForEach([&](std::string_view member) { table->Append(Member{CompactString(member)}); });
  table_ = std::move(table);
  integers_ = Intset();
}

}  // namespace redouble::memory
