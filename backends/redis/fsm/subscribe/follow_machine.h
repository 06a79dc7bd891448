// FollowMachine: keeps subscriptions at servers that change, as a machine without I/O.
//
// The home of a subscription is the server that delivers its messages: the master that sentinels
// name, the master of a shard channel's slot, or any node of a cluster for other channels and for
// patterns. The machine keeps a line, one connection for subscriptions, to each home. When a home
// changes or a line is lost, it subscribes again at the new home and then reports a gap.
//
//   FollowMachine machine(options, homes, base::Rng(seed));
//   machine.Submit(subscribe, now_us);
//   while (auto action = machine.NextAction()) Perform(*action);        // After each event.
//   machine.LineOpened(action->line, now_us);
//   machine.Answered(action->id, reply, now_us);                        // Completes requests.
//   while (std::optional<PushEvent> event = machine.TakePush()) ...
//
// It carries SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE and the corresponding UNSUBSCRIBE commands. The
// reply of a request is its first confirmation; further ones are pushes. The names of one request
// may have several homes, so their confirmations come in any order. UNSUBSCRIBE is confirmed at
// once: no message of the topic follows.
//
// What a server answers to a subscription:
//
//   confirmation              the request completes, or a gap is reported if the topic was
//                             subscribed before
//   MOVED, CLUSTERDOWN,       the homes are read again; subscribed again after a wait
//   TRYAGAIN, LOADING,        (Options::backoff_base, backoff_cap)
//   MASTERDOWN
//   another error             the reply of the request, and the subscription is dropped; after it
//                             was confirmed once, as above
//   "sunsubscribe" without    the slot has moved: as above, at once
//   a request
//   line lost, not opened     as above
//
// A request that is not confirmed within command_timeout_us fails: "not sent" if its command was
// on no line, else "outcome unknown". Its unconfirmed subscriptions are then dropped. The same
// happens to those of a request that was abandoned, which counts for the limits until then.
//
// Completing a request runs its waiter, which may submit or abandon requests; it must not destroy
// the machine.
//
// Thread-safety: one thread or strand at a time.
//
// Source: Redis 7.0 SSUBSCRIBE; Redis documentation, "Redis Pub/Sub", "Sharded Pub/Sub".
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_FOLLOW_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_FOLLOW_MACHINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/fsm/queue_limits.h"
#include "redouble/backends/redis/fsm/subscribe/push_queue.h"
#include "redouble/backends/redis/fsm/subscribe/topic.h"
#include "redouble/backends/redis/observe/request_observer.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// Where subscriptions are served now.
class TopicHomes {
 public:
  virtual ~TopicHomes() = default;

  // The server of a shard channel; nullopt while it is unknown.
  virtual std::optional<TcpAddress> HomeOfShard(std::string_view channel) const = 0;
  // The servers of channels and patterns, each of which delivers every message; empty while they
  // are unknown.
  virtual std::vector<TcpAddress> Homes() const = 0;
};

struct FollowOptions {
  // From the submission of a request to its first confirmation.
  int64_t command_timeout_us = kNeverUs;
  // A request submitted while this much is queued fails at once: not sent, ResourceExhausted.
  QueueLimits queue = {};
  // How many pushes may wait; at least 1.
  size_t push_queue = 10'000;
  int64_t backoff_base_us = 50'000;
  int64_t backoff_cap_us = 5'000'000;
};

// What the owner must do next.
struct FollowAction {
  enum class Kind : uint8_t {
    kOpen,         // Connect `line` to `address`; report LineOpened or LineLost.
    kClose,        // Close `line`; nothing is reported of it any more.
    kSubscribe,    // Subscribe to `topic` on `line`; report Answered with `id`.
    kUnsubscribe,  // Unsubscribe from `topic` on `line`; the answer is dropped.
    kFindHomes,    // Read the homes again; report HomesChanged.
    kWake,         // Report Timer at `at_us`; replaces an earlier one.
  };

  Kind kind;
  uint64_t line = 0;
  TcpAddress address = {};
  Topic topic = {};
  uint64_t id = 0;
  int64_t at_us = 0;
};

class FollowMachine final : public store::RequestKeeper {
 public:
  // `homes` must outlive the machine. `rng` draws the jitter and the node for channels.
  // `observer`, if not null, learns where requests are sent; it must outlive the machine.
  FollowMachine(FollowOptions options, const TopicHomes& homes, base::Rng rng,
                RequestObserver* observer = nullptr);
  // Fails the remaining requests as Close does.
  ~FollowMachine();
  FollowMachine(const FollowMachine&) = delete;
  FollowMachine& operator=(const FollowMachine&) = delete;

  // Times are microseconds of a monotonic clock. Completes a request at once, as "not sent", if it
  // is another command (FailedPrecondition), the machine is full (ResourceExhausted) or closed
  // (Unavailable).
  void Submit(store::Request& request, int64_t now_us);
  void Abandon(store::Request& request) override;

