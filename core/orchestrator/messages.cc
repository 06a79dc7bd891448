#include "redouble/core/orchestrator/messages.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/orchestrator/document_reader.h"
#include "redouble/core/orchestrator/errors.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::ToAbsl;

constexpr std::string_view kSignalVersion = "1.0";

// In the order of the enumerations.
constexpr std::array<std::string_view, 5> kApprovalStatuses = {"pending", "approved", "rejected",
                                                               "timeout", "cancelled"};
constexpr std::array<std::string_view, 6> kEventTypes = {"workflow_started",   "node_completed",
                                                         "node_failed",        "workflow_failed",
                                                         "workflow_completed", "approval_required"};

// Reads a required member whose value is one of `names`.
template <typename Enum, size_t kSize>
Enum ReadName(DocumentReader& object, std::string_view name,
              const std::array<std::string_view, kSize>& names) {
  const std::string text = object.String(name);
  for (size_t i = 0; i < kSize; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  if (const Json* value = object.Find(name)) {
    const std::string known = absl::StrJoin(
        names, ", ", [](std::string* out, std::string_view n) { absl::StrAppend(out, ToAbsl(n)); });
    object.Expected(name, absl::StrCat("one of ", known), *value);
  }
  return Enum{};
}

// Parses `text` as an object and reads it with `read`. Errors: `error`.
template <typename T, typename Read>
absl::StatusOr<T> ParseAs(std::string_view text, ErrorCode error, Read read) {
  REDOUBLE_ASSIGN_OR_RETURN(const Json json, ParseObject(text, error));
  absl::Status status;
  DocumentReader object(json, "", status);
  T value = read(object);
  if (status.ok()) return value;
  return MakeError(error, base::ToStd(status.message()));
}

void AddText(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}

void AddTime(Json& json, const char* name, std::optional<absl::Time> time) {
  if (time) json[name] = base::FormatRfc3339(*time);
}

Token ReadToken(DocumentReader& object) {
  Token token;
  token.id = object.String("id");
  if (token.id.empty()) object.Refuse("id", "is empty");
  token.run_id = object.Id("run_id");
  token.from_node = object.StringOr("from_node", "");
  if (!token.from_node.empty()) token.from_node = object.Id("from_node");
  token.to_node = object.Id("to_node");
  token.payload_ref = object.StringOr("payload_ref", "");
  token.hop = object.IntegerOr("hop", 0, 0);
  token.created_at = object.Time("created_at");
  token.sent_at = object.OptionalTime("sent_at");
  token.config_json = object.JsonTextOf("config");
  token.metadata_json = object.ObjectTextOf("metadata");
  token.workflow_owner = object.StringOr("workflow_owner", "");
  token.join_count = object.IntegerOr("join_count", 1, 1);
  token.iteration = object.IntegerOr("iteration", 0, 0);
  return token;
}

NodeFailure ReadFailure(DocumentReader& signal, absl::Status& status) {
  NodeFailure failure;
  const Json* metadata = signal.Find("metadata");
  if (metadata == nullptr) {
    signal.Refuse("metadata", "is missing, and the status is \"failed\"");
    return failure;
  }
  DocumentReader object(*metadata, "/metadata", status);
  failure.error_type = object.String("error_type");
  failure.error_message = object.String("error_message");
  failure.retryable = object.BoolOr("retryable", false);
  return failure;
}

enum class SignalStatus { kCompleted, kFailed };
constexpr std::array<std::string_view, 2> kSignalStatuses = {"completed", "failed"};

CompletionSignal ReadSignal(DocumentReader& object, absl::Status& status) {
  CompletionSignal signal;
  signal.run_id = object.Id("run_id");
  signal.node_id = object.Id("node_id");
  signal.job_id = object.StringOr("job_id", absl::StrCat("node:", signal.node_id));
  if (signal.job_id.empty()) object.Refuse("job_id", "is empty");
  signal.result_data_json = object.ObjectTextOf("result_data");
  signal.result_ref = object.StringOr("result_ref", "");
  if (object.Find("status") != nullptr &&
      ReadName<SignalStatus>(object, "status", kSignalStatuses) == SignalStatus::kFailed) {
    signal.failure = ReadFailure(object, status);
  } else {
    signal.metadata_json = object.ObjectTextOf("metadata");
  }
  return signal;
}

absl::Status CheckSignalIds(const CompletionSignal& signal) {
  const auto refusal = [](std::string_view name, std::string_view reason) {
    return MakeError(ErrorCode::kInvalidSignal,
                     absl::StrCat(base::PointerPart(name), ": ", ToAbsl(reason)));
  };
  if (!IsId(signal.run_id)) return refusal("run_id", "is no id of letters, digits, _ and -");
  if (!IsId(signal.node_id)) return refusal("node_id", "is no id of letters, digits, _ and -");
  if (signal.job_id.empty()) return refusal("job_id", "is empty");
  return absl::OkStatus();
}

Approval ReadApproval(DocumentReader& object) {
  Approval approval;
  approval.run_id = object.Id("run_id");
  approval.node_id = object.StringOr("node_id", "");
  approval.status = ReadName<ApprovalStatus>(object, "status", kApprovalStatuses);
  approval.created_at = object.OptionalTime("created_at");
  approval.timeout_at = object.OptionalTime("timeout_at");
  approval.approver = object.StringOr("approver", "");
  approval.payload_cas_ref = object.StringOr("payload_cas_ref", "");
  approval.decided_at = object.OptionalTime("decided_at");
  approval.decided_by = object.StringOr("decided_by", "");
  approval.comment = object.StringOr("comment", "");
  return approval;
}

Event ReadEvent(DocumentReader& object) {
  Event event;
  event.type = ReadName<EventType>(object, "type", kEventTypes);
  event.run_id = object.StringOr("run_id", "");
  event.node_id = object.StringOr("node_id", "");
  event.status = object.StringOr("status", "");
  if (object.Find("counter") != nullptr) {
    event.counter = object.IntegerOr("counter", 0, std::numeric_limits<int64_t>::min());
  }
  event.result_ref = object.StringOr("result_ref", "");
  event.timestamp = object.OptionalTime("timestamp");
  return event;
}

}  // namespace

