// Which of orchestrator's keys have no sense without another, and which must expire.
//
// Everything of a run goes with its compiled workflow: what is there without it came back after a
// cleanup, or outlived its run.
//
// Thread-safety: constant data.
// Source: reference/orchestrator.md 10.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_KEY_RULES_H_
#define REDOUBLE_CORE_ORCHESTRATOR_KEY_RULES_H_

#include "core/orchestrator/keys.h"
#include "core/store/key_rules.h"

namespace redouble::orchestrator {

// The rules of all families in that form.
store::KeyRules KeyRules(KeyForm form = KeyForm::kPlain);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_KEY_RULES_H_
