#include "redouble/backends/redis/fsm/subscribe/follow_machine.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;
using store::Request;

// Errors after which another server, or the same one later, may accept the subscription.
constexpr std::string_view kPassing[] = {"MOVED",       "ASK",     "TRYAGAIN",
                                         "CLUSTERDOWN", "LOADING", "MASTERDOWN"};

bool IsPassing(const Reply& error) {
  const std::string_view text = error.text();
  const std::string_view code = text.substr(0, text.find(' '));
  return std::find(std::begin(kPassing), std::end(kPassing), code) != std::end(kPassing);
}

}  // namespace

FollowMachine::FollowMachine(FollowOptions options, const TopicHomes& homes, base::Rng rng,
                             RequestObserver* observer)
    : options_(std::move(options)),
      homes_(homes),
      rng_(rng.Fork()),
      observer_(observer),
      backoff_(options_.backoff_base_us, options_.backoff_cap_us, rng.Fork()),
      pushes_(options_.push_queue) {}

FollowMachine::~FollowMachine() { Close("the subscriber was destroyed"); }

std::optional<FollowAction> FollowMachine::NextAction() {
  if (actions_.empty()) ArmTimer();
  if (actions_.empty()) return std::nullopt;
  FollowAction action = std::move(actions_.front());
  actions_.pop_front();
  return action;
}

size_t FollowMachine::confirmed() const {
  return static_cast<size_t>(
      std::count_if(subscriptions_.begin(), subscriptions_.end(),
                    [](const auto& entry) { return entry.second.confirmed; }));
}

// Requests.

void FollowMachine::Submit(Request& request, int64_t now_us) {
  ++counters_.requests;
  ++counters_.commands;
  const auto refuse = [&](absl::Status status) {
    ++counters_.not_sent;
    request.Complete(std::move(status));
  };
  if (closed_) return refuse(store::NotSentError(*closed_));
  const std::optional<TopicCommand> command = TopicCommandOf(request);
  if (!command) {
    return refuse(
        store::NotSentError("a subscriber carries SUBSCRIBE, UNSUBSCRIBE and their kin "
                            "only",
                            absl::StatusCode::kFailedPrecondition));
  }
  if (auto refusal = options_.queue.Refuse(queued(), queued_bytes_, "the servers")) {
    return refuse(*std::move(refusal));
  }
  ++counters_.in_flight;
  if (command->subscribes) {
    Subscribe(request, command->kind, now_us);
  } else {
    Unsubscribe(request, command->kind, now_us);
  }
  Deliver();
}

void FollowMachine::Subscribe(Request& request, TopicKind kind, int64_t now_us) {
  request.SetKeeper(this);
  const auto& names = request.commands()[0].arguments();
  const uint64_t id = next_id_++;
  Waiting& waiting = requests_
                         .try_emplace(id, Waiting{&request, kind, names.size(), now_us,
                                                  LaterMicros(now_us, options_.command_timeout_us),
                                                  BytesOf(request)})
                         .first->second;
  queued_bytes_ += waiting.bytes;
  for (const std::string_view name : names) {
    const auto place = subscriptions_.try_emplace(Topic{kind, std::string(name)}).first;
    place->second.waiting.push_back(id);
    if (place->second.confirmed) {
      Confirm(place->first, place->second, now_us);
    } else if (place->second.id != 0) {
      waiting.sent = true;
    } else {
      Place(place->first, place->second, now_us);
    }
  }
}

