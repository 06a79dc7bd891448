// SentinelMachine: how requests find the master that sentinels watch, without a connection.
//
// It asks the sentinels for the address of the master, asks the server there whether it is a
// master, sends it the requests, and looks for the next one when that server is lost, answers
// READONLY, or a sentinel says +switch-master. It does no I/O and reads no clock: its owner tells
// it events and performs the actions that it asks for, so that every path is tested by a list of
// events.
//
//   SentinelMachine machine(options);
//   machine.Start(now_us);
//   while (auto action = machine.NextAction()) Perform(*action);  // After each event.
//   machine.SentinelAnswered(reply, now_us);   // "the master is at 10.0.0.2:6379"
//   machine.RoleAnswered(reply, now_us);       // "I am a master"
//   machine.Submit(request, now_us);           // Sent there.
//
// The sentinels are those of the options and those that they name; the one that answered last is
// asked first. A round goes through them all until one names a server that is a master; the next
// round begins after Options::refresh_interval.
//
// What becomes of a request:
//
//   no master known           waits for one as long as its time-out allows, or fails as not sent
//                             when Options::reconnect is off
//   READONLY to a command     the server is no master any more and has not run it: waits for the
//                             next master; at most Options::redirections times
//   connection lost before    fails as not sent; waits for the next master if Options::retry allows
//   it was written
//   connection lost before    fails with outcome unknown; waits for the next master if it is
//   the reply                 idempotent and Options::retry is kIdempotent
//
// Completing a request runs its waiter, which may submit more or abandon others; it must not
// destroy the machine.
//
// Thread-safety: one thread or strand at a time.
//
// Source: Redis documentation, "Guidelines for Redis clients with support for Redis Sentinel".
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_SENTINEL_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_SENTINEL_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/redis/options.h"
#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::redis {

struct SentinelCounters {
  uint64_t masters = 0;  // Masters found, the first included.
  uint64_t rounds = 0;   // Times the sentinels were asked.
  uint64_t waited = 0;   // Times a request had to wait for a master.
};

// What the owner shall do.
struct SentinelAction {
  enum class Kind : uint8_t {
    kAskSentinel,  // Send SENTINEL GET-MASTER-ADDR-BY-NAME and SENTINEL SENTINELS with the
                   // master's name to the sentinel at `address`; report SentinelAnswered.
    kAskRole,      // Send ROLE to the server at `address`; report RoleAnswered.
    kSend,         // Send the request `request` to the master; report Answered or Unreachable.
    kWatch,        // Subscribe to +switch-master at the sentinel at `address`, in place of an
                   // earlier subscription; report Switched for each message.
    kWake,         // Report Timer at `at_us`; replaces an earlier one.
  };

  Kind kind;
  TcpAddress address = {};
  uint64_t request = 0;
  int64_t at_us = 0;
};

class SentinelMachine {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // Whether a request may run twice although it does more than read; see ClientHooks.
  using IsIdempotent = std::function<bool(const store::Request&)>;

  // `options` are those of a master found by sentinels.
  explicit SentinelMachine(const Options& options, IsIdempotent is_idempotent = nullptr);
  // Fails what is left as Close does.
  ~SentinelMachine();
  SentinelMachine(const SentinelMachine&) = delete;
  SentinelMachine& operator=(const SentinelMachine&) = delete;

  // Times are microseconds of any clock that never goes back.
  void Start(int64_t now_us);
  // Takes a request; completes it at once when a shared connection must not carry it
  // (command_effect.h) or the machine is closed.
  void Submit(store::Request& request, int64_t now_us);
  // The replies to both commands as one array, or why there are none.
  void SentinelAnswered(const absl::StatusOr<store::Reply>& result, int64_t now_us);
  void RoleAnswered(const absl::StatusOr<store::Reply>& result, int64_t now_us);
  void Answered(uint64_t request, absl::StatusOr<store::Reply> result, int64_t now_us);
  // No connection to the master could be made.
  void Unreachable(uint64_t request, const absl::Status& status, int64_t now_us);
  // The connection to the master was lost.
  void MasterLost(int64_t now_us);
  // A message of +switch-master: "mymaster 10.0.0.1 6379 10.0.0.2 6379".
  void Switched(std::string_view message, int64_t now_us);
  void Timer(int64_t now_us);
  // Fails all that is left, and whatever comes, with `reason`.
  void Close(const std::string& reason);

  // The request's waiter has gone: its commands must not be read any more.
  void Abandon(store::Request& request);
  // The requests that nobody wants any more: to be taken back from the master at once, and not to
  // be reported. To be asked for after each event.
  std::vector<uint64_t> TakeDropped() { return std::exchange(dropped_, {}); }

  // The next thing to do, once each; none: nothing for now.
  std::optional<SentinelAction> NextAction();

  // A request that kSend named and that has not ended since.
  store::Request& RequestOf(uint64_t request) const { return *jobs_.at(request).request; }
  const std::optional<TcpAddress>& master() const { return master_; }
  const std::vector<TcpAddress>& sentinels() const { return sentinels_; }
  // Why the first round found no master; OK before its end and once there was a master.
  // NotFound when sentinels answered, and none knows a master of that name; Unavailable when none
  // could be reached, or what they name is no master.
  const absl::Status& start_status() const { return start_status_; }
  const SentinelCounters& counters() const { return counters_; }

 private:
  struct Job {
    store::Request* request;
    int64_t deadline_us;
    bool sent = false;
    int redirections = 0;
    int losses = 0;
    absl::Status last_problem = absl::OkStatus();
  };
  using Jobs = std::map<uint64_t, Job>;

  void BeginRound(int64_t now_us);
  void AskNext(int64_t now_us);
  void LearnSentinels(const store::Reply& reply);
  void NoteProblem(absl::Status status);
  void AskRole(const TcpAddress& address);
  void LoseMaster(int64_t now_us);
  void Send(uint64_t id, Job& job);
  void Wait(Job& job, absl::Status problem);
  bool MayTryAgain(const Job& job, const absl::Status& status) const;
  bool MayRunTwice(const store::Request& request) const;
  void Finish(Jobs::iterator job, absl::StatusOr<store::Reply> result);
  void Forget(Jobs::iterator job);
  void ExpireJobs(int64_t now_us);
  void ArmTimer();

  const Options options_;
  const IsIdempotent is_idempotent_;
  const int64_t refresh_interval_us_;
  const int64_t command_timeout_us_;
  std::optional<std::string> closed_;  // Why.

  std::vector<TcpAddress> sentinels_;
  std::optional<TcpAddress> master_;
  std::optional<TcpAddress> watched_;    // The sentinel that is subscribed to.
  bool searching_ = false;               // A sentinel or a role is being asked.
  std::optional<TcpAddress> candidate_;  // Whose role is being asked.
  std::optional<TcpAddress> switched_;   // Named by a message meanwhile.
  size_t asked_ = 0;                     // How many sentinels this round has asked.
  int64_t round_due_us_ = kNever;
  int64_t earliest_round_us_ = 0;
  bool started_ = false;  // There was a master.
  absl::Status round_problem_;
  absl::Status start_status_;

  Jobs jobs_;  // In the order of submission.
  uint64_t next_job_ = 1;
  std::deque<SentinelAction> actions_;
  std::vector<uint64_t> dropped_;
  int64_t armed_us_ = kNever;
  SentinelCounters counters_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_SENTINEL_MACHINE_H_
