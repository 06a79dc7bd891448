#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/python/json.h"
#include "redouble/core/python/text.h"
#include "redouble/core/relayna/execution/execution_graph.h"

namespace redouble::inline v0_1::relayna {
namespace {

using python::Array;
using python::Object;
using python::Value;

Value ValueOf(const ExecutionGraphSummary& summary) {
  return Object::OfDistinct(
      {{"status", summary.status},
       {"started_at", summary.started_at},
       {"ended_at", summary.ended_at},
       {"duration_ms", summary.duration_ms ? Value(*summary.duration_ms) : Value()},
       {"graph_completeness", summary.graph_completeness}});
}

Value ValueOf(const ExecutionGraphNode& node) {
  return Object::OfDistinct({{"id", node.id},
                             {"kind", node.kind},
                             {"task_id", node.task_id},
                             {"label", node.label},
                             {"timestamp", node.timestamp},
                             {"annotations", node.annotations}});
}

Value ValueOf(const ExecutionGraphEdge& edge) {
  return Object::OfDistinct({{"source", edge.source},
                             {"target", edge.target},
                             {"kind", edge.kind},
                             {"timestamp", edge.timestamp},
                             {"annotations", edge.annotations}});
}

Value ValueOf(const std::string& text) { return text; }

template <typename Item>
Value ArrayOf(const std::vector<Item>& items) {
  Array array;
  for (const Item& item : items) array.push_back(ValueOf(item));
  return array;
}

// The id with "_" for each character that is not an ASCII letter, digit or underscore, and without
// underscores at the ends.
std::string MermaidIdentifier(std::string_view id) {
  std::string text;
  for (const char c : id) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (continues) continue;  // A character is replaced once.
    text += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  const size_t first = text.find_first_not_of('_');
  if (first == std::string::npos) return "node";
  return text.substr(first, text.find_last_not_of('_') - first + 1);
}

// Distinct ids of Mermaid by the ids of the nodes.
absl::btree_map<std::string, std::string> MermaidIds(const std::vector<ExecutionGraphNode>& nodes) {
  absl::btree_map<std::string, std::string> ids;
  absl::btree_set<std::string> used;
  for (const ExecutionGraphNode& node : nodes) {
    const std::string base = absl::StrCat("node_", MermaidIdentifier(node.id));
    std::string candidate = base;
    for (int suffix = 2; used.contains(candidate); ++suffix) {
      candidate = absl::StrCat(base, "_", suffix);
    }
    ids[node.id] = candidate;
    used.insert(std::move(candidate));
  }
  return ids;
}

std::string EscapedLabel(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\"", "\\\""}});
}

std::string MermaidLabel(const ExecutionGraphNode& node) {
  const std::string label = node.label.value_or("");
  std::vector<std::string> parts;
  for (const std::string& part :
       {label.empty() ? node.id : label, std::string(python::Strip(node.kind)),
        node.timestamp.value_or("")}) {
    if (!part.empty()) parts.push_back(EscapedLabel(part));
  }
  return absl::StrJoin(parts, "\\n");
}

}  // namespace

Value ToValue(const ExecutionGraph& graph) {
  return Object::OfDistinct({{"task_id", graph.task_id},
                             {"topology_kind", graph.topology_kind},
                             {"summary", ValueOf(graph.summary)},
                             {"nodes", ArrayOf(graph.nodes)},
                             {"edges", ArrayOf(graph.edges)},
                             {"annotations", graph.annotations},
                             {"related_task_ids", ArrayOf(graph.related_task_ids)}});
}

absl::StatusOr<std::string> FormatExecutionGraph(const ExecutionGraph& graph) {
  return python::PydanticJson(ToValue(graph));
}

std::string MermaidText(const ExecutionGraph& graph) {
  const absl::btree_map<std::string, std::string> ids = MermaidIds(graph.nodes);
  std::vector<std::string> lines = {"flowchart LR"};
  for (const ExecutionGraphNode& node : graph.nodes) {
    lines.push_back(absl::StrCat("    ", ids.at(node.id), "[\"", MermaidLabel(node), "\"]"));
  }
  for (const ExecutionGraphEdge& edge : graph.edges) {
    const auto source = ids.find(edge.source);
    const auto target = ids.find(edge.target);
    if (source == ids.end() || target == ids.end()) continue;
    lines.push_back(absl::StrCat("    ", source->second, " -->|", EscapedLabel(edge.kind), "| ",
                                 target->second));
  }
  return absl::StrJoin(lines, "\n");
}

Value ExecutionView(const ExecutionGraph& graph) {
  return Object::OfDistinct({{"task_id", graph.task_id},
                             {"topology_kind", graph.topology_kind},
                             {"summary", ValueOf(graph.summary)},
                             {"related_task_ids", ArrayOf(graph.related_task_ids)},
                             {"graph", ToValue(graph)},
                             {"mermaid", MermaidText(graph)}});
}

}  // namespace redouble::inline v0_1::relayna
