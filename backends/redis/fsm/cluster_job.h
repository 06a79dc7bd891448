// ClusterJob: one request on its way through a cluster, and the parts that it is sent in.
//
// Internal to the cluster machine. A pipeline is split by node: each part carries, in the caller's
// order, those commands that belong to one node. A command that concerns all masters has one errand
// per master. A transaction is one errand. Replies are kept per command until all are there; the
// result then has the caller's order again.
//
//   ClusterJob job(request);
//   std::vector<Errand> errands = ...;                     // One per command and node.
//   ClusterPart part(job, node, {.asking = false}, errands);
//   client.Submit(part.kind(), part.commands());
//   std::vector<store::Reply> replies = part.TakeReplies(result);  // One per errand.
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_JOB_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_JOB_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/redis/fsm/cluster_route.h"
#include "core/store/command.h"
#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::redis {

// Something to be done by one node for one job.
struct Errand {
  size_t command = 0;  // Of the request's; 0 for a transaction, which is done as a whole.
  size_t copy = 0;     // Which of the command's replies it brings: its number among the masters.
  Route route = {};
  ScanPosition scan = {};   // Of a SCAN: which master it visits,
  size_t scan_masters = 0;  // of how many; 0 for a cursor that is none.
};

class ClusterJob {
 public:
  explicit ClusterJob(store::Request& request);
  ClusterJob(const ClusterJob&) = delete;
  ClusterJob& operator=(const ClusterJob&) = delete;

  store::Request& request() const { return *request_; }
  bool is_transaction() const { return request_->kind() == store::Request::Kind::kTransaction; }
  // True when all its commands only read.
  bool only_reads() const;

  // The command of the errand will have that many replies, one per master.
  void Expect(size_t command, size_t copies) { answers_[command].resize(copies); }
  void Answer(const Errand& errand, store::Reply reply);
  // A part has no answer. The job goes on until the other parts have theirs.
  void Fail(absl::Status status);

  // What the request is completed with once nothing is under way: the replies, in order; or the
  // failure: as not sent when nothing of the request was, else as outcome unknown.
  absl::StatusOr<store::Reply> TakeResult();
  // The same when the time is over while something is still under way.
  absl::Status TimeoutResult(const std::string& limit) const;

  // The parts that were sent and have not come back; how many errands wait to be sent.
  absl::InlinedVector<uint64_t, 2> parts = {};
  size_t waiting = 0;
  // How often something of it was sent on or had to wait, at most.
  int redirections = 0;
  // How often a connection was lost that something of it had been written to.
  int losses = 0;
  int64_t deadline_us = 0;
  // Why it waits, for the message when its time is over.
  absl::Status last_problem = absl::OkStatus();
  // Its place in the machine's list.
  std::list<ClusterJob>::iterator self = {};

 private:
  store::Request* request_;
  bool answered_something_ = false;
  std::vector<std::vector<store::Reply>> answers_;  // By command and copy.
  std::optional<absl::Status> failure_;
};

// What one node is sent at once.
class ClusterPart {
 public:
  // `asking`: each command, or the transaction, goes behind ASKING.
  ClusterPart(ClusterJob& job, size_t node, bool asking, std::vector<Errand> errands);
  ClusterPart(const ClusterPart&) = delete;
  ClusterPart& operator=(const ClusterPart&) = delete;

  ClusterJob& job() const { return job_; }
  size_t node() const { return node_; }
  const std::vector<Errand>& errands() const { return errands_; }

  // What is to be submitted to the node. A transaction is a pipeline that MULTI begins and EXEC
  // ends, because the redirections are answers to the commands between them.
  store::Request::Kind kind() const { return kind_; }
  std::span<const store::Command> commands() const { return commands_; }

  // The replies of the errands, in their order, out of what the node answered. A transaction has
  // one: EXEC's; or, when it was discarded because of a redirection, that.
  // Errors: a protocol error when the number of replies is not that of the commands.
  absl::StatusOr<std::vector<store::Reply>> TakeReplies(store::Reply reply) const;

 private:
  void BuildCommands();

  ClusterJob& job_;
  const size_t node_;
  const bool asking_;
  const std::vector<Errand> errands_;
  store::Request::Kind kind_;
  std::vector<store::Command> own_;  // Unless the request's own can be used.
  std::span<const store::Command> commands_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_JOB_H_
