#include "redouble/tests/property/orchestrator/routing_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Names = std::vector<std::string>;

Names NamesIn(const OrderedJson& object, const char* name) {
  Names names;
  for (const OrderedJson& value : object.value(name, OrderedJson::array())) {
    const std::string text = value.get<std::string>();
    if (std::find(names.begin(), names.end(), text) == names.end()) names.push_back(text);
  }
  return names;
}

std::string ExpressionIn(const OrderedJson& object) {
  return object.contains("condition") ? object["condition"].value("expression", "") : "";
}

ModelNode ReadNode(const OrderedJson& json) {
  ModelNode node;
  node.id = json.at("id");
  node.type = json.at("type");
  node.dependencies = NamesIn(json, "dependencies");
  node.dependents = NamesIn(json, "dependents");
  node.rejection_path = NamesIn(json, "rejection_path");
  node.joins = json.value("wait_for_all", node.dependencies.size() > 1);
  if (json.contains("loop") && json["loop"].value("enabled", false)) {
    const OrderedJson& loop = json["loop"];
    node.loops = true;
    node.most_iterations = loop.at("max_iterations");
    node.loop_expression = ExpressionIn(loop);
    node.back_to = loop.at("loop_back_to");
    node.break_path = NamesIn(loop, "break_path");
    node.timeout_path = NamesIn(loop, "timeout_path");
  }
  if (json.contains("branch") && json["branch"].value("enabled", false)) {
    node.branches = true;
    for (const OrderedJson& rule : json["branch"].value("rules", OrderedJson::array())) {
      node.rules.push_back({ExpressionIn(rule), NamesIn(rule, "next_nodes")});
    }
    node.otherwise = NamesIn(json["branch"], "default");
  }
  return node;
}

// All nodes need a worker, except decisions that name no worker's type.
bool NeedsWorker(const ModelNode& node) {
  static const std::set<std::string> kWorked = {"hitl",      "http",      "agent", "function",
                                                "transform", "aggregate", "filter"};
  return !(node.loops || node.branches) || kWorked.contains(node.type);
}

bool Holds(const std::string& expression, std::string_view output) {
  const OrderedJson json = OrderedJson::parse(output, nullptr, false);
  if (!json.is_object() || !json.contains("n") || !json.contains("again")) return false;
  for (const ModelCondition& condition : ModelConditions()) {
    if (expression != condition.expression) continue;
    return condition.holds != nullptr && condition.holds(json["n"], json["again"]);
  }
  return false;
}

// Follows the paths from one completed node.
class Way {
 public:
  Way(const RoutingModel& model, std::string_view origin, std::string_view output)
      : model_(model), origin_(origin), output_(output) {}

  void Leave(const ModelNode& node, ModelLoops loops) {
    const Names targets = TargetsOf(node, loops);
    for (const std::string& target : targets) Enter(target, node.id, loops);
  }

  void Enter(const std::string& target, const std::string& via, const ModelLoops& loops) {
    const ModelNode* const node = model_.Find(target);
    if (node == nullptr) return;
    const Names& before = node->dependencies;
    const bool waits = node->joins && std::find(before.begin(), before.end(), via) != before.end();
    if (waits) {
      routing_.hops.push_back({target, via, loops, static_cast<int64_t>(before.size())});
    } else if (NeedsWorker(*node)) {
      routing_.hops.push_back({target, via, loops, 0});
    } else {
      routing_.absorbers.insert(target);
      Leave(*node, loops);
    }
  }

  ModelRouting routing() { return std::move(routing_); }

 private:
  Names TargetsOf(const ModelNode& node, ModelLoops& loops) {
    if (node.loops) return TargetsOfLoop(node, loops);
    if (node.branches) {
      routing_.branched = true;
      for (const ModelRule& rule : node.rules) {
        if (Holds(rule.expression, output_)) return rule.targets;
      }
      return node.otherwise;
    }
    if (node.type == "hitl" && node.id == origin_ && output_ == OutputOfApproval(false)) {
      return node.rejection_path;
    }
    return node.dependents;
  }

  Names TargetsOfLoop(const ModelNode& node, ModelLoops& loops) {
    const int64_t iteration = loops[node.id] + 1;
    const bool is_last = iteration >= node.most_iterations;
    const bool goes_on = node.loop_expression.empty() || Holds(node.loop_expression, output_);
    if (!is_last && goes_on) {
      loops[node.id] = iteration;
      routing_.loops[node.id] = iteration;
      routing_.ended.erase(node.id);
      return {node.back_to};
    }
    loops.erase(node.id);
    routing_.loops.erase(node.id);
    routing_.ended.insert(node.id);
    return is_last ? node.timeout_path : node.break_path;
  }

  const RoutingModel& model_;
  const std::string_view origin_;
  const std::string_view output_;
  ModelRouting routing_;
};

// The state of a run between two steps: tokens that wait for execution, edges that wait for their
// arrival, and the arrivals at each join.
struct State {
  std::multiset<std::pair<std::string, ModelLoops>> tokens;
  std::multiset<ModelHop> edges;
  std::map<std::string, std::set<std::string>> parked;
  bool in_loop = false;  // A loop has completed an iteration.
  ModelOutcome outcome;

  friend auto operator<=>(const State&, const State&) = default;
};

void Follow(const ModelRouting& routing, State& state) {
  for (const ModelHop& hop : routing.hops) {
    if (hop.needed > 0) {
      state.edges.insert(hop);
    } else {
      state.tokens.emplace(hop.target, hop.loops);
    }
  }
  if (!routing.loops.empty()) state.in_loop = true;
  state.outcome.written.insert(routing.absorbers.begin(), routing.absorbers.end());
}