void FollowMachine::Unsubscribe(Request& request, TopicKind kind, int64_t now_us) {
  request.SetKeeper(this);
  std::vector<std::string> names;
  for (const std::string_view name : request.commands()[0].arguments()) names.emplace_back(name);
  const bool all = names.empty();
  for (auto& [topic, subscription] : subscriptions_) {
    if (all && topic.kind == kind) names.push_back(topic.name);
  }
  Waiting waiting{&request, kind, 1, now_us, kNeverUs, 0, true};
  for (const std::string& name : names) {
    const auto place = subscriptions_.find(Topic{kind, name});
    if (place != subscriptions_.end()) {
      EndUnconfirmed(place->second);
      Drop(place);
    }
    Reply reply = Confirmation(kind, /*subscribed=*/false, Reply::Bulk(name), CountOf(kind));
    if (waiting.request != nullptr) {
      FinishLater(waiting, std::move(reply));
    } else {
      pushes_.Add({std::move(reply)}, counters_);
    }
  }
  if (names.empty()) {
    FinishLater(waiting, Confirmation(kind, /*subscribed=*/false, Reply::Nil(), CountOf(kind)));
  }
}

// The caller may rely on the subscription although it does not wait for the confirmation, so it is
// tried until the deadline.
void FollowMachine::Abandon(Request& request) {
  const auto is_it = [&](const auto& entry) { return entry.first == &request; };
  if (std::erase_if(results_, is_it) > 0) return;
  for (auto& [id, waiting] : requests_) {
    if (waiting.request != &request) continue;
    waiting.request = nullptr;
    waiting.abandoned = true;
    ++abandoned_;
    ++counters_.abandoned;
    --counters_.in_flight;
  }
}

void FollowMachine::ExpireRequests(int64_t now_us) {
  std::vector<uint64_t> expired;
  for (auto& [id, waiting] : requests_) {
    if (waiting.deadline_us > now_us) break;
    if (waiting.request == nullptr && !waiting.abandoned) continue;
    expired.push_back(id);
    if (waiting.abandoned) continue;
    ++counters_.timeouts;
    FailLater(waiting,
              absl::StrCat("was not confirmed within ",
                           absl::FormatDuration(absl::Microseconds(options_.command_timeout_us))),
              absl::StatusCode::kDeadlineExceeded);
  }
  if (expired.empty()) return;
  for (auto place = subscriptions_.begin(); place != subscriptions_.end();) {
    const auto current = place++;
    std::vector<uint64_t>& waiting = current->second.waiting;
    const size_t removed = std::erase_if(waiting, [&](uint64_t id) {
      return std::binary_search(expired.begin(), expired.end(), id);
    });
    if (removed > 0 && waiting.empty() && !current->second.known) Drop(current);
  }
  for (const uint64_t id : expired) Erase(requests_.find(id));
}

// One confirmation less is missing.
void FollowMachine::CountDown(Requests::iterator place) {
  if (--place->second.missing == 0) Erase(place);
}

void FollowMachine::Erase(Requests::iterator place) {
  if (place->second.abandoned) {
    --abandoned_;
    queued_bytes_ -= place->second.bytes;
  }
  requests_.erase(place);
}

// Confirmations.

void FollowMachine::Answered(uint64_t id, const absl::StatusOr<Reply>& result, int64_t now_us) {
  const auto command = commands_.extract(id);
  if (command.empty() || closed_) return;
  const auto place = subscriptions_.find(command.mapped());
  if (place == subscriptions_.end() || place->second.id != id) return;
  Subscription& subscription = place->second;
  if (!result.ok()) {
    // A line that does not answer is given up as if it was lost.
    const uint64_t line = *subscription.line;
    actions_.push_back({.kind = FollowAction::Kind::kClose, .line = line});
    LoseLine(line, now_us);
  } else if (!result->is_error()) {
    backoff_.Reset();
    Confirm(place->first, subscription, now_us);
  } else if (subscription.known || IsPassing(*result)) {
    NoteRedirect(subscription, result->text());
    Detach(subscription);
    NoteFailure(now_us);
    PlaceAll(now_us);
  } else {
    Refuse(place, *result, now_us);
  }
  Deliver();
}

