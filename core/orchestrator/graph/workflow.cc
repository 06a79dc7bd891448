#include "redouble/core/orchestrator/graph/workflow.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/document_reader.h"
#include "redouble/core/orchestrator/errors.h"
#include "redouble/core/orchestrator/graph/edges.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

constexpr const char* kTaskType = "task";
// Members of a source node that the compiled node has, too.
constexpr const char* kKept[] = {"config", "timeout_ms", "retry", "wait_for_all", "rejection_path"};
// Members of a loop in the configuration of its node.
constexpr const char* kLoopMembers[] = {"condition", "max_iterations", "loop_back_to", "break_path",
                                        "timeout_path"};

absl::Status Wrong(absl::string_view what) {
  return MakeError(ErrorCode::kInvalidWorkflow, base::ToStd(what));
}

// The text of that name; empty if there is none.
std::string TextOf(const Json& object, const char* name) {
  if (!object.is_object()) return "";
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Json EmptyBranch() {
  return {{"enabled", true},
          {"type", "conditional"},
          {"rules", Json::array()},
          {"default", Json::array()}};
}

// The loop that the configuration of a node describes.
Json LoopOf(const Json& source) {
  Json loop = {{"enabled", true}};
  const auto config = source.find("config");
  if (config == source.end() || !config->is_object()) return loop;
  for (const char* name : kLoopMembers) {
    const auto member = config->find(name);
    if (member == config->end() || member->is_null()) continue;
    const bool text = std::string(name) == "condition" && member->is_string();
    loop[name] = text ? Json{{"type", "cel"}, {"expression", *member}} : *member;
  }
  return loop;
}

absl::Status AddNode(const Json& source, const std::string& path, Json& nodes) {
  absl::Status status;
  DocumentReader reader(source, path, status);
  const std::string id = reader.Id("id");
  const std::string type = reader.String("type");
  REDOUBLE_RETURN_IF_ERROR(status);
  if (nodes.contains(id)) {
    return absl::InvalidArgumentError(absl::StrCat(path, "/id: there are two nodes ", id));
  }
  const bool compiled = type == "conditional" || type == "loop" || type == "parallel";
  Json node = {{"id", id}, {"type", compiled ? kTaskType : type}};
  for (const char* name : kKept) {
    const auto member = source.find(name);
    if (member != source.end() && !member->is_null()) node[name] = *member;
  }
  node["dependents"] = Json::array();
  if (type == "conditional") node["branch"] = EmptyBranch();
  if (type == "loop") node["loop"] = LoopOf(source);
  nodes[id] = std::move(node);
  return absl::OkStatus();
}

// An edge of a loop node: the loop itself, or one of its exits.
bool AddLoopEdge(Json& nodes, const Json& edge, const Json& exits) {
  const std::string from = TextOf(edge, "from");
  const std::string to = TextOf(edge, "to");
  if (!nodes.contains(from) || !nodes.contains(to) || !nodes[from].contains("loop")) return false;
  Json& loop = nodes[from]["loop"];
  if (TextOf(loop, "loop_back_to") == to) return true;
  if (exits.contains(from)) loop["break_path"].push_back(to);
  return true;
}

// The loops whose configuration has no break path; their edges are it.
Json LoopsWithoutExits(const Json& nodes) {
  Json loops = Json::object();
  for (const auto& [id, node] : nodes.items()) {
    if (node.contains("loop") && !node["loop"].contains("break_path")) loops[id] = true;
  }
  return loops;
}

absl::Status AddEdges(const Json& edges, Json& nodes) {
  const Json exits = LoopsWithoutExits(nodes);
  for (size_t i = 0; i < edges.size(); ++i) {
    if (AddLoopEdge(nodes, edges[i], exits)) continue;
    REDOUBLE_RETURN_IF_ERROR(AddEdge(nodes, edges[i], absl::StrCat("/edges/", i)));
  }
  return absl::OkStatus();
}

// The array of that name; an empty one if it is missing.
absl::StatusOr<Json> ArrayOf(const Json& source, const char* name) {
  const auto found = source.find(name);
  if (found == source.end() || found->is_null()) return Json::array();
  if (found->is_array()) return *found;
  return absl::InvalidArgumentError(absl::StrCat("/", name, ": expected an array"));
}

absl::StatusOr<Json> Compiled(const Json& source) {
  REDOUBLE_ASSIGN_OR_RETURN(const Json sources, ArrayOf(source, "nodes"));
  REDOUBLE_ASSIGN_OR_RETURN(const Json edges, ArrayOf(source, "edges"));
  Json nodes = Json::object();
  for (size_t i = 0; i < sources.size(); ++i) {
    REDOUBLE_RETURN_IF_ERROR(AddNode(sources[i], absl::StrCat("/nodes/", i), nodes));
  }
  REDOUBLE_RETURN_IF_ERROR(AddEdges(edges, nodes));
  Json ir = {{"version", "1.0"}, {"nodes", std::move(nodes)}};
  const auto metadata = source.find("metadata");
  if (metadata != source.end() && !metadata->is_null()) ir["metadata"] = *metadata;
  return ir;
}

}  // namespace

absl::StatusOr<Ir> CompileWorkflow(std::string_view source_json) {
  REDOUBLE_ASSIGN_OR_RETURN(const Json source,
                            ParseObject(source_json, ErrorCode::kInvalidWorkflow));
  const absl::StatusOr<Json> compiled = Compiled(source);
  if (!compiled.ok()) return Wrong(compiled.status().message());
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, JsonText(*compiled));
  absl::StatusOr<Ir> ir = ParseIr(text);
  if (!ir.ok()) return Wrong(ir.status().message());
  return ir;
}

}  // namespace redouble::inline v0_1::orchestrator
