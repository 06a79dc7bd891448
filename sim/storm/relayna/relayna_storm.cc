#include "redouble/sim/storm/relayna/relayna_storm.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/value.h"
#include "redouble/core/relayna/event_stream.h"
#include "redouble/core/relayna/observation_store.h"
#include "redouble/core/relayna/service_event_feed.h"
#include "redouble/core/relayna/status_store.h"
#include "redouble/core/relayna/workflow_contract_store.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/storm/relayna/dead_letters.h"

namespace redouble::inline v0_1::sim {
namespace {

enum Role : size_t { kWorker, kConsumer, kReader, kFailing, kOperator, kObserver, kFollower };
enum PromiseIndex : size_t {
  kStored,
  kNewestFirst,
  kFeedIsWhole,
  kReaderGetsAll,
  kOneHolder,
  kExpires,
  kObserved,
  kFeedHasObservations,
  kSentOnce,
  kFollowerGetsAll,
  kLetters,  // The first of those of dead letters.
};

constexpr std::array<const char*, 3> kTasks = {"t1", "t2", "t3"};
constexpr double kHot = 0.7;
constexpr absl::Duration kContractTtl = absl::Seconds(30);

std::string IdOf(int64_t number) { return absl::StrCat("e", number); }

// An event that a worker writes: the time of its number.
struct Event {
  std::string task_id;
  int64_t number = 0;
  bool acknowledged = false;

  std::string Id() const { return IdOf(number); }
  python::Value ToValue() const {
    constexpr int64_t kNoon = 1767268800;
    return python::Object(
        {{"task_id", task_id},
         {"status", "running"},
         {"event_id", Id()},
         {"timestamp", python::FormatIso(absl::FromUnixSeconds(kNoon + number))}});
  }
};

// An observation that an observer writes.
struct WatchedObservation {
  std::string task_id;
  std::string name;  // Unique: "o1".
  bool acknowledged = false;

  relayna::Observation ToObservation() const {
    return {"TaskMessageReceived", python::Object({{"task_id", task_id}, {"name", name}})};
  }
};

// Returns the text of the member, or "" if the object is null or has no text of that name.
std::string TextOf(const python::Value* object, const char* member) {
  const python::Value* const value = object == nullptr ? nullptr : object->Find(member);
  return value == nullptr || value->text() == nullptr ? "" : std::string(*value->text());
}

// A client that follows the events of a task, through one stream after another.
struct Follower {
  std::string task_id;
  std::optional<std::string> last_event_id;
  std::set<std::string> received;
};

// The number in an event id; 0 if there is none.
int64_t NumberOf(const python::Value& event) {
  const std::string id = TextOf(&event, "event_id");
  return id.empty() ? 0 : std::strtoll(id.c_str() + 1, nullptr, 10);
}

class RelaynaWorkload final : public Storm {
 public:
  RelaynaWorkload(World& world, const StormVariant& variant)
      : world_(world),
        store_(world.ConnectToAll()),
        hardened_(variant.hardened),
        layout_(variant.key_layout),
        is_cluster_(variant.masters > 0),
        letters_(*store_, DlqOptionsOf(""), world.clock()) {}

  base::Task<void> Act(Actor& actor, store::Store& store, size_t role, StormWork& work) override;
  base::Task<void> Drain(Actor& actor, store::Store& store) override;
  void Observe() override { letters_.Observe(); }
  void Judge(Verdicts& verdicts) override;

 private:
  relayna::Hardening HardeningOf(const std::string& owner) const {
    if (!hardened_) return {};
    return {.atomic_events = true,
            .newest_first = true,
            .owner_token = owner,
            .atomic_marks = true,
            .mark_before_publish = true,
            .forget_expired_ids = true,
            .add_once = true};
  }
  relayna::DlqOptions DlqOptionsOf(const std::string& owner) const {
    relayna::DlqOptions options;
    options.ttl_seconds = absl::ToInt64Seconds(DeadLetters::kTtl);
    options.hardening = HardeningOf(owner);
    options.key_layout = layout_;
    return options;
  }
  relayna::FeedOptions FeedOptionsOf(const std::string& owner) const {
    relayna::FeedOptions options;
    options.key_layout = layout_;
    options.hardening = HardeningOf(owner);
    return options;
  }
  // Of a store that adds what it writes to the feed.
  template <typename Options>
  Options WriterOptionsOf(const std::string& owner, relayna::ServiceEventFeed* feed) const {
    Options options;
    options.key_layout = layout_;
    options.feed = feed;
    options.hardening = HardeningOf(owner);
    return options;
  }
  relayna::StatusOptions StatusOptionsOf(const std::string& owner,
                                         relayna::ServiceEventFeed* feed) const {
    return WriterOptionsOf<relayna::StatusOptions>(owner, feed);
  }
  relayna::ObservationOptions ObservationOptionsOf(const std::string& owner,
                                                   relayna::ServiceEventFeed* feed) const {
    return WriterOptionsOf<relayna::ObservationOptions>(owner, feed);
  }

