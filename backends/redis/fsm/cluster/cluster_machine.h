// ClusterMachine: routes requests to the nodes of a Redis Cluster, as a machine without I/O.
//
// It keeps the slot map, splits requests into parts by node, and follows the redirections in the
// replies. It reads no clock: its owner reports events and performs the returned actions, so that a
// test can cover each path with a list of events.
//
//   ClusterMachine machine(options);
//   machine.Start(now_us);                       // Asks for the map.
//   while (auto action = machine.NextAction()) Perform(*action);   // After each event.
//   machine.MapAnswered(action->node, replies, now_us);
//   machine.Submit(request, now_us);             // Sends one or more parts.
//   machine.PartAnswered(action->part, result, now_us);  // Completes requests.
//
// The next step for a command that a node did not run:
//
//   MOVED                     sent to the named node, but after refresh_interval if that node had
//                             redirected it before; the map is corrected and read again
//   ASK                       sent to the named node after ASKING, once; a blocking command waits
//                             for the end of the migration, as with TRYAGAIN
//   TRYAGAIN                  sent again after refresh_interval, within its timeout
//   CLUSTERDOWN, LOADING,     the map is read again; sent again after refresh_interval, within its
//   slot without a master     timeout
//   connection lost before    the map is read again; the request fails as "not sent", or is sent
//   the write                 again after refresh_interval if Options::retry allows it
//   connection lost before    the map is read again; the request fails as "outcome unknown", or is
//   the reply                 sent again if it is idempotent and Options::retry is kIdempotent
//   node unreachable          the map is read again; the request waits for a node within its
//                             timeout, or fails as "not sent" if Options::reconnect is off
//
// MOVED, ASK and lost connections count as redirections. After Options::redirections of them the
// caller receives the last error. Blocking commands have the time limits of
// Options::blocking_timeout. No more than Options::queue_limit requests and Options::queue_bytes
// bytes are kept. A request is never sent twice unless a reply proved that it was not run, or
// Options::retry allows it. Commands of one slot keep their order within a pipeline, except during
// a migration of the slot.
//
// The map is read in rounds, from one node at a time: the nodes of the map in random order, then
// the nodes of the options. Nodes that failed or replied CLUSTERDOWN come last. A round ends with
// the first node that reports a working cluster and an epoch (ClusterView) that is not older than
// the epoch of the current map. If there is no such node, the round ends with the newest map that
// it received. A map of an older epoch is accepted only if all nodes replied (the cluster was
// created again), or after three rounds. Rounds are at least Options::refresh_interval apart, with
// jitter, and further apart after rounds without a map.
//
// With Options::split_commands, MGET, MSET, DEL, UNLINK, EXISTS and TOUCH over several slots are
// sent as one command for each slot (command_split.h). Without it they are refused, as others are.
//
// With Options::read_from, requests that only read go to the replicas of their shards
// (read_choice.h): in a pipeline, all commands for one shard to the same node. A request that
// writes, or is a transaction, never goes to a replica. A redirected read follows the redirection
// to the master. The map is then read at least once in Options::health_check_interval, to learn of
// new replicas. The connections to all nodes have sent READONLY (Options::readonly), because roles
// change.
//
// Nodes that have left the map are forgotten once no request is under way to them.
//
// Completing a request runs its waiter, which may submit or abandon requests; it must not destroy
// the machine.
//
// Thread-safety: one thread or strand at a time.
//
// Source: Redis Cluster specification, "Redirection and resharding".
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_CLUSTER_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_CLUSTER_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/backends/redis/fsm/cluster/cluster_job.h"
#include "redouble/backends/redis/fsm/cluster/cluster_redirect.h"
#include "redouble/backends/redis/fsm/cluster/commands/server_commands.h"
#include "redouble/backends/redis/fsm/cluster/read_choice.h"
#include "redouble/backends/redis/fsm/cluster/slot_map.h"
#include "redouble/backends/redis/fsm/queue_limits.h"
#include "redouble/backends/redis/observe/request_observer.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// Counters of redirections and waits.
struct ClusterCounters {
  uint64_t moved = 0;
  uint64_t asked = 0;
  uint64_t waited = 0;     // TRYAGAIN, CLUSTERDOWN, circular MOVED, unreachable nodes.
  uint64_t map_reads = 0;  // Maps that were read successfully.
};

