// WorldConnection: an actor's connection to the world's server, whose requests wait until the
// world's schedule lets them through.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_CONNECTION_H_
#define REDOUBLE_SIM_WORLD_CONNECTION_H_

#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backends/memory/session.h"
#include "core/base/virtual_clock.h"
#include "core/store/message_source.h"
#include "core/store/store.h"

namespace redouble::sim {

class Actor;
class World;

class WorldConnection final : public store::MessageSource, private store::RequestKeeper {
 public:
  // `actor` must outlive the connection.
  explicit WorldConnection(Actor& actor);
  ~WorldConnection() override;
  WorldConnection(const WorldConnection&) = delete;
  WorldConnection& operator=(const WorldConnection&) = delete;

  // Keeps the request until its turn comes.
  void Submit(store::Request& request) override;
  void Listen(store::PushListener* listener) override;

  const Actor& actor() const { return actor_; }
  // The request that is next; null when none waits for its turn.
  const store::Request* Front() const {
    return held_.empty() || delay_ == FrontDelay::kUnderWay ? nullptr : held_.front();
  }

  // What may become of the next request, which must be waiting for its turn (one of):
  // it is sent to the server;
  void Release();
  // it is sent, and its reply is lost;
  void ReleaseLosingReply();
  // it is sent twice, and the first reply is ignored;
  void ReleaseTwice();
  // it is not sent, and this is the result;
  void Answer(absl::StatusOr<store::Reply> result);
  // it waits for `duration` more before it can have its turn, which then no fault can touch.
  void Delay(absl::Duration duration);
  // It was delayed and is due.
  bool front_was_delayed() const { return delay_ == FrontDelay::kOver; }

  bool is_open() const { return session_ != nullptr; }
  // The database that it has selected.
  int db_index() const { return session_ == nullptr ? 0 : session_->db_index(); }
  // Closes the connection: the server takes back what is blocked, and forgets MULTI, WATCH and
  // subscriptions. What was sent and not answered fails with an unknown outcome. The next request
  // opens a new one.
  void Break();

 private:
  class Flight;
  enum class FrontDelay { kNone, kUnderWay, kOver };

  World& world() const;
  memory::Session& session();
  store::Request& TakeFront();
  void EndDelay();
  void Send(store::Request& request, bool loses_reply);
  void Abandon(store::Request& request) override;
  std::unique_ptr<Flight> Take(const Flight& flight);
  void Finish(Flight& flight, absl::StatusOr<store::Reply>&& result);

  Actor& actor_;
  store::PushListener* listener_ = nullptr;
  std::unique_ptr<memory::Session> session_;
  std::deque<store::Request*> held_;
  std::vector<std::unique_ptr<Flight>> flights_;  // Sent and not answered yet.
  std::deque<store::Request*> unanswered_;        // To be told that the connection broke.
  FrontDelay delay_ = FrontDelay::kNone;
  base::VirtualClock::TimerId delay_timer_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_WORLD_CONNECTION_H_