void FollowMachine::Confirm(const Topic& topic, Subscription& subscription, int64_t now_us) {
  const bool again = !subscription.confirmed && subscription.known;
  if (again) pushes_.AddGap();
  if (!subscription.known) ++known_[static_cast<size_t>(topic.kind)];
  subscription.id = 0;
  subscription.confirmed = true;
  subscription.known = true;
  for (const uint64_t id : std::exchange(subscription.waiting, {})) ConfirmTo(id, topic, now_us);
}

void FollowMachine::ConfirmTo(uint64_t id, const Topic& topic, int64_t now_us) {
  const auto place = requests_.find(id);
  Waiting& waiting = place->second;
  Reply reply =
      Confirmation(topic.kind, /*subscribed=*/true, Reply::Bulk(topic.name), CountOf(topic.kind));
  if (waiting.request != nullptr) {
    counters_.latency.Record(now_us - waiting.submitted_us);
    FinishLater(waiting, std::move(reply));
  } else {
    pushes_.Add({std::move(reply)}, counters_);
  }
  CountDown(place);
}

// A request that has its reply already learns by a push that the subscription does not exist.
void FollowMachine::Refuse(Subscriptions::iterator place, const Reply& error, int64_t now_us) {
  const Topic topic = place->first;
  for (const uint64_t id : std::exchange(place->second.waiting, {})) {
    const auto found = requests_.find(id);
    Waiting& waiting = found->second;
    if (waiting.request != nullptr) {
      counters_.latency.Record(now_us - waiting.submitted_us);
      FinishLater(waiting, error);
    } else {
      pushes_.Add({Confirmation(topic.kind, /*subscribed=*/false, Reply::Bulk(topic.name),
                                CountOf(topic.kind))},
                  counters_);
    }
    CountDown(found);
  }
  Detach(place->second);
  Drop(place);
}

void FollowMachine::EndUnconfirmed(Subscription& subscription) {
  for (const uint64_t id : std::exchange(subscription.waiting, {})) {
    const auto found = requests_.find(id);
    Waiting& waiting = found->second;
    if (waiting.request != nullptr && waiting.missing == 1) {
      FailLater(waiting, "was ended before it was confirmed", absl::StatusCode::kCancelled);
    }
    CountDown(found);
  }
}

// Removes a subscription for which no request waits.
void FollowMachine::Drop(Subscriptions::iterator place) {
  Leave(place->first, place->second);
  if (place->second.known) --known_[static_cast<size_t>(place->first.kind)];
  subscriptions_.erase(place);
}

// Redis counts channels and patterns together.
size_t FollowMachine::CountOf(TopicKind kind) const {
  const auto known = [&](TopicKind one) { return known_[static_cast<size_t>(one)]; };
  return kind == TopicKind::kShardChannel ? known(kind)
                                          : known(TopicKind::kChannel) + known(TopicKind::kPattern);
}

// Homes and lines.

std::optional<TcpAddress> FollowMachine::HomeOf(const Topic& topic) {
  if (topic.kind == TopicKind::kShardChannel) return homes_.HomeOfShard(topic.name);
  if (!home_) ChooseHome();
  return home_;
}

// Keeps the home of channels as long as it is one.
void FollowMachine::ChooseHome() {
  const std::vector<TcpAddress> homes = homes_.Homes();
  if (homes.empty()) return;
  if (home_ && std::find(homes.begin(), homes.end(), *home_) != homes.end()) return;
  const size_t first = rng_.Below(homes.size());
  for (size_t i = 0; i < homes.size(); ++i) {
    home_ = homes[(first + i) % homes.size()];
    if (home_ != failed_) return;
  }
}

void FollowMachine::HomesChanged(int64_t now_us) {
  finding_ = false;
  if (closed_) return;
  ChooseHome();
  PlaceAll(now_us);
  Deliver();
}

void FollowMachine::PlaceAll(int64_t now_us) {
  must_retry_ = false;
  for (auto& [topic, subscription] : subscriptions_) Place(topic, subscription, now_us);
}

