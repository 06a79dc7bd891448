#include "redouble/core/orchestrator/run/token_commands.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/orchestrator/document_reader.h"
#include "redouble/core/orchestrator/execution_policy.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using store::CommandId;

// As IntegerIn, for a string; empty if it is missing.
std::string TextIn(const std::string& json_text, const char* name) {
  const Json json = Json::parse(json_text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return "";
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// The metadata of a token: the members that the worker follows; empty if the node has none.
std::string MetadataOf(const Node& node) {
  Json metadata = Json::object();
  AddExecutionPolicy(metadata, node.policy);
  return metadata.empty() ? "" : metadata.dump();
}

absl::Status AddSignalOfAbsorber(const TokenWriter& writer, const Token& token,
                                 const CompletionSignal& signal, store::Batch& batch) {
  CompletionSignal completed;
  completed.job_id = token.id;
  completed.run_id = signal.run_id;
  completed.node_id = token.to_node;
  completed.result_data_json = signal.result_data_json;
  completed.result_ref = signal.result_ref;
  REDOUBLE_ASSIGN_OR_RETURN(std::string text, FormatSignal(completed));
  const int64_t shard = writer.keys.ShardOf(signal.run_id);
  batch.Add(CommandId::kRPush)
      .AddOwned(writer.keys.CompletionSignals(shard))
      .AddOwned(std::move(text));
  return absl::OkStatus();
}

}  // namespace

std::optional<int64_t> IntegerIn(const std::string& json_text, const char* name) {
  const Json json = Json::parse(json_text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

absl::Status AddToken(const TokenWriter& writer, const Ir& ir, const ResolvedConfigs& configs,
                      Token token, const CompletionSignal& signal, store::Batch& batch) {
  const Node* const node = ir.Find(token.to_node);
  if (node != nullptr && node->IsAbsorber()) {
    return AddSignalOfAbsorber(writer, token, signal, batch);
  }
  token.run_id = signal.run_id;
  token.from_node = signal.node_id;
  token.payload_ref = signal.result_ref;
  token.hop = signal.node_id.empty() ? 0 : IntegerIn(signal.metadata_json, "hop").value_or(0) + 1;
  token.created_at = writer.now;
  if (node != nullptr) {
    const auto resolved = configs.find(node->id);
    token.config_json = resolved == configs.end() ? node->config_json : resolved->second;
    token.metadata_json = MetadataOf(*node);
  }
  token.workflow_owner = TextIn(ir.metadata_json, "username");
  REDOUBLE_ASSIGN_OR_RETURN(std::string text, FormatToken(token));
  REDOUBLE_ASSIGN_OR_RETURN(std::string stream,
                            writer.keys.TaskStream(node == nullptr ? kDefaultTaskType : node->type,
                                                   writer.keys.ShardOf(token.run_id)));
  store::Command& add = batch.Add(CommandId::kXAdd).AddOwned(std::move(stream));
  if (writer.stream_max_length) {
    add.Add("MAXLEN").Add("~").AddInteger(*writer.stream_max_length);
  }
  add.Add("*").Add("token").AddOwned(std::move(text)).Add("run_id").AddOwned(token.run_id);
  add.Add("node_id").AddOwned(token.to_node);
  return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::orchestrator
