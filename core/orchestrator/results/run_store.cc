#include "redouble/core/orchestrator/results/run_store.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/orchestrator/document_reader.h"
#include "redouble/core/orchestrator/errors.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

constexpr std::array<std::string_view, 5> kStatusNames = {"running", "completed", "failed",
                                                          "cancelled", "expired"};

RunStatus ReadStatus(DocumentReader& object) {
  const Json* const value = object.Find("status");
  const std::optional<RunStatus> status = ParseRunStatus(object.String("status"));
  if (!status && value != nullptr) object.Expected("status", "the status of a run", *value);
  return status.value_or(RunStatus::kRunning);
}

HashFields ReadContext(DocumentReader& object, absl::Status& status) {
  HashFields fields;
  const Json* const context = object.Find("context");
  if (context == nullptr) return fields;
  DocumentReader reader(*context, "/context", status);
  if (!context->is_object()) return fields;
  for (const auto& [field, value] : context->items()) {
    fields.emplace_back(field, reader.String(field));
  }
  return fields;
}

std::vector<std::pair<std::string, std::string>> ReadOutputs(DocumentReader& object,
                                                             absl::Status& status) {
  std::vector<std::pair<std::string, std::string>> outputs;
  const Json* const json = object.Find("outputs");
  if (json == nullptr) return outputs;
  const DocumentReader reader(*json, "/outputs", status);
  if (!json->is_object()) return outputs;
  for (const auto& [node, value] : json->items()) outputs.emplace_back(node, value.dump());
  return outputs;
}

std::optional<NodeFailure> ReadFailure(DocumentReader& object, absl::Status& status) {
  const Json* const json = object.Find("failure");
  if (json == nullptr) return std::nullopt;
  DocumentReader reader(*json, "/failure", status);
  NodeFailure failure;
  failure.error_type = reader.String("error_type");
  failure.error_message = reader.String("error_message");
  failure.retryable = reader.BoolOr("retryable", false);
  return failure;
}

}  // namespace

std::string_view RunStatusName(RunStatus status) {
  return kStatusNames[static_cast<size_t>(status)];
}

std::optional<RunStatus> ParseRunStatus(std::string_view name) {
  const auto found = std::find(kStatusNames.begin(), kStatusNames.end(), name);
  if (found == kStatusNames.end()) return std::nullopt;
  return static_cast<RunStatus>(found - kStatusNames.begin());
}

absl::StatusOr<std::string> FormatRunRecord(const RunRecord& record) {
  Json json = {{"run_id", record.run_id}, {"status", RunStatusName(record.status)}};
  if (!record.ir.empty()) json["ir"] = record.ir;
  if (record.started_at) json["started_at"] = base::FormatRfc3339(*record.started_at);
  if (record.ended_at) json["ended_at"] = base::FormatRfc3339(*record.ended_at);
  if (record.cancel_requested) json["cancel_requested"] = true;
  for (const auto& [field, value] : record.context) json["context"][field] = value;
  if (!record.outputs.empty()) json["outputs"] = Json::object();
  for (const auto& [node, output] : record.outputs) {
    REDOUBLE_RETURN_IF_ERROR(AddJsonText(json["outputs"], node, output));
  }
  if (!record.node_id.empty()) json["node_id"] = record.node_id;
  if (record.failure) {
    json["failure"] = {{"error_type", record.failure->error_type},
                       {"error_message", record.failure->error_message},
                       {"retryable", record.failure->retryable}};
  }
  return JsonText(json);
}

absl::StatusOr<RunRecord> ParseRunRecord(std::string_view text) {
  REDOUBLE_ASSIGN_OR_RETURN(const Json json, ParseObject(text, ErrorCode::kInvalidRunRecord));
  absl::Status status;
  DocumentReader object(json, "", status);
  RunRecord record;
  record.run_id = object.Id("run_id");
  record.status = ReadStatus(object);
  record.ir = object.StringOr("ir", "");
  record.started_at = object.OptionalTime("started_at");
  record.ended_at = object.OptionalTime("ended_at");
  record.cancel_requested = object.BoolOr("cancel_requested", false);
  record.context = ReadContext(object, status);
  record.outputs = ReadOutputs(object, status);
  record.node_id = object.StringOr("node_id", "");
  record.failure = ReadFailure(object, status);
  if (status.ok()) return record;
  return MakeError(ErrorCode::kInvalidRunRecord, base::ToStd(status.message()));
}

base::Task<absl::StatusOr<bool>> MemoryRunStore::Insert(const RunRecord& record) {
  co_return records_.emplace(record.run_id, record).second;
}

base::Task<absl::Status> MemoryRunStore::Update(std::string_view run_id,
                                                std::function<void(RunRecord&)> change) {
  RunRecord& record = records_[std::string(run_id)];
  record.run_id = std::string(run_id);
  change(record);
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<std::optional<RunRecord>>> MemoryRunStore::Find(std::string_view run_id) {
  const auto found = records_.find(run_id);
  if (found == records_.end()) co_return std::nullopt;
  co_return found->second;
}

base::Task<absl::StatusOr<std::vector<RunRecord>>> MemoryRunStore::List(RunQuery query) {
  std::vector<RunRecord> page;
  for (auto it = records_.upper_bound(query.after); it != records_.end(); ++it) {
    if (page.size() == query.limit) break;
    if (!query.status || it->second.status == *query.status) page.push_back(it->second);
  }
  co_return page;
}

}  // namespace redouble::inline v0_1::orchestrator
