// KeyRules: what a system's key families ask of a whole database, beyond what each key's pattern
// and type say: which keys must expire, and which have no sense without another.
//
// Why it exists: a crash between two writes leaves a database whose keys are all well formed and
// which is wrong all the same: a marker whose event was never written, a counter that never
// expires. The rules are data, beside the families that they are about, so that one inspector
// (sim/inspect) finds such keys for every system.
//
//   constexpr KeyRelation kRelations[] = {
//       {"relayna.event", "relayna.history", "the event was lost behind its marker"}};
//
// Thread-safety: constant data.
#ifndef REDOUBLE_CORE_STORE_KEY_RULES_H_
#define REDOUBLE_CORE_STORE_KEY_RULES_H_

#include <span>
#include <string_view>

#include "core/store/key_family.h"

namespace redouble::store {

// A key of `family` has no sense without one of `needs`: the one that has the same values for the
// placeholders that both patterns have, whatever the others are.
struct KeyRelation {
  std::string_view family;   // The id of a row.
  std::string_view needs;    // Likewise.
  std::string_view without;  // What it means when it is missing: half a sentence for people.
};

// A family whose keys must expire although its row has no constant time to live; with a
// `placeholder`, those of its keys that have `value` there.
struct ExpiringKeys {
  std::string_view family;
  std::string_view placeholder = {};
  std::string_view value = {};
};

// Of one system. Keys of a family with a constant time to live must expire in any case.
struct KeyRules {
  std::span<const KeyFamily> families;
  std::span<const KeyBinding> defaults;  // What its prefixes are unless configured otherwise.
  std::span<const KeyRelation> relations;
  std::span<const ExpiringKeys> expiring = {};
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_KEY_RULES_H_
