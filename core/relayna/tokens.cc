#include "core/relayna/tokens.h"

#include "core/python/error.h"
#include "core/python/json.h"
#include "core/python/text.h"

namespace redouble::relayna {
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
  if (auto status = CheckEvent(event); !status.ok()) return status;
  if (std::optional<std::string> id = UsableEventId(event)) return *std::move(id);
  return python::HashOfPyJson(event, {.sorted = true});
}

absl::StatusOr<std::optional<std::string>> ParentTaskId(const Value& event) {
  const Value* meta = event.Find("meta");
  const Value* parent = meta == nullptr ? nullptr : meta->Find("parent_task_id");
  if (parent == nullptr || !parent->IsTruthy()) return std::nullopt;
  absl::StatusOr<std::optional<std::string>> id = python::NormalizedText(parent);
  if (!id.ok() || !id->has_value()) return id;
  const absl::StatusOr<std::optional<std::string>> own =
      python::NormalizedText(event.Find("task_id"));
  if (!own.ok()) return own.status();
  if (*own == *id) return std::nullopt;
  return id;
}

absl::StatusOr<std::string> CanonicalStatusEventId(const Value& event) {
  if (auto status = CheckEvent(event); !status.ok()) return status;
  Object without_id = *event.object();
  without_id.Erase(kEventId);
  return python::HashOfPyJson(without_id, {.sorted = true,
                                           .compact = true,
                                           .date_times = Foreign::kIsoOrText,
                                           .others = Foreign::kIsoOrText});
}

absl::StatusOr<Value> WithStatusEventId(const Value& event) {
  if (auto status = CheckEvent(event); !status.ok()) return status;
  std::optional<std::string> id = UsableEventId(event);
  if (!id) {
    absl::StatusOr<std::string> canonical = CanonicalStatusEventId(event);
    if (!canonical.ok()) return canonical.status();
    id = *std::move(canonical);
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

}  // namespace redouble::relayna