// What the owner must do next.
struct ClusterAction {
  enum class Kind : uint8_t {
    kSend,    // Submit Part(`part`) to `node`; report PartAnswered or PartUnreachable.
    kAskMap,  // Send CLUSTER SLOTS and CLUSTER INFO to `node`; report MapAnswered.
    kWake,    // Report Timer at `at_us`; replaces an earlier one.
  };

  Kind kind;
  size_t node = 0;  // See Address().
  uint64_t part = 0;
  int64_t at_us = 0;
};

class ClusterMachine {
 public:
  static constexpr int64_t kNever = kNeverUs;

  // Returns true for requests that may run twice although they do more than read; see
  // ClientHooks.
  using IsIdempotent = std::function<bool(const store::Request&)>;

  // `options` name the first nodes to ask: the address and the seeds. `rng` draws the order of
  // nodes and the jitter. `observer`, if not null, learns where requests are sent; it must
  // outlive the machine.
  explicit ClusterMachine(const Options& options, IsIdempotent is_idempotent = nullptr,
                          base::Rng rng = base::Rng(0), RequestObserver* observer = nullptr);
  // Fails the remaining requests as Close does.
  ~ClusterMachine();
  ClusterMachine(const ClusterMachine&) = delete;
  ClusterMachine& operator=(const ClusterMachine&) = delete;

  // Asks for the map. Times are microseconds of a monotonic clock.
  void Start(int64_t now_us);
  // Routes a request. Completes it at once, with an error of kind "not sent", if it cannot be
  // sent: FailedPrecondition if its keys belong to several slots, if it would change a connection
  // (see command_effect.h) or if it is a pipeline with a blocking command; ResourceExhausted if
  // the machine is full; Unavailable if it is closed.
  void Submit(store::Request& request, int64_t now_us);
  void PartAnswered(uint64_t part, absl::StatusOr<store::Reply> result, int64_t now_us);
  // No connection to the node of the part could be made.
  void PartUnreachable(uint64_t part, const absl::Status& status, int64_t now_us);
  // The replies to both commands as one array, or the error.
  void MapAnswered(size_t node, const absl::StatusOr<store::Reply>& result, int64_t now_us);
  void Timer(int64_t now_us);
  // The map may be out of date: begins a round of reading it, not sooner than the last round
  // allows. After a round without a map another one follows.
  void WantMap(int64_t now_us);
  // Fails all remaining and all later requests with `reason`.
  void Close(const std::string& reason);

  // The waiter of the request was destroyed: its commands must not be read any more.
  void Abandon(store::Request& request);
  // The ids of the parts that are no longer needed. The owner calls this after each event and
  // abandons these parts at once, because their commands no longer exist; it does not report
  // their results.
  std::vector<uint64_t> TakeDropped() { return std::exchange(dropped_, {}); }

  // The addresses of the nodes that were forgotten; the owner closes its connections to them.
  std::vector<TcpAddress> TakeForgotten() { return std::exchange(forgotten_, {}); }

  // The next action; each is returned once. nullopt if there is nothing to do for now.
  std::optional<ClusterAction> NextAction();

  // A part that kSend named and that has not ended.
  const ClusterPart& Part(uint64_t part) const { return parts_.at(part); }
  const TcpAddress& Address(size_t node) const { return nodes_[node].address; }

  // Whether a map has been read. Until then, submitted requests wait.
  bool ready() const { return ready_; }
  // Why no node returned a map. OK while nodes are being asked.
  const absl::Status& start_status() const { return start_status_; }
  // What the owner has learned of commands that the table lacks; used to route later requests.
  ServerCommands& server_commands() { return server_commands_; }
  const SlotMap& map() const { return map_; }
  const ClusterCounters& counters() const { return counters_; }
  // Requests that have no result yet, and the bytes of their commands.
  size_t queued() const { return jobs_.size(); }
  size_t queued_bytes() const { return queued_bytes_; }

