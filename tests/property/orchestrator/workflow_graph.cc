#include "redouble/tests/property/orchestrator/workflow_graph.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "redouble/tests/property/orchestrator/routing_model.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

std::string NameOf(int i) { return std::string(1, static_cast<char>('A' + i)); }

Condition DrawCondition(base::Rng& rng) {
  const std::vector<ModelCondition>& conditions = ModelConditions();
  return {"cel", conditions[rng.Below(conditions.size())].expression};
}

// Distributes the successors of a node over the rules of a branch.
void MakeBranch(Node& node, base::Rng& rng) {
  Branch branch;
  branch.enabled = true;
  for (const std::string& target : node.dependents) {
    if (rng.Chance(0.5)) {
      branch.rules.push_back({DrawCondition(rng), {target}});
    } else {
      branch.default_nodes.push_back(target);
    }
  }
  node.branch = std::move(branch);
  node.type = rng.Chance(0.5) ? "task" : "function";
}

void MakeLoop(Node& node, int index, base::Rng& rng) {
  Loop loop;
  loop.enabled = true;
  loop.max_iterations = rng.Between(1, 3);
  loop.loop_back_to = NameOf(static_cast<int>(rng.Between(std::max(0, index - 1), index)));
  if (rng.Chance(0.7)) loop.condition = DrawCondition(rng);
  loop.break_path = node.dependents;
  loop.timeout_path = node.dependents;
  node.loop = std::move(loop);
}

// A rejection ends the run there, or continues with some of the successors.
void MakeApproval(Node& node, base::Rng& rng) {
  node.type = "hitl";
  for (const std::string& target : node.dependents) {
    if (rng.Chance(0.4)) node.rejection_path.push_back(target);
  }
}

Ir DrawCandidate(base::Rng& rng, const GraphOptions& options) {
  Ir ir;
  ir.version = "1.0";
  const int count = static_cast<int>(rng.Between(1, options.most_nodes));
  for (int i = 0; i < count; ++i) {
    Node node;
    node.id = NameOf(i);
    constexpr const char* kTypes[] = {"function", "http", "agent"};
    node.type = kTypes[rng.Below(std::size(kTypes))];
    for (int j = i + 1; j < count; ++j) {
      if (rng.Chance(j == i + 1 ? 0.7 : 0.25)) node.dependents.push_back(NameOf(j));
    }
    if (!node.dependents.empty()) {
      const uint64_t kind = rng.Below(10);
      if (kind < 2) MakeBranch(node, rng);
      if (kind == 2 && options.loops) MakeLoop(node, i, rng);
      if (kind == 3 && options.approvals) MakeApproval(node, rng);
    }
    ir.nodes.push_back(std::move(node));
  }
  for (Node& node : ir.nodes) {
    for (const Node& other : ir.nodes) {
      const auto& targets = other.dependents;
      if (std::find(targets.begin(), targets.end(), node.id) != targets.end()) {
        node.dependencies.push_back(other.id);
      }
    }
    node.wait_for_all = node.dependencies.size() > 1;
    // The decision of an absorber that waits for several tokens would depend on the last one.
    if (node.wait_for_all && node.type == "task") node.type = "function";
    node.is_terminal = node.dependents.empty();
    if (node.dependencies.empty()) ir.entry_nodes.push_back(node.id);
  }
  return ir;
}

}  // namespace

Ir DrawGraph(base::Rng& rng, const GraphOptions& options) {
  while (true) {
    Ir ir = DrawCandidate(rng, options);
    if (ValidateIr(ir).ok()) return ir;
  }
}

}  // namespace redouble::inline v0_1::orchestrator