  base::Task<void> WriteEvent(relayna::StatusStore& statuses, base::Rng& rng);
  base::Task<void> Handle(Actor& actor, relayna::WorkflowContractStore& contracts, base::Rng& rng);
  base::Task<void> WriteObservation(relayna::ObservationStore& observations, base::Rng& rng);
  // Follows until the time, as a client that connects again; until a pause if there is no time.
  base::Task<void> Follow(Actor& actor, relayna::StatusStore& statuses, Follower& follower,
                          std::optional<absl::Time> until);
  Follower& FollowerOf(const std::string& name);
  // Reads from the newest item to the newest one of the pass before.
  base::Task<void> ReadFeed(relayna::ServiceEventFeed& feed);
  void Hold(const std::string& holder);
  // By task, the numbers of the events in its history, the newest first.
  using Histories = std::map<std::string, std::vector<int64_t>>;
  Histories ReadHistories();
  void JudgeHistories(Verdicts& verdicts, const Histories& histories,
                      const std::set<int64_t>& in_feed);
  void JudgeObservations(Verdicts& verdicts, const std::set<std::string>& in_feed);
  void JudgeFollowers(Verdicts& verdicts, const Histories& histories);

  World& world_;
  const std::unique_ptr<store::Store> store_;
  const bool hardened_;
  const store::KeyLayout layout_;
  const bool is_cluster_;
  DeadLetters letters_;
  std::vector<Event> events_;
  std::vector<WatchedObservation> observations_;
  std::map<std::string, Follower> followers_;  // By actor.
  // The ids of the events that streams sent, each with whether its stream had not sent it before.
  std::vector<std::pair<bool, std::string>> sent_;
  std::optional<std::string> read_up_to_;
  std::set<std::string> read_;
  std::map<std::string, absl::Time> holders_;  // Since when, by the world's clock.
  std::vector<std::pair<bool, std::string>> held_;
};

base::Task<void> RelaynaWorkload::Act(Actor& actor, store::Store& store, size_t role,
                                      StormWork& work) {
  relayna::ServiceEventFeed feed(store, FeedOptionsOf(actor.name()));
  relayna::StatusStore statuses(store, StatusOptionsOf(actor.name(), &feed));
  // A restarted process has another token.
  const std::string token = absl::StrCat(actor.name(), "#", actor.incarnation());
  relayna::WorkflowContractOptions options;
  options.key_layout = layout_;
  options.ttl_seconds = absl::ToInt64Seconds(kContractTtl);
  options.hardening = HardeningOf(token);
  relayna::WorkflowContractStore contracts(store, options);
  relayna::DlqStore dlq(store, DlqOptionsOf(token));
  relayna::ObservationStore observations(store, ObservationOptionsOf(actor.name(), &feed));
  holders_.erase(actor.name());
  letters_.Restart(actor.name());
  while (std::optional<base::Rng> rng = work.Next()) {
    co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(rng->Below(500))));
    if (role == kWorker) co_await WriteEvent(statuses, *rng);
    if (role == kConsumer) co_await Handle(actor, contracts, *rng);
    if (role == kReader) co_await ReadFeed(feed);
    if (role == kObserver) co_await WriteObservation(observations, *rng);
    if (role == kFollower) {
      const absl::Duration time = absl::Seconds(static_cast<int64_t>(rng->Below(8)));
      co_await Follow(actor, statuses, FollowerOf(actor.name()), world_.clock().Now() + time);
    }
    if (role == kFailing) {
      co_await actor.clock().Sleep(absl::Seconds(static_cast<int64_t>(rng->Below(20))));
      co_await letters_.Add(dlq, actor.clock(), *rng);
    }
    if (role == kOperator) {
      co_await actor.clock().Sleep(absl::Seconds(static_cast<int64_t>(rng->Below(25))));
      co_await letters_.Operate(dlq, actor.clock(), actor.name(), *rng);
    }
  }
}

// Draws one of `count` earlier writes; `count` means a new one.
size_t DrawWrite(base::Rng& rng, size_t count) {
  return rng.Chance(0.25) && count > 0 ? rng.Below(count) : count;
}

