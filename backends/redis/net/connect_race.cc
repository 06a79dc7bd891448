#include "redouble/backends/redis/net/connect_race.h"

#include <utility>

namespace redouble::inline v0_1::redis {

using boost::system::error_code;

std::vector<ConnectRace::Endpoint> WithFamiliesInTurn(
    const std::vector<ConnectRace::Endpoint>& endpoints) {
  std::vector<ConnectRace::Endpoint> same, other, in_turn;
  for (const ConnectRace::Endpoint& endpoint : endpoints) {
    const bool is_same = endpoint.protocol().family() == endpoints[0].protocol().family();
    (is_same ? same : other).push_back(endpoint);
  }
  for (size_t i = 0; i < same.size() || i < other.size(); ++i) {
    if (i < same.size()) in_turn.push_back(same[i]);
    if (i < other.size()) in_turn.push_back(other[i]);
  }
  return in_turn;
}

ConnectRace::ConnectRace(boost::asio::any_io_executor executor, std::vector<Endpoint> endpoints,
                         std::chrono::milliseconds delay)
    : executor_(executor),
      endpoints_(WithFamiliesInTurn(endpoints)),
      delay_(delay),
      timer_(executor) {}

void ConnectRace::Start(Done done) {
  done_ = std::move(done);
  TryNext();
}

void ConnectRace::Cancel() {
  done_ = nullptr;
  timer_.cancel();
  attempts_.clear();
}

void ConnectRace::TryNext() {
  timer_.cancel();
  if (tried_ == endpoints_.size()) return;
  const auto attempt = attempts_.emplace(attempts_.end(), executor_);
  attempt->async_connect(endpoints_[tried_++],
                         [self = shared_from_this(), attempt](const error_code& error) {
                           if (self->done_) self->OnAttempt(attempt, error);
                         });
  if (tried_ == endpoints_.size()) return;
  timer_.expires_after(delay_);
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && self->done_) self->TryNext();
  });
}

void ConnectRace::OnAttempt(std::list<Socket>::iterator attempt, const error_code& error) {
  Socket socket = std::move(*attempt);
  attempts_.erase(attempt);
  if (!error) return Finish(error, std::move(socket));
  if (tried_ < endpoints_.size()) return TryNext();
  if (attempts_.empty()) Finish(error, std::move(socket));
}

void ConnectRace::Finish(const error_code& error, Socket socket) {
  const Done done = std::move(done_);
  Cancel();
  done(error, std::move(socket));
}

}  // namespace redouble::inline v0_1::redis
