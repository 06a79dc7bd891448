#include "redouble/tests/property/orchestrator/token_ledger.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/graph/routing.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::ToAbsl;

constexpr TokenIdForm kForm = TokenIdForm::kHashed;

LoopCounts CountsOf(const ModelLoops& loops) { return LoopCounts(loops.begin(), loops.end()); }
ModelLoops LoopsOf(const TokenMark& mark) { return {mark.loops.begin(), mark.loops.end()}; }

// Returns the part after the operation's name: "t1" of "emit:t1". Returns nullopt for other
// operations.
std::optional<std::string> SuffixOf(std::string_view operation, std::string_view name) {
  if (!operation.starts_with(name)) return std::nullopt;
  return std::string(operation.substr(name.size()));
}

// Removes the attempt from an id: "t1#2" is the second attempt to emit t1.
std::string WithoutAttempt(const std::string& id) { return id.substr(0, id.find('#')); }

// Returns the route that the run recorded; nullopt if it recorded none.
std::optional<std::vector<ModelHop>> RecordedRoute(const std::string& id, const RunSnapshot& run) {
  const std::string prefix = absl::StrCat("route:", id, "|");
  const auto found = run.applied.lower_bound(prefix);
  if (found == run.applied.end() || !found->starts_with(prefix)) return std::nullopt;
  const auto hops = ParseHops(std::string_view(*found).substr(prefix.size()));
  if (!hops) return std::nullopt;
  std::vector<ModelHop> route;
  for (const Hop& hop : *hops) {
    route.push_back({hop.target, hop.via, {hop.loops.begin(), hop.loops.end()}, hop.needed});
  }
  return route;
}

std::string ArrivalId(const std::string& parent, const std::string& parent_node,
                      const std::string& via) {
  return via == parent_node ? parent : absl::StrCat(parent, "/", via);
}

std::string TargetsText(const std::vector<ModelHop>& hops) {
  std::string text;
  for (const ModelHop& hop : hops) absl::StrAppend(&text, " ", hop.target);
  return text.empty() ? " nowhere" : text;
}

}  // namespace

void TokenLedger::Begin() { AddTokens(run_id_, "", graphs_.front().Begin().hops); }

void TokenLedger::Publish(const std::string& token_id, const std::string& node) {
  published_.emplace(token_id, node);
}

void TokenLedger::AddTokens(const std::string& parent, const std::string& parent_node,
                            const std::vector<ModelHop>& hops) {
  std::map<std::string, int64_t> ordinals;
  for (const ModelHop& hop : hops) {
    TokenMark mark;
    mark.loops = CountsOf(hop.loops);
    const ChildToken child = {parent, hop.target, ordinals[hop.target]++};
    const std::string id = ChildTokenId(kForm, child, mark);
    if (hop.needed == 0) {
      if (consumed_.contains(id)) continue;
      tokens_[id] = {hop.target, 1, hop.loops};
    } else {
      edges_[{hop.target, ArrivalId(parent, parent_node, hop.via)}] = {id, hop.loops};
    }
  }
}

std::vector<ModelHop> TokenLedger::Expected(const RoutingModel& graph, const CountedToken& token,
                                            bool* branched) const {
  const std::string output = token.output.empty() ? OutputOf(token.node) : token.output;
  const ModelRouting routing = graph.Next(token.node, output, token.loops);
  if (branched != nullptr && routing.branched) *branched = true;
  return routing.hops;
}

int64_t TokenLedger::Emit(const std::string& operation_id, const RunSnapshot& after,
                          Violations& violations) {
  if (operation_id == run_id_) return 0;  // The start, which Begin() counted.
  const std::string id = WithoutAttempt(operation_id);
  const CountedToken* const token = Find(id);
  if (token == nullptr) {
    violations.push_back({"I3", absl::StrCat("an emission of no token: ", operation_id)});
    return 0;
  }
  std::optional<std::vector<ModelHop>> hops = RecordedRoute(id, after);
  if (hops) {
    CheckRoute(id, *token, *hops, violations);
  } else {
    hops = Expected(graphs_.back(), *token);
  }
  if (!emitted_.contains(id)) AddTokens(id, std::string(token->node), *hops);
  emitted_[id] = *hops;
  return static_cast<int64_t>(hops->size());
}

