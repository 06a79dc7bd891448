// The rules between the gateway's keys: which keys require another key, and which must expire.
//
// A reservation is settled against the two counters that it charged. If those counters were evicted
// or have expired, the settlement creates a counter that never expires. The key checks of the
// simulator and of the tests report such states.
//
// Thread-safety: constant data.
// Source: docs/systems/gateway.md 5, hazards R10 and R13.
#ifndef REDOUBLE_CORE_GATEWAY_KEY_RULES_H_
#define REDOUBLE_CORE_GATEWAY_KEY_RULES_H_

#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_rules.h"

namespace redouble::inline v0_1::gateway {

// The rules of all families of keys.h in one layout. The spans refer to static data.
store::KeyRules KeyRules(store::KeyLayout layout = store::KeyLayout::kDocumented);

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_KEY_RULES_H_
