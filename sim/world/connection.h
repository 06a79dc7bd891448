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
#include "backends/memory/session.h"
#include "core/store/message_source.h"
#include "core/store/store.h"

namespace redouble::sim {

class Actor;

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

  // The request that is next; null when none waits for its turn.
  const store::Request* Front() const { return held_.empty() ? nullptr : held_.front(); }

  // Sends the next request to the server. One must be waiting for its turn.
  void Release();
  // Closes the connection: the server takes back what is blocked, and forgets MULTI, WATCH and
  // subscriptions. What was sent and not answered fails with an unknown outcome, what waited for
  // its turn as not sent. The next request opens a new one.
  void Break();

 private:
  class Flight;

  void Abandon(store::Request& request) override;
  std::unique_ptr<Flight> Take(const Flight& flight);
  void Finish(Flight& flight, absl::StatusOr<store::Reply>&& result);
  static void FailAll(std::deque<store::Request*>& requests, const absl::Status& status);

  Actor& actor_;
  store::PushListener* listener_ = nullptr;
  std::unique_ptr<memory::Session> session_;
  std::deque<store::Request*> held_;
  std::vector<std::unique_ptr<Flight>> flights_;  // Sent and not answered yet.
  // To be told that the connection broke: those not sent, and those that were.
  std::deque<store::Request*> unsent_;
  std::deque<store::Request*> unanswered_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_WORLD_CONNECTION_H_
