#include "redouble/core/orchestrator/graph/patch.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/document_reader.h"
#include "redouble/core/orchestrator/errors.h"
#include "redouble/core/orchestrator/graph/edges.h"
#include "redouble/core/orchestrator/scripts/run_scripts.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::ToAbsl;

constexpr int kMostAgents = 5;
constexpr int kMostAttempts = 10;
constexpr const char* kDerived[] = {"dependencies", "dependents", "is_terminal"};

absl::Status Wrong(std::string_view what) { return MakeError(ErrorCode::kInvalidPatch, what); }

// The document that a patch applies to; see patch.h.
absl::StatusOr<Json> DocumentOf(const Ir& ir) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, FormatIr(ir));
  Json document = Json::parse(text);
  Json edges = Json::array();
  for (const Node& node : ir.nodes) {
    for (const std::string& to : node.dependents) {
      edges.push_back(Json{{"from", node.id}, {"to", to}});
    }
    Json& json = document["nodes"][node.id];
    for (const char* name : kDerived) json.erase(name);
    // The member is derived from the edges unless it differs from the derived value.
    if (node.wait_for_all == (node.dependencies.size() > 1)) json.erase("wait_for_all");
  }
  return Json{{"nodes", std::move(document["nodes"])}, {"edges", std::move(edges)}};
}

// Checks an operation and converts it to the form that the JSON library applies.
absl::StatusOr<Json> ReadOperation(const Json& json, size_t index) {
  absl::Status status;
  DocumentReader object(json, absl::StrCat("/", index), status);
  const std::string op = object.String("op");
  std::string path = object.String("path");
  if (!status.ok()) return Wrong(std::string(status.message()));
  const auto refuse = [&](std::string_view why) {
    return Wrong(absl::StrCat("/", index, ": ", ToAbsl(why)));
  };
  if (op != "add" && op != "remove" && op != "replace") {
    return refuse(absl::StrCat("expected add, remove or replace, got ", op));
  }
  if (!path.starts_with("/nodes/") && !path.starts_with("/edges/")) {
    return refuse(absl::StrCat("expected a path in /nodes/ or /edges/, got ", path));
  }
  Json operation = {{"op", op}};
  if (op != "remove") {
    const auto value = json.find("value");
    if (value == json.end()) return refuse("the value is missing");
    const bool is_node = path.starts_with("/nodes/") && path.find('/', 7) == std::string::npos;
    if (is_node) {
      DocumentReader node(*value, absl::StrCat("/", index, "/value"), status);
      const std::string id = node.Id("id");
      node.String("type");
      node.ObjectTextOf("config");
      if (!status.ok()) return Wrong(std::string(status.message()));
      if (path == "/nodes/-") path = "/nodes" + base::PointerPart(id);
    }
    operation["value"] = *value;
  }
  operation["path"] = path;
  return operation;
}

// Applies one operation. Leaves the document unchanged on an error.
absl::Status ApplyOne(Json& document, const Json& operation, size_t index) {
  const std::string path = operation["path"];
  const bool is_node = path.starts_with("/nodes/") && path.find('/', 7) == std::string::npos;
  const std::string id = is_node ? path.substr(7) : "";
  if (operation["op"] == "add" && is_node && document["nodes"].contains(id)) {
    return Wrong(absl::StrCat("/", index, ": there is a node ", id, " already"));
  }
  try {
    document = document.patch(Json::array({operation}));
  } catch (const Json::exception& error) {
    return Wrong(absl::StrCat("/", index, ": ", error.what()));
  }
  if (operation["op"] != "remove" || !is_node) return absl::OkStatus();
  Json kept = Json::array();
  for (const Json& edge : document["edges"]) {
    if (edge.value("from", "") != id && edge.value("to", "") != id) kept.push_back(edge);
  }
  document["edges"] = std::move(kept);
  return absl::OkStatus();
}

// "1.2" becomes "1.3", "v" becomes "v.1".
std::string NextVersion(const std::string& version) {
  const size_t dot = version.rfind('.');
  int64_t last = 0;
  const std::string number = dot == std::string::npos ? version : version.substr(dot + 1);
  if (!absl::SimpleAtoi(number, &last)) return version + ".1";
  const std::string prefix = dot == std::string::npos ? "" : version.substr(0, dot + 1);
  return absl::StrCat(prefix, last + 1);
}

absl::Status CheckAgents(const Ir& before, const Ir& after) {
  int added = 0;
  for (const Node& node : after.nodes) {
    if (node.type == "agent" && before.Find(node.id) == nullptr) ++added;
  }
  if (added <= kMostAgents) return absl::OkStatus();
  return Wrong(absl::StrCat("adds ", added, " agent nodes, at most ", kMostAgents, " are allowed"));
}