const char* DrawTask(base::Rng& rng) {
  return kTasks[rng.Chance(kHot) ? 0 : rng.Below(kTasks.size())];
}

// Writes until it succeeds, at most three times: a broker delivers a message again that failed.
// Returns whether it succeeded.
template <typename Write>
base::Task<bool> WriteAgain(const Write& write) {
  constexpr int kAttempts = 3;
  for (int i = 0; i < kAttempts; ++i) {
    const auto written = co_await write();
    if (written.ok()) co_return true;
  }
  co_return false;
}

// Writes a new event, or one of before again.
base::Task<void> RelaynaWorkload::WriteEvent(relayna::StatusStore& statuses, base::Rng& rng) {
  const size_t index = DrawWrite(rng, events_.size());
  if (index == events_.size()) {
    events_.push_back({DrawTask(rng), static_cast<int64_t>(index) + 1});
  }
  const std::string task_id = events_[index].task_id;
  const python::Value event = events_[index].ToValue();
  const auto write = [&] { return statuses.SetHistory(task_id, event); };
  const bool is_written = co_await WriteAgain(write);
  if (is_written) events_[index].acknowledged = true;
}

// As WriteEvent. A duplicate was accepted before.
base::Task<void> RelaynaWorkload::WriteObservation(relayna::ObservationStore& observations,
                                                   base::Rng& rng) {
  const size_t index = DrawWrite(rng, observations_.size());
  if (index == observations_.size()) {
    observations_.push_back({DrawTask(rng), absl::StrCat("o", index + 1)});
  }
  const relayna::Observation observation = observations_[index].ToObservation();
  const auto write = [&] { return observations.SetEvent(observation); };
  const bool is_written = co_await WriteAgain(write);
  if (is_written) observations_[index].acknowledged = true;
}

Follower& RelaynaWorkload::FollowerOf(const std::string& name) {
  const auto [found, is_new] = followers_.try_emplace(name);
  if (is_new) found->second.task_id = kTasks[followers_.size() % 2];
  return found->second;
}

base::Task<void> RelaynaWorkload::Follow(Actor& actor, relayna::StatusStore& statuses,
                                         Follower& follower, std::optional<absl::Time> until) {
  // The connection of one master does not have what is published on the others while slots move.
  if (is_cluster_ && until.has_value()) co_return;
  const std::unique_ptr<store::MessageSource> subscription = actor.Connect();
  relayna::StreamOptions options;
  options.task_id = follower.task_id;
  options.last_event_id = follower.last_event_id;
  options.keep_alive = absl::Seconds(1);
  relayna::EventStream stream(*subscription, statuses, actor.clock(), options);
  std::set<std::string> sent;
  while (!until.has_value() || world_.clock().Now() < *until) {
    const absl::StatusOr<std::optional<relayna::StreamFrame>> frame = co_await stream.Next();
    if (!frame.ok() || !frame->has_value()) co_return;
    if ((*frame)->kind == relayna::StreamFrame::Kind::kKeepAlive && !until.has_value()) co_return;
    if ((*frame)->kind != relayna::StreamFrame::Kind::kStatus) continue;
    const std::string id = (*frame)->id.value_or("");
    sent_.emplace_back(sent.insert(id).second, id);
    follower.received.insert(id);
    follower.last_event_id = id;
  }
}

void RelaynaWorkload::Hold(const std::string& holder) {
  const absl::Time now = world_.clock().Now();
  for (const auto& [other, since] : holders_) {
    if (other == holder) continue;
    // A key still exists at its deadline.
    held_.emplace_back(now > since + kContractTtl,
                       absl::StrCat(holder, " and ", other, " hold one contract"));
  }
  if (holders_.empty()) held_.emplace_back(true, "");
  holders_[holder] = now;
}

base::Task<void> RelaynaWorkload::Handle(Actor& actor, relayna::WorkflowContractStore& contracts,
                                         base::Rng& rng) {
  relayna::WorkflowContract contract;
  contract.stage = "ocr";
  contract.task_id = "t1";
  contract.action = "x";
  contract.payload = python::Object({{"doc", "D1"}});
  contract.dedup_key_fields = {"doc"};
  co_await actor.clock().Sleep(absl::Seconds(static_cast<int64_t>(rng.Below(20))));
  const absl::Time asked = world_.clock().Now();
  const auto acquired = co_await contracts.AcquireDedup(contract);
  if (!acquired.ok() || !*acquired) co_return;
  // The marker is as old as its request at most.
  if (world_.clock().Now() == asked) Hold(actor.name());
  const absl::Status marked = co_await contracts.MarkInflight(contract);
  marked.IgnoreError();
  co_await actor.clock().Sleep(absl::Seconds(static_cast<int64_t>(rng.Below(45))));
  holders_.erase(actor.name());
  const absl::Status cleared = co_await contracts.ClearInflight(contract);
  cleared.IgnoreError();
  const absl::Status released = co_await contracts.ReleaseDedup(contract);
  released.IgnoreError();
}

