// The orchestrator's key families, and the keys built from them.
//
// A run's state lives under keys that carry its id; work and signals flow through keys that all
// runs share. In a cluster the keys of a run have to be in one slot, so every family has two
// spellings, of which a deployment chooses one for ever: `ir:run_123` and `ir:{run_123}` are
// different keys.
//
//   const orchestrator::Keys keys(orchestrator::KeyForm::kHashTagged);
//   absl::StatusOr<std::string> ir = keys.Ir("run_123");      // "ir:{run_123}"
//   std::optional<store::KeyMatch> match = keys.Parse(*ir);   // orchestrator.ir, {"run_123"}
//
// Ids of runs, nodes, approvals and consumers are of letters, digits, `_` and `-`: with a colon, a
// brace or a glob character a key or a scan of one run would reach another's. Every builder refuses
// any other id with InvalidArgument that names family, placeholder and value.
//
// Thread-safety: constant data and pure functions; a Keys is a plain value.
// Source: seed 001 "Complete Redis Key Inventory", "Redis Cluster Considerations";
// reference/orchestrator.md sections 1, 2.5, 3.4, 11 and decision D7.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_KEYS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_KEYS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/store/key_family.h"

namespace redouble::orchestrator {

enum class KeyForm {
  kPlain,       // `ir:run_123`, as the documents write keys.
  kHashTagged,  // `ir:{run_123}`: all keys of a run in one slot; an approval's key names its run.
};

// The thirteen families, in the order of the documentation and with the same ids in both forms.
// The channel of a run's events, the worker streams and the cache are spelled alike in both: they
// are never used together with a run's other keys in one command.
std::span<const store::KeyFamily> KeyFamilies(KeyForm form = KeyForm::kPlain);

// The failsafe of every key of a run: 24 hours.
absl::Duration RunTtl();
// 1 hour.
absl::Duration CachedResultTtl();

// The types of nodes that have a stream of their own, in alphabetical order.
std::span<const std::string_view> TaskTypes();

// The views must outlive the call.
struct RunNode {
  std::string_view run_id;
  std::string_view node_id;
};
struct RunApproval {
  std::string_view run_id;  // Part of the key in the tagged form only, but checked in both.
  std::string_view approval_id;
};
struct CacheEntry {
  std::string_view scope;  // "workflow": no colon.
  std::string_view key;    // "enrich_A:sha256:abc123": anything but nothing.
};

// Builds and takes apart the keys of one form.
class Keys {
 public:
  explicit Keys(KeyForm form = KeyForm::kPlain) : form_(form) {}

  KeyForm form() const { return form_; }

  absl::StatusOr<std::string> Ir(std::string_view run_id) const;
  absl::StatusOr<std::string> Context(std::string_view run_id) const;
  absl::StatusOr<std::string> Counter(std::string_view run_id) const;
  absl::StatusOr<std::string> Applied(std::string_view run_id) const;
  // The stream of a task type. A type without a stream of its own goes to `wf.tasks.default`.
  std::string TaskStream(std::string_view type) const;
  std::string CompletionSignals() const;
  absl::StatusOr<std::string> PendingApprovals(std::string_view run_id) const;
  absl::StatusOr<std::string> Approval(RunApproval approval) const;
  absl::StatusOr<std::string> EventChannel(std::string_view run_id) const;
  absl::StatusOr<std::string> CachedResult(CacheEntry entry) const;
  absl::StatusOr<std::string> PendingTokens(RunNode join) const;
  absl::StatusOr<std::string> Loop(RunNode loop) const;
  // Signals that one coordinator has taken and not yet committed.
  absl::StatusOr<std::string> ProcessingSignals(std::string_view consumer) const;

  // The family and the values of a key or channel of this form; none for any other key.
  std::optional<store::KeyMatch> Parse(std::string_view key) const;

 private:
  KeyForm form_;
};

// The member of a run's pending set that stands for an approval: "approval_456" for id "456".
std::string ApprovalMember(std::string_view approval_id);
// The id of such a member; none for any other text.
std::optional<std::string_view> ParseApprovalMember(std::string_view member);

// The members of a run's applied set. Each stands for one change of the counter, but for Arrive,
// Fire and Drop, which mark steps of a join, and Route, which says where the tokens of an emission
// go. Token ids are inserted verbatim.
std::string ConsumeOp(std::string_view token_id);    // "consume:t1"
std::string EmitOp(std::string_view token_id);       // "emit:t1"
std::string ResumeOp(std::string_view approval_id);  // "resume:approval_456"
struct JoinToken {
  std::string_view join;  // The join's node id.
  std::string_view token_id;
};
std::string ArriveOp(JoinToken arrival);         // "arrive:D:t1/B"
std::string FireOp(JoinToken arrival);           // "fire:D:t1/B"
std::string DropOp(JoinToken arrival);           // "drop:D:t1/B"
std::string QuiesceOp(std::string_view join);    // "fire:D:quiesce"
std::string RouteOp(std::string_view token_id);  // "route:t1|", behind which the route follows.

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_KEYS_H_