  // The homes may have changed, or were read again and are the same.
  void HomesChanged(int64_t now_us);
  void LineOpened(uint64_t line, int64_t now_us);
  // The line could not be opened, or was lost.
  void LineLost(uint64_t line, int64_t now_us);
  void Answered(uint64_t id, const absl::StatusOr<store::Reply>& result, int64_t now_us);
  // A push, or a gap, that arrived on a line.
  void Pushed(uint64_t line, PushEvent event, int64_t now_us);
  void Timer(int64_t now_us);
  // Fails all remaining and all later requests with `reason`, and closes all lines.
  void Close(std::string_view reason);

  // The next action; each is returned once. nullopt if there is nothing to do for now.
  std::optional<FollowAction> NextAction();

  std::optional<PushEvent> TakePush() { return pushes_.Take(); }
  bool has_push() const { return !pushes_.empty(); }
  bool closed() const { return closed_.has_value(); }
  const Counters& counters() const { return counters_; }

  // The number of subscriptions that are confirmed at their home now.
  size_t confirmed() const;
  size_t lines() const { return lines_.size(); }
  // Requests that have no result yet, abandoned requests included.
  size_t queued() const { return counters_.in_flight + abandoned_; }

 private:
  struct Line {
    TcpAddress address;
    bool open = false;
    size_t users = 0;  // Subscriptions that are, or are to be, on it.
  };
  struct Subscription {
    std::optional<uint64_t> line;   // Where it is, or is to be, subscribed.
    uint64_t id = 0;                // Of the command under way; 0: none.
    bool confirmed = false;         // On `line`.
    bool known = false;             // It was confirmed once.
    std::vector<uint64_t> waiting;  // The requests that get its confirmation.
  };
  struct Waiting {
    store::Request* request;  // Null: it has its result, or was abandoned.
    TopicKind kind;
    size_t missing;  // Confirmations.
    int64_t submitted_us;
    int64_t deadline_us;
    size_t bytes;
    bool sent = false;
    bool abandoned = false;
  };
  using Requests = std::map<uint64_t, Waiting>;
  using Subscriptions = std::map<Topic, Subscription>;

  void Subscribe(store::Request& request, TopicKind kind, int64_t now_us);
  void Unsubscribe(store::Request& request, TopicKind kind, int64_t now_us);
  void Confirm(const Topic& topic, Subscription& subscription, int64_t now_us);
  void ConfirmTo(uint64_t waiting, const Topic& topic, int64_t now_us);
  void Refuse(Subscriptions::iterator place, const store::Reply& error, int64_t now_us);
  void EndUnconfirmed(Subscription& subscription);
  void CountDown(Requests::iterator place);
  void Erase(Requests::iterator place);
  void Drop(Subscriptions::iterator place);
  void Place(const Topic& topic, Subscription& subscription, int64_t now_us);
  void PlaceAll(int64_t now_us);
  void Send(const Topic& topic, Subscription& subscription);
  void NoteRedirect(const Subscription& subscription, std::string_view cause);
  void Leave(const Topic& topic, Subscription& subscription);
  void Detach(Subscription& subscription);
  void LoseLine(uint64_t line, int64_t now_us);
  void NoteFailure(int64_t now_us);
  void FindHomes();
  void ChooseHome();
  void ExpireRequests(int64_t now_us);
  std::optional<TcpAddress> HomeOf(const Topic& topic);
  uint64_t LineTo(const TcpAddress& address);
  size_t CountOf(TopicKind kind) const;
  void FinishLater(Waiting& waiting, absl::StatusOr<store::Reply> result);
  void FailLater(Waiting& waiting, std::string_view why, absl::StatusCode code);
  void Deliver();
  void ArmTimer();

  const FollowOptions options_;
  const TopicHomes& homes_;
  base::Rng rng_;
  RequestObserver* const observer_;
  Backoff backoff_;
  std::optional<std::string> closed_;  // The reason.

  Subscriptions subscriptions_;
  std::array<size_t, kTopicKinds> known_ = {};  // Subscriptions that were confirmed, by kind.
  std::map<uint64_t, Topic> commands_;          // Under way, by id.
  std::map<uint64_t, Line> lines_;
  Requests requests_;     // In the order of their deadlines.
  size_t abandoned_ = 0;  // Of them.
  size_t queued_bytes_ = 0;
  std::optional<TcpAddress> home_;    // Of channels and patterns.
  std::optional<TcpAddress> failed_;  // The home whose line was lost last.
  int64_t retry_at_us_ = 0;           // Nothing is subscribed before.
  bool must_retry_ = false;           // A subscription waits for retry_at_us_.
  bool finding_ = false;              // kFindHomes was asked for and not answered.
  uint64_t next_id_ = 1;              // Of lines, requests and commands.
  std::deque<FollowAction> actions_;
  // Results that are delivered at the end of an event, when the tables are consistent.
  std::deque<std::pair<store::Request*, absl::StatusOr<store::Reply>>> results_;
  bool delivering_ = false;
  int64_t armed_us_ = kNeverUs;
  PushQueue pushes_;
  Counters counters_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_FOLLOW_MACHINE_H_
