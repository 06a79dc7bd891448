// Ir: the intermediate representation of a run, which is the compiled workflow under `ir:<run_id>`.
//
// A run is a graph of nodes. The coordinator reads the graph for every completion signal, so a
// patch takes effect with the next signal.
//
//   absl::StatusOr<Ir> ir = orchestrator::ParseIr(text);
//   // InvalidArgument: IR: /nodes/fetch/dependents/0: there is no node "proces"
//   const Node* node = ir->Find("fetch");
//   absl::StatusOr<std::string> again = orchestrator::FormatIr(*ir);
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/orchestrator.md 2.1; the meaning of the members: 4.5.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_GRAPH_IR_H_
#define REDOUBLE_CORE_ORCHESTRATOR_GRAPH_IR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/orchestrator/execution_policy.h"
#include "redouble/core/orchestrator/graph/conditions.h"

namespace redouble::inline v0_1::orchestrator {

// Repeats a part of the graph. The members have their documented names.
struct Loop {
  bool enabled = false;
  std::optional<Condition> condition;  // True repeats. Nullopt repeats up to the limit.
  int64_t max_iterations = 0;          // At least 1.
  std::string loop_back_to;            // The node at which the next iteration begins.
  std::vector<std::string> break_path;
  std::vector<std::string> timeout_path;  // After the last permitted iteration.
};

struct BranchRule {
  std::optional<Condition> condition;  // Nullopt: the rule is skipped.
  std::vector<std::string> next_nodes;
};

enum class BranchType { kConditional, kAgentDriven };

// Selects the successors: those of the first rule that is true, otherwise the default.
struct Branch {
  bool enabled = false;
  BranchType type = BranchType::kConditional;
  std::vector<BranchRule> rules;
  std::vector<std::string> default_nodes;         // The member `default`.
  std::vector<std::string> available_next_nodes;  // The nodes that an agent may choose.
};

struct Node {
  std::string id;
  std::string type;         // "http", "agent", "hitl", "function", "task" and so on.
  std::string config_json;  // May be empty.
  std::string config_ref;   // Reference to a configuration that is not inline; may be empty.
  std::vector<std::string> dependencies;
  std::vector<std::string> dependents;
  bool wait_for_all = false;  // A join.
  bool is_terminal = false;
  std::optional<Loop> loop;
  std::optional<Branch> branch;
  // For an approval node: the successors of a rejection or a timeout. Empty: the run has no
  // successor there (docs/systems/orchestrator.md D6).
  std::vector<std::string> rejection_path;
  // The members `timeout_ms` and `retry`, which the workers follow.
  ExecutionPolicy policy;

  bool HasLoop() const { return loop && loop->enabled; }
  bool HasBranch() const { return branch && branch->enabled; }
  // Whether the coordinator resolves the node without a worker: a branch or a loop whose type no
  // worker executes. Source: docs/systems/orchestrator.md 4.5.
  bool IsAbsorber() const;
};

struct Ir {
  std::string version;
  std::vector<Node> nodes;  // In the order of the text, which is significant.
  std::vector<std::string> entry_nodes;
  std::string metadata_json;  // An object; may be empty.

  // The node with this id; null if it does not exist. Linear in the number of nodes.
  const Node* Find(std::string_view node_id) const;
  // In the order of the nodes. The views are valid as long as the nodes are.
  std::vector<std::string_view> NodeIds() const;
};

// Parses and validates the graph of a run. Missing members are derived:
//   dependencies   the nodes that name this node as a dependent, in the order of the nodes
//   dependents     empty
//   wait_for_all   true if there is more than one dependency
//   is_terminal    no dependents, branch targets, loop exits, loop_back_to or rejection path
//   entry_nodes    the nodes without dependencies that are no target of a branch or loop
//   version        "1.0"
// A node that is named twice in one list counts once. Unknown members are ignored.
//
// Errors: InvalidArgument with the JSON pointer, the expected and the received value, and those of
// ValidateIr.
absl::StatusOr<Ir> ParseIr(std::string_view text);

// Compact JSON: version, nodes, entry_nodes and metadata; of a node id, type, config, config_ref,
// dependencies, dependents, wait_for_all, is_terminal, loop, branch, rejection_path, timeout_ms and
// retry. Members without a value are omitted. Errors: InvalidArgument if a string is not UTF-8 or a
// `_json` member is not JSON.
absl::StatusOr<std::string> FormatIr(const Ir& ir);

// OK if the graph can run. Errors: InvalidArgument with the JSON pointer of the first mistake: no
// nodes, an invalid or duplicate node id, a list that names an unknown node, a loop with
// max_iterations below 1, a branch with neither a rule nor a default, no entry or no terminal node,
// a cycle that does not pass through a node with a loop. Conditions are not checked: a rule whose
// condition cannot be evaluated is skipped at run time.
absl::Status ValidateIr(const Ir& ir);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_GRAPH_IR_H_
