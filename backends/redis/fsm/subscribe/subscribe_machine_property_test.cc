// SubscribeMachine on a connection that splits, delays and loses everything, compared with a model
// of the server: every request ends once and in time, its reply is its own first confirmation, what
// is called "not sent" was not sent, no message is read twice or out of order, and a gap follows
// each message that was published to a subscription and is missing.
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

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/backends/redis/fsm/subscribe/subscribe_machine.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/resp/reply_reader.h"
#include "redouble/core/store/resp/reply_writer_for_test.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::ErrorKind;
using store::Reply;

constexpr int64_t kTimeoutUs = 1000;
constexpr size_t kPushQueue = 8;

struct KindWords {
  const char* subscribe;
  const char* unsubscribe;
  const char* message;
};
constexpr std::array kKinds = {
    KindWords{"subscribe", "unsubscribe", "message"},
    KindWords{"psubscribe", "punsubscribe", "pmessage"},
    KindWords{"ssubscribe", "sunsubscribe", "smessage"},
};

// A kind of subscription, as an index, and the name of a channel or pattern.
using Topic = std::pair<size_t, std::string>;

// Redis, and the connection to it: commands and replies wait on their way.
class Server {
 public:
  void Connect() {
    reader.emplace();
    subscribed.clear();
    leaving.clear();
    replies.clear();
    bytes_out.clear();
  }
  void Disconnect() { reader.reset(); }
  bool connected() const { return reader.has_value(); }

  // Runs the commands whose last byte has arrived.
  void Receive(std::string_view bytes) {
    reader->Feed(bytes);
    Reply command;
    while (reader->Next(command) == store::ReplyReader::Outcome::kReply) Run(command.elements());
  }

  void Publish(const Topic& topic, int64_t number) {
    if (!connected() || !subscribed.contains(topic)) return;
    std::vector<Reply> message = {Reply::Bulk(kKinds[topic.first].message),
                                  Reply::Bulk(topic.second)};
    if (topic.first == 1) message.push_back(Reply::Bulk("channel"));
    message.push_back(Reply::Bulk(std::to_string(number)));
    Send(Reply::Array(std::move(message)), std::nullopt, false);
  }

  // Removes and returns the next bytes on the way to the client. `on_confirmation` is called for
  // each confirmation among them that is complete now.
  template <typename OnConfirmation>
  std::string TakeBytes(size_t size, OnConfirmation on_confirmation) {
    std::string bytes = bytes_out.substr(0, size);
    bytes_out.erase(0, bytes.size());
    size_t left = bytes.size();
    while (!replies.empty() && replies.front().missing <= left) {
      left -= replies.front().missing;
      if (replies.front().topic)
        on_confirmation(*replies.front().topic, replies.front().subscribes);
      replies.pop_front();
    }
    if (!replies.empty()) replies.front().missing -= left;
    return bytes;
  }

  std::set<Topic> leaving;  // Unsubscribed on this connection.
  std::set<std::string> names_seen;

 private:
  struct Sent {
    size_t missing;  // Bytes that are still on the way.
    std::optional<Topic> topic;
    bool subscribes;
  };

  void Run(const std::vector<Reply>& words) {
    const std::string name = absl::AsciiStrToLower(words[0].text());
    if (name == "ping") return Send(PongReply(), std::nullopt, false);
    // Some names are forbidden.
    const bool refused = words.size() > 1 && words[1].text().ends_with("7");
    for (size_t i = 1; i < words.size(); ++i) names_seen.insert(words[i].text());
    for (size_t kind = 0; kind < kKinds.size(); ++kind) {
      if (name == kKinds[kind].subscribe) {
        if (refused) return Send(Reply::Error("NOPERM forbidden"), std::nullopt, false);
        for (size_t i = 1; i < words.size(); ++i) Subscribe({kind, words[i].text()});
      } else if (name == kKinds[kind].unsubscribe) {
        std::vector<std::string> names;
        for (size_t i = 1; i < words.size(); ++i) names.push_back(words[i].text());
        if (words.size() == 1) {
          for (const auto& [own_kind, own_name] : subscribed) {
            if (own_kind == kind) names.push_back(own_name);
          }
          if (names.empty()) Confirm(kKinds[kind].unsubscribe, Reply::Nil(), std::nullopt, false);
        }
        for (const std::string& one : names) Unsubscribe({kind, one});
      }
    }
  }

  void Subscribe(const Topic& topic) {
    subscribed.insert(topic);
    leaving.erase(topic);
    Confirm(kKinds[topic.first].subscribe, Reply::Bulk(topic.second), topic, true);
  }
  void Unsubscribe(const Topic& topic) {
    subscribed.erase(topic);
    leaving.insert(topic);
    Confirm(kKinds[topic.first].unsubscribe, Reply::Bulk(topic.second), topic, false);
  }

