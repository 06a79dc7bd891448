#include "redouble/sim/world/wire.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "redouble/core/store/command.h"
#include "redouble/core/store/errors.h"
#include "redouble/sim/world/command_copies.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {

using store::Command;
using store::Reply;
using store::Request;

// What the server executes in one step.
class Wire::Unit final : public Request {
 public:
  Unit(Wire& wire, Kind kind, std::span<const Command> commands)
      : Request(kind, commands), wire_(wire) {}

 private:
  void OnComplete(absl::StatusOr<Reply>&& result) override { wire_.OnExecuted(std::move(result)); }

  Wire& wire_;
};

struct Wire::Transmission {
  Transmission(const Request& request, Request* waiting, bool loses)
      : original(waiting), kind(request.kind()), commands(request.commands()), loses_reply(loses) {}

  Request* original;  // Null if no caller waits for the reply.
  const Request::Kind kind;
  std::span<const Command> commands;
  const bool loses_reply;
  size_t executed = 0;                  // How many commands were executed.
  std::vector<Reply> replies;           // Of a pipeline.
  std::optional<CommandCopies> copies;  // Present if the request has ended.
  std::optional<Unit> unit;
  bool is_blocked = false;  // The unit was submitted, and has no reply.

  void CopyCommands() {
    if (!copies) commands = copies.emplace(commands).commands();
  }
  size_t units() const {
    return kind == Request::Kind::kTransaction ? 1 : commands.size() - executed;
  }
};

Wire::Wire(World& world, Actor& actor, WorldServer& server, std::string server_name)
    : world_(world), actor_(actor), server_(server), server_name_(std::move(server_name)) {}

Wire::~Wire() = default;

void Wire::MakeUnit(Transmission& transmission) {
  if (transmission.kind == Request::Kind::kTransaction) {
    transmission.unit.emplace(*this, transmission.kind, transmission.commands);
    return;
  }
  transmission.unit.emplace(*this, Request::Kind::kCommand,
                            transmission.commands.subspan(transmission.executed, 1));
}

void Wire::Send(Request& request, bool loses_reply) {
  MakeUnit(*sent_.emplace_back(std::make_unique<Transmission>(request, &request, loses_reply)));
}

void Wire::SendCopy(const Request& request) {
  Transmission& sent =
      *sent_.emplace_back(std::make_unique<Transmission>(request, nullptr, /*loses=*/false));
  sent.CopyCommands();
  MakeUnit(sent);
}

void Wire::Listen(bool listens) {
  listens_ = listens;
  if (session_ != nullptr) session_->Listen(listens ? this : nullptr);
}

const Request* Wire::NextUnit() const {
  if (sent_.empty() || sent_.front()->is_blocked) return nullptr;
  return &*sent_.front()->unit;
}

size_t Wire::Units() const {
  if (NextUnit() == nullptr) return 0;
  size_t units = 0;
  for (const std::unique_ptr<Transmission>& sent : sent_) units += sent->units();
  return units;
}

void Wire::Execute() {
  assert(NextUnit() != nullptr);
  if (session_ == nullptr) {
    session_ = server_.engine().Connect();
    Listen(listens_);
  }
  sent_.front()->is_blocked = true;
  session_->Submit(*sent_.front()->unit);
  // The server finds out that the client is gone when it would wait for it.
  if (detached_ && !sent_.empty() && sent_.front()->is_blocked) sent_.clear();
}

void Wire::OnExecuted(absl::StatusOr<Reply>&& result) {
  Transmission& front = *sent_.front();
  front.is_blocked = false;
  world_.RecordAnswer(actor_, server_name_, db_index(), *front.unit, result);
  world_.NoteOffset(server_, *session_);
  if (front.kind != Request::Kind::kPipeline || !result.ok()) return Finish(std::move(result));
  front.replies.push_back(*std::move(result));
  if (++front.executed == front.commands.size()) {
    return Finish(Reply::Array(std::move(front.replies)));
  }
  MakeUnit(front);
}

void Wire::Finish(absl::StatusOr<Reply>&& result) {
  const std::unique_ptr<Transmission> done = std::move(sent_.front());
  sent_.pop_front();
  if (done->original == nullptr) return;
  // The reply is the next thing that the client can continue with.
  world_.turn_footprint_.OnActor(actor_.index());
  if (done->loses_reply) result = store::OutcomeUnknownError("the reply was lost");
  arrivals_.push_back(Arrival{done->original, std::move(result)});
}

void Wire::OnPush(const Reply& push) {
  world_.turn_footprint_.OnActor(actor_.index());
  arrivals_.push_back(Arrival{nullptr, push});
}

Wire::Arrival Wire::TakeArrival() {
  Arrival arrival = std::move(arrivals_.front());
  arrivals_.pop_front();
  return arrival;
}

void Wire::Forget(const Request& request) {
  std::erase_if(arrivals_, [&](const Arrival& arrival) { return arrival.request == &request; });
  const auto found = std::find_if(
      sent_.begin(), sent_.end(),
      [&](const std::unique_ptr<Transmission>& sent) { return sent->original == &request; });
  if (found == sent_.end()) return;
  if ((*found)->is_blocked) {
    sent_.erase(found);
    return;
  }
  (*found)->original = nullptr;
  (*found)->CopyCommands();
  MakeUnit(**found);
}

std::vector<Request*> Wire::ForgetAll() {
  std::vector<Request*> waiting;
  for (const Arrival& arrival : arrivals_) {
    if (arrival.request != nullptr) waiting.push_back(arrival.request);
  }
  for (const std::unique_ptr<Transmission>& sent : sent_) {
    if (sent->original != nullptr) waiting.push_back(sent->original);
  }
  // Nothing that was sent after a blocked command is read any more.
  if (!sent_.empty() && sent_.front()->is_blocked) sent_.clear();
  for (const Request* request : waiting) Forget(*request);
  arrivals_.clear();
  Listen(false);
  detached_ = true;
  return waiting;
}

void Wire::Limit(size_t units) {
  assert(detached_ && units <= Units());
  size_t kept = 0;
  while (units > 0) {
    Transmission& sent = *sent_[kept++];
    if (sent.units() > units) {
      sent.commands = sent.commands.first(sent.executed + units);
      units = 0;
    } else {
      units -= sent.units();
    }
  }
  sent_.resize(kept);
}

}  // namespace redouble::inline v0_1::sim
