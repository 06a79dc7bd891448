// ResolveConfigs: the configurations of nodes with the outputs that they refer to.
//
// The coordinator calls it before it publishes tokens. Nodes without references cost nothing.
//
//   absl::StatusOr<ResolvedConfigs> configs =
//       co_await ResolveConfigs(store, keys, artifacts, {ir, signal, targets});
//
// A repeated call gives the same configurations unless a node has run again in between.
//
// Thread-safety: as Store. For this folder only.
// Source: docs/systems/orchestrator.md 2.10 and 4.3.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_CONFIG_TEMPLATES_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_CONFIG_TEMPLATES_H_

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/graph/ir.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/orchestrator/run/artifacts.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::orchestrator {

// By node id; without the nodes that have no references.
using ResolvedConfigs = std::map<std::string, std::string, std::less<>>;

// What to resolve. References and views must outlive the call.
struct ConfigRequest {
  const Ir& ir;
  const CompletionSignal& signal;  // Names the run, and carries the output of the completed node.
  std::vector<std::string> targets = {};  // The nodes.
  // Fields of the context that will be stored with the tokens. They precede stored ones.
  std::span<const std::pair<std::string, std::string>> context = {};
};
// Resolves the configurations of the targets. Outputs that the signal does not carry are loaded
// from `artifacts`, which may be null: they are then unknown. One round trip (HMGET) if a target
// has references. Errors: those of the store and of the artifacts.
base::Task<absl::StatusOr<ResolvedConfigs>> ResolveConfigs(store::Store& store, Keys keys,
                                                           Artifacts* artifacts,
                                                           ConfigRequest request);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_CONFIG_TEMPLATES_H_
