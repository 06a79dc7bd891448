// FollowMachine among servers that fail, shard channels that move and homes that are known late,
// compared with a model of the servers: every request ends once and in time, no message is read
// twice or out of order, a gap follows each message that was published to a subscription and is
// missing, and once the servers are at rest every subscription is at its home.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/backends/redis/fsm/subscribe/follow_machine.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;

constexpr int64_t kTimeoutUs = 1'000'000;
constexpr uint16_t kServers = 3;
constexpr std::array<std::string_view, 3> kNames = {"a", "b", "c"};
constexpr std::array<std::string_view, kTopicKinds> kMessages = {"message", "pmessage", "smessage"};

// Where the shard channels are, as the servers or as the client know it.
struct KnownHomes final : TopicHomes {
  std::optional<TcpAddress> HomeOfShard(std::string_view channel) const override {
    const auto found = shards.find(channel);
    if (found == shards.end()) return std::nullopt;
    return TcpAddress{"h", found->second};
  }
  std::vector<TcpAddress> Homes() const override {
    std::vector<TcpAddress> homes;
    for (const uint16_t port : servers) homes.push_back({"h", port});
    return homes;
  }

  std::map<std::string, uint16_t, std::less<>> shards = {{"a", 0}, {"b", 1}, {"c", 2}};
  std::set<uint16_t> servers = {0, 1, 2};
};

// A connection: commands on their way to the server, and what is on its way back.
struct Wire {
  uint16_t server;
  bool open = false;
  bool broken = false;  // The server has closed it; the client learns it after `back`.
  std::deque<FollowAction> commands = {};
  std::set<Topic> subscribed = {};
  struct Back {
    uint64_t id;  // The answer to this command, or a push if 0.
    Reply reply;
  };
  std::deque<Back> back = {};
};

class Model {
 public:
  void Subscribe(TopicKind kind, std::string_view name) { Submit(kind, true, std::string(name)); }
  void Unsubscribe(TopicKind kind, std::string_view name) {
    Submit(kind, false, std::string(name));
  }
  void UnsubscribeFromAll(TopicKind kind) { Submit(kind, false, ""); }
  void Abandon(size_t index) {
    if (submitted.empty()) return;
    Submitted& one = submitted[index % submitted.size()];
    if (one.request == nullptr || one.request->completed()) return;
    // The caller may rely on the subscription although it does not wait, if it is confirmed in
    // time.
    may_stay.insert(one.topic);
    one.request.reset();
  }

  void MoveShard(std::string_view name, uint16_t server) {
    truth.shards.find(name)->second = server;
    const Topic topic{TopicKind::kShardChannel, std::string(name)};
    for (auto& [line, wire] : wires) {
      if (wire.broken || wire.server == server || wire.subscribed.erase(topic) == 0) continue;
      wire.back.push_back(
          {0, Confirmation(topic.kind, /*subscribed=*/false, Reply::Bulk(name), 0)});
    }
  }
  void StopServer(uint16_t server) {
    if (truth.servers.size() == 1 || truth.servers.erase(server) == 0) return;
    for (auto& [line, wire] : wires) wire.broken |= wire.server == server;
    for (const auto& [name, home] : std::map(truth.shards)) {
      if (home == server) MoveShard(name, *truth.servers.begin());
    }
  }
  void StartServer(uint16_t server) { truth.servers.insert(server); }
  // The client learns where the homes are.
  void LearnHomes() {
    known = truth;
    machine.HomesChanged(now_us);
    Perform();
  }
  // The client knows no home of channels, as while a master is searched.
  void ForgetHomes() {
    known.servers.clear();
    known.shards.clear();
    machine.HomesChanged(now_us);
    Perform();
  }

  // The next step on one of the lines.
  bool Step(size_t index) {
    if (wires.empty()) return false;
    auto line = wires.begin();
    std::advance(line, static_cast<std::ptrdiff_t>(index % wires.size()));
    return StepOn(line->first, line->second);
  }

  void Publish(TopicKind kind, std::string_view name) {
    const Topic topic{kind, std::string(name)};
    const int64_t number = ++published[topic];
    if (wanted.contains(topic)) owed.emplace_back(topic, number, events);
    for (auto& [line, wire] : wires) {
      if (wire.broken || !wire.subscribed.contains(topic)) continue;
      std::vector<Reply> parts = {Reply::Bulk(kMessages[static_cast<size_t>(kind)]),
                                  Reply::Bulk(name)};
      if (kind == TopicKind::kPattern) parts.push_back(Reply::Bulk("channel"));
      parts.push_back(Reply::Bulk(std::to_string(number)));
      wire.back.push_back({0, Reply::Array(std::move(parts))});
    }
  }

