#include "redouble/core/orchestrator/graph/ir.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/document_reader.h"
#include "redouble/core/orchestrator/errors.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using Names = std::vector<std::string>;

// In the order of the enumeration.
constexpr std::array<std::string_view, 2> kBranchTypes = {"conditional", "agent_driven"};

Names WithoutRepetitions(Names names) {
  Names once;
  for (std::string& name : names) {
    if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(std::move(name));
  }
  return once;
}

// One list of possible successors of a node, and its position in the text.
struct Targets {
  std::string path;
  const Names* names;
};

// The successors of a node other than `dependents` and `loop_back_to`: branch targets, loop exits
// and the rejection path.
std::vector<Targets> ChosenTargets(const Node& node) {
  std::vector<Targets> targets;
  if (node.loop) {
    targets.push_back({"/loop/break_path", &node.loop->break_path});
    targets.push_back({"/loop/timeout_path", &node.loop->timeout_path});
  }
  targets.push_back({"/rejection_path", &node.rejection_path});
  if (!node.branch) return targets;
  for (size_t i = 0; i < node.branch->rules.size(); ++i) {
    targets.push_back(
        {absl::StrCat("/branch/rules/", i, "/next_nodes"), &node.branch->rules[i].next_nodes});
  }
  targets.push_back({"/branch/default", &node.branch->default_nodes});
  targets.push_back({"/branch/available_next_nodes", &node.branch->available_next_nodes});
  return targets;
}

// The types that workers execute even if the node has a branch or a loop.
// Source: docs/systems/orchestrator.md 4.5.
constexpr std::array<std::string_view, 7> kExecutedTypes = {
    "hitl", "http", "agent", "function", "transform", "aggregate", "filter"};

bool HasNoSuccessor(const Node& node) {
  const std::vector<Targets> chosen = ChosenTargets(node);
  return node.dependents.empty() && !(node.loop && !node.loop->loop_back_to.empty()) &&
         std::all_of(chosen.begin(), chosen.end(),
                     [](const Targets& targets) { return targets.names->empty(); });
}

std::optional<Condition> ReadCondition(DocumentReader& owner, absl::Status& status) {
  const Json* json = owner.Find("condition");
  if (json == nullptr) return std::nullopt;
  DocumentReader object(*json, owner.path() + "/condition", status);
  Condition condition;
  condition.type = object.String("type");
  condition.expression = object.String("expression");
  return condition;
}

Loop ReadLoop(const Json& json, const std::string& path, absl::Status& status) {
  DocumentReader object(json, path, status);
  Loop loop;
  loop.enabled = object.BoolOr("enabled", false);
  loop.condition = ReadCondition(object, status);
  loop.max_iterations = object.IntegerOr("max_iterations", 0, 0);
  loop.loop_back_to = object.StringOr("loop_back_to", "");
  loop.break_path = WithoutRepetitions(object.Strings("break_path"));
  loop.timeout_path = WithoutRepetitions(object.Strings("timeout_path"));
  return loop;
}

std::vector<BranchRule> ReadRules(DocumentReader& branch, absl::Status& status) {
  std::vector<BranchRule> rules;
  const Json* json = branch.Find("rules");
  if (json == nullptr) return rules;
  if (!json->is_array()) {
    branch.Expected("rules", "an array", *json);
    return rules;
  }
  for (size_t i = 0; i < json->size(); ++i) {
    DocumentReader object((*json)[i], absl::StrCat(branch.path(), "/rules/", i), status);
    BranchRule rule;
    rule.condition = ReadCondition(object, status);
    rule.next_nodes = WithoutRepetitions(object.Strings("next_nodes"));
    rules.push_back(std::move(rule));
  }
  return rules;
}

Branch ReadBranch(const Json& json, const std::string& path, absl::Status& status) {
  DocumentReader object(json, path, status);
  Branch branch;
  branch.enabled = object.BoolOr("enabled", false);
  const std::string type = object.StringOr("type", kBranchTypes[0]);
  const auto found = std::find(kBranchTypes.begin(), kBranchTypes.end(), type);
  if (found == kBranchTypes.end()) {
    if (const Json* value = object.Find("type")) {
      object.Expected("type", "conditional or agent_driven", *value);
    }
  } else {
    branch.type = static_cast<BranchType>(found - kBranchTypes.begin());
  }
  branch.rules = ReadRules(object, status);
  branch.default_nodes = WithoutRepetitions(object.Strings("default"));
  branch.available_next_nodes = WithoutRepetitions(object.Strings("available_next_nodes"));
  return branch;
}

