// TokenLedger: an independent account of the tokens of one run.
//
// Each operation in a run's `applied` set changes its tokens: an emission creates tokens, an
// arrival parks one, a firing merges several into one, a consumption ends one. The ledger applies
// the same operations to named tokens and reports every operation that is not possible. The routing
// model, not the run, decides where the tokens of an emission go.
//
//   ledger.AddGraph(ir_text);
//   ledger.Begin();
//   const int64_t change = ledger.Apply(operations, snapshot, violations);
//
// Thread-safety: one thread. Source: docs/systems/orchestrator.md 7.1, I1, I3.
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_TOKEN_LEDGER_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_TOKEN_LEDGER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/core/orchestrator/token_ids.h"
#include "redouble/tests/property/orchestrator/routing_model.h"
#include "redouble/tests/property/orchestrator/run_snapshot.h"

namespace redouble::inline v0_1::orchestrator {

// A violated invariant, by its name in docs/systems/orchestrator.md 7: "I7".
struct Violation {
  std::string invariant;
  std::string what;
};
using Violations = std::vector<Violation>;

class TokenLedger {
 public:
  explicit TokenLedger(std::string run_id) : run_id_(std::move(run_id)) {}

  // Replaces the graph. Emissions may still follow an earlier one.
  void AddGraph(const std::string& ir_text) { graphs_.emplace_back(ir_text); }
  bool has_graph() const { return !graphs_.empty(); }
  const RoutingModel& last_graph() const { return graphs_.back(); }
  // Starts the run: counts the tokens of its first graph.
  void Begin();
  // Records that a token was published to a stream.
  void Publish(const std::string& token_id, const std::string& node);

  // Applies the operations of one command; `after` is the run after it. Returns the change of the
  // counter.
  int64_t Apply(const std::set<std::string>& operations, const RunSnapshot& after,
                Violations& violations);

  // The weight of the counted tokens without parked ones, and the number of parked ones.
  int64_t live() const;
  int64_t parked() const { return static_cast<int64_t>(ParkedAt("").size()); }
  // Tokens that were published and not consumed.
  std::vector<std::string> Unconsumed() const;
  // Joins that fired and whose token was not consumed.
  std::vector<std::string> UnconsumedFirings() const;
  // By node, how often it was executed and committed.
  const std::map<std::string, int>& executed() const { return executed_; }
  // By node, the decision of its approval; in a loop, the last decision.
  const ModelDecisions& decisions() const { return decisions_; }
  // Joins at which a token arrived, but whose token was never consumed.
  std::vector<std::string> JoinsNeverExecuted() const;
  bool WasConsumed(const std::string& token_id) const { return consumed_.contains(token_id); }

 private:
  struct CountedToken {
    std::string node;
    int64_t weight = 1;
    ModelLoops loops;
    std::string output = {};  // The output of an approval's token; empty for the node's own output.
    bool fired = false;       // Created by a join.
  };
  // A token that will arrive at a join, or that is parked there.
  struct Edge {
    std::string child_id;
    ModelLoops loops;
    bool parked = false;
  };
  using EdgeId = std::pair<std::string, std::string>;  // Join and arrival.

  void AddTokens(const std::string& parent, const std::string& parent_node,
                 const std::vector<ModelHop>& hops);
  int64_t Emit(const std::string& id, const RunSnapshot& after, Violations& violations);
  const CountedToken* Find(const std::string& id) const;  // Null if the token was never counted.
  void CheckRoute(const std::string& id, const CountedToken& token,
                  const std::vector<ModelHop>& hops, Violations& violations) const;
  void Arrive(std::string_view operation);
  void Fire(std::string_view operation, const RunSnapshot& after);
  int64_t Merge(const std::string& id);
  int64_t Consume(const std::string& id, const RunSnapshot& after, Violations& violations);
  int64_t Resume(const std::string& approval, const RunSnapshot& after);
  void CheckFollowed(const std::string& id, const CountedToken& token, const RunSnapshot& after,
                     Violations& violations) const;
  std::vector<ModelHop> Expected(const RoutingModel& graph, const CountedToken& token,
                                 bool* branched = nullptr) const;
  std::vector<EdgeId> ParkedAt(const std::string& join) const;

  const std::string run_id_;
  std::vector<RoutingModel> graphs_;
  std::map<std::string, CountedToken> tokens_;  // Counted tokens.
  std::map<std::string, CountedToken> consumed_;
  std::map<EdgeId, Edge> edges_;
  std::set<EdgeId> dropped_;
  std::map<std::string, std::vector<ModelHop>> emitted_;
  std::map<std::string, std::string> published_;  // Nodes by token.
  std::map<EdgeId, std::string> firings_;         // Tokens by the arrival that fired.
  std::set<std::string> arrived_;                 // Joins with an arrival.
  std::map<std::string, int> executed_;
  ModelDecisions decisions_;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_TOKEN_LEDGER_H_
