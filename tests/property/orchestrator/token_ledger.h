// TokenLedger: the books of one run, kept beside it. Each operation that a run remembers in its
// applied set moves tokens: an emission makes some, an arrival parks one, a firing makes one of
// several, a consumption ends one. The ledger does the same with tokens that have names, and finds
// every operation that could not have been.
//
// Where the tokens of an emission go, the routing model decides, not the run.
//
// Thread-safety: one thread.
// Source: reference/orchestrator.md 13, "A token is counted from ...".
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_TOKEN_LEDGER_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_TOKEN_LEDGER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/orchestrator/token_ids.h"
#include "tests/property/orchestrator/routing_model.h"
#include "tests/property/orchestrator/run_snapshot.h"

namespace redouble::orchestrator {

// What does not hold, by the invariant's name in the reference: "I7".
struct Violation {
  std::string invariant;
  std::string what;
};
using Violations = std::vector<Violation>;

class TokenLedger {
 public:
  explicit TokenLedger(std::string run_id) : run_id_(std::move(run_id)) {}

  // The run has this graph from now on; emissions may still follow an earlier one.
  void AddGraph(const std::string& ir_text) { graphs_.emplace_back(ir_text); }
  bool has_graph() const { return !graphs_.empty(); }
  const RoutingModel& last_graph() const { return graphs_.back(); }
  // The run has begun: the tokens of its first graph are counted.
  void Begin();
  // A token is in a stream.
  void Publish(const std::string& token_id, const std::string& node);

  // The operations of one command, with the run as it stands behind it. By how much they change the
  // counter.
  int64_t Apply(const std::set<std::string>& operations, const RunSnapshot& after,
                Violations& violations);

  // Tokens that are counted, by weight, but for parked ones; and the parked ones of a join.
  int64_t live() const;
  int64_t parked() const { return static_cast<int64_t>(ParkedAt("").size()); }
  // Tokens that were published and never consumed.
  std::vector<std::string> Unconsumed() const;
  // Joins that fired and whose token was not consumed.
  std::vector<std::string> UnconsumedFirings() const;
  // How often each node was executed and committed.
  const std::map<std::string, int>& executed() const { return executed_; }
  // How the approval at each node was decided; the last one, where a loop asks again.
  const ModelDecisions& decisions() const { return decisions_; }
  // Whether a join had an arrival, and no token of it was ever consumed.
  std::vector<std::string> JoinsNeverExecuted() const;
  bool WasConsumed(const std::string& token_id) const { return consumed_.contains(token_id); }

 private:
  struct CountedToken {
    std::string node;
    int64_t weight = 1;
    ModelLoops loops;
    std::string output = {};  // Of an approval's token; empty: the node's own.
    bool fired = false;       // By a join.
  };
  // A token on its way to a join, or parked there.
  struct Edge {
    std::string child_id;
    ModelLoops loops;
    bool parked = false;
  };
  using EdgeId = std::pair<std::string, std::string>;  // Join and arrival.

  void AddTokens(const std::string& parent, const std::string& parent_node,
                 const std::vector<ModelHop>& hops);
  int64_t Emit(const std::string& id, const RunSnapshot& after, Violations& violations);
  const CountedToken* Find(const std::string& id) const;  // Null: no such token was ever counted.
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
  std::map<std::string, CountedToken> tokens_;  // That are counted.
  std::map<std::string, CountedToken> consumed_;
  std::map<EdgeId, Edge> edges_;
  std::set<EdgeId> dropped_;
  std::map<std::string, std::vector<ModelHop>> emitted_;
  std::map<std::string, std::string> published_;  // Nodes by token.
  std::map<EdgeId, std::string> firings_;         // Tokens by the arrival that fired.
  std::set<std::string> arrived_;                 // Joins.
  std::map<std::string, int> executed_;
  ModelDecisions decisions_;
};

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_TOKEN_LEDGER_H_
