#include "redouble/sim/scenario/client.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::sim {

using store::Reply;
using store::Request;

// The request that is sent to the connection instead of the original.
class ScenarioClient::Sent final : public Request {
 public:
  Sent(ScenarioClient& client, Request& original)
      : Request(original.kind(), original.commands()), client_(client), original_(original) {}

  Request& original() { return original_; }

 private:
  void OnComplete(absl::StatusOr<Reply>&& result) override {
    client_.Finish(*this, std::move(result));
  }

  ScenarioClient& client_;
  Request& original_;
};

ScenarioClient::ScenarioClient(std::string name, ScenarioBackend& backend, Trace& trace)
    : name_(std::move(name)), backend_(backend), trace_(trace) {}

ScenarioClient::~ScenarioClient() { assert(sent_.empty()); }

void ScenarioClient::Submit(Request& request) {
  // The request is not kept, so there is nothing to do when its owner abandons it.
  if (trace_.stopped()) return;
  if (connection_ == nullptr) {
    absl::StatusOr<std::unique_ptr<store::Store>> connection = backend_.Connect();
    if (!connection.ok()) {
      Fail(request, connection.status());
      return;
    }
    connection_ = *std::move(connection);
  }
  request.SetKeeper(this);
  Sent& sent = *sent_.emplace_back(std::make_unique<Sent>(*this, request));
  connection_->Submit(sent);
}

void ScenarioClient::Fail(Request& request, const absl::Status& status) {
  trace_.AddRequest(name_, request, status);
  request.Complete(status);
}

void ScenarioClient::Break() {
  // All sent requests must be cleared before the first one completes: its owner may submit a
  // request, on a new connection, or abandon another one.
  for (const std::unique_ptr<Sent>& sent : sent_) breaking_.push_back(&sent->original());
  sent_.clear();
  connection_.reset();
  while (!breaking_.empty()) {
    Request& original = *breaking_.front();
    breaking_.pop_front();
    Fail(original, store::OutcomeUnknownError("the connection broke"));
  }
}

std::unique_ptr<ScenarioClient::Sent> ScenarioClient::Take(const Sent& sent) {
  const auto found =
      std::find_if(sent_.begin(), sent_.end(),
                   [&](const std::unique_ptr<Sent>& other) { return other.get() == &sent; });
  assert(found != sent_.end());
  std::unique_ptr<Sent> taken = std::move(*found);
  sent_.erase(found);
  return taken;
}

void ScenarioClient::Finish(Sent& sent, absl::StatusOr<Reply> result) {
  trace_.AddRequest(name_, sent, result);
  Request& original = sent.original();
  Take(sent).reset();
  original.Complete(std::move(result));
}

void ScenarioClient::Abandon(Request& request) {
  breaking_.remove(&request);
  for (const std::unique_ptr<Sent>& sent : sent_) {
    if (&sent->original() != &request) continue;
    Take(*sent).reset();
    return;
  }
}

void HeldStore::Submit(Request& request) {
  request.SetKeeper(this);
  held_.push_back(Held{&request, /*failing=*/false});
}

void HeldStore::Release() {
  assert(!held_.empty());
  Request& request = *held_.front().request;
  held_.pop_front();
  client_.Submit(request);
}

void HeldStore::FailAll(const absl::Status& status) {
  // Marked rather than removed: the owner of a completed request may abandon another or submit one.
  for (Held& held : held_) held.failing = true;
  while (!held_.empty() && held_.front().failing) {
    Request& request = *held_.front().request;
    held_.pop_front();
    client_.Fail(request, status);
  }
}

void HeldStore::Abandon(Request& request) {
  held_.remove_if([&](const Held& held) { return held.request == &request; });
}

}  // namespace redouble::inline v0_1::sim