class Explorer {
 public:
  Explorer(const RoutingModel& model, const ModelRun& run, size_t most_states)
      : model_(model), run_(run), most_states_(most_states) {}

  std::optional<std::set<ModelOutcome>> Explore() {
    State first;
    Follow(model_.Begin(), first);
    // Absorbers pass on the output of the node before them; at the start there is none.
    first.outcome.written.clear();
    Visit(std::move(first));
    while (!waiting_.empty()) {
      const State state = std::move(waiting_.back());
      waiting_.pop_back();
      if (!Expand(state) || seen_.size() > most_states_) return std::nullopt;
    }
    return std::move(outcomes_);
  }

 private:
  void Visit(State state) {
    if (seen_.insert(state).second) waiting_.push_back(std::move(state));
  }

  // Returns false if the model does not define what happens.
  bool Expand(const State& state) {
    if (state.tokens.empty() && state.edges.empty()) return Starve(state);
    // Without loops every order has the same outcome.
    const bool any_order = model_.IsLoopFree() && run_.failing.empty();
    for (auto token = state.tokens.begin(); token != state.tokens.end(); ++token) {
      Execute(state, *token);
      if (any_order) return true;
    }
    for (auto edge = state.edges.begin(); edge != state.edges.end(); ++edge) {
      Arrive(state, *edge);
      if (any_order) return true;
    }
    return true;
  }

  void Execute(State state, std::pair<std::string, ModelLoops> token) {
    const auto& [id, loops] = token;
    state.tokens.erase(state.tokens.find(token));
    if (id == run_.failing) {
      outcomes_.insert({.failed = true, .executed = {}, .written = {}});
      return;
    }
    const ModelNode& node = *model_.Find(id);
    const auto decision = run_.decisions.find(id);
    const bool approved = decision == run_.decisions.end() || decision->second;
    const std::string output = node.type == "hitl" ? OutputOfApproval(approved) : OutputOf(id);
    if (NeedsWorker(node)) ++state.outcome.executed[id];
    state.outcome.written.insert(id);
    Follow(model_.Next(id, output, loops), state);
    Visit(std::move(state));
  }

  void Arrive(State state, const ModelHop& edge) {
    const ModelHop hop = edge;
    state.edges.erase(state.edges.find(hop));
    std::set<std::string>& parked = state.parked[hop.target];
    parked.insert(hop.via);
    if (static_cast<int64_t>(parked.size()) >= hop.needed) {
      state.parked.erase(hop.target);
      state.tokens.emplace(hop.target, hop.loops);
    }
    Visit(std::move(state));
  }

  bool Starve(State state) {
    for (const ModelNode& node : model_.nodes()) {
      if (!state.parked.contains(node.id)) continue;
      if (state.in_loop) return false;
      state.parked.erase(node.id);
      state.tokens.emplace(node.id, ModelLoops());
      Visit(std::move(state));
      return true;
    }
    outcomes_.insert(state.outcome);
    return true;
  }

  const RoutingModel& model_;
  const ModelRun& run_;
  const size_t most_states_;
  std::set<State> seen_;
  std::vector<State> waiting_;
  std::set<ModelOutcome> outcomes_;
};

}  // namespace

RoutingModel::RoutingModel(std::string_view ir_text) {
  const OrderedJson json = OrderedJson::parse(ir_text);
  for (const auto& [id, node] : json.at("nodes").items()) nodes_.push_back(ReadNode(node));
  entries_ = NamesIn(json, "entry_nodes");
}

const ModelNode* RoutingModel::Find(std::string_view id) const {
  for (const ModelNode& node : nodes_) {
    if (node.id == id) return &node;
  }
  return nullptr;
}

bool RoutingModel::IsLoopFree() const {
  return std::none_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.loops; });
}

int64_t RoutingModel::MostExecutions() const {
  int64_t most = 1;
  for (const ModelNode& node : nodes_) {
    if (node.loops) most *= node.most_iterations;
  }
  return most;
}

ModelRouting RoutingModel::Begin() const {
  Way way(*this, "", "");
  for (const std::string& entry : entries_) way.Enter(entry, "", {});
  return way.routing();
}

ModelRouting RoutingModel::Next(std::string_view node, std::string_view output,
                                const ModelLoops& loops) const {
  Way way(*this, node, output);
  if (const ModelNode* const found = Find(node)) way.Leave(*found, loops);
  return way.routing();
}

std::optional<std::set<ModelOutcome>> RoutingModel::Outcomes(const ModelRun& run,
                                                             size_t most_states) const {
  return Explorer(*this, run, most_states).Explore();
}

std::string OutputOf(std::string_view node) {
  const int n = node.empty() ? 0 : node.front() % 3;
  return absl::StrCat(R"({"n":)", n, R"(,"again":)", n == 1 ? "false" : "true", R"(,"node":")",
                      std::string(node), "\"}");
}

std::string OutputOfApproval(bool approved) {
  return approved ? R"({"approved":true})" : R"({"approved":false})";
}

const std::vector<ModelCondition>& ModelConditions() {
  static const std::vector<ModelCondition> kConditions = {
      {"output.n == 0", [](int64_t n, bool) { return n == 0; }},
      {"output.n > 0", [](int64_t n, bool) { return n > 0; }},
      {"output.again", [](int64_t, bool again) { return again; }},
      {"output.missing", nullptr},
  };
  return kConditions;
}

}  // namespace redouble::inline v0_1::orchestrator
