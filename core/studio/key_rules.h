// Studio's key rules: which keys are suspicious without another key.
//
// Studio writes its registry, events, health documents and search index one after the other, and
// deletes them one by one. The rules name what remains if that stops half way. Tools that check a
// snapshot of a server use them (core/store/keyspace/key_rules.h).
//
// Thread-safety: constant data.
// Source: docs/systems/studio.md E3, E9, G2, G5, H1 and S3.
#ifndef REDOUBLE_CORE_STUDIO_KEY_RULES_H_
#define REDOUBLE_CORE_STUDIO_KEY_RULES_H_

#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_rules.h"

namespace redouble::inline v0_1::studio {

// Returns the rules of all families.
store::KeyRules KeyRules(store::KeyLayout layout = store::KeyLayout::kDocumented);

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_KEY_RULES_H_
