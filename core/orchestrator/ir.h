// The intermediate representation of a run: the compiled workflow under `ir:<run_id>`.
//
// A run is a graph of nodes. The coordinator reads it on every completion signal, so that a patch
// takes effect at once; see reference/orchestrator.md 6 for what the members mean.
//
//   absl::StatusOr<Ir> ir = orchestrator::ParseIr(text);
//   // InvalidArgument: IR: /nodes/fetch/dependents/0: there is no node "proces"
//   const Node* node = ir->Find("fetch");
//   absl::StatusOr<std::string> again = orchestrator::FormatIr(*ir);
//
// Thread-safety: plain values and pure functions.
// Source: seed 001 "ir:{run_id}"; reference/orchestrator.md sections 2.1, 6.1 and decision D7.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_IR_H_
#define REDOUBLE_CORE_ORCHESTRATOR_IR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/orchestrator/conditions.h"

namespace redouble::orchestrator {

// Runs a part of the graph again. Members by their documented names.
struct Loop {
  bool enabled = false;
  std::optional<Condition> condition;  // True: once more. None: until the limit.
  int64_t max_iterations = 0;          // At least 1.
  std::string loop_back_to;            // Where the next iteration begins.
  std::vector<std::string> break_path;
  std::vector<std::string> timeout_path;  // After the last permitted iteration.
};

struct BranchRule {
  std::optional<Condition> condition;  // None: the rule is never taken.
  std::vector<std::string> next_nodes;
};

enum class BranchType { kConditional, kAgentDriven };

// Chooses successors: those of the first rule that holds, else the default ones.
struct Branch {
  bool enabled = false;
  BranchType type = BranchType::kConditional;
  std::vector<BranchRule> rules;
  std::vector<std::string> default_nodes;         // The member `default`.
  std::vector<std::string> available_next_nodes;  // What an agent may choose from.
};

struct Node {
  std::string id;
  std::string type;         // "http", "agent", "hitl", "function", "task" and so on.
  std::string config_json;  // Empty: none.
  std::string config_ref;   // Where the configuration is when it is not inline; empty: none.
  std::vector<std::string> dependencies;
  std::vector<std::string> dependents;
  bool wait_for_all = false;  // A join.
  bool is_terminal = false;
  std::optional<Loop> loop;
  std::optional<Branch> branch;
  // Of an approval's node: what follows a rejection or a time-out. Empty: nothing does (D6).
  std::vector<std::string> rejection_path;

  bool HasLoop() const { return loop && loop->enabled; }
  bool HasBranch() const { return branch && branch->enabled; }
  // Decides without a worker: a branch or a loop whose type is none that workers execute.
  bool IsAbsorber() const;
};

struct Ir {
  std::string version;
  std::vector<Node> nodes;  // In the order of the text, which decides what an order is needed for.
  std::vector<std::string> entry_nodes;
  std::string metadata_json;  // An object; empty: none.

  // Null when there is no such node. Linear.
  const Node* Find(std::string_view node_id) const;
  // In the order of the nodes; good as long as they are.
  std::vector<std::string_view> NodeIds() const;
};

// Reads a run's graph and validates it. What the seed's shorter form leaves out is derived:
//   dependencies   those nodes that name the node as their dependent, in the order of the nodes
//   dependents     none
//   wait_for_all   more than one dependency
//   is_terminal    no dependents, no targets of a branch, no exit of a loop and no loop_back_to
//   entry_nodes    the nodes that have no dependency and are no target of a branch or loop
//   version        "1.0"
// A node named twice in one list counts once. Members that the documents do not name are ignored.
//
// Errors: InvalidArgument with the JSON pointer, what was expected and what came, or what
// ValidateIr found.
absl::StatusOr<Ir> ParseIr(std::string_view text);

// Compact JSON: version, nodes, entry_nodes and metadata; of a node id, type, config, config_ref,
// dependencies, dependents, wait_for_all, is_terminal, loop, branch and rejection_path. Members
// without a value are left out. Errors: InvalidArgument when a text is not UTF-8 or a `_json`
// member no JSON.
absl::StatusOr<std::string> FormatIr(const Ir& ir);

// OK when the graph can run. Errors: InvalidArgument with the JSON pointer of the first that is
// wrong: no nodes, a node's id that is none or is there twice, a list that names a node that is not
// there, a loop without room for an iteration, a branch with neither rule nor default, no entry or
// no terminal node, a cycle that does not pass through a node with a loop. Conditions are not read:
// one that cannot be evaluated skips its rule when the run comes to it.
absl::Status ValidateIr(const Ir& ir);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_IR_H_
