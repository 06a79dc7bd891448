// Templates: references to the outputs of other nodes in the configuration of a node.
//
// A string that is a reference is replaced by the value; a reference inside a string is replaced by
// its text, or by JSON if the value is not a string:
//
//   {"url":"$nodes.fetch.links.0","note":"${$nodes.fetch.n} items"}
//   ResolveTemplates(config, outputs)   // {"url":"https://...","note":"7 items"}
//
// `$nodes.<id>` is the whole output; a path of members and of indexes of arrays may follow,
// separated by dots. A reference that cannot be resolved stays as it is.
//
// Thread-safety: pure functions.
// Source: docs/systems/orchestrator.md 2.10.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_GRAPH_TEMPLATES_H_
#define REDOUBLE_CORE_ORCHESTRATOR_GRAPH_TEMPLATES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/orchestrator/graph/conditions.h"

namespace redouble::inline v0_1::orchestrator {

// The ids of the nodes that a configuration refers to, sorted, each once. Empty also for a text
// that is not JSON.
std::vector<std::string> ReferencedNodes(std::string_view config_json);

// The configuration with its references replaced. Returns the text unchanged if it has none that
// can be resolved.
std::string ResolveTemplates(std::string_view config_json, std::span<const NodeOutput> outputs);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_GRAPH_TEMPLATES_H_