 private:
  struct Node {
    TcpAddress address;
    bool failed = false;  // It failed or said CLUSTERDOWN, and has not answered since.
    bool known = true;    // False: forgotten; the place can be used again.
  };
  using Jobs = std::multimap<int64_t, ClusterJob>;
  struct Waiting {
    ClusterJob* job;
    Errand errand;
    int64_t due_us;
  };

  size_t NodeAt(const TcpAddress& address);
  absl::StatusOr<Errands> ErrandsOf(ClusterJob& job);
  std::optional<size_t> NodeOf(const Errand& errand) const;
  std::optional<size_t> ReaderOf(const Errand& errand, int64_t now_us);
  void Dispatch(ClusterJob& job, Errands errands, int64_t now_us);
  void Send(ClusterJob& job, size_t node, bool asking, Errands errands);
  void Wait(ClusterJob& job, const Errand& errand, int64_t now_us);
  std::optional<std::map<uint64_t, ClusterPart>::node_type> TakePart(uint64_t part);
  void TakeFailure(ClusterPart& part, absl::Status status, int64_t now_us);
  void TakeReplies(ClusterPart& part, Replies replies, int64_t now_us);
  void NoteFailure(size_t node, int64_t now_us);
  bool MayTryAgain(const ClusterJob& job, const absl::Status& status) const;
  bool MayRunTwice(const ClusterJob& job) const;
  void NoteRedirect(const ClusterPart& part, const Redirect& redirect, int64_t now_us);
  bool GoesOnAtOnce(const ClusterPart& part, const Redirect& redirect);
  void CountRedirect(Redirect::Kind kind);
  void RouteAll(int64_t now_us);
  void WakeWaiting(int64_t now_us);
  void ExpireJobs(int64_t now_us);
  void FinishIfDone(ClusterJob& job);
  void Finish(ClusterJob& job, absl::StatusOr<store::Reply> result);
  void Forget(ClusterJob& job);

  void AskNextCandidate(int64_t now_us);
  void EndRound(int64_t now_us);
  void TakeMap(ClusterView view, int64_t now_us);
  void ForgetNodes();
  std::vector<size_t> Candidates();
  void ArmTimer();

  const Options options_;
  const IsIdempotent is_idempotent_;
  const RoundPauses rounds_;
  const QueueLimits limits_;
  base::Rng rng_;
  ReadChoice read_choice_;
  RequestObserver* const observer_;
  std::optional<std::string> closed_;  // The reason.

  SlotMap map_;
  ServerCommands server_commands_;
  std::vector<size_t> masters_;  // The masters of map_, as indexes of nodes_.
  std::deque<Node> nodes_;       // By index; see Node::known.
  bool ready_ = false;
  absl::Status start_status_;
  bool asking_map_ = false;
  std::vector<size_t> candidates_;        // Nodes to ask in this round; the last is asked next.
  std::optional<ClusterView> best_view_;  // Of this round.
  bool all_answered_ = true;              // In this round.
  int64_t epoch_ = 0;                     // Of map_.
  int failed_rounds_ = 0;                 // In a row.
  int64_t map_due_us_ = kNever;           // When the next round begins.
  int64_t earliest_map_us_ = 0;           // When the next round may begin.

  Jobs jobs_;  // By deadline.
  size_t queued_bytes_ = 0;
  std::deque<ClusterJob*> unrouted_;  // Jobs that wait for the first map.
  absl::flat_hash_map<const store::Request*, ClusterJob*> job_of_;
  std::map<uint64_t, ClusterPart> parts_;
  uint64_t next_part_ = 1;
  std::deque<Waiting> waiting_;
  std::deque<ClusterAction> actions_;
  std::vector<uint64_t> dropped_;
  std::vector<TcpAddress> forgotten_;
  int64_t armed_us_ = kNever;
  ClusterCounters counters_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_CLUSTER_MACHINE_H_
