#include "redouble/sim/world/connection.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "redouble/core/store/errors.h"
#include "redouble/sim/world/servers/replication_group.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {

using store::Reply;
using store::Request;

// The request that is sent to the session instead of the original. Without an original, it is sent
// only for its effect.
class WorldConnection::Flight final : public Request {
 public:
  Flight(WorldConnection& connection, const Request& sent, Request* original, bool loses_reply)
      : Request(sent.kind(), sent.commands()),
        connection_(connection),
        original_(original),
        loses_reply_(loses_reply) {}

  Request* original() const { return original_; }
  bool loses_reply() const { return loses_reply_; }

 private:
  void OnComplete(absl::StatusOr<Reply>&& result) override {
    connection_.Finish(*this, std::move(result));
  }

  WorldConnection& connection_;
  Request* const original_;
  const bool loses_reply_;
};

WorldConnection::WorldConnection(Actor& actor, std::string server)
    : actor_(actor), server_name_(std::move(server)) {
  actor_.connections_.push_back(this);
}

WorldConnection::~WorldConnection() {
  assert(held_.empty());
  if (gone_ != nullptr) *gone_ = true;
  EndDelay();
  if (wire_ != nullptr) {
    wire_->ForgetAll();
    world().Orphan(actor_, std::move(wire_));
  }
  std::erase(actor_.connections_, this);
}

void WorldConnection::Submit(Request& request) {
  request.SetKeeper(this);
  held_.push_back(&request);
}

void WorldConnection::Listen(store::PushListener* listener) {
  listener_ = listener;
  if (session_ != nullptr) session_->Listen(listener == nullptr ? nullptr : this);
  if (wire_ != nullptr) wire_->Listen(listener != nullptr);
}

void WorldConnection::OnPush(const Reply& push) {
  world().turn_footprint_.OnActor(actor_.index());
  if (listener_ != nullptr) listener_->OnPush(push);
}

World& WorldConnection::world() const { return actor_.world_; }

WorldServer& WorldConnection::Target() const {
  return is_open() ? *server_ : world().ServerNamed(server_name_);
}

memory::Session& WorldConnection::session() {
  if (session_ == nullptr) {
    server_ = &Target();
    session_ = server_->engine().Connect();
    session_->Listen(listener_ == nullptr ? nullptr : this);
  }
  return *session_;
}

std::unique_ptr<Wire> WorldConnection::MakeWire() const {
  return std::make_unique<Wire>(world(), actor_, Target(), server_name_);
}

Request& WorldConnection::TakeFront() {
  assert(Front() != nullptr);
  Request& request = *held_.front();
  held_.erase(held_.begin());
  delay_ = FrontDelay::kNone;
  return request;
}

void WorldConnection::Send(Request& request, bool loses_reply) {
  StartTimeout(request);
  if (world().events() == Events::kSplit) {
    if (wire_ == nullptr) {
      server_ = &Target();
      wire_ = MakeWire();
      wire_->Listen(listener_ != nullptr);
    }
    return wire_->Send(request, loses_reply);
  }
  memory::Session& receiver = session();
  Run(receiver,
      *flights_.emplace_back(std::make_unique<Flight>(*this, request, &request, loses_reply)));
}

void WorldConnection::Run(memory::Session& session, Request& request) {
  ReplicationGroup* group = world().GroupOf(*server_);
  if (group != nullptr) group->SetRunning(session.id());
  session.Submit(request);
  if (group != nullptr) group->SetRunning(std::nullopt);
}

void WorldConnection::Release() { Send(TakeFront(), /*loses_reply=*/false); }

void WorldConnection::ReleaseLosingReply() { Send(TakeFront(), /*loses_reply=*/true); }

void WorldConnection::ReleaseTwice() {
  Request& request = TakeFront();
  if (world().events() == Events::kSplit) {
    world().Duplicate(actor_, MakeWire(), request);
    return Send(request, /*loses_reply=*/false);
  }
  // The first attempt has its own connection. If it blocks, it is abandoned when that connection
  // closes.
  const std::unique_ptr<memory::Session> first = Target().engine().Connect();
  Flight echo(*this, request, nullptr, /*loses_reply=*/false);
  first->Submit(echo);
  Send(request, /*loses_reply=*/false);
}