  // With subscriptions, the reply to PING is an array.
  Reply PongReply() const {
    return subscribed.empty() ? Reply::Status("PONG")
                              : Reply::Array({Reply::Bulk("pong"), Reply::Bulk("")});
  }
  void Confirm(const char* word, Reply name, std::optional<Topic> topic, bool subscribes) {
    Send(Reply::Array({Reply::Bulk(word), std::move(name),
                       Reply::Integer(static_cast<int64_t>(subscribed.size()))}),
         std::move(topic), subscribes);
  }
  void Send(const Reply& reply, std::optional<Topic> topic, bool subscribes) {
    const std::string bytes = ToResp(reply);
    bytes_out += bytes;
    replies.push_back({bytes.size(), std::move(topic), subscribes});
  }

  std::optional<store::ReplyReader> reader;  // Of commands, which are arrays as replies are.
  std::set<Topic> subscribed;
  std::string bytes_out;
  std::deque<Sent> replies;
};

SubscribeOptions TestOptions() {
  SubscribeOptions options;
  options.address = "redis://h:6379";
  options.command_timeout_us = kTimeoutUs;
  options.push_queue = kPushQueue;
  return options;
}

class Model {
 public:
  // "SUBSCRIBE u0 a": the first name is the request's own, so that it can be recognized.
  void Subscribe(size_t kind, const std::string& name) {
    Submit(kKinds[kind].subscribe, absl::StrCat("u", submitted.size()), name);
  }
  void Unsubscribe(size_t kind, const std::string& name) {
    Submit(kKinds[kind].unsubscribe, absl::StrCat("u", submitted.size()), name);
  }
  void UnsubscribeFromAll(size_t kind) { Submit(kKinds[kind].unsubscribe, "", ""); }

  void Ping() {
    machine.Ping();
    Perform(machine.Resume(ConnectionEvent::TurnEnded(now_us)));
  }

  void Abandon(size_t index) {
    if (submitted.empty()) return;
    Submitted& one = submitted[index % submitted.size()];
    if (one.request != nullptr && !one.request->completed()) one.request.reset();
  }

  void Connect() {
    if (server.connected()) return;
    server.Connect();
    Perform(machine.Resume(ConnectionEvent::Connected(now_us)));
  }
  void Lose() {
    if (!server.connected()) return;
    Disconnect();
    RC_ASSERT(machine.Resume(ConnectionEvent::Lost("reset")).close);
  }

  // The socket accepts some bytes, and the server reads them.
  void Write(size_t size) {
    if (unwritten.empty()) return;
    const std::string_view accepted = unwritten.substr(0, size);
    server.Receive(accepted);
    unwritten.remove_prefix(accepted.size());
    Perform(machine.Resume(ConnectionEvent::Written(accepted.size())));
  }

  // The client receives some bytes.
  void Deliver(size_t size) {
    if (!server.connected()) return;
    const std::string bytes = server.TakeBytes(size, [&](const Topic& topic, bool subscribes) {
      if (subscribes) {
        remembered.insert(topic);
      } else {
        remembered.erase(topic);
      }
    });
    if (bytes.empty()) return;
    const ConnectionAction action = machine.Resume(ConnectionEvent::Received(bytes, now_us));
    RC_ASSERT(!action.close);
    Perform(action);
    RC_ASSERT(machine.subscriptions() == remembered.size());
  }

  void Publish(const Topic& topic) {
    const int64_t number = ++published[topic];
    if (remembered.contains(topic) && !server.leaving.contains(topic)) {
      owed.emplace_back(topic, number, events);
    }
    server.Publish(topic, number);
  }

  // The reader takes a push or a gap.
  bool Read() {
    const std::optional<PushEvent> event = machine.TakePush();
    if (!event) return false;
    ++events;
    if (event->is_gap()) {
      last_gap = events;
      return true;
    }
    const std::vector<Reply>& parts = event->push->elements();
    for (size_t kind = 0; kind < kKinds.size(); ++kind) {
      if (parts[0].text() != kKinds[kind].message) continue;
      const Topic topic = {kind, parts[1].text()};
      const int64_t number = std::stoll(parts.back().text());
      RC_ASSERT(number > last_read[topic]);
      last_read[topic] = number;
      read.emplace(topic, number);
    }
    return true;
  }

  void Pass(int64_t duration_us) {
    const int64_t end_us = now_us + duration_us;
    while (wake_us <= end_us) {
      now_us = std::max(now_us, std::exchange(wake_us, SubscribeMachine::kNoTimeout));
      Perform(machine.Resume(ConnectionEvent::Timer(now_us)));
    }
    now_us = end_us;
  }

  // Everything on its way arrives and is read.
  void Settle() {
    Connect();
    for (int i = 0; i < 3; ++i) {
      while (!unwritten.empty()) Write(unwritten.size());
      Deliver(std::string::npos);
      while (Read()) continue;
    }
  }

