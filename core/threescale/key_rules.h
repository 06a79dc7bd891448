// Which of threescale's keys have no sense without another, and which must expire.
//
// A service, an application or a metric is several keys that are written and deleted one by one;
// the state, the name or the set is what makes the others count.
//
// Thread-safety: constant data.
// Source: reference/threescale.md 9, hazards 9, 15 to 18.
#ifndef REDOUBLE_CORE_THREESCALE_KEY_RULES_H_
#define REDOUBLE_CORE_THREESCALE_KEY_RULES_H_

#include "core/store/key_rules.h"

namespace redouble::threescale {

// The rules of all families.
store::KeyRules KeyRules();

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_KEY_RULES_H_
