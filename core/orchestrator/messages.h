// The messages and values of a run: tokens, completion signals, approvals and events.
//
// Each format has a Parse function, which accepts the several spellings of the original documents,
// and a Format function, which writes one spelling byte for byte: compact JSON, members in the
// documented order, strings as unescaped UTF-8, times in RFC 3339 UTC with no more decimals than
// needed. Unknown members are ignored.
//
//   absl::StatusOr<Token> token = orchestrator::ParseToken(entry_field);
//   // InvalidArgument: token: /hop: expected an integer of at least 0, got "one"
//
// Errors of every Parse: InvalidArgument with the format, the JSON pointer, the expected and the
// received value. Errors of every Format to JSON: InvalidArgument if a string is not UTF-8 or a
// `_json` member is not JSON.
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/orchestrator.md 2, 2.3 to 2.6.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_MESSAGES_H_
#define REDOUBLE_CORE_ORCHESTRATOR_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace redouble::inline v0_1::orchestrator {

// The right to execute one node once: the field `token` of a stream entry.
struct Token {
  std::string id;  // A pure function of the parent's id and the target, so that a retry repeats it.
  std::string run_id;
  std::string from_node;  // Empty for an entry node.
  std::string to_node;
  std::string payload_ref;  // Reference to the predecessor's output; may be empty.
  int64_t hop = 0;          // Hop of the parent plus 1; 0 for an entry node.
  absl::Time created_at;
  std::optional<absl::Time> sent_at;
  std::string config_json;     // Resolved configuration of the node; may be empty.
  std::string metadata_json;   // An object; may be empty.
  std::string workflow_owner;  // May be empty.
  int64_t join_count = 1;      // How many counted tokens this token represents.
  int64_t iteration = 0;       // Iteration of the loop, from 1; 0 outside of a loop.
};
// Required: id, run_id, to_node and created_at. Members with their default value are omitted.
absl::StatusOr<Token> ParseToken(std::string_view text);
absl::StatusOr<std::string> FormatToken(const Token& token);

// The reason of a failure: the metadata of a failed signal.
struct NodeFailure {
  std::string error_type;
  std::string error_message;
  bool retryable = false;
};

// The completion of one token: an element of the list `completion_signals`.
struct CompletionSignal {
  // The id of the executed token. A signal without it, as in examples of the original documents, is
  // read with the id `node:<node_id>`, which is valid for nodes that run at most once.
  std::string job_id;
  std::string run_id;
  std::string node_id;
  std::string result_data_json;  // An object; may be empty.
  std::string result_ref;        // May be empty.
  std::string metadata_json;     // Of a completed signal: an object; may be empty.
  // Present if the status is "failed". Other members of a failed signal's metadata are not kept.
  std::optional<NodeFailure> failure;
};
// Required: run_id and node_id; for a failed signal also metadata with error_type and
// error_message. A missing status means "completed".
absl::StatusOr<CompletionSignal> ParseSignal(std::string_view text);
// Errors also: InvalidArgument for a signal that ParseSignal would refuse, for example if its
// result is not an object, and for a signal with both a failure and metadata.
absl::StatusOr<std::string> FormatSignal(const CompletionSignal& signal);

enum class ApprovalStatus { kPending, kApproved, kRejected, kTimeout, kCancelled };
// "pending", "approved", "rejected", "timeout", "cancelled".
std::string_view ApprovalStatusName(ApprovalStatus status);

// The fields of an approval's hash. Source: docs/systems/orchestrator.md 2.5.
struct Approval {
  std::string run_id;
  std::string node_id;
  ApprovalStatus status = ApprovalStatus::kPending;
  std::optional<absl::Time> created_at;
  std::optional<absl::Time> timeout_at;
  std::string approver;
  std::string payload_cas_ref;
  std::optional<absl::Time> decided_at;
  // With Hardening::keep_decision_details; empty otherwise.
  std::string decided_by;
  std::string comment;
};
using HashFields = std::vector<std::pair<std::string, std::string>>;
// Required: run_id and status. The pointer in an error is the name of the field.
absl::StatusOr<Approval> ParseApproval(const HashFields& fields);
// In the documented order; fields without a value are omitted.
HashFields FormatApproval(const Approval& approval);

enum class EventType {
  kWorkflowStarted,
  kNodeCompleted,
  kNodeFailed,
  kWorkflowFailed,
  kWorkflowCompleted,
  kApprovalRequired,
};
// "workflow_started" and so on.
std::string_view EventTypeName(EventType type);

// A message on the channel `run:<run_id>`. Events are hints: they can be lost or repeated.
struct Event {
  EventType type = EventType::kNodeCompleted;
  std::string run_id;   // Empty in events that name only the node, as in the original documents.
  std::string node_id;  // Empty if the event concerns the run.
  std::string status;   // May be empty.
  std::optional<int64_t> counter;  // The counter of the run after the event.
  std::string result_ref;          // May be empty.
  std::optional<absl::Time> timestamp;
};
// Required: type.
absl::StatusOr<Event> ParseEvent(std::string_view text);
absl::StatusOr<std::string> FormatEvent(const Event& event);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_MESSAGES_H_
