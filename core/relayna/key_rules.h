// Which of relayna's keys have no sense without another, and which must expire.
//
// A marker is written before what it marks; a crash between the two loses the message for as long
// as the marker lives.
//
// Thread-safety: constant data.
// Source: reference/relayna.md 13 W1 to W4, R2, R3, R17.
#ifndef REDOUBLE_CORE_RELAYNA_KEY_RULES_H_
#define REDOUBLE_CORE_RELAYNA_KEY_RULES_H_

#include "core/store/key_rules.h"

namespace redouble::relayna {

// The rules of all families.
store::KeyRules KeyRules();

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_KEY_RULES_H_