base::Task<void> RelaynaWorkload::ReadFeed(relayna::ServiceEventFeed& feed) {
  relayna::FeedQuery query;
  query.limit = 3;
  std::optional<std::string> newest;
  std::vector<std::string> found;
  for (bool is_known = false; !is_known;) {
    const auto page = co_await feed.GetFeed(query);
    if (!page.ok()) co_return;  // The next pass begins at the same place.
    for (const python::Value& item : page->items) {
      const std::string cursor = *item.Find("cursor")->text();
      if (!newest.has_value()) newest = cursor;
      is_known = is_known || cursor == read_up_to_;
      found.push_back(cursor);
    }
    if (!page->next_cursor.has_value()) break;
    query.after = page->next_cursor;
  }
  read_.insert(found.begin(), found.end());
  if (newest.has_value()) read_up_to_ = newest;
}

base::Task<void> RelaynaWorkload::Drain(Actor& actor, store::Store& store) {
  for (int i = 0; i < 4; ++i) co_await actor.clock().Sleep(absl::Seconds(5));
  relayna::ServiceEventFeed feed(store, FeedOptionsOf(actor.name()));
  co_await ReadFeed(feed);
  relayna::StatusStore statuses(store, StatusOptionsOf(actor.name(), &feed));
  for (auto& [name, follower] : followers_) {
    co_await Follow(actor, statuses, follower, std::nullopt);
  }
  relayna::DlqStore dlq(store, DlqOptionsOf(actor.name()));
  co_await letters_.Drain(dlq, actor.clock());
}

RelaynaWorkload::Histories RelaynaWorkload::ReadHistories() {
  relayna::StatusStore statuses(*store_, StatusOptionsOf("", nullptr));
  Histories histories;
  for (const char* task : kTasks) {
    std::vector<int64_t>& numbers = histories[task];
    const auto history = base::Run(statuses.GetHistory(task));
    if (!history.ok()) continue;
    for (const python::Value& event : *history) numbers.push_back(NumberOf(event));
  }
  return histories;
}

void RelaynaWorkload::JudgeHistories(Verdicts& verdicts, const Histories& histories,
                                     const std::set<int64_t>& in_feed) {
  const relayna::StatusKeys keys(relayna::kDirectStatusPrefix, layout_);
  for (const char* task : kTasks) {
    const std::vector<int64_t>& history = histories.at(task);
    for (const Event& event : events_) {
      if (event.task_id != task) continue;
      const bool is_stored =
          std::find(history.begin(), history.end(), event.number) != history.end();
      const std::string id = event.Id();
      const bool is_marked = base::Run(store::Exists(*store_, keys.Event({task, id}))).value();
      if (event.acknowledged || is_marked) {
        verdicts.Check(kStored, is_stored, "R1", absl::StrCat(id, " is not in the history"));
      }
      if (is_stored) {
        verdicts.Check(kFeedIsWhole, in_feed.contains(event.number), "R3",
                       absl::StrCat(id, " is not in the feed"));
      }
    }
    if (history.empty()) continue;
    const int64_t newest = *std::max_element(history.begin(), history.end());
    verdicts.Check(kNewestFirst, history.front() == newest, "R4",
                   absl::StrCat(task, ": e", history.front(), " is before e", newest));
  }
}

void RelaynaWorkload::JudgeObservations(Verdicts& verdicts, const std::set<std::string>& in_feed) {
  relayna::ObservationStore store(*store_, ObservationOptionsOf("", nullptr));
  std::set<std::string> stored;
  for (const char* task : kTasks) {
    const auto history = base::Run(store.GetHistory(task)).value();
    for (const python::Value& observation : history) stored.insert(TextOf(&observation, "name"));
  }
  for (const WatchedObservation& observation : observations_) {
    const bool is_stored = stored.contains(observation.name);
    if (observation.acknowledged) {
      verdicts.Check(kObserved, is_stored, "R2",
                     absl::StrCat(observation.name, " is not in the history"));
    }
    if (is_stored) {
      verdicts.Check(kFeedHasObservations, in_feed.contains(observation.name), "R3",
                     absl::StrCat(observation.name, " is not in the feed"));
    }
  }
}

