// Relayna's key rules: which keys are suspicious without another key.
//
// Tools that check a snapshot of a server use them (core/store/keyspace/key_rules.h). For example a
// marker without a history means that an event was lost, or that the history was trimmed or
// expired.
//
// Thread-safety: constant data.
// Source: docs/systems/relayna.md 1.4.
#ifndef REDOUBLE_CORE_RELAYNA_KEY_RULES_H_
#define REDOUBLE_CORE_RELAYNA_KEY_RULES_H_

#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_rules.h"

namespace redouble::inline v0_1::relayna {

// Returns the rules of all families.
store::KeyRules KeyRules(store::KeyLayout layout = store::KeyLayout::kDocumented);

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_KEY_RULES_H_
