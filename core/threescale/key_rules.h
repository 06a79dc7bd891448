// KeyRules: the relations between 3scale's keys that a keyspace should satisfy, and the keys that
// must expire.
//
// A service, an application or a metric consists of several keys that are written and deleted one
// by one. It exists while its state, its name or its set member exists. The keyspace checks report
// each key without its owner and each missing TTL.
//
//   store::KeyRules rules = threescale::KeyRules();
//
// Thread-safety: constant data.
// Source: docs/systems/threescale.md I6, H9, H15 to H18.
#ifndef REDOUBLE_CORE_THREESCALE_KEY_RULES_H_
#define REDOUBLE_CORE_THREESCALE_KEY_RULES_H_

#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_rules.h"

namespace redouble::inline v0_1::threescale {

// Returns the rules of all families.
store::KeyRules KeyRules(store::KeyLayout layout = store::KeyLayout::kDocumented);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_KEY_RULES_H_
