#include "redouble/core/orchestrator/graph/routing.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/document_reader.h"
#include "redouble/core/orchestrator/errors.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::ToAbsl;

constexpr int kLongestWay = 10000;

using Names = std::vector<std::string>;

class Router {
 public:
  Router(const Ir& ir, const Completion& completion) : ir_(ir), completion_(completion) {}

  Routing Run() {
    if (completion_.node.empty()) {
      for (const std::string& entry : ir_.entry_nodes) Enter(entry, "", completion_.loops);
    } else if (const Node* node = ir_.Find(completion_.node)) {
      Leave(*node, completion_.loops);
    }
    return std::move(routing_);
  }

 private:
  void Leave(const Node& node, LoopCounts loops) {
    for (const std::string& target : TargetsOf(node, loops)) Enter(target, node.id, loops);
  }

  void Enter(const std::string& target, const std::string& via, const LoopCounts& loops) {
    const Node* node = ir_.Find(target);
    if (node == nullptr) return;
    const bool joins = JoinsAt(*node, via);
    if (!node->IsAbsorber() || joins) {
      const int64_t needed = joins ? static_cast<int64_t>(node->dependencies.size()) : 0;
      routing_.hops.push_back({target, via, loops, needed});
      return;
    }
    if (++steps_ > kLongestWay) return;
    Names& absorbers = routing_.absorbers;
    if (std::find(absorbers.begin(), absorbers.end(), target) == absorbers.end()) {
      absorbers.push_back(target);
    }
    Leave(*node, loops);
  }

  Names TargetsOf(const Node& node, LoopCounts& loops) {
    if (node.HasLoop()) return LoopTargets(node, loops);
    if (node.HasBranch()) return BranchTargets(*node.branch);
    // Only the completed approval node itself follows its rejection path.
    if (node.type == "hitl" && node.id == completion_.node && !IsApproved()) {
      return node.rejection_path;
    }
    return node.dependents;
  }

  Names LoopTargets(const Node& node, LoopCounts& loops) {
    const Loop& loop = *node.loop;
    const auto found = loops.find(node.id);
    const int64_t iteration = (found == loops.end() ? 0 : found->second) + 1;
    if (iteration < loop.max_iterations && (!loop.condition || Holds(*loop.condition))) {
      loops[node.id] = iteration;
      NoteLoop({node.id, iteration});
      return {loop.loop_back_to};
    }
    loops.erase(node.id);
    NoteLoop({node.id, std::nullopt});
    return iteration >= loop.max_iterations ? loop.timeout_path : loop.break_path;
  }

  Names BranchTargets(const Branch& branch) {
    if (branch.type == BranchType::kAgentDriven) return ChosenByAgent(branch);
    for (const BranchRule& rule : branch.rules) {
      if (rule.condition && Holds(*rule.condition)) return rule.next_nodes;
    }
    return branch.default_nodes;
  }

  // The nodes in the output's `next_nodes` if the branch offers all of them; otherwise the default.
  Names ChosenByAgent(const Branch& branch) const {
    const absl::StatusOr<Json> output =
        ParseObject(completion_.output_json, ErrorCode::kInvalidSignal);
    if (!output.ok()) return branch.default_nodes;
    absl::Status status;
    DocumentReader object(*output, "", status);
    const Names names = object.Strings("next_nodes");
    const Names& offered = branch.available_next_nodes;
    const std::set<std::string> chosen(names.begin(), names.end());
    const bool all_offered = std::all_of(chosen.begin(), chosen.end(), [&](const auto& name) {
      return std::find(offered.begin(), offered.end(), name) != offered.end();
    });
    if (!status.ok() || chosen.empty() || !all_offered) return branch.default_nodes;
    return {chosen.begin(), chosen.end()};
  }

  bool IsApproved() const {
    const absl::StatusOr<Json> output =
        ParseObject(completion_.output_json, ErrorCode::kInvalidSignal);
    if (!output.ok()) return true;
    const auto approved = output->find("approved");
    return approved == output->end() || *approved != false;
  }

