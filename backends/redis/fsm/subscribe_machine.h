// SubscribeMachine: what happens on a connection that is kept for subscriptions, without the
// connection.
//
// It carries SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE, their opposites and PING. A request is answered by
// its first confirmation; its other confirmations, and all messages, are pushes, in the order of
// the wire (core/store/message_source.h). It remembers what Redis has confirmed; when a connection
// is lost and another one comes, it subscribes to all of that again, and then tells of a gap: what
// was published in between is missing.
//
//   machine.Submit(subscribe);
//   machine.Resume(LineEvent::Received(bytes));
//   while (std::optional<PushEvent> event = machine.TakePush()) ...
//
// Pushes wait in a queue of a stated length. One more drops the oldest, and a gap stands where it
// was: a reader that is too slow sees the newest messages, and knows that it missed some. Gaps that
// meet become one.
//
// Failures: as in exec_machine.h. A request that was not answered when the connection was lost
// fails, as not sent or outcome unknown; it is not repeated by itself.
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_MACHINE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_MACHINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "backends/redis/fsm/counters.h"
#include "backends/redis/fsm/line_machine.h"
#include "backends/redis/protocol/reply_reader.h"
#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::redis {

// A push, or the news that some are missing.
struct PushEvent {
  // None: a gap.
  std::optional<store::Reply> push;

  bool is_gap() const { return !push.has_value(); }
};

struct SubscribeOptions {
  static constexpr int64_t kNoTimeout = std::numeric_limits<int64_t>::max();

  // The server, for messages.
  std::string address;
  // From the end of the turn in which a request was submitted to its first confirmation.
  int64_t command_timeout_us = kNoTimeout;
  // How many pushes may wait, at least 1.
  size_t push_queue = 10'000;
  // Whether Connected may follow Lost.
  bool reconnects = true;
  // Where to count; outlives the machine. Null: nowhere.
  Counters* counters = nullptr;
};

class SubscribeMachine final : public LineMachine, public store::RequestKeeper {
 public:
  // Without a connection at first.
  explicit SubscribeMachine(SubscribeOptions options);
  // Fails what is left as Closed does.
  ~SubscribeMachine() override;
  SubscribeMachine(const SubscribeMachine&) = delete;
  SubscribeMachine& operator=(const SubscribeMachine&) = delete;

  // Completes a request at once, as not sent, when the machine is closed (Unavailable) or when it
  // is another command (FailedPrecondition).
  void Submit(store::Request& request) override;
  LineAction Resume(const LineEvent& event) override;
  void Ping() override;
  void Abandon(store::Request& request) override;

  // The oldest push that waits; none when there is none.
  std::optional<PushEvent> TakePush();
  bool has_push() const { return !pushes_.empty(); }

  bool connected() const override { return connected_; }
  bool closed() const override { return closed_; }
  size_t queued() const override { return entries_.size(); }

  // What Redis has confirmed: channels, patterns, shard channels.
  size_t subscriptions() const;

 private:
  // Redis's three kinds of subscription, as rows of a table in the source file.
  static constexpr size_t kKinds = 3;

  // A command that Redis has yet to answer.
  struct Entry {
    store::Request* request;    // Null: nobody waits (any more), or the machine's own.
    std::string bytes;          // Empty once handed to the writer.
    std::string_view expected;  // The first word of its confirmations: "subscribe", "pong".
    size_t kind = kKinds;       // Of subscription; kKinds: PING.
    size_t missing = 1;         // Confirmations; 0: one for each subscription of the kind.
    bool is_own = false;        // Its confirmations are nobody's business.
    int64_t submitted_us = 0;
    int64_t deadline_us = SubscribeOptions::kNoTimeout;
    uint64_t first_byte = 0;
  };
  struct Failure {
    store::Request* request;
    absl::Status status;
  };

  LineAction EndTurn(int64_t now_us);
  LineAction TakeWritten(size_t size);
  LineAction Receive(std::string_view bytes, int64_t now_us);
  LineAction Expire(int64_t now_us);
  LineAction Connect(int64_t now_us);
  LineAction Disconnect(std::string_view reason, bool for_good);

  std::string_view WriteMore();
  std::optional<int64_t> ArmTimer();
  void SubscribeAgain(size_t kind);
  bool Take(store::Reply reply, int64_t now_us);
  bool TakeAnswer(store::Reply reply, int64_t now_us);
  bool TakeError(store::Reply reply);
  void Remember(const store::Reply& push);
  void Push(PushEvent event);
  void FailEntries();
  void Fail(store::Request& request, absl::Status status);
  void Deliver();
  LineAction FailProtocol(std::string_view reason);

  const SubscribeOptions options_;
  Counters unread_counters_;
  Counters& counters_;
  std::optional<ReplyReader> reader_;
  std::array<std::set<std::string, std::less<>>, kKinds> subscribed_;
  std::deque<Entry> entries_;
  size_t handed_over_ = 0;
  size_t restoring_ = 0;  // Own entries that must be answered before the gap is told.
  std::deque<PushEvent> pushes_;
  std::deque<Failure> failures_;

  std::string out_;
  size_t out_written_ = 0;
  uint64_t bytes_encoded_ = 0;
  uint64_t bytes_written_ = 0;
  int64_t armed_us_ = SubscribeOptions::kNoTimeout;
  bool connected_ = false;
  bool closed_ = false;
  std::string reason_ = "there was no connection yet";
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_MACHINE_H_
