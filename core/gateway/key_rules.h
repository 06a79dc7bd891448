// Which of gateway's keys have no sense without another, and which must expire.
//
// A reservation is settled against the two counters that it was charged to; one whose counters
// were evicted or have expired gives budget away.
//
// Thread-safety: constant data.
// Source: reference/gateway.md 7 R10, R13.
#ifndef REDOUBLE_CORE_GATEWAY_KEY_RULES_H_
#define REDOUBLE_CORE_GATEWAY_KEY_RULES_H_

#include "core/store/key_rules.h"

namespace redouble::gateway {

// The rules of all families.
store::KeyRules KeyRules();

}  // namespace redouble::gateway

#endif  // REDOUBLE_CORE_GATEWAY_KEY_RULES_H_