  void Check() const {
    for (const Submitted& one : submitted) {
      if (one.request != nullptr) CheckResult(one);
    }
    for (const auto& [topic, number, events_before] : owed) {
      RC_ASSERT(read.contains({topic, number}) || last_gap > events_before);
    }
  }

  SubscribeMachine machine{TestOptions()};

 private:
  struct Submitted {
    std::string line;
    std::string word;
    std::string own_name;
    std::unique_ptr<RequestForTest> request;
    int64_t deadline_us = 0;
    int completions = 0;
    bool in_time = true;
  };

  void Submit(const char* word, const std::string& own_name, const std::string& name) {
    Submitted& one = submitted.emplace_back();
    one.word = word;
    one.own_name = own_name;
    one.line =
        absl::StrCat(word, own_name.empty() ? "" : " ", own_name, name.empty() ? "" : " ", name);
    one.deadline_us = now_us + kTimeoutUs;
    one.request = std::make_unique<RequestForTest>(one.line);
    one.request->on_complete = [this, &one] {
      ++one.completions;
      one.in_time = now_us <= one.deadline_us;
    };
    machine.Submit(*one.request);
    Perform(machine.Resume(ConnectionEvent::TurnEnded(now_us)));
  }

  void Disconnect() {
    server.Disconnect();
    unwritten = {};
  }

  void Perform(const ConnectionAction& action) {
    RC_ASSERT(!action.close);
    if (!action.write.empty()) unwritten = action.write;
    if (action.wake_at_us) wake_us = *action.wake_at_us;
  }

  void CheckResult(const Submitted& one) const {
    RC_ASSERT(one.completions == 1);
    RC_ASSERT(one.in_time);
    const absl::StatusOr<Reply>& result = one.request->result();
    if (!result.ok()) {
      RC_ASSERT(store::ErrorKindOf(result.status()).has_value());
      if (store::ErrorKindOf(result.status()) == ErrorKind::kNotSent && !one.own_name.empty()) {
        RC_ASSERT(!server.names_seen.contains(one.own_name));
      }
      return;
    }
    if (result->is_error()) return RC_ASSERT(one.own_name.ends_with("7"));
    RC_ASSERT(result->elements()[0] == Reply::Bulk(one.word));
    if (!one.own_name.empty()) RC_ASSERT(result->elements()[1] == Reply::Bulk(one.own_name));
  }

  int64_t now_us = 5000;
  int64_t wake_us = SubscribeMachine::kNoTimeout;
  Server server;
  std::string_view unwritten;
  std::set<Topic> remembered;  // What the machine has to subscribe to again after a loss.
  std::map<Topic, int64_t> published;
  std::vector<std::tuple<Topic, int64_t, int>> owed;  // And the number of events read before.
  std::set<std::pair<Topic, int64_t>> read;
  std::map<Topic, int64_t> last_read;
  int events = 0;
  int last_gap = 0;
  // The last member, because a request that is destroyed early is abandoned.
  std::deque<Submitted> submitted;
};

std::string DrawName() { return *rc::gen::element<std::string>("a", "b", "c"); }
size_t DrawKind() { return *rc::gen::inRange<size_t>(0, kKinds.size()); }

void TakeRandomStep(Model& model) {
  switch (*rc::gen::inRange(0, 16)) {
    case 0:
    case 1:
      return model.Subscribe(DrawKind(), DrawName());
    case 2:
      return model.Unsubscribe(DrawKind(), DrawName());
    case 3:
      return model.UnsubscribeFromAll(DrawKind());
    case 4:
      return model.Ping();
    case 5:
      return model.Abandon(*rc::gen::inRange<size_t>(0, 1000));
    case 6:
      return model.Connect();
    case 7:
      return *rc::gen::inRange(0, 3) == 0 ? model.Lose() : model.Connect();
    case 8:
    case 9:
      return model.Write(*rc::gen::inRange<size_t>(1, 80));
    case 10:
    case 11:
      return model.Deliver(*rc::gen::inRange<size_t>(1, 120));
    case 12:
    case 13:
      return model.Publish({DrawKind(), DrawName()});
    case 14:
      model.Read();
      return;
    case 15:
      return model.Pass(*rc::gen::inRange<int64_t>(0, kTimeoutUs / 2));
  }
}

RC_GTEST_PROP(SubscribeMachineProperty, LosesNoRequestAndNoMessageWithoutSayingSo, ()) {
  Model model;
  const int steps = *rc::gen::inRange(0, 300);
  for (int step = 0; step < steps; ++step) TakeRandomStep(model);
  model.Settle();
  model.Pass(kTimeoutUs);
  model.Settle();
  RC_ASSERT(model.machine.queued() == 0u);
  model.Check();
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
