#include "redouble/backends/memory/values/set.h"

#include <cassert>
#include <optional>
#include <utility>

namespace redouble::memory {

Set Set::Clone() const {
  Set copy;
  if (members_.is_table()) {
    copy.members_.Become(MakeTable());
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
    ConvertToTable();
  }
  if (members_.table().Find(member) != nullptr) return false;
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
  members_.table().RemoveAt(position);
  return true;
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

}  // namespace redouble::memory
