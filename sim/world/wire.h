// Wire: one connection of a world with split events: what a client has sent and the server has not
// executed, and what the server has answered and the client has not received.
//
// The world chooses when the next command is executed and when the next reply is delivered
// (Events::kSplit in sim/world/world.h). Commands are executed, and replies and pushes arrive, in
// their order. A transaction is executed as one command. A client that gives up cannot take back
// what it has sent: a wire keeps copies of the commands whose requests have ended.
//
//   wire.Send(request, {});
//   while (wire.NextUnit() != nullptr) wire.Execute();
//   Wire::Arrival arrival = wire.TakeArrival();
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_WIRE_H_
#define REDOUBLE_SIM_WORLD_WIRE_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::sim {

class Actor;
class World;
class WorldServer;

class Wire final : private store::PushListener {
 public:
  // What reaches the client next: a push, or the result of a request.
  struct Arrival {
    store::Request* request;  // Null for a push.
    absl::StatusOr<store::Reply> result;
  };

  // `server_name`: what the trace calls the server; empty for the master. The others must outlive
  // the wire.
  Wire(World& world, Actor& actor, WorldServer& server, std::string server_name);
  ~Wire() override;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // Appends a request. Its reply is discarded if `loses_reply` is true; the request fails then.
  void Send(store::Request& request, bool loses_reply);
  // Appends a copy of a request, for its effect only.
  void SendCopy(const store::Request& request);
  // Pushes are kept for the client, or dropped.
  void Listen(bool listens);

  // The next command or transaction that the server can execute; null if there is none, or if the
  // last one is blocked.
  const store::Request* NextUnit() const;
  // How many commands and transactions are left; 0 if one is blocked.
  size_t Units() const;
  // Executes NextUnit(), which must not be null.
  void Execute();

  bool has_arrivals() const { return !arrivals_.empty(); }
  // Removes the next arrival, which must exist.
  Arrival TakeArrival();

  // The request has ended: what it has sent is executed all the same, except a blocked command,
  // which is cancelled.
  void Forget(const store::Request& request);
  // Returns the requests that wait for a reply, in the order of sending, and forgets them. The
  // client is gone: nothing arrives any more.
  std::vector<store::Request*> ForgetAll();
  // The server executes so many further commands and transactions, and then closes the connection.
  // Requires ForgetAll().
  void Limit(size_t units);
  // Returns true if a client that is gone has left nothing to execute.
  bool is_spent() const { return detached_ && Units() == 0; }

  const WorldServer& server() const { return server_; }
  // The selected database.
  int db_index() const { return session_ == nullptr ? 0 : session_->db_index(); }

 private:
  class Unit;
  struct Transmission;

  void OnPush(const store::Reply& push) override;
  void OnExecuted(absl::StatusOr<store::Reply>&& result);
  void MakeUnit(Transmission& transmission);
  void Finish(absl::StatusOr<store::Reply>&& result);

  World& world_;
  Actor& actor_;
  WorldServer& server_;
  const std::string server_name_;
  std::unique_ptr<memory::Session> session_;  // Null until the first command is executed.
  bool listens_ = false;
  bool detached_ = false;                           // No client is left.
  std::deque<std::unique_ptr<Transmission>> sent_;  // The first one is being executed.
  std::deque<Arrival> arrivals_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_WIRE_H_