  bool Read() {
    const std::optional<PushEvent> event = machine.TakePush();
    if (!event) return false;
    ++events;
    if (event->is_gap()) {
      last_gap = events;
      return true;
    }
    if (!IsMessage(*event->push)) return true;
    const Topic topic = *TopicOf(*event->push);
    const int64_t number = std::stoll(event->push->elements().back().text());
    RC_ASSERT(number > last_read[topic]);
    last_read[topic] = number;
    read.emplace(topic, number);
    return true;
  }

  void Pass(int64_t duration_us) {
    const int64_t end_us = now_us + duration_us;
    while (wake_us <= end_us) {
      now_us = std::max(now_us, std::exchange(wake_us, kNeverUs));
      machine.Timer(now_us);
      Perform();
    }
    now_us = end_us;
  }

  // The servers are at rest, and everything on its way arrives and is read.
  void Settle() {
    truth.servers = {0, 1, 2};
    for (int round = 0; round < 40; ++round) {
      LearnHomes();
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < wires.size(); ++i) moved |= Step(i);
        while (Read()) moved = true;
      }
      Pass(kTimeoutUs / 20);
    }
  }

  void Check() {
    for (const Submitted& one : submitted) {
      if (one.request == nullptr) continue;
      RC_ASSERT(one.completions == 1);
      RC_ASSERT(one.in_time);
    }
    RC_ASSERT(machine.queued() == 0u);
    std::multiset<Topic> all;
    for (const auto& [line, wire] : wires)
      all.insert(wire.subscribed.begin(), wire.subscribed.end());
    RC_ASSERT(machine.confirmed() == all.size());
    RC_ASSERT(machine.lines() <= all.size());
    for (const Topic& topic : wanted) RC_ASSERT(all.count(topic) == 1u);
    for (const Topic& topic : all) RC_ASSERT(wanted.contains(topic) || may_stay.contains(topic));
    RC_ASSERT(machine.lines() == wires.size());
    CheckMessages();
    // A message to each subscription arrives, without another gap.
    const int gap = last_gap;
    for (const Topic& topic : std::set(wanted)) Publish(topic.kind, topic.name);
    Settle();
    CheckMessages();
    RC_ASSERT(last_gap == gap);
  }

 private:
  struct Submitted {
    std::string line;
    Topic topic;
    std::unique_ptr<RequestForTest> request;
    int64_t deadline_us = 0;
    int completions = 0;
    bool in_time = true;
  };

  void Submit(TopicKind kind, bool subscribes, const std::string& name) {
    Submitted& one = submitted.emplace_back();
    const std::string_view word = subscribes ? WordsOf(kind).subscribe : WordsOf(kind).unsubscribe;
    one.line = absl::StrCat(std::string(word), name.empty() ? "" : " ", name);
    one.topic = {kind, name};
    one.deadline_us = now_us + kTimeoutUs;
    one.request = std::make_unique<RequestForTest>(one.line);
    one.request->on_complete = [this, &one, kind, subscribes, name] {
      ++one.completions;
      one.in_time = now_us <= one.deadline_us;
      if (subscribes && one.request->result().ok()) wanted.insert({kind, name});
    };
    if (!subscribes) {
      const auto ends = [&](const Topic& topic) {
        return topic.kind == kind && (name.empty() || topic.name == name);
      };
      std::erase_if(wanted, ends);
      std::erase_if(may_stay, ends);
      std::erase_if(owed, [&](const auto& message) { return ends(std::get<0>(message)); });
    }
    machine.Submit(*one.request, now_us);
    Perform();
  }

  void Perform() {
    while (const std::optional<FollowAction> action = machine.NextAction()) {
      switch (action->kind) {
        case FollowAction::Kind::kOpen:
          RC_ASSERT(wires.try_emplace(action->line, Wire{action->address.port}).second);
          break;
        case FollowAction::Kind::kClose:
          RC_ASSERT(wires.erase(action->line) == 1u);
          break;
        case FollowAction::Kind::kSubscribe:
        case FollowAction::Kind::kUnsubscribe:
          RC_ASSERT(wires.at(action->line).open);
          wires.at(action->line).commands.push_back(*action);
          break;
        case FollowAction::Kind::kFindHomes:
          break;
        case FollowAction::Kind::kWake:
          wake_us = action->at_us;
          break;
      }
    }
  }

  bool StepOn(uint64_t line, Wire& wire) {
    if (!wire.open) {
      wire.open = truth.servers.contains(wire.server) && !wire.broken;
      return wire.open ? Report([&] { machine.LineOpened(line, now_us); }) : Lose(line);
    }
    if (!wire.back.empty()) {
      const Wire::Back back = std::move(wire.back.front());
      wire.back.pop_front();
      return Report([&] {
        if (back.id != 0) return machine.Answered(back.id, back.reply, now_us);
        machine.Pushed(line, {back.reply}, now_us);
      });
    }
    if (wire.broken) return Lose(line);
    if (wire.commands.empty()) return false;
    const FollowAction command = std::move(wire.commands.front());
    wire.commands.pop_front();
    Run(wire, command);
    return true;
  }

  // The server runs a command.
  void Run(Wire& wire, const FollowAction& command) {
    const Topic& topic = command.topic;
    if (command.kind == FollowAction::Kind::kUnsubscribe) {
      wire.subscribed.erase(topic);
      return;
    }
    if (topic.kind == TopicKind::kShardChannel && truth.shards.at(topic.name) != wire.server) {
      wire.back.push_back({command.id, Reply::Error("MOVED 1 h:1")});
      return;
    }
    wire.subscribed.insert(topic);
    wire.back.push_back({command.id, Confirmation(topic.kind, true, Reply::Bulk(topic.name), 1)});
  }

  bool Lose(uint64_t line) {
    wires.erase(line);
    return Report([&] { machine.LineLost(line, now_us); });
  }
  template <typename Event>
  bool Report(Event event) {
    event();
    Perform();
    return true;
  }

  void CheckMessages() const {
    for (const auto& [topic, number, events_before] : owed) {
      RC_ASSERT(read.contains({topic, number}) || last_gap > events_before);
    }
  }

  static FollowOptions TestOptions() {
    FollowOptions options;
    options.command_timeout_us = kTimeoutUs;
    options.push_queue = 10;
    options.backoff_base_us = kTimeoutUs / 100;
    options.backoff_cap_us = kTimeoutUs / 20;
    return options;
  }

  int64_t now_us = 5000;
  int64_t wake_us = kNeverUs;
  KnownHomes truth, known;
  std::map<uint64_t, Wire> wires;
  std::set<Topic> wanted;    // Confirmed to the caller.
  std::set<Topic> may_stay;  // The caller does not wait for the confirmation.
  std::map<Topic, int64_t> published;
  std::vector<std::tuple<Topic, int64_t, int>> owed;  // And the number of events read before.
  std::set<std::pair<Topic, int64_t>> read;
  std::map<Topic, int64_t> last_read;
  int events = 0;
  int last_gap = 0;
  FollowMachine machine{TestOptions(), known, base::Rng(7)};
  // The last member, because a request that is destroyed early is abandoned.
  std::deque<Submitted> submitted;
};

