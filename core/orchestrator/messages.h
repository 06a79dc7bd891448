// The values that travel through a run: tokens, completion signals, approvals and events.
//
// Each format has one Parse, which is lenient where the documents show several spellings, and one
// Format, which writes the one spelling of this project byte for byte: compact JSON, members in the
// order of the documentation, texts in UTF-8 as they are, times in RFC 3339 UTC with no more
// decimals than needed. Members that the documents do not name are ignored when read.
//
//   absl::StatusOr<Token> token = orchestrator::ParseToken(entry_field);
//   // InvalidArgument: token: /hop: expected an integer of at least 0, got "one"
//
// Every Parse: InvalidArgument that names the format, the JSON pointer, what was expected and what
// came. Every Format of JSON: InvalidArgument when a text is not UTF-8 or a `_json` member no JSON.
//
// Thread-safety: plain values and pure functions.
// Source: seed 001 (each key's "Value"), reference/orchestrator.md sections 2.3 to 2.6.
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

namespace redouble::orchestrator {

// The right to execute one node once: the field `token` of a stream entry.
struct Token {
  std::string id;  // A pure function of the parent's id and the target, so that a retry repeats it.
  std::string run_id;
  std::string from_node;  // Empty for an entry node.
  std::string to_node;
  std::string payload_ref;  // What the predecessor produced; may be empty.
  int64_t hop = 0;          // The parent's plus one.
  absl::Time created_at;
  std::optional<absl::Time> sent_at;
  std::string config_json;     // Resolved configuration of the node; empty: none.
  std::string metadata_json;   // An object; empty: none.
  std::string workflow_owner;  // Empty: none.
  int64_t join_count = 1;      // How many tokens of the counter this one stands for.
  int64_t iteration = 0;       // Of a loop's body, from 1 on; 0: not in a loop.
};
// Required: id, run_id, to_node, created_at. What is 1, 0 or empty by default is not written.
absl::StatusOr<Token> ParseToken(std::string_view text);
absl::StatusOr<std::string> FormatToken(const Token& token);

// Why a node failed: the metadata of a failed signal.
struct NodeFailure {
  std::string error_type;
  std::string error_message;
  bool retryable = false;
};

// What a worker has completed: an element of `completion_signals`.
struct CompletionSignal {
  // The id of the token that was executed. The document's own examples have none; such a signal is
  // read with the id `node:<node_id>`, good for nodes that are executed at most once.
  std::string job_id;
  std::string run_id;
  std::string node_id;
  std::string result_data_json;  // An object; empty: none.
  std::string result_ref;        // Empty: none.
  std::string metadata_json;     // Of a completed signal: an object; empty: none.
  // There when the status is "failed". Other members of a failed signal's metadata are not kept.
  std::optional<NodeFailure> failure;
};
// Required: run_id and node_id; of a failed signal also metadata with error_type and error_message.
// An absent status is "completed".
absl::StatusOr<CompletionSignal> ParseSignal(std::string_view text);
// Errors also: InvalidArgument for a signal with both a failure and metadata.
absl::StatusOr<std::string> FormatSignal(const CompletionSignal& signal);

enum class ApprovalStatus { kPending, kApproved, kRejected, kTimeout, kCancelled };
// "pending", "approved", "rejected", "timeout", "cancelled".
std::string_view ApprovalStatusName(ApprovalStatus status);

// The hash of one approval.
struct Approval {
  std::string run_id;
  std::string node_id;
  ApprovalStatus status = ApprovalStatus::kPending;
  std::optional<absl::Time> created_at;
  std::optional<absl::Time> timeout_at;
  std::string approver;
  std::string payload_cas_ref;
  std::optional<absl::Time> decided_at;
};
using HashFields = std::vector<std::pair<std::string, std::string>>;
// Required: run_id and status. The pointer in an error is the field's name.
absl::StatusOr<Approval> ParseApproval(const HashFields& fields);
// In the order of the documentation; fields without a value are left out.
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

// A message of the channel `run:<run_id>`. Events are hints: they can be lost or come twice.
struct Event {
  EventType type = EventType::kNodeCompleted;
  std::string run_id;   // Empty in events of the document's own form, which name only the node.
  std::string node_id;  // Empty: the event is about the run.
  std::string status;   // Empty: none.
  std::optional<int64_t> counter;  // Of the run, after what happened.
  std::string result_ref;          // Empty: none.
  std::optional<absl::Time> timestamp;
};
// Required: type.
absl::StatusOr<Event> ParseEvent(std::string_view text);
absl::StatusOr<std::string> FormatEvent(const Event& event);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_MESSAGES_H_
