// WorldConnection: an actor's connection to the world's server, whose requests wait for the
// schedule.
//
// An actor uses it as any store::Store. A submitted request is held until the world chooses it; the
// world then releases it to the memory engine, delays it, or completes it with a fault's result. In
// a world with split events it releases it to a wire (sim/world/wire.h).
// Requests of one connection are released in the order in which they were submitted. Actors get
// their connections from Actor::store() and Actor::Connect() (sim/world/world.h).
//
//   std::unique_ptr<store::MessageSource> connection = actor.Connect();
//   co_await store::BLPop(*connection, keys, absl::InfiniteDuration());
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_CONNECTION_H_
#define REDOUBLE_SIM_WORLD_CONNECTION_H_

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/world/wire.h"

namespace redouble::inline v0_1::sim {

class Actor;
class World;
class WorldServer;

class WorldConnection final : public store::MessageSource,
                              private store::RequestKeeper,
                              private store::PushListener {
 public:
  // A connection to the server with this name, or, if it is empty, to the master at the time when
  // it opens. `actor` must outlive the connection.
  explicit WorldConnection(Actor& actor, std::string server = {});
  ~WorldConnection() override;
  WorldConnection(const WorldConnection&) = delete;
  WorldConnection& operator=(const WorldConnection&) = delete;

  // Holds the request until the world releases it.
  void Submit(store::Request& request) override;
  void Listen(store::PushListener* listener) override;

  const Actor& actor() const { return actor_; }
  // The next request to be released; null if there is none or if it is being delayed.
  const store::Request* Front() const {
    return held_.empty() || delay_ == FrontDelay::kUnderWay ? nullptr : held_.front();
  }

  // Each of the following functions decides the fate of the next request, Front(), which must not
  // be null.
  //
  // Sends it to the server.
  void Release();
  // Sends it and discards the reply; the request fails with kOutcomeUnknown.
  void ReleaseLosingReply();
  // Sends it twice and discards the first reply. With split events, the second copy is executed at
  // a turn of its own.
  void ReleaseTwice();
  // Completes it with `result` without sending it.
  void Answer(absl::StatusOr<store::Reply> result);
  // Delays it by `duration`. It is not subject to a fault again when it is released afterwards.
  void Delay(absl::Duration duration);
  // Returns true if the next request was delayed and its delay is over.
  bool front_was_delayed() const { return delay_ == FrontDelay::kOver; }

  bool is_open() const { return session_ != nullptr || wire_ != nullptr; }
  // The server that it is open to; null if it is closed.
  const WorldServer* server() const { return is_open() ? server_ : nullptr; }
  // The server that the next request is sent to.
  WorldServer& Target() const;
  // The selected database.
  int db_index() const {
    if (wire_ != nullptr) return wire_->db_index();
    return session_ == nullptr ? 0 : session_->db_index();
  }

  enum class Side { kClient, kServer };
  // Closes the connection: the server forgets blocked commands, MULTI, WATCH and subscriptions.
  // Requests that were sent and not answered fail with kOutcomeUnknown. The next request opens a
  // new connection. With split events, what was sent is lost if the server closes; if the client
  // does, a decision says how many of the commands that were sent are executed later.
  void Break(Side side = Side::kClient);

  // With split events: what was sent and what has arrived; null without a connection.
  Wire* wire() const { return wire_.get(); }
  // Delivers the next arrival, which must exist. May destroy the connection.
  void Deliver();

 private:
  class Flight;
  enum class FrontDelay { kNone, kUnderWay, kOver };

  struct Timeout {
    const store::Request* request;
    base::VirtualClock::TimerId timer;
  };

  World& world() const;
  memory::Session& session();
  std::unique_ptr<Wire> MakeWire() const;
  void StartTimeout(const store::Request& request);
  void EndTimeout(const store::Request& request);
  store::Request& TakeFront();
  void EndDelay();
  void Send(store::Request& request, bool loses_reply);
  // The session executes the request; WAIT, among its commands, waits for those before it.
  void Run(memory::Session& session, store::Request& request);
  void Abandon(store::Request& request) override;
  // Passes the push on; the turn that sent it continues this connection's actor.
  void OnPush(const store::Reply& push) override;
  std::unique_ptr<Flight> Take(const Flight& flight);
  void Finish(Flight& flight, absl::StatusOr<store::Reply>&& result);

  Actor& actor_;
  const std::string server_name_;
  WorldServer* server_ = nullptr;  // What it is, or was, open to.
  store::PushListener* listener_ = nullptr;
  std::unique_ptr<memory::Session> session_;
  std::unique_ptr<Wire> wire_;
  // What waits for its turn: few requests, so that taking the first one moves few. An empty deque
  // would allocate, for each world anew.
  std::vector<store::Request*> held_;
  std::vector<std::unique_ptr<Flight>> flights_;  // Sent, but not answered.
  std::list<store::Request*> unanswered_;         // Requests to fail during Break().
  bool* gone_ = nullptr;                          // Set while a request completes during Break().
  std::vector<Timeout> timeouts_;                 // WorldOptions::request_timeout.
  FrontDelay delay_ = FrontDelay::kNone;
  base::VirtualClock::TimerId delay_timer_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_CONNECTION_H_
