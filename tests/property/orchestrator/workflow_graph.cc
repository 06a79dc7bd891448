#include "tests/property/orchestrator/workflow_graph.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "core/orchestrator/routing.h"

namespace redouble::orchestrator {
namespace {

std::string NameOf(int i) { return std::string(1, static_cast<char>('A' + i)); }

Condition DrawCondition(base::Rng& rng) {
  constexpr const char* kExpressions[] = {"output.n == 0", "output.n > 0", "output.again",
                                          "output.missing"};
  return {"cel", kExpressions[rng.Below(std::size(kExpressions))]};
}

// Makes the successors of a node those of a branch, one part per rule.
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
      if (kind == 3 && options.approvals) node.type = "hitl";
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
    // What an absorber decides depends on who came last, if it waits for several.
    if (node.wait_for_all && node.type == "task") node.type = "function";
    node.is_terminal = node.dependents.empty();
    if (node.dependencies.empty()) ir.entry_nodes.push_back(node.id);
  }
  return ir;
}

// A token of the interpreter: where it goes, and what it carries.
struct Pending {
  std::string node;
  LoopCounts loops;
};

class Interpreter {
 public:
  explicit Interpreter(const Ir& ir) : ir_(ir) {}

  std::map<std::string, int> Run() {
    Completion start;
    Follow(Route(ir_, start).hops);
    while (true) {
      while (!queue_.empty()) Execute();
      if (!FireStarved()) return executed_;
    }
  }

 private:
  void Follow(const std::vector<Hop>& hops) {
    for (const Hop& hop : hops) {
      if (hop.needed == 0) {
        queue_.push_back({hop.target, hop.loops});
        continue;
      }
      std::set<std::string>& parked = parked_[hop.target];
      parked.insert(hop.via);
      if (static_cast<int64_t>(parked.size()) < hop.needed) continue;
      parked.clear();
      queue_.push_back({hop.target, hop.loops});
    }
  }

  void Execute() {
    const Pending token = std::move(queue_.front());
    queue_.pop_front();
    const Node& node = *ir_.Find(token.node);
    if (!node.IsAbsorber()) ++executed_[token.node];
    const std::string output = node.type == "hitl" ? R"({"approved":true})" : OutputOf(token.node);
    Completion completion;
    completion.node = token.node;
    completion.output_json = output;
    completion.loops = token.loops;
    Follow(Route(ir_, completion).hops);
  }

  bool FireStarved() {
    for (const Node& node : ir_.nodes) {
      std::set<std::string>& parked = parked_[node.id];
      if (parked.empty()) continue;
      parked.clear();
      queue_.push_back({node.id, {}});
      return true;
    }
    return false;
  }

  const Ir& ir_;
  std::deque<Pending> queue_;
  std::map<std::string, std::set<std::string>> parked_;
  std::map<std::string, int> executed_;
};

}  // namespace

Ir DrawGraph(base::Rng& rng, const GraphOptions& options) {
  while (true) {
    Ir ir = DrawCandidate(rng, options);
    if (ValidateIr(ir).ok()) return ir;
  }
}

std::string OutputOf(std::string_view node) {
  const int n = node.empty() ? 0 : node.front() % 3;
  return std::string(R"({"n":)") + std::to_string(n) + R"(,"again":)" +
         (n == 1 ? "false" : "true") + R"(,"node":")" + std::string(node) + "\"}";
}

std::map<std::string, int> ExpectedExecutions(const Ir& ir) { return Interpreter(ir).Run(); }

bool IsLoopFree(const Ir& ir) {
  return std::none_of(ir.nodes.begin(), ir.nodes.end(),
                      [](const Node& node) { return node.HasLoop(); });
}

}  // namespace redouble::orchestrator
