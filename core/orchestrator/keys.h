// The orchestrator's key families, and builders and a parser for their keys.
//
// Keys that hold the state of a run contain its id. Tokens and signals use keys that all runs
// share. In a cluster the keys of one run must be in one slot: in the cluster layout the run id is
// their hash tag.
//
// The shared queues (the streams of the task types and the list of signals) can be divided into
// shards by run, so that a busy queue is not on one node only. Shard 0 has the documented key. The
// others have the families of shards, with a number as their tag that spreads them evenly: shard i
// of N is i * 16384 / N slots after shard 0, and its number is the smallest one whose decimal text
// has that slot (base::NumberInSlot). Writers use the shard of the run, and readers read all
// shards. The number of shards may be raised at any time to a multiple of itself, which adds shards
// and moves none: what is in a new shard waits for a program with the new number.
//
//   const orchestrator::Keys keys(store::KeyLayout::kCluster);
//   absl::StatusOr<std::string> ir = keys.Ir("run_123");      // "ir:{run_123}"
//   std::optional<store::KeyMatch> match = keys.Parse(*ir);   // orchestrator.ir, {"run_123"}
//
// Ids of runs, nodes, approvals and consumers match `[A-Za-z0-9_-]+`. With a colon, a brace or a
// glob character, a key or a SCAN of one run would match keys of another. Every builder returns
// InvalidArgument for any other id; the message names the family, the placeholder and the value.
//
// Thread-safety: constant data and pure functions; a Keys is a plain value.
// Source: docs/systems/orchestrator.md 1, 1.1, 1.2 and 2.7.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_KEYS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_KEYS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_layout.h"

namespace redouble::inline v0_1::orchestrator {

// The families, in the order of the documentation and with the same ids in both layouts.
// Event channels, task streams and cache entries have one spelling only, because no command uses
// them together with other keys of a run. Approval keys of the cluster layout contain the run id.
std::span<const store::KeyFamily> KeyFamilies(
    store::KeyLayout layout = store::KeyLayout::kDocumented);

// The TTL of every key of a run: 24 hours. Source: docs/systems/orchestrator.md 1.3.
absl::Duration RunTtl();
// The TTL of a cached result: 1 hour.
absl::Duration CachedResultTtl();
// The default TTL of the service's lease: 90 seconds.
absl::Duration ServiceLeaseTtl();

// The node types that the original documents and their example workflows use, in alphabetical
// order. Types are open: every other type has its own stream, too. Tokens of nodes that a patch
// removed go to the stream of kDefaultTaskType.
std::span<const std::string_view> TaskTypes();
inline constexpr std::string_view kDefaultTaskType = "default";

// The views must outlive the call.
struct RunNode {
  std::string_view run_id;
  std::string_view node_id;
};
struct RunApproval {
  std::string_view run_id;  // Part of the key in the cluster layout only, but checked in both.
  std::string_view approval_id;
};
struct CacheEntry {
  std::string_view scope;  // For example "workflow"; without a colon.
  std::string_view key;    // For example "enrich_A:sha256:abc123"; any text that is not empty.
};

// The most shards of a queue: a worker sends a command to each.
inline constexpr int64_t kMaxQueueShards = 64;

// Builds and parses the keys of one layout.
class Keys {
 public:
  // `queue_shards` is from 1 to kMaxQueueShards; other numbers count as the nearest of these.
  explicit Keys(store::KeyLayout layout = store::KeyLayout::kDocumented, int64_t queue_shards = 1)
      : layout_(layout), queue_shards_(std::clamp<int64_t>(queue_shards, 1, kMaxQueueShards)) {}

  store::KeyLayout layout() const { return layout_; }
  int64_t queue_shards() const { return queue_shards_; }
  // Returns the shard that the tokens and signals of a run go to: its CRC16 modulo the number of
  // shards.
  int64_t ShardOf(std::string_view run_id) const;

  absl::StatusOr<std::string> Ir(std::string_view run_id) const;
  absl::StatusOr<std::string> Context(std::string_view run_id) const;
  absl::StatusOr<std::string> Counter(std::string_view run_id) const;
  absl::StatusOr<std::string> Applied(std::string_view run_id) const;
  // The stream of a task type, which is any text but the empty one, or one of its shards.
  absl::StatusOr<std::string> TaskStream(std::string_view type, int64_t shard = 0) const;
  // A pattern for SCAN that matches all task streams, with those of all shards.
  std::string TaskStreamPattern() const;
  std::string CompletionSignals(int64_t shard = 0) const;
  absl::StatusOr<std::string> PendingApprovals(std::string_view run_id) const;
  absl::StatusOr<std::string> Approval(RunApproval approval) const;
  absl::StatusOr<std::string> EventChannel(std::string_view run_id) const;
  // As EventChannel, for SPUBLISH.
  absl::StatusOr<std::string> EventShardChannel(std::string_view run_id) const;
  absl::StatusOr<std::string> CachedResult(CacheEntry entry) const;
  absl::StatusOr<std::string> PendingTokens(RunNode join) const;
  absl::StatusOr<std::string> Loop(RunNode loop) const;
  // The list of signals that one coordinator has taken from a shard and not finished.
  absl::StatusOr<std::string> ProcessingSignals(std::string_view consumer, int64_t shard = 0) const;
  // A pattern for SCAN that matches the processing lists of all coordinators and shards.
  std::string ProcessingPattern() const;
  // The shard of a task stream, a signal list or a processing list; 0 for every other key. Nullopt
  // for a key of another number of shards.
  std::optional<int64_t> ShardOfQueue(const store::KeyMatch& match) const;
  // The lease of the service that acts for all runs.
  std::string ServiceLease() const;

  // The family and the values of a key or channel in this layout; nullopt for any other key.
  std::optional<store::KeyMatch> Parse(std::string_view key) const;

 private:
  store::KeyLayout layout_;
  int64_t queue_shards_;
};

// Whether the key is a processing list, of any shard.
bool IsProcessingList(const store::KeyMatch& match);

// The member of a run's pending set for an approval: "approval_456" for the id "456".
std::string ApprovalMember(std::string_view approval_id);
// The approval id of such a member, as a view of it; nullopt for any other text.
std::optional<std::string_view> ParseApprovalMember(std::string_view member);

// The members of a run's applied set. Consume, Emit and Resume each name one change of the counter.
// Arrive, Fire, Drop and Quiesce mark steps of a join, and Route records where the tokens of an
// emission go. Token ids are inserted verbatim. Source: docs/systems/orchestrator.md 2.7.
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
std::string RouteOp(std::string_view token_id);  // "route:t1|"; the route follows.

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_KEYS_H_
