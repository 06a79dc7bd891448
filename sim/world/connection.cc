#include "sim/world/connection.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/store/errors.h"
#include "sim/world/world.h"

namespace redouble::sim {

using store::Reply;
using store::Request;

// A request on its way to the server, in place of the original.
class WorldConnection::Flight final : public Request {
 public:
  Flight(WorldConnection& connection, Request& original)
      : Request(original.kind(), original.commands()),
        connection_(connection),
        original_(original) {}

  Request& original() { return original_; }

 private:
  void OnComplete(absl::StatusOr<Reply>&& result) override {
    connection_.Finish(*this, std::move(result));
  }

  WorldConnection& connection_;
  Request& original_;
};

WorldConnection::WorldConnection(Actor& actor) : actor_(actor) {
  actor_.connections_.push_back(this);
}

WorldConnection::~WorldConnection() {
  assert(held_.empty() && flights_.empty());
  std::erase(actor_.connections_, this);
}

void WorldConnection::Submit(Request& request) {
  request.SetKeeper(this);
  held_.push_back(&request);
}

void WorldConnection::Listen(store::PushListener* listener) {
  listener_ = listener;
  if (session_ != nullptr) session_->Listen(listener);
}

void WorldConnection::Release() {
  assert(!held_.empty());
  Request& request = *held_.front();
  held_.pop_front();
  if (session_ == nullptr) {
    session_ = actor_.world_.engine().Connect();
    session_->Listen(listener_);
  }
  session_->Submit(*flights_.emplace_back(std::make_unique<Flight>(*this, request)));
}

void WorldConnection::Break() {
  // Nothing may be under way when the first is told: it may send something at once, or abandon
  // another.
  for (const std::unique_ptr<Flight>& flight : flights_) unanswered_.push_back(&flight->original());
  flights_.clear();
  unsent_ = std::exchange(held_, {});
  session_.reset();
  FailAll(unanswered_, store::OutcomeUnknownError("the connection broke"));
  FailAll(unsent_, store::NotSentError("the connection broke"));
}

void WorldConnection::FailAll(std::deque<Request*>& requests, const absl::Status& status) {
  while (!requests.empty()) {
    Request& request = *requests.front();
    requests.pop_front();
    request.Complete(status);
  }
}

std::unique_ptr<WorldConnection::Flight> WorldConnection::Take(const Flight& flight) {
  const auto found =
      std::find_if(flights_.begin(), flights_.end(),
                   [&](const std::unique_ptr<Flight>& other) { return other.get() == &flight; });
  assert(found != flights_.end());
  std::unique_ptr<Flight> taken = std::move(*found);
  flights_.erase(found);
  return taken;
}

void WorldConnection::Finish(Flight& flight, absl::StatusOr<Reply>&& result) {
  actor_.world_.RecordAnswer(actor_, flight, result);
  Request& original = flight.original();
  Take(flight).reset();
  original.Complete(std::move(result));
}

void WorldConnection::Abandon(Request& request) {
  std::erase(held_, &request);
  std::erase(unsent_, &request);
  std::erase(unanswered_, &request);
  std::erase_if(flights_, [&](const std::unique_ptr<Flight>& flight) {
    return &flight->original() == &request;
  });
}

}  // namespace redouble::sim