  bool Holds(const Condition& condition) const {
    const ConditionData data = {completion_.output_json, completion_.outputs};
    return EvaluateCondition(condition, data).value_or(false);
  }

  void NoteLoop(LoopState state) {
    for (LoopState& known : routing_.loops) {
      if (known.node_id == state.node_id) {
        known = std::move(state);
        return;
      }
    }
    routing_.loops.push_back(std::move(state));
  }

  const Ir& ir_;
  const Completion& completion_;
  Routing routing_;
  int steps_ = 0;
};

void AddNeeds(const std::optional<Condition>& condition, RoutingNeeds& needs) {
  if (!condition) return;
  needs.output = true;
  if (absl::StrContains(condition->expression, "ctx")) needs.other_outputs = true;
}

// Adds the needs of one node. Callers add those of absorbers too, because they see the same output.
void AddNeeds(const Node& node, RoutingNeeds& needs) {
  if (node.HasLoop()) AddNeeds(node.loop->condition, needs);
  if (!node.HasBranch()) return;
  if (node.branch->type == BranchType::kAgentDriven) needs.output = true;
  for (const BranchRule& rule : node.branch->rules) AddNeeds(rule.condition, needs);
}

}  // namespace

Routing Route(const Ir& ir, const Completion& completion) { return Router(ir, completion).Run(); }

RoutingNeeds NeedsOf(const Ir& ir, std::string_view node_id) {
  RoutingNeeds needs;
  for (const Node& node : ir.nodes) {
    if (node.id == node_id || node.IsAbsorber()) AddNeeds(node, needs);
    if (node.id == node_id && node.type == "hitl") needs.output = true;
  }
  return needs;
}

bool JoinsAt(const Node& node, std::string_view via) {
  return node.wait_for_all && std::find(node.dependencies.begin(), node.dependencies.end(), via) !=
                                  node.dependencies.end();
}

std::string FormatHops(std::span<const Hop> hops) {
  std::string text;
  for (const Hop& hop : hops) {
    TokenMark mark;
    mark.loops = hop.loops;
    absl::StrAppend(&text, text.empty() ? "" : ",", hop.target, "/", hop.via, "/",
                    FormatTokenMark(mark));
    if (hop.needed > 0) absl::StrAppend(&text, "/", hop.needed);
  }
  return text;
}

std::optional<std::vector<Hop>> ParseHops(std::string_view text) {
  std::vector<Hop> hops;
  if (text.empty()) return hops;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(text), ',')) {
    const std::vector<std::string> fields = absl::StrSplit(part, '/');
    constexpr size_t kFields = 3;
    if (fields.size() < kFields || fields.size() > kFields + 1) return std::nullopt;
    int64_t needed = 0;
    if (fields.size() > kFields && (!absl::SimpleAtoi(fields.back(), &needed) || needed < 1)) {
      return std::nullopt;
    }
    if (fields[0].empty()) return std::nullopt;
    hops.push_back({fields[0], fields[1], ParseTokenMark(fields[2]).loops, needed});
  }
  return hops;
}

std::vector<FiredToken> FindUnpublished(std::span<const std::string> applied) {
  constexpr std::string_view kFire = "fire:";
  const std::set<std::string_view> members(applied.begin(), applied.end());
  std::vector<FiredToken> tokens;
  for (const std::string_view member : members) {
    if (!member.starts_with(kFire)) continue;
    const std::string_view name = member.substr(kFire.size());
    const size_t colon = name.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view rest = name.substr(colon + 1);
    if (rest != "quiesce" && !rest.starts_with("quiesce:")) continue;
    std::string id = absl::StrCat("join:", ToAbsl(name));
    const std::string marked = absl::StrCat("publish:", id, ".");
    const auto published = members.lower_bound(marked);
    if (published != members.end() && published->starts_with(marked)) {
      id = std::string(published->substr(std::string_view("publish:").size()));
    }
    if (members.contains(ConsumeOp(id))) continue;
    tokens.push_back({std::string(name.substr(0, colon)), std::move(id)});
  }
  return tokens;
}

}  // namespace redouble::inline v0_1::orchestrator
