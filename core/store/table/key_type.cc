#include "redouble/core/store/table/key_type.h"

#include <array>

namespace redouble::inline v0_1::store {
namespace {

struct TypeRow {
  KeyType type;
  std::string_view name;
};
constexpr std::array<TypeRow, 7> kTypes = {{
    {KeyType::kNone, "none"},
    {KeyType::kString, "string"},
    {KeyType::kList, "list"},
    {KeyType::kSet, "set"},
    {KeyType::kSortedSet, "zset"},
    {KeyType::kHash, "hash"},
    {KeyType::kStream, "stream"},
}};

}  // namespace

std::string_view KeyTypeName(KeyType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.name;
  }
  return {};
}

std::optional<KeyType> ParseKeyType(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

}  // namespace redouble::inline v0_1::store
