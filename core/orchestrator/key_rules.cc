#include "redouble/core/orchestrator/key_rules.h"

#include <array>

namespace redouble::inline v0_1::orchestrator {
namespace {

using store::KeyRelation;

constexpr std::array kRelations = {
    KeyRelation{"orchestrator.context", "orchestrator.ir",
                "what a run left that was cleaned up or has expired"},
    KeyRelation{"orchestrator.counter", "orchestrator.ir",
                "a counter that came back after the run was cleaned up"},
    KeyRelation{"orchestrator.applied", "orchestrator.ir",
                "changes of a counter whose run is gone"},
    KeyRelation{"orchestrator.pending_approvals", "orchestrator.ir",
                "approvals of a run that is gone"},
    KeyRelation{"orchestrator.pending_tokens", "orchestrator.ir",
                "tokens parked in a run that is gone"},
    KeyRelation{"orchestrator.loop", "orchestrator.ir", "an iteration of a run that is gone"},
};

constexpr std::array kExpiring = {
    store::ExpiringKeys{"orchestrator.approval"},
};

}  // namespace

store::KeyRules KeyRules(store::KeyLayout layout) {
  return {.families = KeyFamilies(layout),
          .defaults = {},
          .relations = kRelations,
          .expiring = kExpiring};
}

}  // namespace redouble::inline v0_1::orchestrator
