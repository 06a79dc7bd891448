// ClusterMachine: how requests find the nodes of a Redis Cluster, without a connection.
//
// It keeps the slot map, splits requests into parts by node, and follows the redirections in the
// replies. It does no I/O and reads no clock: its owner tells it events and performs the actions
// that it asks for, so that every path is tested by a list of events.
//
//   ClusterMachine machine(options);
//   machine.Start(now_us);                       // Asks for the map.
//   while (auto action = machine.NextAction()) Perform(*action);   // After each event.
//   machine.MapAnswered(action->node, reply, now_us);
//   machine.Submit(request, now_us);             // Sends a part or more.
//   machine.PartAnswered(action->part, result, now_us);  // Completes requests.
//
// What becomes of a command that a node did not run:
//
//   MOVED                     sent on to the node named, and the map corrected and asked for anew
//   ASK                       sent on to the node named, behind ASKING, this once; a command that
//                             blocks waits for the move's end, as with TRYAGAIN
//   TRYAGAIN                  sent again after refresh_interval
//   CLUSTERDOWN, LOADING,     the map is asked for anew; sent again after refresh_interval
//   nobody serves the slot
//   connection lost before    the map is asked for anew; the request fails as not sent, or is sent
//   it was written            again after refresh_interval when Options::retry allows
//   connection lost before    the map is asked for anew; the request fails with outcome unknown, or
//   the reply                 is sent again when it is idempotent and Options::retry is kIdempotent
//   no connection to be had   the map is asked for anew; it waits for a node as long as its
//   time-out
//                             allows, or fails as not sent when Options::reconnect is off
//
// Each of these but the last counts as a redirection; after Options::redirections of them the
// caller gets the last error. A request is never sent twice unless a reply said that it was not
// run, or Options::retry asked for it. Commands of one slot keep their order within a pipeline,
// except those that a slot's move answers differently.
//
// The map is asked for at most once per Options::refresh_interval and one node at a time: masters,
// replicas, seeds; those that failed last come last.
//
// Completing a request runs its waiter, which may submit more or abandon others; it must not
// destroy the machine.
//
// Thread-safety: one thread or strand at a time.
//
// Source: Redis Cluster specification, "Redirection and resharding".
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/redis/fsm/cluster_job.h"
#include "backends/redis/fsm/cluster_redirect.h"
#include "backends/redis/fsm/slot_map.h"
#include "backends/redis/options.h"
#include "core/store/store.h"

namespace redouble::redis {

// A figure for each thing that goes other than straight.
struct ClusterCounters {
  uint64_t moved = 0;
  uint64_t asked = 0;
  uint64_t waited = 0;     // TRYAGAIN, CLUSTERDOWN, nobody there.
  uint64_t map_reads = 0;  // Maps taken.
};

// What the owner shall do.
struct ClusterAction {
  enum class Kind : uint8_t {
    kSend,    // Submit part `part`, see Part(), to `node`, and report PartAnswered.
    kAskMap,  // Send CLUSTER SLOTS to `node`, and report MapAnswered.
    kWake,    // Report Timer at `at_us`; replaces an earlier one.
  };

  Kind kind;
  size_t node = 0;  // See Address().
  uint64_t part = 0;
  int64_t at_us = 0;
};

class ClusterMachine {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // Whether a request may run twice although it does more than read; see ClientHooks.
  using IsIdempotent = std::function<bool(const store::Request&)>;

  // `options` are those of the cluster; its address and seeds are the first nodes to ask.
  explicit ClusterMachine(const Options& options, IsIdempotent is_idempotent = nullptr);
  // Fails what is left as Close does.
  ~ClusterMachine();
  ClusterMachine(const ClusterMachine&) = delete;
  ClusterMachine& operator=(const ClusterMachine&) = delete;

  // Times are microseconds of any clock that never goes back.
  void Start(int64_t now_us);
  // Takes a request. Completes it at once when it cannot be sent, as FailedPrecondition, not sent,
  // if its keys belong to several slots, it would change a connection (see command_effect.h) or is
  // a pipeline with a command that blocks; as Unavailable, not sent, if the machine is closed.
  void Submit(store::Request& request, int64_t now_us);
  void PartAnswered(uint64_t part, absl::StatusOr<store::Reply> result, int64_t now_us);
  // No connection to the part's node could be made.
  void PartUnreachable(uint64_t part, const absl::Status& status, int64_t now_us);
  void MapAnswered(size_t node, const absl::StatusOr<store::Reply>& result, int64_t now_us);
  void Timer(int64_t now_us);
  // Fails all that is left, and whatever comes, with `reason`.
  void Close(const std::string& reason);

