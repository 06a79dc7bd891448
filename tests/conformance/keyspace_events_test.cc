// The keyspace events of every step of every conformance file: the memory engine publishes the same
// events as a real redis-server, in the same order.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/tests/conformance/case_files.h"
#include "redouble/tests/conformance/script.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

// All classes, including those that are not in A.
constexpr char kLetters[] = "KAmn";
// The subscribed connection; the connections of scripts are numbered from 0.
constexpr int kSubscriber = 1000;
constexpr int kMarker = 1001;
constexpr char kMark[] = "__keyspace@mark";

using Events = std::vector<std::string>;

// Runs scripts, and collects the published events after each step.
//
// A server expires keys by its timer, so at any moment between two commands, and a busy machine
// makes such moments long. The engine does so when its clock moves. Therefore a server's timer may
// expire keys only while the clock moves as well.
class Listener {
 public:
  explicit Listener(Target& target) : target_(target) { SetActiveExpire(false); }

  Events EventsOf(const Step& step) {
    switch (step.kind) {
      case Step::Kind::kNote:
        return {};
      case Step::Kind::kCase:
        target_.Reset(kStart);
        target_.Run(kSubscriber, {"PSUBSCRIBE", "__keyspace@*"});
        clients_.clear();
        client_ = 0;
        return {};
      case Step::Kind::kClient:
        client_ = clients_.try_emplace(step.argument, static_cast<int>(clients_.size()) + 1)
                      .first->second;
        return {};
      case Step::Kind::kAdvance:
        return EventsOfTime(step.step);
      case Step::Kind::kCommand:
        target_.Run(client_, step.words);
        return Published();
      case Step::Kind::kReceive:
        target_.Poll(client_);
        return Published();
    }
    return {};
  }

 private:
  // Redis expires keys that are due at the same time in unspecified order.
  Events EventsOfTime(absl::Duration step) {
    target_.SetTime(target_.now() + step);
    SetActiveExpire(true);
    target_.Settle();
    SetActiveExpire(false);
    Events events = Published();
    std::sort(events.begin(), events.end());
    return events;
  }

  // A server writes large outputs in several turns, so read up to a marker message. The engine has
  // delivered everything by now, and another command could expire keys.
  Events Published() {
    if (is_server_) target_.Run(kMarker, {"PUBLISH", kMark, ""});
    Events events;
    for (;;) {
      const std::optional<store::Reply> push = target_.Poll(kSubscriber);
      if (!push && !is_server_) return events;
      if (!push) continue;
      const std::string& channel = push->elements()[2].text();
      if (channel == kMark) return events;
      events.push_back(channel + " " + push->elements()[3].text());
    }
  }

  void SetActiveExpire(bool value) {
    if (!is_server_) return;
    EXPECT_EQ(target_.Run(kMarker, {"DEBUG", "SET-ACTIVE-EXPIRE", value ? "1" : "0"}),
              store::Reply::Ok());
  }

  Target& target_;
  const bool is_server_ = target_.name() == "server";
  std::map<std::string, int> clients_;
  int client_ = 0;
};

memory::EngineOptions Options() {
  memory::EngineOptions options;
  options.notify_keyspace_events = kLetters;
  return options;
}

std::vector<std::string> ServerConfig() {
  return {std::string("notify-keyspace-events ") + kLetters, "enable-debug-command yes"};
}

class KeyspaceEvents : public testing::TestWithParam<std::string> {};

// These files block a server, keep it from sending events, turn its events off, let it evict keys
// while it is idle, or decide when it expires keys.
constexpr std::string_view kLeftOut[] = {"acl",    "administration", "busy",
                                         "config", "lazy_expiry",    "maxmemory"};

TEST_P(KeyspaceEvents, AreThoseOfARealServer) {
  if (std::find(std::begin(kLeftOut), std::end(kLeftOut), GroupOf(GetParam())) !=
      std::end(kLeftOut)) {
    GTEST_SKIP() << "its commands change what is told, or to whom";
  }
  const Script script = ParseScript(ReadFile(GetParam()).value()).value();
  MemoryTarget memory(Options());
  ServerTarget server(ServerConfig());
  Listener memory_listener(memory);
  Listener server_listener(server);
  for (const Step& step : script.steps) {
    EXPECT_EQ(memory_listener.EventsOf(step), server_listener.EventsOf(step))
        << "line " << step.line << ": " << step.source;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, KeyspaceEvents, testing::ValuesIn(CaseFiles()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return GroupOf(info.param);
                         });

// Without this a test would fail whenever a machine is so busy that the server's timer runs between
// two commands.
TEST(ServerEvents, OfATimerDoNotComeBetweenCommands) {
  constexpr char kScript[] = "@case a deadline in the past\n> SET k v PXAT 1\n> PING\n> EXISTS k\n";
  const Script script = ParseScript(kScript).value();
  ServerTarget server(ServerConfig());
  Listener listener(server);
  std::vector<Events> events;
  for (const Step& step : script.steps) {
    events.push_back(listener.EventsOf(step));
    server.Settle();  // The timer runs.
  }
  const std::vector<Events> expected = {
      {},
      {"__keyspace@0__:k new", "__keyspace@0__:k set", "__keyspace@0__:k expire"},
      {},
      {"__keyspace@0__:k expired", "__keyspace@0__:k keymiss"}};
  EXPECT_EQ(events, expected);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
