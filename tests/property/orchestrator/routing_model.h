// RoutingModel: a small, slow second implementation of the orchestrator's routing.
//
// Tests compare it with core/orchestrator. It was written from the specification and shares no code
// with core/orchestrator: it parses a graph's text itself, knows only the outputs and conditions of
// workflow_graph.h, and finds the outcomes of a run by trying every order of its tokens.
//
//   const RoutingModel model(ir_text);
//   const ModelRouting routing = model.Next("A", OutputOf("A"), {});
//
// Thread-safety: plain values and pure functions. Source: docs/systems/orchestrator.md 4.5, 7.2.
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_ROUTING_MODEL_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_ROUTING_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::orchestrator {

// By loop, the number of completed iterations.
using ModelLoops = std::map<std::string, int64_t>;

// A successor token: its target, the node through which it arrives, and how many arrivals it needs
// there.
struct ModelHop {
  std::string target;
  std::string via;
  ModelLoops loops;
  int64_t needed = 0;

  friend auto operator<=>(const ModelHop&, const ModelHop&) = default;
};

struct ModelRouting {
  std::vector<ModelHop> hops;
  std::set<std::string> absorbers;  // Absorbers on the path.
  ModelLoops loops;                 // The iteration that each loop on the path starts.
  std::set<std::string> ended;      // Loops on the path that ended.
  bool branched = false;            // A branch made a choice, at the node or on the path.
};

struct ModelRule {
  std::string expression;  // Empty if there is none.
  std::vector<std::string> targets;
};

struct ModelNode {
  std::string id;
  std::string type;
  std::vector<std::string> dependencies;
  std::vector<std::string> dependents;
  std::vector<std::string> rejection_path;
  bool joins = false;
  bool loops = false;
  int64_t most_iterations = 0;
  std::string loop_expression;  // Empty if there is none.
  std::string back_to;
  std::vector<std::string> break_path;
  std::vector<std::string> timeout_path;
  bool branches = false;
  std::vector<ModelRule> rules;
  std::vector<std::string> otherwise;
};

// By node, whether its approval was granted. An approval that timed out counts as rejected.
using ModelDecisions = std::map<std::string, bool>;

// A possible outcome of a run.
struct ModelOutcome {
  bool failed = false;  // The other members of a failed run are empty.
  std::map<std::string, int> executed;
  std::set<std::string> written;  // The nodes whose output is in the final context.

  friend auto operator<=>(const ModelOutcome&, const ModelOutcome&) = default;
};

struct ModelRun {
  // By node, whether its approval is granted; true for other nodes.
  ModelDecisions decisions;
  std::string failing;  // The node that fails; empty if none.
};

class RoutingModel {
 public:
  // `ir_text` is the text of a graph, which ParseIr must accept.
  explicit RoutingModel(std::string_view ir_text);

  const std::vector<ModelNode>& nodes() const { return nodes_; }
  // Returns null if there is no such node.
  const ModelNode* Find(std::string_view id) const;
  bool IsLoopFree() const;
  // The maximum number of executions of a node: the product of the limits of all loops.
  int64_t MostExecutions() const;

  ModelRouting Begin() const;
  // Returns the routing after a node; `output` is the text of a JSON object.
  ModelRouting Next(std::string_view node, std::string_view output, const ModelLoops& loops) const;

  // Returns every outcome that some order of the tokens has. Returns nullopt if there are more than
  // `most_states` states, or if a loop's join starves, for which the iteration is not defined.
  std::optional<std::set<ModelOutcome>> Outcomes(const ModelRun& run, size_t most_states) const;

 private:
  std::vector<ModelNode> nodes_;
  std::vector<std::string> entries_;
};

// Returns the output of a node, a JSON object that depends only on its id. The output of an
// approval contains the decision.
std::string OutputOf(std::string_view node);
std::string OutputOfApproval(bool approved);

// The conditions from which random graphs choose.
struct ModelCondition {
  const char* expression;
  bool (*holds)(int64_t n, bool again);  // Null if it cannot be evaluated.
};
const std::vector<ModelCondition>& ModelConditions();

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_ROUTING_MODEL_H_
