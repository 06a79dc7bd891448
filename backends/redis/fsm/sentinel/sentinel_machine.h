// SentinelMachine: finds the master that sentinels watch and sends it requests, as a machine
// without I/O.
//
// It asks the sentinels for the address of the master, verifies the role of that server with ROLE,
// and sends it the requests. It searches the next master if that server is lost or replies
// READONLY, or if a sentinel publishes +switch-master. It reads no clock: its owner reports events
// and performs the returned actions, so that a test can cover each path with a list of events.
//
//   SentinelMachine machine(options);
//   machine.Start(now_us);
//   while (auto action = machine.NextAction()) Perform(*action);  // After each event.
//   machine.SentinelAnswered(reply, now_us);   // "the master is at 10.0.0.2:6379"
//   machine.RoleAnswered(reply, now_us);       // "I am a master"
//   machine.Submit(request, now_us);           // Sent there.
//
// The machine knows the sentinels of the options and those that they name; the one that answered
// last is asked first. Sentinels that it does not name any more are forgotten, those of the options
// never. A round asks them in turn until one of them names a server that is a master. Rounds are at
// least Options::refresh_interval apart, with jitter, and further apart after rounds in vain.
//
// Sentinels hear of a failover at different times, and a master that was isolated meanwhile says
// that it is one until a sentinel makes it a replica. Therefore a sentinel whose configuration is
// older than the newest that the machine has followed (config-epoch of SENTINEL MASTER) is passed
// over, for at most kOutdatedUs: they agree sooner, unless they were set up anew.
//
// One sentinel is subscribed to for +switch-master. If the subscription fails or is lost, the next
// sentinel is subscribed to, with backoff; messages may be missing then, so the master is verified.
//
// Transactions are sent as MULTI, the commands and EXEC, because a replica says READONLY in its
// replies to the commands and only EXECABORT in its reply to EXEC.
//
// With Options::read_from, requests that only read go to the replicas that the sentinels name
// (read_choice.h), also while no master is known; a request that writes, or is a transaction, never
// does. A replica that fails begins a round, which names the replicas anew, and a round begins at
// least once in Options::health_check_interval.
//
// Blocking commands have the time limits of Options::blocking_timeout. No more than
// Options::queue_limit requests and Options::queue_bytes bytes are kept.
//
// The next step for a request:
//
//   no master known           waits for one within its timeout, or fails as "not sent" if
//                             Options::reconnect is off
//   READONLY for all its      the server is a replica now and has not run it: waits for the next
//   commands                  master, at most Options::redirections times
//   READONLY for some of a    returned as it is; the next master is searched
//   pipeline
//   connection lost before    fails as "not sent", or waits for the next master if Options::retry
//   the write                 allows it
//   connection lost before    fails as "outcome unknown", or waits for the next master if it is
//   the reply                 idempotent and Options::retry is kIdempotent
//
// Completing a request runs its waiter, which may submit or abandon requests; it must not destroy
// the machine.
//
// Thread-safety: one thread or strand at a time.
//
// Source: Redis documentation, "Guidelines for Redis clients with support for Redis Sentinel".
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_SENTINEL_SENTINEL_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_SENTINEL_SENTINEL_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/backends/redis/fsm/cluster/read_choice.h"
#include "redouble/backends/redis/fsm/queue_limits.h"
#include "redouble/backends/redis/observe/request_observer.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// What a SentinelMachine has done since it was made.
struct SentinelCounters {
  uint64_t masters = 0;  // Masters found, the first included.
  uint64_t rounds = 0;   // Rounds of asking the sentinels.
  uint64_t waited = 0;   // Waits of requests for a master.
};

// What the owner must do next.
struct SentinelAction {
  enum class Kind : uint8_t {
    kAskSentinel,  // Send SENTINEL MASTER, GET-MASTER-ADDR-BY-NAME, SENTINELS and, with read_from,
                   // REPLICAS with the master's name to the sentinel at `address`; report
                   // SentinelAnswered.
    kAskRole,      // Send ROLE to the server at `address`; report RoleAnswered.
    kSend,         // Send the request `request` to the server at `address`; report Answered or
                   // Unreachable.
    kWatch,        // Subscribe to +switch-master at the sentinel at `address`; replaces an earlier
                   // subscription. Report Watching once it is confirmed, Switched for each message,
                   // and WatchEnded if it cannot be made or was lost.
    kWake,         // Report Timer at `at_us`; replaces an earlier one.
  };

