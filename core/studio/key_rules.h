// Which of studio's keys have no sense without another, and which must expire.
//
// The registry, the events, the health and the search index are written one after the other and
// deleted one by one; each of these says what stays when that ends half way.
//
// Thread-safety: constant data.
// Source: reference/relayna.md 13 E3, E9, G2, G5, H1, S3.
#ifndef REDOUBLE_CORE_STUDIO_KEY_RULES_H_
#define REDOUBLE_CORE_STUDIO_KEY_RULES_H_

#include "core/store/key_rules.h"

namespace redouble::studio {

// The rules of all families.
store::KeyRules KeyRules();

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_KEY_RULES_H_