void RelaynaWorkload::JudgeFollowers(Verdicts& verdicts, const Histories& histories) {
  std::map<std::string, int> stored;
  for (const auto& [task, history] : histories) {
    for (const int64_t number : history) ++stored[IdOf(number)];
  }
  for (const auto& [once, id] : sent_) {
    // A transaction that was executed twice has pushed its event twice, and a replay sends both.
    verdicts.Check(kSentOnce, once, stored[id] > 1 ? "R20" : kUndocumented,
                   absl::StrCat(id, " was sent twice"));
  }
  for (const auto& [name, follower] : followers_) {
    bool is_below = false;
    for (const int64_t number : histories.at(follower.task_id)) {
      const std::string id = IdOf(number);
      // The stream goes on above the client's last event; an event that came late is below it.
      verdicts.Check(kFollowerGetsAll, follower.received.contains(id),
                     hardened_ && is_below ? "R19" : kUndocumented,
                     absl::StrCat(name, " did not get ", id));
      is_below = is_below || id == follower.last_event_id;
    }
  }
}

void RelaynaWorkload::Judge(Verdicts& verdicts) {
  relayna::ServiceEventFeed feed(*store_, FeedOptionsOf(""));
  relayna::FeedQuery query;
  query.limit = 1000;
  std::set<int64_t> in_feed;
  std::set<std::string> observed;
  const auto page = base::Run(feed.GetFeed(query));
  if (page.ok()) {
    for (const python::Value& item : page->items) {
      in_feed.insert(NumberOf(item));
      observed.insert(TextOf(item.Find("payload"), "name"));
      const std::string& cursor = *item.Find("cursor")->text();
      verdicts.Check(kReaderGetsAll, read_.contains(cursor), kUndocumented,
                     absl::StrCat(cursor, " was not read"));
    }
  }
  const Histories histories = ReadHistories();
  JudgeHistories(verdicts, histories, in_feed);
  JudgeObservations(verdicts, observed);
  JudgeFollowers(verdicts, histories);
  for (const auto& [alone, what] : held_) verdicts.Check(kOneHolder, alone, "W2", what);
  const auto keys = base::Run(store::Keys(*store_, "*")).value();
  for (const std::string& key : keys) {
    const bool expires = base::Run(store::TimeToLive(*store_, key)).value().expires();
    const bool is_inflight = key.find(":inflight:") != std::string::npos;
    verdicts.Check(kExpires, expires, is_inflight ? "W3" : kUndocumented,
                   absl::StrCat(key, " has no TTL"));
  }
  letters_.Judge(verdicts, kLetters);
}

std::vector<Promise> Promises() {
  std::vector<Promise> promises = {
      {"an event that was acknowledged or marked is in its history", {{"R1", "atomic_events"}}},
      {"the first event of a history is the newest", {{"R4", "newest_first"}}},
      {"the feed has every event of the histories", {{"R3", "atomic_events"}}},
      {"a reader of the feed gets every item", {}},
      {"a contract has one holder at a time", {{"W2", "owner_token"}}},
      {"every key expires", {{"W3", "owner_token"}}},
      {"an observation that was acknowledged is in its history", {{"R2", "atomic_events"}}},
      {"the feed has every observation of the histories", {{"R3", "atomic_events"}}},
      {"a stream sends an event once", {{"R20", "atomic_events"}}},
      {"a client that follows a task gets every event of its history", {{"R19", ""}}},
  };
  for (Promise& promise : DeadLetters::Promises()) promises.push_back(std::move(promise));
  return promises;
}

}  // namespace

StormSystem RelaynaStorm() {
  return {.name = "relayna",
          .promises = Promises(),
          .roles = {{.name = "worker", .least = 3, .most = 6, .operations = 6},
                    {.name = "consumer", .least = 0, .most = 8, .operations = 5},
                    {.name = "reader", .least = 1, .most = 1, .operations = 4},
                    {.name = "failing", .least = 1, .most = 2, .operations = 4},
                    {.name = "operator", .least = 1, .most = 3, .operations = 6},
                    {.name = "observer", .least = 0, .most = 6, .operations = 5},
                    {.name = "follower", .least = 0, .most = 6, .operations = 4}},
          // The SDK keeps all its state in Redis; no document says what remains if Redis loses it.
          .faults = ClientFaults(),
          .make = [](World& world, const StormVariant& variant) -> std::unique_ptr<Storm> {
            return std::make_unique<RelaynaWorkload>(world, variant);
          }};
}

}  // namespace redouble::inline v0_1::sim