// The members that are missing in a node's text and must be derived.
struct Absent {
  bool dependencies = false;
  bool wait_for_all = false;
  bool is_terminal = false;
};

Node ReadNode(const Json& json, const std::string& key, Absent& absent, absl::Status& status) {
  DocumentReader object(json, absl::StrCat("/nodes", base::PointerPart(key)), status);
  Node node;
  node.id = object.Id("id");
  if (node.id != key) object.Refuse("id", absl::StrCat("is not the node's name ", key));
  node.type = object.String("type");
  if (node.type.empty()) object.Refuse("type", "is empty");
  node.config_json = object.JsonTextOf("config");
  node.config_ref = object.StringOr("config_ref", "");
  node.dependencies = WithoutRepetitions(object.Strings("dependencies"));
  node.dependents = WithoutRepetitions(object.Strings("dependents"));
  node.wait_for_all = object.BoolOr("wait_for_all", false);
  node.is_terminal = object.BoolOr("is_terminal", false);
  if (const Json* loop = object.Find("loop")) {
    node.loop = ReadLoop(*loop, object.path() + "/loop", status);
  }
  if (const Json* branch = object.Find("branch")) {
    node.branch = ReadBranch(*branch, object.path() + "/branch", status);
  }
  node.rejection_path = WithoutRepetitions(object.Strings("rejection_path"));
  node.policy = ReadExecutionPolicy(object, status);
  absent = {object.Find("dependencies") == nullptr, object.Find("wait_for_all") == nullptr,
            object.Find("is_terminal") == nullptr};
  return node;
}

void DeriveNodes(Ir& ir, const std::vector<Absent>& absent) {
  std::map<std::string_view, Names> dependencies;
  for (const Node& node : ir.nodes) {
    for (const std::string& dependent : node.dependents) dependencies[dependent].push_back(node.id);
  }
  for (size_t i = 0; i < ir.nodes.size(); ++i) {
    Node& node = ir.nodes[i];
    if (absent[i].dependencies) node.dependencies = dependencies[node.id];
    if (absent[i].wait_for_all) node.wait_for_all = node.dependencies.size() > 1;
    if (absent[i].is_terminal) node.is_terminal = HasNoSuccessor(node);
  }
}

Names DeriveEntries(const Ir& ir) {
  std::set<std::string_view> chosen;
  for (const Node& node : ir.nodes) {
    for (const Targets& targets : ChosenTargets(node)) {
      chosen.insert(targets.names->begin(), targets.names->end());
    }
  }
  Names entries;
  for (const Node& node : ir.nodes) {
    if (node.dependencies.empty() && !chosen.contains(node.id)) entries.push_back(node.id);
  }
  return entries;
}

Ir ReadIr(const Json& json, absl::Status& status) {
  DocumentReader object(json, "", status);
  Ir ir;
  ir.version = object.StringOr("version", "1.0");
  ir.metadata_json = object.ObjectTextOf("metadata");
  const Json* nodes = object.Find("nodes");
  if (nodes == nullptr) {
    object.Refuse("nodes", "is missing");
  } else if (!nodes->is_object()) {
    object.Expected("nodes", "an object", *nodes);
  } else {
    std::vector<Absent> absent(nodes->size());
    for (const auto& [key, node] : nodes->items()) {
      ir.nodes.push_back(ReadNode(node, key, absent[ir.nodes.size()], status));
    }
    DeriveNodes(ir, absent);
  }
  ir.entry_nodes = object.Find("entry_nodes") == nullptr
                       ? DeriveEntries(ir)
                       : WithoutRepetitions(object.Strings("entry_nodes"));
  return ir;
}

Json ConditionJson(const Condition& condition) {
  return {{"type", condition.type}, {"expression", condition.expression}};
}

