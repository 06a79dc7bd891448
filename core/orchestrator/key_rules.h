// The rules between the orchestrator's keys: which keys require another key, and which must expire.
//
// All keys of a run require its compiled workflow. A key without it was created again after
// cleanup, or outlived its run. The key checks of the simulator and of the tests report such
// states.
//
// Thread-safety: constant data.
// Source: docs/systems/orchestrator.md 1.3 and 5 (H18 to H21).
#ifndef REDOUBLE_CORE_ORCHESTRATOR_KEY_RULES_H_
#define REDOUBLE_CORE_ORCHESTRATOR_KEY_RULES_H_

#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/store/keyspace/key_rules.h"

namespace redouble::inline v0_1::orchestrator {

// The rules of all families in one layout. The spans refer to static data.
store::KeyRules KeyRules(store::KeyLayout layout = store::KeyLayout::kDocumented);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_KEY_RULES_H_
