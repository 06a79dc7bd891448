// KeyFilter: which keys of a file are loaded, or which keys of an engine are saved.
//
//   RdbLoadOptions options{.keeps = KeysLike({"user:*", "cart:*"})};
//
//   store::FamilyTable families;
//   absl::Status added = families.Add(rows);
//   RdbSaveOptions options{.keeps = KeysOfFamilies(families, {"shop.cart"})};
//
// Thread-safety: free functions; a filter may be called from any thread while nothing changes the
// table of families.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_KEY_FILTER_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_KEY_FILTER_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/store/keyspace/key_family.h"

namespace redouble::inline v0_1::memory {

// Returns whether the key is kept. An empty function keeps all keys.
using KeyFilter = std::function<bool(std::string_view key)>;

// Keeps the keys that match one of the globs, as KEYS understands them.
KeyFilter KeysLike(std::vector<std::string> patterns);

// Returns whether `name` is the name of the family ("gateway.daily_budget") or of its system
// ("gateway").
bool IsOfFamily(const store::KeyFamily& family, std::string_view name);

// Keeps the keys that belong to a family with one of the names (IsOfFamily). A key that matches
// several families belongs to each of them. The table must outlive the filter.
KeyFilter KeysOfFamilies(const store::FamilyTable& families, std::vector<std::string> names);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_KEY_FILTER_H_