const TokenLedger::CountedToken* TokenLedger::Find(const std::string& id) const {
  if (const auto token = tokens_.find(id); token != tokens_.end()) return &token->second;
  if (const auto token = consumed_.find(id); token != consumed_.end()) return &token->second;
  return nullptr;
}

void TokenLedger::CheckRoute(const std::string& id, const CountedToken& token,
                             const std::vector<ModelHop>& hops, Violations& violations) const {
  bool branched = false;
  std::string expected;
  for (const RoutingModel& graph : graphs_) {
    const std::vector<ModelHop> ways = Expected(graph, token, &branched);
    if (ways == hops) return;
    absl::StrAppend(&expected, " or", TargetsText(ways));
  }
  const char* const invariant = branched ? "I9" : "I12";
  violations.push_back({invariant, absl::StrCat(id, " of ", token.node, " goes to",
                                                TargetsText(hops), ", not", expected)});
}

void TokenLedger::Arrive(std::string_view operation) {
  const size_t colon = operation.find(':');
  const EdgeId id = {std::string(operation.substr(0, colon)),
                     std::string(operation.substr(colon + 1))};
  arrived_.insert(id.first);
  if (const auto edge = edges_.find(id); edge != edges_.end()) edge->second.parked = true;
}

std::vector<TokenLedger::EdgeId> TokenLedger::ParkedAt(const std::string& join) const {
  std::vector<EdgeId> ids;
  for (const auto& [id, edge] : edges_) {
    if (edge.parked && (join.empty() || id.first == join)) ids.push_back(id);
  }
  return ids;
}

void TokenLedger::Fire(std::string_view operation, const RunSnapshot& after) {
  const size_t colon = operation.find(':');
  const std::string join(operation.substr(0, colon));
  const std::string arrival(operation.substr(colon + 1));
  const std::vector<EdgeId> parked = ParkedAt(join);
  CountedToken token = {join, static_cast<int64_t>(parked.size()), {}};
  token.fired = true;
  std::string id;
  if (arrival == "quiesce" || arrival.starts_with("quiesce:")) {
    id = absl::StrCat("join:", ToAbsl(operation));
    const std::string marked = absl::StrCat("publish:", id, ".");
    const auto found = after.applied.lower_bound(marked);
    if (found != after.applied.end() && found->starts_with(marked)) id = found->substr(8);
    token.loops = LoopsOf(ParseTokenMark(id));
  } else {
    const auto edge = edges_.find({join, arrival});
    if (edge != edges_.end()) token.loops = edge->second.loops;
    const TokenMark mark = {token.weight, CountsOf(token.loops)};
    id = JoinTokenId(kForm, {join, arrival}, mark);
  }
  for (const EdgeId& edge : parked) edges_.erase(edge);
  firings_[{join, arrival}] = id;
  tokens_[id] = token;
}

int64_t TokenLedger::Merge(const std::string& id) {
  const auto token = tokens_.find(id);
  if (token == tokens_.end()) return 0;
  return 1 - std::exchange(token->second.weight, 1);
}

int64_t TokenLedger::Consume(const std::string& operation_id, const RunSnapshot& after,
                             Violations& violations) {
  const auto edge = std::find_if(edges_.begin(), edges_.end(), [&](const auto& entry) {
    return entry.second.child_id == operation_id;
  });
  if (edge != edges_.end()) {
    edges_.erase(edge);
    return -1;
  }
  auto token = tokens_.find(operation_id);
  // A signal without a token id refers to the node's only token.
  if (const auto node = SuffixOf(operation_id, "node:"); node && token == tokens_.end()) {
    token = std::find_if(tokens_.begin(), tokens_.end(),
                         [&](const auto& entry) { return entry.second.node == *node; });
  }
  if (token == tokens_.end()) {
    violations.push_back({"I3", absl::StrCat("a consumption of no token: ", operation_id)});
    return 0;
  }
  const auto [id, consumed] = *token;
  CheckFollowed(id, consumed, after, violations);
  tokens_.erase(token);
  consumed_[id] = consumed;
  if (published_.contains(id)) ++executed_[consumed.node];
  return -consumed.weight;
}