// Subscribes at the present home, if it is known and another one.
void FollowMachine::Place(const Topic& topic, Subscription& subscription, int64_t now_us) {
  const std::optional<TcpAddress> home = HomeOf(topic);
  if (subscription.line) {
    if (!home || *home == lines_.at(*subscription.line).address) return;
    Leave(topic, subscription);
  }
  if (!home) return FindHomes();
  if (now_us < retry_at_us_) {
    must_retry_ = true;
    return;
  }
  subscription.line = LineTo(*home);
  Line& line = lines_.at(*subscription.line);
  ++line.users;
  if (line.open) Send(topic, subscription);
}

uint64_t FollowMachine::LineTo(const TcpAddress& address) {
  for (const auto& [id, line] : lines_) {
    if (line.address == address) return id;
  }
  const uint64_t id = next_id_++;
  lines_.try_emplace(id, Line{address});
  actions_.push_back({.kind = FollowAction::Kind::kOpen, .line = id, .address = address});
  return id;
}

void FollowMachine::Send(const Topic& topic, Subscription& subscription) {
  subscription.id = next_id_++;
  commands_.try_emplace(subscription.id, topic);
  for (const uint64_t id : subscription.waiting) {
    Waiting& waiting = requests_.at(id);
    waiting.sent = true;
    if (observer_ == nullptr || waiting.request == nullptr) continue;
    observer_->Sent(*waiting.request, NodeName(lines_.at(*subscription.line).address));
  }
  actions_.push_back({.kind = FollowAction::Kind::kSubscribe,
                      .line = *subscription.line,
                      .topic = topic,
                      .id = subscription.id});
}

// The server of the subscription has refused it, which another one may accept.
void FollowMachine::NoteRedirect(const Subscription& subscription, std::string_view cause) {
  if (observer_ == nullptr) return;
  const std::string node = NodeName(lines_.at(*subscription.line).address);
  for (const uint64_t id : subscription.waiting) {
    const Waiting& waiting = requests_.at(id);
    if (waiting.request != nullptr) observer_->Redirected(*waiting.request, node, cause);
  }
}

// Ends the subscription at its present home.
void FollowMachine::Leave(const Topic& topic, Subscription& subscription) {
  if (subscription.line && (subscription.confirmed || subscription.id != 0)) {
    actions_.push_back(
        {.kind = FollowAction::Kind::kUnsubscribe, .line = *subscription.line, .topic = topic});
  }
  Detach(subscription);
}

// The server does not know the subscription any more. A line that is not used is closed.
void FollowMachine::Detach(Subscription& subscription) {
  if (!subscription.line) return;
  commands_.erase(subscription.id);
  subscription.id = 0;
  subscription.confirmed = false;
  const auto line = lines_.find(*std::exchange(subscription.line, std::nullopt));
  if (line == lines_.end() || --line->second.users > 0) return;
  actions_.push_back({.kind = FollowAction::Kind::kClose, .line = line->first});
  lines_.erase(line);
}

void FollowMachine::LineOpened(uint64_t id, int64_t) {
  const auto line = lines_.find(id);
  if (line == lines_.end()) return;
  line->second.open = true;
  for (auto& [topic, subscription] : subscriptions_) {
    if (subscription.line == id) Send(topic, subscription);
  }
}

void FollowMachine::LineLost(uint64_t id, int64_t now_us) {
  LoseLine(id, now_us);
  Deliver();
}

void FollowMachine::LoseLine(uint64_t id, int64_t now_us) {
  const auto line = lines_.extract(id);
  if (line.empty() || closed_) return;
  failed_ = line.mapped().address;
  if (home_ == failed_) home_.reset();
  for (auto& [topic, subscription] : subscriptions_) {
    if (subscription.line == id) Detach(subscription);
  }
  NoteFailure(now_us);
  PlaceAll(now_us);
}

