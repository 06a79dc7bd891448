// KeyRules: the relations between Korvet's keys that every keyspace should satisfy.
//
// A topic consists of a hash, a member of the set of names, a field of the index of ids, and
// streams. A crash or a race can leave some of these keys without the others. The keyspace checks
// report each key that violates a relation.
//
//   store::KeyRules rules = korvet::KeyRules();
//
// Thread-safety: constant data.
// Source: docs/systems/korvet.md 1, H1 to H4.
#ifndef REDOUBLE_CORE_KORVET_KEY_RULES_H_
#define REDOUBLE_CORE_KORVET_KEY_RULES_H_

#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_rules.h"

namespace redouble::inline v0_1::korvet {

// Returns the rules of all families. Korvet has no key that must expire.
store::KeyRules KeyRules(store::KeyLayout layout = store::KeyLayout::kDocumented);

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_KEY_RULES_H_
