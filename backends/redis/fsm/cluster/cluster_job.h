// ClusterJob: one request of a cluster client, and the parts in which it is sent.
//
// Internal to ClusterMachine. A pipeline is split by node: each part carries the commands for one
// node, in the caller's order. A command for all masters has one errand per master, a split command
// (command_split.h) one per slot. A transaction is one errand. Replies are kept per command until
// all have arrived; the result has the caller's order.
//
//   ClusterJob job(request);
//   Errands errands = ...;                                 // One per command and node.
//   ClusterPart part(job, node, /*asking=*/false, errands);
//   client.Submit(part.kind(), part.commands());
//   Replies replies = *part.TakeReplies(result);           // One per errand.
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_CLUSTER_JOB_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_CLUSTER_JOB_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/cluster/cluster_route.h"
#include "redouble/backends/redis/fsm/cluster/command_split.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// What one node has to do for one job.
struct Errand {
  size_t command = 0;  // Index in the request; 0 for a transaction, which is one unit.
  size_t copy = 0;     // Index among the replies of a command that goes to several nodes.
  size_t node = 0;     // For such a command: the master that this copy is for.
  Route route = {};
  bool reads = false;       // Options::read_from selects the node among those of the shard.
  ScanPosition scan = {};   // For SCAN: the master to visit and its cursor.
  size_t scan_masters = 0;  // For SCAN: the number of masters; 0 for an invalid cursor.
};

// Almost all requests are one command with one reply.
using Errands = absl::InlinedVector<Errand, 1>;
using Replies = absl::InlinedVector<store::Reply, 1>;

class ClusterJob {
 public:
  explicit ClusterJob(store::Request& request);
  ClusterJob(const ClusterJob&) = delete;
  ClusterJob& operator=(const ClusterJob&) = delete;

  store::Request& request() const { return *request_; }
  bool is_transaction() const { return request_->kind() == store::Request::Kind::kTransaction; }

  // Sets the number of replies of a command: one per master that it is sent to.
  void Expect(size_t command, size_t copies) { answers_[command].resize(copies); }
  // Records that the command is sent as one command for each slot.
  void Split(size_t command, CommandSplit split);
  // How the errand's command is split; null if it is not.
  const CommandSplit* SplitOf(const Errand& errand) const;
  void Answer(const Errand& errand, store::Reply reply);
  // Records that the master of a copy has left the cluster before it answered: its copy adds
  // nothing to the merged reply.
  void Drop(const Errand& errand) { answers_[errand.command][errand.copy].reset(); }
  // Records that a part failed. The job continues until its other parts have ended.
  void Fail(absl::Status status);

  // The result of the request once no part is under way: the replies in order, or the failure. A
  // failure is "not sent" if no part was sent, else "outcome unknown".
  absl::StatusOr<store::Reply> TakeResult();
  // The result if the request ends before its parts have ended: "outcome unknown" if a part is
  // under way or was answered, else "not sent".
  absl::Status EarlyResult(const std::string& text, absl::StatusCode code) const;
  // EarlyResult for a request whose time limit is exceeded.
  absl::Status TimeoutResult() const;

  // Whether a part was redirected away from this node before. A redirection back to it is a circle.
  bool CameFrom(size_t node) const;

  absl::InlinedVector<uint64_t, 2> parts = {};  // Parts under way.
  size_t waiting = 0;                           // Errands that wait to be sent.
  // The number of times a part of it was redirected.
  int redirections = 0;
  absl::InlinedVector<size_t, 2> moved_from = {};  // The nodes that answered MOVED.
  // The number of lost connections to which a part of it had been written.
  int losses = 0;
  int64_t submitted_us = 0;
  size_t bytes = 0;       // Of its commands.
  bool unrouted = false;  // There is no map yet.
  // Why it waits; used in the message if the time limit is exceeded.
  absl::Status last_problem = absl::OkStatus();
  // Its position in the machine's table, whose keys are the deadlines.
  std::multimap<int64_t, ClusterJob>::iterator self = {};

 private:
  store::Request* request_;
  bool answered_something_ = false;
  using Answers = absl::InlinedVector<std::optional<store::Reply>, 1>;
  absl::InlinedVector<Answers, 1> answers_;  // By command and copy.
  std::map<size_t, CommandSplit> splits_;    // By command.
  std::optional<absl::Status> failure_;
};

// The commands that one node receives at once.
class ClusterPart {
 public:
  // `asking`: ASKING precedes each command, or the transaction.
  ClusterPart(ClusterJob& job, size_t node, bool asking, Errands errands);
  ClusterPart(const ClusterPart&) = delete;
  ClusterPart& operator=(const ClusterPart&) = delete;

  ClusterJob& job() const { return job_; }
  size_t node() const { return node_; }
  const Errands& errands() const { return errands_; }

  // The request for the node. A transaction is a pipeline of MULTI, its commands and EXEC, because
  // redirections are replies to the commands between them.
  store::Request::Kind kind() const { return kind_; }
  std::span<const store::Command> commands() const { return commands_; }

  // The replies of the errands, in order, from the node's reply. A transaction has one: the reply
  // to EXEC or, if the transaction was discarded because of a redirection, that redirection.
  // Errors: a protocol error if the number of replies differs from the number of commands.
  absl::StatusOr<Replies> TakeReplies(store::Reply reply) const;

 private:
  void BuildCommands();

  ClusterJob& job_;
  const size_t node_;
  const bool asking_;
  const Errands errands_;
  store::Request::Kind kind_;
  std::vector<store::Command> own_;  // Empty if the request's own commands are used.
  std::span<const store::Command> commands_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_CLUSTER_JOB_H_