Json LoopJson(const Loop& loop) {
  Json json = {{"enabled", loop.enabled}};
  if (loop.condition) json["condition"] = ConditionJson(*loop.condition);
  json["max_iterations"] = loop.max_iterations;
  json["loop_back_to"] = loop.loop_back_to;
  json["break_path"] = loop.break_path;
  json["timeout_path"] = loop.timeout_path;
  return json;
}

Json BranchJson(const Branch& branch) {
  Json json = {{"enabled", branch.enabled},
               {"type", kBranchTypes[static_cast<size_t>(branch.type)]}};
  json["rules"] = Json::array();
  for (const BranchRule& rule : branch.rules) {
    Json rule_json = Json::object();
    if (rule.condition) rule_json["condition"] = ConditionJson(*rule.condition);
    rule_json["next_nodes"] = rule.next_nodes;
    json["rules"].push_back(std::move(rule_json));
  }
  json["default"] = branch.default_nodes;
  if (!branch.available_next_nodes.empty()) {
    json["available_next_nodes"] = branch.available_next_nodes;
  }
  return json;
}

absl::StatusOr<Json> NodeJson(const Node& node) {
  Json json = {{"id", node.id}, {"type", node.type}};
  REDOUBLE_RETURN_IF_ERROR(AddJsonText(json, "config", node.config_json));
  if (!node.config_ref.empty()) json["config_ref"] = node.config_ref;
  json["dependencies"] = node.dependencies;
  json["dependents"] = node.dependents;
  json["wait_for_all"] = node.wait_for_all;
  json["is_terminal"] = node.is_terminal;
  if (node.loop) json["loop"] = LoopJson(*node.loop);
  if (node.branch) json["branch"] = BranchJson(*node.branch);
  if (!node.rejection_path.empty()) json["rejection_path"] = node.rejection_path;
  AddExecutionPolicy(json, node.policy);
  return json;
}

absl::Status Wrong(std::string_view path, std::string_view what) {
  return MakeError(ErrorCode::kInvalidIr,
                   absl::StrCat(base::ToAbsl(path), ": ", base::ToAbsl(what)));
}

// Checks the parts of one graph.
class Validator {
 public:
  explicit Validator(const Ir& ir) : ir_(ir) {}

  absl::Status Validate() {
    if (ir_.nodes.empty()) return Wrong("/nodes", "there is no node");
    absl::Status status = CollectNodes();
    for (const Node& node : ir_.nodes) {
      if (status.ok()) status = CheckNode(node);
    }
    if (status.ok()) status = CheckTargets("/entry_nodes", ir_.entry_nodes);
    REDOUBLE_RETURN_IF_ERROR(status);
    if (ir_.entry_nodes.empty()) return Wrong("/entry_nodes", "no node begins the run");
    const auto is_terminal = [](const Node& node) { return node.is_terminal; };
    if (std::none_of(ir_.nodes.begin(), ir_.nodes.end(), is_terminal)) {
      return Wrong("/nodes", "no node is terminal");
    }
    return CheckCycles();
  }