std::string_view DrawName() { return kNames[*rc::gen::inRange<size_t>(0, kNames.size())]; }
TopicKind DrawKind() { return static_cast<TopicKind>(*rc::gen::inRange<size_t>(0, kTopicKinds)); }
uint16_t DrawServer() { return *rc::gen::inRange<uint16_t>(0, kServers); }

void TakeRandomStep(Model& model) {
  switch (*rc::gen::inRange(0, 20)) {
    case 0:
    case 1:
      return model.Subscribe(DrawKind(), DrawName());
    case 2:
      return model.Unsubscribe(DrawKind(), DrawName());
    case 3:
      return *rc::gen::inRange(0, 3) == 0 ? model.UnsubscribeFromAll(DrawKind())
                                          : model.LearnHomes();
    case 4:
      return model.Abandon(*rc::gen::inRange<size_t>(0, 1000));
    case 5:
      return model.MoveShard(DrawName(), DrawServer());
    case 6:
      return model.StopServer(DrawServer());
    case 7:
      return model.StartServer(DrawServer());
    case 8:
      return *rc::gen::inRange(0, 3) == 0 ? model.ForgetHomes() : model.LearnHomes();
    case 9:
      return model.Pass(*rc::gen::inRange<int64_t>(0, 2 * kTimeoutUs));
    case 10:
    case 11:
    case 12:
      return model.Publish(DrawKind(), DrawName());
    case 13:
      model.Read();
      return;
    default:
      model.Step(*rc::gen::inRange<size_t>(0, 100));
  }
}

RC_GTEST_PROP(FollowMachineProperty, LosesNoRequestAndNoMessageWithoutSayingSo, ()) {
  Model model;
  const int steps = *rc::gen::inRange(0, 2000);
  for (int step = 0; step < steps; ++step) TakeRandomStep(model);
  model.Settle();
  model.Pass(kTimeoutUs);
  model.Settle();
  model.Check();
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