  // The request's waiter has gone: its commands must not be read any more.
  void Abandon(store::Request& request);
  // The parts that nobody wants any more: to be taken back from their nodes at once, since their
  // commands are gone, and not to be reported. To be asked for after each event.
  std::vector<uint64_t> TakeDropped() { return std::exchange(dropped_, {}); }

  // The next thing to do, once each; none: nothing for now.
  std::optional<ClusterAction> NextAction();

  // Of a part that kSend named and that has not ended since.
  const ClusterPart& Part(uint64_t part) const { return parts_.at(part); }
  const TcpAddress& Address(size_t node) const { return nodes_[node].address; }

  // True once there is a map. Before, submitted requests wait for it.
  bool ready() const { return ready_; }
  // Why there is no map: no node gave one. OK while they are being asked.
  const absl::Status& start_status() const { return start_status_; }
  const SlotMap& map() const { return map_; }
  const ClusterCounters& counters() const { return counters_; }

 private:
  struct Node {
    TcpAddress address;
    bool failed = false;  // Since the last map.
  };
  struct Waiting {
    ClusterJob* job;
    Errand errand;
    int64_t due_us;
  };

  size_t NodeAt(const TcpAddress& address);
  absl::StatusOr<std::vector<Errand>> ErrandsOf(ClusterJob& job);
  std::optional<size_t> NodeOf(const Errand& errand) const;
  void Dispatch(ClusterJob& job, std::vector<Errand> errands, int64_t now_us);
  void Send(ClusterJob& job, size_t node, bool asking, std::vector<Errand> errands);
  void Wait(ClusterJob& job, const Errand& errand, int64_t now_us);
  std::optional<std::map<uint64_t, ClusterPart>::node_type> TakePart(uint64_t part);
  void TakeFailure(ClusterPart& part, absl::Status status, int64_t now_us);
  void TakeReplies(ClusterPart& part, std::vector<store::Reply> replies, int64_t now_us);
  bool MayTryAgain(const ClusterJob& job, const absl::Status& status) const;
  bool MayRunTwice(const ClusterJob& job) const;
  void CountRedirect(Redirect::Kind kind);
  void WakeWaiting(int64_t now_us);
  void ExpireJobs(int64_t now_us);
  void FinishIfDone(ClusterJob& job);
  void Finish(ClusterJob& job, absl::StatusOr<store::Reply> result);
  void Forget(ClusterJob& job);

  void WantMap(int64_t now_us);
  void AskNextCandidate(int64_t now_us);
  void TakeMap(SlotMap map, int64_t now_us);
  std::vector<size_t> Candidates();
  void ArmTimer();

  const Options options_;
  const IsIdempotent is_idempotent_;
  const int64_t refresh_interval_us_;
  const int64_t command_timeout_us_;
  std::optional<std::string> closed_;  // Why.

  SlotMap map_;
  std::vector<size_t> masters_;  // Of map_, as nodes.
  std::deque<Node> nodes_;       // Every address that was ever heard of.
  bool ready_ = false;
  absl::Status start_status_;
  bool asking_map_ = false;
  std::vector<size_t> candidates_;  // Still to be asked in this round, the next one last.
  int64_t map_due_us_ = kNever;     // When to begin the next round.
  int64_t earliest_map_us_ = 0;     // When the next round may begin.

  std::list<ClusterJob> jobs_;     // With a deadline: in its order.
  std::list<ClusterJob> blocked_;  // Without.
  absl::flat_hash_map<const store::Request*, ClusterJob*> job_of_;
  std::map<uint64_t, ClusterPart> parts_;
  uint64_t next_part_ = 1;
  std::deque<Waiting> waiting_;
  std::deque<ClusterAction> actions_;
  std::vector<uint64_t> dropped_;
  int64_t armed_us_ = kNever;
  ClusterCounters counters_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_MACHINE_H_
