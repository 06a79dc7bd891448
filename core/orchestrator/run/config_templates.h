// ResolveConfigs: the configurations of nodes with the outputs that they refer to.
//
// The coordinator calls it before it publishes tokens. Nodes without references cost nothing.
//
//   absl::StatusOr<ResolvedConfigs> configs =
//       co_await ResolveConfigs(store, keys, artifacts, ir, signal, {"ship"});
//
// A repeated call gives the same configurations unless a node has run again in between.
//
// Thread-safety: as Store. For this folder only.
// Source: docs/systems/orchestrator.md 2.10 and 4.3.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_CONFIG_TEMPLATES_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_CONFIG_TEMPLATES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/graph/ir.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/orchestrator/run/artifacts.h"
#include "redouble/core/store/store.h"

namespace redouble::orchestrator {

// By node id; without the nodes that have no references.
using ResolvedConfigs = std::map<std::string, std::string, std::less<>>;

// Resolves the configurations of the nodes `targets`. `signal` names the run and carries the output
// of the completed node, if it has data. Other outputs are loaded from `artifacts`, which may be
// null: they are then unknown. One round trip (HMGET) if a target has references. Errors: those of
// the store and of the artifacts.
base::Task<absl::StatusOr<ResolvedConfigs>> ResolveConfigs(store::Store& store, Keys keys,
                                                           Artifacts* artifacts, const Ir& ir,
                                                           const CompletionSignal& signal,
                                                           std::vector<std::string> targets);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_CONFIG_TEMPLATES_H_
