// The tokens, ids and signatures that Relayna derives from its events.
//
// A token is part of a key. A C++ process can share keys with a Python process because it computes
// the same tokens. All hashes are SHA-256, in lower-case hexadecimal, over a JSON text of
// core/python/json.h.
//
//   StatusToken(event)              // "e1", or a hash of the whole event
//   CanonicalStatusEventId(event)   // a hash of the compact form
//   WorkflowSignature({.task_id = "t1", .action = "extract", .payload = &payload})
//
// Events are objects (python::Value); other values are InvalidArgument (TypeError). The hashing
// functions also return the errors of python::PyJson.
//
// Thread-safety: pure functions.
// Source: docs/systems/relayna.md 2.6.
#ifndef REDOUBLE_CORE_RELAYNA_TOKENS_H_
#define REDOUBLE_CORE_RELAYNA_TOKENS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/python/value.h"

namespace redouble::inline v0_1::relayna {

using python::Value;

// Returns InvalidArgument (TypeError) unless `event` is an object.
absl::Status CheckEvent(const Value& event);

// The token of a status event: its `event_id`, stripped, if that is a text that is not blank.
// Otherwise the hash of the whole event with sorted members, including the unusable `event_id`: a
// missing, a null and a blank id give three tokens.
absl::StatusOr<std::string> StatusToken(const Value& event);

// The event's `event_id`, stripped; nullopt if it is not a text or blank.
std::optional<std::string> UsableEventId(const Value& event);

// A member as text, stripped. nullopt if it is missing, falsy or blank: 0 and false are no ids.
// Errors: InvalidArgument for an array or an object that is not empty.
// Source: docs/systems/relayna.md D12.
absl::StatusOr<std::optional<std::string>> TruthyText(const Value* value);

// The parent of an event: `meta.parent_task_id` as text, stripped. nullopt if `meta` is not an
// object, if the member is falsy or blank, or if it names the event's own `task_id`. Errors:
// InvalidArgument if either id is an array or an object.
// Source: docs/systems/relayna.md 2.5.
absl::StatusOr<std::optional<std::string>> ParentTaskId(const Value& event);

// The id that a publisher gives to a status event: the hash of the compact, sorted event without
// `event_id`. Date-times have their ISO form, other values without a JSON form their text.
absl::StatusOr<std::string> CanonicalStatusEventId(const Value& event);

// Returns the event with an id: its own, stripped, or else the canonical one. An `event_id` member
// keeps its position; a new one is appended.
absl::StatusOr<Value> WithStatusEventId(const Value& event);

// The token of an observation: the hash of its normalized form with sorted members.
// Source: docs/systems/relayna.md 2.7.
absl::StatusOr<std::string> ObservationToken(const Value& normalized);

// A workflow action, as input of its signature. The views must outlive the call.
struct WorkflowAction {
  std::string_view task_id;
  std::optional<std::string_view> action;
  const Value* payload = nullptr;                 // An object; null: empty.
  std::span<const std::string> dedup_key_fields;  // Members of the payload.
};

// Returns an object with the members of the payload that dedup_key_fields names, null for a missing
// one. A repeated name counts once.
Value DedupFields(const WorkflowAction& action);

// The hash of action, dedup fields and task id in compact, sorted, ASCII JSON; values without a
// JSON form are hashed as text. The stage is not included. The order of dedup_key_fields does not
// matter; 1 and 1.0 differ.
// Source: docs/systems/relayna.md 2.10.
absl::StatusOr<std::string> WorkflowSignature(const WorkflowAction& action);

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_TOKENS_H_
