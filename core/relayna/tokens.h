// What makes an event unique: the tokens, signatures and ids that Relayna derives from its events.
//
// Why it exists: a token is part of a key, and a C++ process shares its keys with the original. All
// hashes are SHA-256 in lower-case hexadecimal over one of the forms of core/python/json.h.
//
//   StatusToken(event)              // "e1", or a hash of the whole event
//   CanonicalStatusEventId(event)   // another hash: compact
//   WorkflowSignature({...})
//
// Events are objects (python::Value); anything else is a TypeError. Hashing fails as PyJson does.
// Thread-safety: pure functions.
// Source: reference/relayna.md 1, 1.3, 2, 3, 5.
#ifndef REDOUBLE_CORE_RELAYNA_TOKENS_H_
#define REDOUBLE_CORE_RELAYNA_TOKENS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/python/value.h"

namespace redouble::relayna {

using python::Value;

// TypeError unless `event` is an object.
absl::Status CheckEvent(const Value& event);

// The event's `event_id`, stripped, when it is a text that is not blank; otherwise the hash of the
// whole event with its members sorted, an unusable `event_id` included, so that a missing, a null
// and a blank one give three tokens.
absl::StatusOr<std::string> StatusToken(const Value& event);

// The event's usable `event_id`, stripped; none when there is none.
std::optional<std::string> UsableEventId(const Value& event);

// The event's parent: `meta.parent_task_id` as text, stripped; none when `meta` is no object, when
// the member is falsy or blank, or names the event's own `task_id`. InvalidArgument when either is
// an array or an object.
absl::StatusOr<std::optional<std::string>> ParentTaskId(const Value& event);

// The hash that a status event gets for its id when it is published: compact, sorted, without
// `event_id`; date-times in ISO form, whatever JSON does not have as text.
absl::StatusOr<std::string> CanonicalStatusEventId(const Value& event);

// The event with an id: its own, stripped, in its place; otherwise the canonical one, in place of
// an unusable one or at the end.
absl::StatusOr<Value> WithStatusEventId(const Value& event);

// The token of an observation: the hash of its normalised form, sorted.
absl::StatusOr<std::string> ObservationToken(const Value& normalized);

// One workflow action, for its signature. The views must outlive the call.
struct WorkflowAction {
  std::string_view task_id;
  std::optional<std::string_view> action;
  const Value* payload = nullptr;                 // An object; null: an empty one.
  std::span<const std::string> dedup_key_fields;  // Names of members of the payload.
};

// The members of the payload that dedup_key_fields name, null where there is none; of a name twice
// in the list, once.
Value DedupFields(const WorkflowAction& action);

// The hash of action, fields and task id: compact, sorted, ASCII, values that JSON does not have as
// text. The stage is not in it. The order of the fields does not matter; 1 and 1.0 differ.
absl::StatusOr<std::string> WorkflowSignature(const WorkflowAction& action);

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_TOKENS_H_
