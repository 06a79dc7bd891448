// RoutingModel: where a run goes, said a second time. A small slow model of the reference's section
// 6, written from the document and sharing no code with core/orchestrator, so that the two can be
// held against each other: it reads a graph's text itself, knows the outputs and conditions of
// workflow_graph.h only, and finds the outcomes of a run by trying every order of its tokens.
//
// Thread-safety: plain values and pure functions.
// Source: reference/orchestrator.md sections 6 and 8.3, 13 "Oracle".
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_ROUTING_MODEL_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_ROUTING_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::orchestrator {

// How often each loop around a token went round.
using ModelLoops = std::map<std::string, int64_t>;

// A token that follows: where to, by way of which node, and for how many it waits there.
struct ModelHop {
  std::string target;
  std::string via;
  ModelLoops loops;
  int64_t needed = 0;

  friend auto operator<=>(const ModelHop&, const ModelHop&) = default;
};

struct ModelRouting {
  std::vector<ModelHop> hops;
  std::set<std::string> absorbers;  // Passed on the way.
  ModelLoops loops;                 // The iteration that each loop on the way begins.
  std::set<std::string> ended;      // Loops on the way that ended.
  bool branched = false;            // A branch chose, here or on the way.
};

struct ModelRule {
  std::string expression;  // Empty: none.
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
  std::string loop_expression;  // Empty: none.
  std::string back_to;
  std::vector<std::string> break_path;
  std::vector<std::string> timeout_path;
  bool branches = false;
  std::vector<ModelRule> rules;
  std::vector<std::string> otherwise;
};

// How an approval came out: an approval that timed out counts as rejected.
using ModelDecisions = std::map<std::string, bool>;

// What a run may come to.
struct ModelOutcome {
  bool failed = false;  // A failed run has nothing else.
  std::map<std::string, int> executed;
  std::set<std::string> written;  // The nodes whose output the context has in the end.

  friend auto operator<=>(const ModelOutcome&, const ModelOutcome&) = default;
};

struct ModelRun {
  // Whether the approval at a node is given; of a node that is not named: yes.
  ModelDecisions decisions;
  std::string failing;  // The node that fails; empty: none.
};

class RoutingModel {
 public:
  // Of a graph's text, which must be one that ParseIr accepts.
  explicit RoutingModel(std::string_view ir_text);

  const std::vector<ModelNode>& nodes() const { return nodes_; }
  // Null when there is no such node.
  const ModelNode* Find(std::string_view id) const;
  bool IsLoopFree() const;
  // How often one node can be executed: the product of all loops' limits.
  int64_t MostExecutions() const;

  ModelRouting Begin() const;
  // Behind a node with its output, the text of a JSON object.
  ModelRouting Next(std::string_view node, std::string_view output, const ModelLoops& loops) const;

  // Every outcome that some order of the tokens has; none when there are more than `most_states`
  // states to look at, or when a loop's join starves, where the iteration is left open.
  std::optional<std::set<ModelOutcome>> Outcomes(const ModelRun& run, size_t most_states) const;

 private:
  std::vector<ModelNode> nodes_;
  std::vector<std::string> entries_;
};

// What a node answers, an object: a function of its id. Those of approvals say how it was decided.
std::string OutputOf(std::string_view node);
std::string OutputOfApproval(bool approved);

// The conditions that graphs are drawn from.
struct ModelCondition {
  const char* expression;
  bool (*holds)(int64_t n, bool again);  // Null: it cannot be evaluated.
};
const std::vector<ModelCondition>& ModelConditions();

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_ROUTING_MODEL_H_
