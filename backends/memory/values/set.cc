#include "redouble/backends/memory/values/set.h"

#include <cassert>
#include <optional>
#include <utility>

namespace redouble::inline v0_1::memory {

std::optional<Set> Set::Adopt(Intset& intset, const EncodingLimits& limits) {
  if (intset.count() > limits.set_max_intset_entries) return std::nullopt;
  return Set(std::move(intset));
}

Set Set::Clone() const {
  Set copy;
  if (members_.is_table()) {
    copy.members_.Become(MakeTable());
    if (is_packed()) copy.members_.Mark();
  } else {
    copy.members_.packed() = members_.packed();
  }
  return copy;
}

std::unique_ptr<Set::Table> Set::MakeTable() const {
  auto table = std::make_unique<Table>();
  table->Reserve(size());
  ForEach([&](std::string_view member) { table->Append(Member(member)); });
  return table;
}

bool Set::Contains(std::string_view member) const {
  if (members_.is_table()) return members_.table().Find(member) != nullptr;
  const std::optional<int64_t> integer = base::ParseInt64(member);
  return integer && members_.packed().Contains(*integer);
}

bool Set::Add(std::string_view member, const EncodingLimits& limits) {
  if (!members_.is_table()) {
    if (const std::optional<int64_t> integer = base::ParseInt64(member)) {
      if (!members_.packed().Add(*integer)) return false;
      if (members_.packed().count() > limits.set_max_intset_entries) ConvertToTable();
      return true;
    }
    // The longest integer is shorter than every sensible limit of a member.
    const bool fits = FitsListpack(size(), member, limits);
    ConvertToTable();
    if (fits) members_.Mark();
  }
  if (members_.table().Find(member) != nullptr) return false;
  if (is_packed() && !FitsListpack(size(), member, limits)) members_.Unmark();
  members_.table().Append(Member(member));
  return true;
}

bool Set::Remove(std::string_view member) {
  if (!members_.is_table()) {
    const std::optional<int64_t> integer = base::ParseInt64(member);
    return integer && members_.packed().Remove(*integer);
  }
  const size_t position = members_.table().PositionOf(member);
  if (position == Table::kNotFound) return false;
  RemoveAt(position);
  return true;
}

void Set::RemoveAt(size_t position) {
  assert(position < size());
  if (!members_.is_table()) {
    members_.packed().Remove(members_.packed().At(position));
  } else if (is_packed()) {
    RemoveInOrder(position);
  } else {
    members_.table().RemoveAt(position);
  }
}

bool Set::FitsListpack(size_t count, std::string_view member, const EncodingLimits& limits) {
  return count < limits.set_max_listpack_entries && member.size() <= limits.set_max_listpack_value;
}

void Set::RemoveInOrder(size_t position) {
  auto rest = std::make_unique<Table>();
  for (size_t i = 0; i < size(); ++i) {
    if (i != position) rest->Append(Member(members_.table().at(i).key()));
  }
  members_.Become(std::move(rest));
  members_.Mark();
}

void Set::Rebuild(const EncodingLimits& limits) {
  Set rebuilt;
  ForEach([&](std::string_view member) { rebuilt.Add(member, limits); });
  *this = std::move(rebuilt);
}

std::string Set::At(size_t position) const {
  assert(position < size());
  if (members_.is_table()) return std::string(members_.table().at(position).key());
  return base::FormatInt64(members_.packed().At(position));
}

void Set::ConvertToTable() { members_.Become(MakeTable()); }

}  // namespace redouble::inline v0_1::memory
