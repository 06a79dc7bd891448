// The keyspace events of every step of every conformance file: the memory engine publishes the
// same ones as a real redis-server, in the same order.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/case_files.h"
#include "tests/conformance/script.h"
#include "tests/support/memory_target.h"
#include "tests/support/server_target.h"

namespace redouble::tests {
namespace {

// All classes, those that are not in A too.
constexpr char kLetters[] = "KAmn";
// The connection that listens; the scripts number theirs from 0 on.
constexpr int kSubscriber = 1000;
constexpr int kMarker = 1001;
constexpr char kMark[] = "__keyspace@mark";

using Events = std::vector<std::string>;

// Plays scripts, and asks after each step what was published.
class Listener {
 public:
  explicit Listener(Target& target) : target_(target) {}

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
  // Which of the keys that are due goes first is Redis's chance.
  Events EventsOfTime(absl::Duration step) {
    target_.SetTime(target_.now() + step);
    target_.Settle();
    Events events = Published();
    std::sort(events.begin(), events.end());
    return events;
  }

  // From a server, which writes long outputs in several turns, up to a mark of its own. The engine
  // has delivered all by now, and another command would be the occasion for keys to expire.
  Events Published() {
    const bool marked = target_.name() == "server";
    if (marked) target_.Run(kMarker, {"PUBLISH", kMark, ""});
    Events events;
    for (;;) {
      const std::optional<store::Reply> push = target_.Poll(kSubscriber);
      if (!push && !marked) return events;
      if (!push) continue;
      const std::string& channel = push->elements()[2].text();
      if (channel == kMark) return events;
      events.push_back(channel + " " + push->elements()[3].text());
    }
  }

  Target& target_;
  std::map<std::string, int> clients_;
  int client_ = 0;
};

memory::EngineOptions Options() {
  memory::EngineOptions options;
  options.notify_keyspace_events = kLetters;
  return options;
}

class KeyspaceEvents : public testing::TestWithParam<std::string> {};

// These keep a server from running commands or from telling them to the listener, turn its events
// off, or let it evict when it has time.
constexpr std::string_view kLeftOut[] = {"acl", "administration", "busy", "config", "maxmemory"};

TEST_P(KeyspaceEvents, AreThoseOfARealServer) {
  if (std::find(std::begin(kLeftOut), std::end(kLeftOut), GroupOf(GetParam())) !=
      std::end(kLeftOut)) {
    GTEST_SKIP() << "its commands change what is told, or to whom";
  }
  const Script script = ParseScript(ReadFile(GetParam()).value()).value();
  MemoryTarget memory(Options());
  ServerTarget server({std::string("notify-keyspace-events ") + kLetters});
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

}  // namespace
}  // namespace redouble::tests
