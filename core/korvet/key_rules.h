// Which of korvet's keys have no sense without another, and which must expire.
//
// A topic is a hash, a member of the set of all, a field of the ids, and its streams; deleting or
// making one half leaves some of them without the others.
//
// Thread-safety: constant data.
// Source: reference/korvet.md 10, races 1 to 4.
#ifndef REDOUBLE_CORE_KORVET_KEY_RULES_H_
#define REDOUBLE_CORE_KORVET_KEY_RULES_H_

#include "core/store/key_rules.h"

namespace redouble::korvet {

// The rules of all families.
store::KeyRules KeyRules();

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_KEY_RULES_H_
