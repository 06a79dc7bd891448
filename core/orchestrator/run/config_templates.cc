#include "redouble/core/orchestrator/run/config_templates.h"

#include <optional>
#include <set>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/orchestrator/graph/templates.h"
#include "redouble/core/store/typed/hashes.h"

namespace redouble::inline v0_1::orchestrator {

base::Task<absl::StatusOr<ResolvedConfigs>> ResolveConfigs(store::Store& store, Keys keys,
                                                           Artifacts* artifacts,
                                                           ConfigRequest request) {
  const CompletionSignal& signal = request.signal;
  std::set<std::string> referenced;
  std::vector<const Node*> nodes;
  for (const std::string& target : request.targets) {
    const Node* const node = request.ir.Find(target);
    if (node == nullptr) continue;
    const std::vector<std::string> names = ReferencedNodes(node->config_json);
    if (!names.empty()) nodes.push_back(node);
    referenced.insert(names.begin(), names.end());
  }
  ResolvedConfigs configs;
  if (nodes.empty()) co_return configs;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys.Context(signal.run_id));
  const std::vector<std::string> names(referenced.begin(), referenced.end());
  std::vector<std::string> fields;
  for (const std::string& name : names) fields.push_back(name + ":output");
  const std::vector<std::string_view> views(fields.begin(), fields.end());
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto refs, co_await store::HMGet(store, key, views));
  for (size_t i = 0; i < fields.size(); ++i) {
    for (const auto& [field, value] : request.context) {
      if (field == fields[i]) refs[i] = value;
    }
  }
  std::vector<std::pair<std::string, std::string>> loaded;  // Node id and output.
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == signal.node_id && !signal.result_data_json.empty()) {
      loaded.emplace_back(names[i], signal.result_data_json);
      continue;
    }
    if (artifacts == nullptr || !refs[i]) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto output, co_await artifacts->Get(*refs[i]));
    if (output) loaded.emplace_back(names[i], *output);
  }
  std::vector<NodeOutput> outputs;
  for (const auto& [node_id, output] : loaded) outputs.push_back({node_id, output});
  for (const Node* const node : nodes) {
    configs[node->id] = ResolveTemplates(node->config_json, outputs);
  }
  co_return std::move(configs);
}

}  // namespace redouble::inline v0_1::orchestrator