  Kind kind;
  TcpAddress address = {};
  uint64_t request = 0;
  int64_t at_us = 0;
};

class SentinelMachine {
 public:
  static constexpr int64_t kNever = kNeverUs;
  // Sentinels tell each other of a failover every two seconds.
  static constexpr int64_t kOutdatedUs = 5'000'000;

  // Returns true for requests that may run twice although they do more than read; see ClientHooks.
  using IsIdempotent = std::function<bool(const store::Request&)>;

  // `options` name the master and the first sentinels to ask: the address and the seeds.
  // `rng` draws the jitter. `observer`, if not null, learns where requests are sent; it must
  // outlive the machine.
  explicit SentinelMachine(const Options& options, IsIdempotent is_idempotent = nullptr,
                           base::Rng rng = base::Rng(0), RequestObserver* observer = nullptr);
  // Fails the remaining requests as Close does.
  ~SentinelMachine();
  SentinelMachine(const SentinelMachine&) = delete;
  SentinelMachine& operator=(const SentinelMachine&) = delete;

  // Begins the first round. Times are microseconds of a monotonic clock.
  void Start(int64_t now_us);
  // Sends a request to the master. Completes it at once, with an error of kind "not sent", if a
  // shared connection must not carry it (FailedPrecondition, see command_effect.h), if the machine
  // is full (ResourceExhausted), or if it is closed (Unavailable).
  void Submit(store::Request& request, int64_t now_us);
  // The replies to the commands as one array, or the error.
  void SentinelAnswered(const absl::StatusOr<store::Reply>& result, int64_t now_us);
  void RoleAnswered(const absl::StatusOr<store::Reply>& result, int64_t now_us);
  void Answered(uint64_t request, absl::StatusOr<store::Reply> result, int64_t now_us);
  // No connection to the server of the request could be made.
  void Unreachable(uint64_t request, const absl::Status& status, int64_t now_us);
  // The connection to the master was lost.
  void MasterLost(int64_t now_us);
  // The subscription to the sentinel of the last kWatch is confirmed.
  void Watching(int64_t now_us);
  // That subscription could not be made, or was lost.
  void WatchEnded(int64_t now_us);
  // The payload of a +switch-master message: "mymaster 10.0.0.1 6379 10.0.0.2 6379".
  void Switched(std::string_view message, int64_t now_us);
  void Timer(int64_t now_us);
  // Fails all remaining and all later requests with `reason`.
  void Close(const std::string& reason);

  // The waiter of the request was destroyed: its commands must not be read any more.
  void Abandon(store::Request& request);
  // The ids of the requests that are no longer needed. The owner calls this after each event and
  // abandons these requests at once; it does not report their results.
  std::vector<uint64_t> TakeDropped() { return std::exchange(dropped_, {}); }

  // The next action; each is returned once. nullopt if there is nothing to do for now.
  std::optional<SentinelAction> NextAction();

  // What to send for a request that kSend named and that has not ended.
  store::Request::Kind KindOf(uint64_t request) const;
  std::span<const store::Command> CommandsOf(uint64_t request) const;
  const std::optional<TcpAddress>& master() const { return master_; }
  const std::vector<TcpAddress>& sentinels() const { return sentinels_; }
  // The replicas that are available, as a sentinel says; empty if read_from is kMaster.
  const std::vector<TcpAddress>& replicas() const { return replicas_; }
  // Why the first round found no master; OK before its end, and once a master was found. NotFound
  // if sentinels answered but do not know a master of that name; Unavailable if no sentinel could
  // be reached, or if the named server is not a master.
  const absl::Status& start_status() const { return start_status_; }
  const SentinelCounters& counters() const { return counters_; }
  // Requests that have no result yet.
  size_t queued() const { return jobs_.size(); }