 private:
  absl::Status CollectNodes() {
    for (const Node& node : ir_.nodes) {
      if (!IsId(node.id)) {
        return Wrong("/nodes", absl::StrCat("expected ids of letters, digits, _ and -, got ",
                                            store::QuoteBytes(node.id)));
      }
      if (!nodes_.emplace(node.id, &node).second) {
        return Wrong("/nodes", absl::StrCat("there are two nodes ", store::QuoteBytes(node.id)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckTargets(const std::string& path, const Names& names) const {
    for (size_t i = 0; i < names.size(); ++i) {
      if (!nodes_.contains(names[i])) {
        return Wrong(absl::StrCat(path, "/", i),
                     absl::StrCat("there is no node ", store::QuoteBytes(names[i])));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckNode(const Node& node) const {
    const std::string path = absl::StrCat("/nodes/", node.id);
    absl::Status status = CheckTargets(path + "/dependencies", node.dependencies);
    status.Update(CheckTargets(path + "/dependents", node.dependents));
    for (const Targets& targets : ChosenTargets(node)) {
      status.Update(CheckTargets(path + targets.path, *targets.names));
    }
    REDOUBLE_RETURN_IF_ERROR(status);
    if (node.loop && node.loop->enabled) return CheckLoop(path + "/loop", *node.loop);
    const bool branches = node.branch && node.branch->enabled;
    if (branches && node.branch->type == BranchType::kConditional && node.branch->rules.empty() &&
        node.branch->default_nodes.empty()) {
      return Wrong(path + "/branch", "there is neither a rule nor a default");
    }
    return absl::OkStatus();
  }

  absl::Status CheckLoop(const std::string& path, const Loop& loop) const {
    if (loop.max_iterations < 1) {
      return Wrong(path + "/max_iterations",
                   absl::StrCat("expected an integer of at least 1, got ", loop.max_iterations));
    }
    if (!nodes_.contains(loop.loop_back_to)) {
      return Wrong(path + "/loop_back_to",
                   absl::StrCat("there is no node ", store::QuoteBytes(loop.loop_back_to)));
    }
    return absl::OkStatus();
  }

  // The successors of a node that count for cycles. A cycle through a node with a loop is
  // permitted, so edges to such a node are left out.
  std::set<std::string_view> Successors(const Node& node) const {
    std::set<std::string_view> successors(node.dependents.begin(), node.dependents.end());
    for (const Targets& targets : ChosenTargets(node)) {
      successors.insert(targets.names->begin(), targets.names->end());
    }
    std::erase_if(successors, [this](std::string_view id) { return nodes_.at(id)->HasLoop(); });
    return successors;
  }

  // Removes nodes without predecessors repeatedly. The nodes that remain are on a cycle, or are
  // reached from one.
  absl::Status CheckCycles() const {
    std::map<std::string_view, size_t> predecessors;
    for (const Node& node : ir_.nodes) {
      for (const std::string_view successor : Successors(node)) ++predecessors[successor];
    }
    std::vector<const Node*> free;
    for (const Node& node : ir_.nodes) {
      if (!predecessors.contains(node.id)) free.push_back(&node);
    }
    size_t taken = 0;
    for (; taken < free.size(); ++taken) {
      for (const std::string_view successor : Successors(*free[taken])) {
        if (--predecessors[successor] == 0) free.push_back(nodes_.at(successor));
      }
    }
    if (taken == ir_.nodes.size()) return absl::OkStatus();
    for (const Node& node : ir_.nodes) {
      if (predecessors[node.id] > 0) {
        return Wrong(absl::StrCat("/nodes/", node.id),
                     "is on or behind a cycle that no loop permits");
      }
    }
    return absl::OkStatus();
  }

  const Ir& ir_;
  std::map<std::string_view, const Node*> nodes_;
};

}  // namespace

bool Node::IsAbsorber() const {
  return (HasLoop() || HasBranch()) &&
         std::find(kExecutedTypes.begin(), kExecutedTypes.end(), type) == kExecutedTypes.end();
}

std::vector<std::string_view> Ir::NodeIds() const {
  std::vector<std::string_view> ids;
  for (const Node& node : nodes) ids.push_back(node.id);
  return ids;
}

const Node* Ir::Find(std::string_view node_id) const {
  for (const Node& node : nodes) {
    if (node.id == node_id) return &node;
  }
  return nullptr;
}

absl::StatusOr<Ir> ParseIr(std::string_view text) {
  REDOUBLE_ASSIGN_OR_RETURN(const Json json, ParseObject(text, ErrorCode::kInvalidIr));
  absl::Status status;
  Ir ir = ReadIr(json, status);
  if (!status.ok()) return MakeError(ErrorCode::kInvalidIr, base::ToStd(status.message()));
  REDOUBLE_RETURN_IF_ERROR(ValidateIr(ir));
  return ir;
}

absl::StatusOr<std::string> FormatIr(const Ir& ir) {
  Json json = {{"version", ir.version}};
  Json& nodes = json["nodes"] = Json::object();
  for (const Node& node : ir.nodes) {
    REDOUBLE_ASSIGN_OR_RETURN(Json node_json, NodeJson(node));
    nodes[node.id] = std::move(node_json);
  }
  json["entry_nodes"] = ir.entry_nodes;
  REDOUBLE_RETURN_IF_ERROR(AddJsonText(json, "metadata", ir.metadata_json));
  return JsonText(json);
}

absl::Status ValidateIr(const Ir& ir) { return Validator(ir).Validate(); }

}  // namespace redouble::inline v0_1::orchestrator