// I7: the successors must have been counted and published.
void TokenLedger::CheckFollowed(const std::string& id, const CountedToken& token,
                                const RunSnapshot& after, Violations& violations) const {
  if (after.approvals.contains(ApprovalIdOf(id))) return;  // The run waits for a decision instead.
  const auto emission = emitted_.find(id);
  if (emission == emitted_.end()) {
    const bool ends = std::any_of(graphs_.begin(), graphs_.end(), [&](const RoutingModel& graph) {
      return Expected(graph, token).empty();
    });
    if (ends) return;
    violations.push_back({"I7", absl::StrCat(id, " is consumed and did not emit")});
    return;
  }
  std::map<std::string, int64_t> ordinals;
  for (const ModelHop& hop : emission->second) {
    TokenMark mark;
    mark.loops = CountsOf(hop.loops);
    const ChildToken child = {id, hop.target, ordinals[hop.target]++};
    bool there = published_.contains(ChildTokenId(kForm, child, mark));
    if (hop.needed > 0) {
      const EdgeId edge = {hop.target, ArrivalId(id, token.node, hop.via)};
      const auto name = absl::StrCat(edge.first, ":", edge.second);
      const auto firing = firings_.find(edge);
      there = after.applied.contains("arrive:" + name) || after.applied.contains("drop:" + name);
      if (firing != firings_.end()) there = published_.contains(firing->second);
    }
    if (there) continue;
    violations.push_back(
        {"I7", absl::StrCat(id, " is consumed before ", hop.target, " is published")});
  }
}

int64_t TokenLedger::Resume(const std::string& member, const RunSnapshot& after) {
  const auto approval = after.approvals.find(member.substr(std::string("approval_").size()));
  if (approval == after.approvals.end()) return 1;
  const bool approved = approval->second.status == "approved";
  CountedToken token = {approval->second.node, 1, LoopsOf(ParseTokenMark(member))};
  token.output = OutputOfApproval(approved);
  decisions_[token.node] = approved;
  tokens_[member] = token;
  return 1;
}

int64_t TokenLedger::Apply(const std::set<std::string>& operations, const RunSnapshot& after,
                           Violations& violations) {
  int64_t delta = 0;
  for (const std::string& operation : operations) {
    if (const auto id = SuffixOf(operation, "emit:")) delta += Emit(*id, after, violations);
  }
  for (const std::string& operation : operations) {
    if (const auto edge = SuffixOf(operation, "arrive:")) Arrive(*edge);
  }
  for (const std::string& operation : operations) {
    if (const auto edge = SuffixOf(operation, "fire:")) Fire(*edge, after);
    if (const auto id = SuffixOf(operation, "merge:")) delta += Merge(*id);
    if (const auto member = SuffixOf(operation, "resume:")) delta += Resume(*member, after);
  }
  for (const std::string& operation : operations) {
    if (const auto id = SuffixOf(operation, "consume:")) delta += Consume(*id, after, violations);
  }
  return delta;
}

int64_t TokenLedger::live() const {
  int64_t sum = 0;
  for (const auto& [id, token] : tokens_) sum += token.weight;
  for (const auto& [id, edge] : edges_) sum += edge.parked ? 0 : 1;
  return sum;
}

std::vector<std::string> TokenLedger::Unconsumed() const {
  std::vector<std::string> ids;
  for (const auto& [id, node] : published_) {
    if (!consumed_.contains(id)) ids.push_back(absl::StrCat(id, " of ", node));
  }
  return ids;
}

std::vector<std::string> TokenLedger::UnconsumedFirings() const {
  std::vector<std::string> ids;
  for (const auto& [id, token] : tokens_) {
    if (token.fired) ids.push_back(id);
  }
  return ids;
}

std::vector<std::string> TokenLedger::JoinsNeverExecuted() const {
  std::vector<std::string> joins;
  for (const std::string& join : arrived_) {
    if (!executed_.contains(join)) joins.push_back(join);
  }
  return joins;
}

}  // namespace redouble::inline v0_1::orchestrator