// The fields of the context that prove that the run has reached a node.
std::vector<std::string> FieldsOf(const Ir& ir, const std::string& id) {
  std::vector<std::string> fields = {id + ":completed_at", id + ":output"};
  for (const Node& node : ir.nodes) {
    const auto names = [&](const std::vector<std::string>& targets) {
      return std::find(targets.begin(), targets.end(), id) != targets.end();
    };
    bool precedes = names(node.dependents) || names(node.rejection_path);
    if (node.loop) {
      precedes = precedes || node.loop->loop_back_to == id || names(node.loop->break_path) ||
                 names(node.loop->timeout_path);
    }
    if (node.branch) {
      precedes =
          precedes || names(node.branch->default_nodes) || names(node.branch->available_next_nodes);
      for (const BranchRule& rule : node.branch->rules)
        precedes = precedes || names(rule.next_nodes);
    }
    if (!precedes) continue;
    fields.push_back(node.id + ":completed_at");
    fields.push_back(node.id + ":output");
  }
  return fields;
}

}  // namespace

absl::StatusOr<Ir> ApplyPatch(const Ir& ir, std::string_view operations_json) {
  const Json operations = Json::parse(operations_json, nullptr, /*allow_exceptions=*/false);
  if (!operations.is_array()) return Wrong("expected an array of operations");
  REDOUBLE_ASSIGN_OR_RETURN(Json document, DocumentOf(ir));
  for (size_t i = 0; i < operations.size(); ++i) {
    REDOUBLE_ASSIGN_OR_RETURN(const Json operation, ReadOperation(operations[i], i));
    REDOUBLE_RETURN_IF_ERROR(ApplyOne(document, operation, i));
  }
  Json& nodes = document["nodes"];
  const Json& edges = document["edges"];
  if (!nodes.is_object() || !edges.is_array()) return Wrong("nodes and edges cannot be replaced");
  for (const auto& [id, node] : nodes.items()) {
    if (!node.is_object()) return Wrong(absl::StrCat("/nodes/", id, ": expected an object"));
    for (const char* name : kDerived) node.erase(name);
    node["dependents"] = Json::array();
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    const absl::Status added = AddEdge(nodes, edges[i], absl::StrCat("/edges/", i));
    if (!added.ok()) return Wrong(std::string(added.message()));
  }
  Json patched = {{"version", NextVersion(ir.version)}, {"nodes", std::move(nodes)}};
  patched["entry_nodes"] = ir.entry_nodes;
  REDOUBLE_RETURN_IF_ERROR(AddJsonText(patched, "metadata", ir.metadata_json));
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, JsonText(patched));
  absl::StatusOr<Ir> compiled = ParseIr(text);
  if (!compiled.ok()) return Wrong(std::string(compiled.status().message()));
  REDOUBLE_RETURN_IF_ERROR(CheckAgents(ir, *compiled));
  return compiled;
}

std::vector<std::string> RemovedOrRetypedNodes(const Ir& before, const Ir& after) {
  std::vector<std::string> ids;
  for (const Node& node : before.nodes) {
    const Node* const kept = after.Find(node.id);
    if (kept == nullptr || kept->type != node.type) ids.push_back(node.id);
  }
  return ids;
}

base::Task<absl::StatusOr<PatchOutcome>> PatchRun(store::Store& store, Keys keys,
                                                  std::string_view run_id,
                                                  std::string_view operations_json) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys.Ir(run_id));
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                                 co_await store::Get(store, key));
    if (!text) co_return PatchOutcome::kRunGone;
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Ir before, ParseIr(*text));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Ir after, ApplyPatch(before, operations_json));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string patched, FormatIr(after));
    std::vector<std::string> absent;
    for (const std::string& id : RemovedOrRetypedNodes(before, after)) {
      const auto& entries = before.entry_nodes;
      if (std::find(entries.begin(), entries.end(), id) != entries.end()) {
        co_return MakeError(ErrorCode::kPatchTooLate, absl::StrCat("the run began with node ", id));
      }
      const std::vector<std::string> fields = FieldsOf(before, id);
      absent.insert(absent.end(), fields.begin(), fields.end());
    }
    ReplaceIrRequest request;
    request.run_id = run_id;
    request.expected = *text;
    request.ir = patched;
    request.absent_fields = absent;
    REDOUBLE_CO_ASSIGN_OR_RETURN(const ReplaceIrOutcome outcome,
                                 co_await ReplaceIr(store, keys, request));
    switch (outcome) {
      case ReplaceIrOutcome::kReplaced:
        co_return PatchOutcome::kPatched;
      case ReplaceIrOutcome::kRunGone:
        co_return PatchOutcome::kRunGone;
      case ReplaceIrOutcome::kFieldExists:
        co_return MakeError(ErrorCode::kPatchTooLate, "it removes a node that the run has reached");
      case ReplaceIrOutcome::kChanged:
        break;
    }
  }
  co_return MakeError(ErrorCode::kPatchContention,
                      "other patches changed the graph in all attempts");
}

}  // namespace redouble::inline v0_1::orchestrator