absl::StatusOr<Token> ParseToken(std::string_view text) {
  return ParseAs<Token>(text, ErrorCode::kInvalidToken, ReadToken);
}

absl::StatusOr<std::string> FormatToken(const Token& token) {
  Json json = {{"id", token.id},
               {"run_id", token.run_id},
               {"from_node", token.from_node},
               {"to_node", token.to_node},
               {"payload_ref", token.payload_ref},
               {"hop", token.hop},
               {"created_at", base::FormatRfc3339(token.created_at)}};
  AddTime(json, "sent_at", token.sent_at);
  absl::Status status = AddJsonText(json, "config", token.config_json);
  status.Update(AddObjectText(json, "metadata", token.metadata_json));
  REDOUBLE_RETURN_IF_ERROR(status);
  AddText(json, "workflow_owner", token.workflow_owner);
  if (token.join_count != 1) json["join_count"] = token.join_count;
  if (token.iteration != 0) json["iteration"] = token.iteration;
  return JsonText(json);
}

absl::StatusOr<CompletionSignal> ParseSignal(std::string_view text) {
  REDOUBLE_ASSIGN_OR_RETURN(const Json json, ParseObject(text, ErrorCode::kInvalidSignal));
  absl::Status status;
  DocumentReader object(json, "", status);
  CompletionSignal signal = ReadSignal(object, status);
  if (status.ok()) return signal;
  return MakeError(ErrorCode::kInvalidSignal, base::ToStd(status.message()));
}

absl::StatusOr<std::string> FormatSignal(const CompletionSignal& signal) {
  if (signal.failure && !signal.metadata_json.empty()) {
    return MakeError(ErrorCode::kInvalidSignal,
                     "/metadata: the metadata of a failed signal holds its failure alone");
  }
  REDOUBLE_RETURN_IF_ERROR(CheckSignalIds(signal));
  const SignalStatus status_of = signal.failure ? SignalStatus::kFailed : SignalStatus::kCompleted;
  Json json = {{"version", kSignalVersion},
               {"job_id", signal.job_id},
               {"run_id", signal.run_id},
               {"node_id", signal.node_id},
               {"status", kSignalStatuses[static_cast<size_t>(status_of)]}};
  absl::Status status = AddObjectText(json, "result_data", signal.result_data_json);
  AddText(json, "result_ref", signal.result_ref);
  status.Update(AddObjectText(json, "metadata", signal.metadata_json));
  if (!status.ok()) return MakeError(ErrorCode::kInvalidSignal, base::ToStd(status.message()));
  if (signal.failure) {
    json["metadata"] = {{"error_type", signal.failure->error_type},
                        {"error_message", signal.failure->error_message},
                        {"retryable", signal.failure->retryable}};
  }
  return JsonText(json);
}

std::string_view ApprovalStatusName(ApprovalStatus status) {
  return kApprovalStatuses[static_cast<size_t>(status)];
}

// The fields are read as a JSON object whose values are strings.
absl::StatusOr<Approval> ParseApproval(const HashFields& fields) {
  Json json = Json::object();
  for (const auto& [name, value] : fields) json[name] = value;
  absl::Status status;
  DocumentReader object(json, "", status);
  Approval approval = ReadApproval(object);
  if (status.ok()) return approval;
  return MakeError(ErrorCode::kInvalidApproval, base::ToStd(status.message()));
}

HashFields FormatApproval(const Approval& approval) {
  HashFields fields;
  const auto add = [&fields](const char* name, std::string text) {
    if (!text.empty()) fields.emplace_back(name, std::move(text));
  };
  const auto time_text = [](std::optional<absl::Time> time) {
    return time ? base::FormatRfc3339(*time) : std::string();
  };
  add("run_id", approval.run_id);
  add("node_id", approval.node_id);
  add("status", std::string(ApprovalStatusName(approval.status)));
  add("created_at", time_text(approval.created_at));
  add("timeout_at", time_text(approval.timeout_at));
  add("approver", approval.approver);
  add("payload_cas_ref", approval.payload_cas_ref);
  add("decided_at", time_text(approval.decided_at));
  add("decided_by", approval.decided_by);
  add("comment", approval.comment);
  return fields;
}

std::string_view EventTypeName(EventType type) { return kEventTypes[static_cast<size_t>(type)]; }

absl::StatusOr<Event> ParseEvent(std::string_view text) {
  return ParseAs<Event>(text, ErrorCode::kInvalidEvent, ReadEvent);
}

absl::StatusOr<std::string> FormatEvent(const Event& event) {
  Json json = {{"type", EventTypeName(event.type)}};
  AddText(json, "run_id", event.run_id);
  AddText(json, "node_id", event.node_id);
  AddText(json, "status", event.status);
  if (event.counter) json["counter"] = *event.counter;
  AddText(json, "result_ref", event.result_ref);
  AddTime(json, "timestamp", event.timestamp);
  return JsonText(json);
}

}  // namespace redouble::inline v0_1::orchestrator
