// KeyRules: rules about a system's whole database, beyond the pattern and type of each key.
//
// They state which keys must expire and which keys require another key. A crash between two writes
// can leave keys that are well formed and yet wrong, such as a marker whose event was never written
// or a counter without a TTL. The rules are data, so that one inspector (sim/inspect) finds such
// keys for every system.
//
//   constexpr KeyRelation kRelations[] = {
//       {"relayna.event", "relayna.history", "the event was lost behind its marker"}};
//
// Thread-safety: constant data.
#ifndef REDOUBLE_CORE_STORE_KEYSPACE_KEY_RULES_H_
#define REDOUBLE_CORE_STORE_KEYSPACE_KEY_RULES_H_

#include <span>
#include <string_view>

#include "redouble/core/store/keyspace/key_family.h"

namespace redouble::inline v0_1::store {

// A key of `family` requires a key of `needs` with equal values for the placeholders that both
// patterns have.
struct KeyRelation {
  std::string_view family;   // The id of a row.
  std::string_view needs;    // The id of a row.
  std::string_view without;  // The meaning of its absence, for messages.
};

// A family whose keys must expire although its row has no constant TTL. With a `placeholder`, only
// the keys that have `value` there.
struct ExpiringKeys {
  std::string_view family;
  std::string_view placeholder = {};
  std::string_view value = {};
};

// The rules of one system. Keys of a family with a constant TTL must always expire.
struct KeyRules {
  std::span<const KeyFamily> families;
  std::span<const KeyBinding> defaults;  // The default prefixes.
  std::span<const KeyRelation> relations;
  std::span<const ExpiringKeys> expiring = {};
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_KEYSPACE_KEY_RULES_H_