void WorldConnection::Answer(absl::StatusOr<Reply> result) {
  Request& request = TakeFront();
  world().RecordAnswer(actor_, server_name_, db_index(), request, result);
  request.Complete(std::move(result));
}

void WorldConnection::Delay(absl::Duration duration) {
  assert(delay_ == FrontDelay::kNone && Front() != nullptr);
  base::VirtualClock& clock = world().clock();
  delay_ = FrontDelay::kUnderWay;
  delay_timer_ = clock.ScheduleAt(absl::ToUnixMicros(clock.Now() + duration),
                                  [this] { delay_ = FrontDelay::kOver; });
}

void WorldConnection::EndDelay() {
  if (delay_ == FrontDelay::kUnderWay) world().clock().Cancel(delay_timer_);
  delay_ = FrontDelay::kNone;
}

void WorldConnection::StartTimeout(const Request& request) {
  const absl::Duration timeout = world().request_timeout_;
  if (timeout == absl::InfiniteDuration()) return;
  base::VirtualClock& clock = world().clock();
  timeouts_.push_back(Timeout{
      &request, clock.ScheduleAt(absl::ToUnixMicros(clock.Now() + timeout), [this] { Break(); })});
}

void WorldConnection::EndTimeout(const Request& request) {
  std::erase_if(timeouts_, [&](const Timeout& timeout) {
    if (timeout.request != &request) return false;
    // False for the timer that has fired.
    (void)world().clock().Cancel(timeout.timer);
    return true;
  });
}

void WorldConnection::Deliver() {
  Wire::Arrival arrival = wire_->TakeArrival();
  if (arrival.request == nullptr) {
    if (listener_ != nullptr) listener_->OnPush(*arrival.result);
    return;
  }
  EndTimeout(*arrival.request);
  arrival.request->Complete(std::move(arrival.result));
}

void WorldConnection::Break(Side side) {
  // All flights must be cleared before the first request completes: its owner may submit or abandon
  // others.
  for (const std::unique_ptr<Flight>& flight : flights_) unanswered_.push_back(flight->original());
  flights_.clear();
  session_.reset();
  if (std::unique_ptr<Wire> wire = std::move(wire_); wire != nullptr) {
    for (Request* request : wire->ForgetAll()) unanswered_.push_back(request);
    if (side == Side::kClient) world().Orphan(actor_, std::move(wire));
  }
  while (!unanswered_.empty()) {
    Request& request = *unanswered_.front();
    unanswered_.pop_front();
    const absl::Status broken = store::OutcomeUnknownError("the connection broke");
    EndTimeout(request);
    world().RecordAnswer(actor_, server_name_, db_index(), request, broken);
    bool gone = false;
    gone_ = &gone;
    request.Complete(broken);
    // Its owner may destroy the connection.
    if (gone) return;
    gone_ = nullptr;
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
  world().RecordAnswer(actor_, server_name_, db_index(), flight, result);
  if (session_ != nullptr) world().NoteOffset(*server_, *session_);
  if (flight.original() == nullptr) return;
  EndTimeout(*flight.original());
  if (flight.loses_reply()) result = store::OutcomeUnknownError("the reply was lost");
  Request& original = *flight.original();
  Take(flight).reset();
  original.Complete(std::move(result));
}

void WorldConnection::Abandon(Request& request) {
  EndTimeout(request);
  if (wire_ != nullptr) wire_->Forget(request);
  if (!held_.empty() && held_.front() == &request) EndDelay();
  std::erase(held_, &request);
  std::erase(unanswered_, &request);
  std::erase_if(flights_, [&](const std::unique_ptr<Flight>& flight) {
    return flight->original() == &request;
  });
}

}  // namespace redouble::inline v0_1::sim
