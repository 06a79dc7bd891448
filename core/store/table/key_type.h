// KeyType: the types of a Redis key and their names in TYPE and SCAN.
//
// Use it instead of comparing the texts that TYPE returns:
//
//   if (ParseKeyType("zset") == KeyType::kSortedSet) ...
//
// Thread-safety: free functions on values.
// Source: Redis 7.0 TYPE.
#ifndef REDOUBLE_CORE_STORE_TABLE_KEY_TYPE_H_
#define REDOUBLE_CORE_STORE_TABLE_KEY_TYPE_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace redouble::inline v0_1::store {

// kNone is the type of a missing key.
enum class KeyType { kNone, kString, kList, kSet, kSortedSet, kHash, kStream };
inline constexpr size_t kKeyTypes = 7;

// Returns the name in the reply of TYPE: "none", "string", "list", "set", "zset", "hash" or
// "stream".
std::string_view KeyTypeName(KeyType type);
// Returns the type with that name, or nullopt for any other text. Case matters.
std::optional<KeyType> ParseKeyType(std::string_view name);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TABLE_KEY_TYPE_H_
