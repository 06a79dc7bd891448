#include "redouble/core/orchestrator/graph/edges.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::orchestrator {

absl::Status AddEdge(Json& nodes, const Json& json, const std::string& path) {
  absl::Status status;
  DocumentReader edge(json, path, status);
  const std::string from = edge.Id("from");
  const std::string to = edge.Id("to");
  const std::string condition = edge.StringOr("condition", "");
  REDOUBLE_RETURN_IF_ERROR(status);
  if (!nodes.contains(from) || !nodes.contains(to)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": there is no node ", nodes.contains(from) ? to : from));
  }
  Json& node = nodes[from];
  const bool branches = node.contains("branch");
  if (condition.empty() && !branches) {
    node["dependents"].push_back(to);
    return absl::OkStatus();
  }
  if (!branches) {
    // The unconditional successors become the default of the new branch.
    node["branch"] = {{"enabled", true},
                      {"type", "conditional"},
                      {"rules", Json::array()},
                      {"default", std::exchange(node["dependents"], Json::array())}};
  }
  Json& branch = node["branch"];
  if (condition.empty()) {
    // Routing ignores the dependents of a node with a branch; the default makes the edge effective.
    node["dependents"].push_back(to);
    if (!branch.contains("default")) branch["default"] = Json::array();
    Json& targets = branch["default"];
    if (std::find(targets.begin(), targets.end(), to) == targets.end()) targets.push_back(to);
    return absl::OkStatus();
  }
  for (Json& rule : branch["rules"]) {
    if (rule.contains("condition") && rule["condition"].value("expression", "") == condition) {
      rule["next_nodes"].push_back(to);
      return absl::OkStatus();
    }
  }
  branch["rules"].push_back({{"condition", {{"type", "cel"}, {"expression", condition}}},
                             {"next_nodes", Json::array({to})}});
  return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::orchestrator
