#include "redouble/core/relayna/tokens.h"

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"
#include "redouble/core/python/text.h"

namespace redouble::inline v0_1::relayna {
namespace {

using python::Object;
using Foreign = python::PyJsonOptions::Foreign;

constexpr std::string_view kEventId = "event_id";

}  // namespace

absl::Status CheckEvent(const Value& event) {
  if (event.object() != nullptr) return absl::OkStatus();
  return python::TypeError("an event must be an object");
}

std::optional<std::string> UsableEventId(const Value& event) {
  const Value* id = event.Find(kEventId);
  if (id == nullptr || id->text() == nullptr) return std::nullopt;
  const std::string_view stripped = python::Strip(*id->text());
  if (stripped.empty()) return std::nullopt;
  return std::string(stripped);
}

absl::StatusOr<std::string> StatusToken(const Value& event) {
  REDOUBLE_RETURN_IF_ERROR(CheckEvent(event));
  if (std::optional<std::string> id = UsableEventId(event)) return *std::move(id);
  return python::HashOfPyJson(event, {.sorted = true});
}

absl::StatusOr<std::optional<std::string>> TruthyText(const Value* value) {
  if (value == nullptr || !value->IsTruthy()) return std::nullopt;
  return python::NormalizedText(value);
}

absl::StatusOr<std::optional<std::string>> ParentTaskId(const Value& event) {
  const Value* meta = event.Find("meta");
  absl::StatusOr<std::optional<std::string>> id =
      TruthyText(meta == nullptr ? nullptr : meta->Find("parent_task_id"));
  if (!id.ok() || !id->has_value()) return id;
  REDOUBLE_ASSIGN_OR_RETURN(const std::optional<std::string> own,
                            TruthyText(event.Find("task_id")));
  if (own == *id) return std::nullopt;
  return id;
}

absl::StatusOr<std::string> CanonicalStatusEventId(const Value& event) {
  REDOUBLE_RETURN_IF_ERROR(CheckEvent(event));
  Object without_id = *event.object();
  without_id.Erase(kEventId);
  return python::HashOfPyJson(without_id, {.sorted = true,
                                           .compact = true,
                                           .date_times = Foreign::kIsoOrText,
                                           .others = Foreign::kIsoOrText});
}

absl::StatusOr<Value> WithStatusEventId(const Value& event) {
  REDOUBLE_RETURN_IF_ERROR(CheckEvent(event));
  std::optional<std::string> id = UsableEventId(event);
  if (!id) {
    REDOUBLE_ASSIGN_OR_RETURN(std::string canonical, CanonicalStatusEventId(event));
    id = std::move(canonical);
  }
  Object with_id = *event.object();
  with_id.Set(kEventId, *std::move(id));
  return Value(std::move(with_id));
}

absl::StatusOr<std::string> ObservationToken(const Value& normalized) {
  return python::HashOfPyJson(normalized, {.sorted = true, .date_times = Foreign::kIsoOrText});
}

Value DedupFields(const WorkflowAction& action) {
  Object fields;
  for (const std::string& name : action.dedup_key_fields) {
    const Value* value = action.payload == nullptr ? nullptr : action.payload->Find(name);
    fields.Set(name, value == nullptr ? Value() : *value);
  }
  return fields;
}

absl::StatusOr<std::string> WorkflowSignature(const WorkflowAction& action) {
  const Value signed_value = Object({{"action", action.action ? Value(*action.action) : Value()},
                                     {"fields", DedupFields(action)},
                                     {"task_id", action.task_id}});
  return python::HashOfPyJson(signed_value, {.sorted = true,
                                             .compact = true,
                                             .ascii = true,
                                             .date_times = Foreign::kText,
                                             .others = Foreign::kText});
}

}  // namespace redouble::inline v0_1::relayna