void FollowMachine::NoteFailure(int64_t now_us) {
  retry_at_us_ = std::max(retry_at_us_, LaterMicros(now_us, backoff_.AddFailure()));
  FindHomes();
}

void FollowMachine::FindHomes() {
  if (std::exchange(finding_, true)) return;
  actions_.push_back({.kind = FollowAction::Kind::kFindHomes});
}

// Pushes.

void FollowMachine::Pushed(uint64_t line, PushEvent event, int64_t now_us) {
  if (closed_) return;
  if (event.is_gap()) return pushes_.AddGap();
  const std::optional<Topic> topic = TopicOf(*event.push);
  if (!topic) return;
  const auto place = subscriptions_.find(*topic);
  // A message of a former home, or of a subscription that has ended.
  if (place == subscriptions_.end() || place->second.line != line || !place->second.confirmed) {
    return;
  }
  if (IsMessage(*event.push)) return pushes_.Add(std::move(event), counters_);
  if (WordOfPush(*event.push) != WordsOf(topic->kind).unsubscribe) return;
  Detach(place->second);
  NoteFailure(now_us);
  PlaceAll(now_us);
}

// Time and results.

void FollowMachine::Timer(int64_t now_us) {
  armed_us_ = kNeverUs;
  if (closed_) return;
  ExpireRequests(now_us);
  if (must_retry_ && now_us >= retry_at_us_) PlaceAll(now_us);
  Deliver();
}

void FollowMachine::ArmTimer() {
  if (closed_) return;
  int64_t due_us = must_retry_ ? retry_at_us_ : kNeverUs;
  for (const auto& [id, waiting] : requests_) {
    if (waiting.request == nullptr && !waiting.abandoned) continue;
    due_us = std::min(due_us, waiting.deadline_us);
    break;
  }
  if (due_us == armed_us_ || due_us == kNeverUs) return;
  armed_us_ = due_us;
  actions_.push_back({.kind = FollowAction::Kind::kWake, .at_us = due_us});
}

void FollowMachine::Close(std::string_view reason) {
  if (closed_) return;
  closed_ = std::string(reason);
  for (auto& [id, waiting] : requests_) {
    if (waiting.request == nullptr) continue;
    FailLater(waiting, absl::StrCat("failed: ", *closed_), absl::StatusCode::kUnavailable);
  }
  while (!requests_.empty()) Erase(requests_.begin());
  subscriptions_.clear();
  commands_.clear();
  known_ = {};
  actions_.clear();
  for (const auto& [id, line] : std::exchange(lines_, {})) {
    actions_.push_back({.kind = FollowAction::Kind::kClose, .line = id});
  }
  Deliver();
}

void FollowMachine::FinishLater(Waiting& waiting, absl::StatusOr<Reply> result) {
  --counters_.in_flight;
  if (result.ok()) ++counters_.answered;
  queued_bytes_ -= waiting.bytes;
  results_.emplace_back(std::exchange(waiting.request, nullptr), std::move(result));
}

void FollowMachine::FailLater(Waiting& waiting, std::string_view why, absl::StatusCode code) {
  const std::string name =
      absl::AsciiStrToUpper(base::ToAbsl(waiting.request->commands()[0].name()));
  const std::string text = absl::StrCat(name, " ", base::ToAbsl(why));
  ++(waiting.sent ? counters_.outcome_unknown : counters_.not_sent);
  FinishLater(waiting, waiting.sent ? store::OutcomeUnknownError(text, code)
                                    : store::NotSentError(text, code));
}

// A waiter may submit and abandon requests.
void FollowMachine::Deliver() {
  if (delivering_) return;
  delivering_ = true;
  while (!results_.empty()) {
    auto [request, result] = std::move(results_.front());
    results_.pop_front();
    request->Complete(std::move(result));
  }
  delivering_ = false;
}

}  // namespace redouble::inline v0_1::redis
