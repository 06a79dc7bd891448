// KeyType: the types that a Redis key can have, and their names on the wire.
//
//   if (ParseKeyType("zset") == KeyType::kSortedSet) ...
//
// Thread-safety: free functions on values.
// Source: Redis 7.0 TYPE.
#ifndef REDOUBLE_CORE_STORE_KEY_TYPE_H_
#define REDOUBLE_CORE_STORE_KEY_TYPE_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace redouble::store {

enum class KeyType { kNone, kString, kList, kSet, kSortedSet, kHash, kStream };
inline constexpr size_t kKeyTypes = 7;

// The name that TYPE gives: "none", "string", "list", "set", "zset", "hash", "stream".
std::string_view KeyTypeName(KeyType type);
// The type of that name; none for any other text.
std::optional<KeyType> ParseKeyType(std::string_view name);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_KEY_TYPE_H_