 private:
  struct Job {
    store::Request* request;
    int64_t submitted_us;
    int64_t deadline_us;
    size_t bytes;
    std::vector<store::Command> spelled = {};  // For a transaction.
    bool reads = false;                        // Options::read_from selects its server.
    bool sent = false;
    TcpAddress server = {};     // To which it was sent.
    bool may_have_run = false;  // A connection was lost after the write.
    int redirections = 0;
    int losses = 0;
    absl::Status last_problem = absl::OkStatus();
  };
  using Jobs = std::map<uint64_t, Job>;

  // What a server that became a replica did with a request.
  enum class Demotion : uint8_t { kNone, kRefusedSome, kRefusedAll };

  void BeginRound(int64_t now_us);
  void StartWatch(const TcpAddress& sentinel);
  void AskNext(int64_t now_us);
  void LearnSentinels(const store::Reply& reply);
  void LearnReplicas(const store::Reply& reply);
  void NoteProblem(absl::Status status);
  bool IsOutdated(uint64_t epoch, int64_t now_us);
  void AskRole(const TcpAddress& address, uint64_t epoch);
  void LoseMaster(int64_t now_us);
  bool Send(uint64_t id, Job& job, int64_t now_us, bool only_available = false);
  void SendWaiting(int64_t now_us);
  bool FailsOver(Job& job, const absl::StatusOr<store::Reply>& result, int64_t now_us);
  void Wait(Job& job, absl::Status problem);
  bool MayTryAgain(const Job& job, const absl::Status& status) const;
  bool MayRunTwice(const store::Request& request) const;
  absl::StatusOr<store::Reply> ReadResult(const Job& job, absl::StatusOr<store::Reply> result,
                                          Demotion& demotion) const;
  void Finish(Jobs::iterator job, absl::StatusOr<store::Reply> result);
  void Forget(Jobs::iterator job);
  void ExpireJobs(int64_t now_us);
  void ArmTimer();

  const Options options_;
  const IsIdempotent is_idempotent_;
  const RoundPauses rounds_;
  const QueueLimits limits_;
  base::Rng rng_;
  ReadChoice read_choice_;
  RequestObserver* const observer_;
  std::optional<std::string> closed_;  // The reason.

  std::vector<TcpAddress> sentinels_;
  const std::vector<TcpAddress> given_;  // The sentinels of the options.
  std::optional<TcpAddress> master_;
  std::vector<TcpAddress> replicas_;
  std::optional<TcpAddress> watched_;  // The sentinel with the subscription, or an attempt at it.
  Backoff watch_backoff_;
  int64_t watch_due_us_ = kNever;            // When the next attempt at a subscription is made.
  size_t watch_turn_ = 0;                    // Counts these attempts.
  bool watch_was_lost_ = false;              // Messages may be missing.
  bool searching_ = false;                   // A reply of a sentinel or to ROLE is awaited.
  std::optional<TcpAddress> candidate_;      // The server that was sent ROLE.
  uint64_t candidate_epoch_ = 0;             // Of the configuration that names it.
  std::optional<TcpAddress> newest_master_;  // The last confirmed master.
  uint64_t newest_epoch_ = 0;                // Its configuration has this epoch or a greater one.
  int64_t outdated_since_us_ = kNever;       // All sentinels that answered since were outdated.
  std::optional<TcpAddress> switched_;       // Named by a +switch-master message in the meantime.
  size_t asked_ = 0;                         // Number of sentinels asked in this round.
  int64_t round_due_us_ = kNever;
  int64_t earliest_round_us_ = 0;
  int failed_rounds_ = 0;  // In a row.
  bool started_ = false;   // A master has been found.
  absl::Status round_problem_;
  absl::Status start_status_;

  Jobs jobs_;                                         // In the order of submission.
  std::set<std::pair<int64_t, uint64_t>> deadlines_;  // Of the jobs, with their ids.
  absl::flat_hash_map<const store::Request*, uint64_t> job_of_;
  size_t queued_bytes_ = 0;
  uint64_t next_job_ = 1;
  std::deque<SentinelAction> actions_;
  std::vector<uint64_t> dropped_;
  int64_t armed_us_ = kNever;
  SentinelCounters counters_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_SENTINEL_SENTINEL_MACHINE_H_
