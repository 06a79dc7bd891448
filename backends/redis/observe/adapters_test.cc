// The adapters of CommandHook, each fed by a RequestObserver as a client feeds it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/backends/redis/observe/command_latencies.h"
#include "redouble/backends/redis/observe/command_spans.h"
#include "redouble/backends/redis/observe/request_observer.h"
#include "redouble/backends/redis/observe/slow_commands.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;
using store::Request;

// A client with one hook, on a virtual clock.
class Client {
 public:
  explicit Client(CommandHook hook)
      : observer_(RequestObserver::Make(std::move(hook), "", [this] { return now_us_; })) {}

  // Sends a request to "b:2" by way of "a:1", which takes `us`, and completes it.
  void Redirect(Request& request, int64_t us, absl::StatusOr<Reply> result) {
    observer_->Submit(request, [&](Request& observed) {
      observer_->Sent(observed, "a:1");
      observer_->Redirected(observed, "a:1", "MOVED 7 b:2");
      observer_->Sent(observed, "b:2");
      now_us_ += us;
      observed.Complete(std::move(result));
    });
  }
  void Run(const char* line, int64_t us, absl::StatusOr<Reply> result) {
    RequestForTest request(line);
    observer_->Submit(request, [&](Request& observed) {
      observer_->Sent(observed, "/run/redis.sock");
      now_us_ += us;
      observed.Complete(std::move(result));
    });
  }

 private:
  int64_t now_us_ = 0;
  const std::shared_ptr<RequestObserver> observer_;
};

TEST(CommandLatencies, AreKeptForEachCommand) {
  CommandLatencies latencies;
  Client client(latencies.hook());
  client.Run("GET key", 100, Reply::Nil());
  client.Run("get key", 300, Reply::Error("WRONGTYPE"));
  client.Run("SET key 1", 50, store::OutcomeUnknownError("lost"));
  RequestForTest incr("INCR n");
  client.Redirect(incr, 7, Reply::Integer(1));
  const auto figures = latencies.Snapshot();
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_EQ(figures.at("GET").latency.count(), 2u);
  EXPECT_EQ(figures.at("GET").latency.sum_us(), 400u);
  EXPECT_EQ(figures.at("GET").errors, (std::map<std::string, uint64_t>{{"WRONGTYPE", 1}}));
  EXPECT_EQ(figures.at("SET").errors, (std::map<std::string, uint64_t>{{"UNAVAILABLE", 1}}));
  EXPECT_EQ(figures.at("INCR").redirects, 1u);
}

TEST(CommandLatencies, BoundTheirNames) {
  CommandLatencies latencies(/*max_names=*/2);
  Client client(latencies.hook());
  for (const char* name : {"A", "B", "C", "D", "A"}) client.Run(name, 1, Reply::Nil());
  const auto figures = latencies.Snapshot();
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_EQ(figures.at("A").latency.count(), 2u);
  EXPECT_EQ(figures.at("OTHER").latency.count(), 2u);
}

TEST(SlowCommands, KeepTheNewestThatTookLong) {
  SlowCommands slow({.threshold = absl::Microseconds(100), .max_entries = 2});
  Client client(slow.hook());
  client.Run("GET fast", 99, Reply::Nil());
  client.Run("GET one", 100, Reply::Nil());
  client.Run("SET two secret", 200, Reply::Error("OOM no memory"));
  RequestForTest incr("INCR n");
  client.Redirect(incr, 300, Reply::Integer(1));
  EXPECT_EQ(slow.total(), 3u);
  const std::vector<SlowCommand> entries = slow.Entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "INCR");
  EXPECT_EQ(entries[0].node, "b:2");
  EXPECT_EQ(entries[0].sends, 2);
  EXPECT_EQ(entries[0].redirects, 1);
  EXPECT_EQ(entries[0].duration, absl::Microseconds(300));
  EXPECT_EQ(entries[1].name, "SET");
  EXPECT_EQ(entries[1].error, "OOM");
  EXPECT_EQ(entries[1].request_bytes, 12u);
}

std::string Text(const std::vector<std::pair<std::string, CommandSpan::Value>>& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes) {
    const bool is_number = std::holds_alternative<int64_t>(value);
    absl::StrAppend(
        &text, text.empty() ? "" : " ", name, "=",
        is_number ? absl::StrCat(std::get<int64_t>(value)) : std::get<std::string>(value));
  }
  return text;
}

class CommandSpansTest : public testing::Test {
 protected:
  base::VirtualClock clock{absl::FromUnixSeconds(1000)};
  std::vector<CommandSpan> spans;
  CommandSpans adapter{clock, Options::Parse("redis://example.com:7000/3").value(),
                       [this](CommandSpan span) { spans.push_back(std::move(span)); }};
  Client client{adapter.hook()};
};

TEST_F(CommandSpansTest, HaveTheNamesOfOpenTelemetry) {
  adapter.set_parent([] { return std::string("00-trace-span-01"); });
  RequestForTest incr("INCR n");
  client.Redirect(incr, 250, Reply::Integer(1));
  ASSERT_EQ(spans.size(), 1u);
  const CommandSpan& span = spans[0];
  EXPECT_EQ(span.name, "INCR");
  EXPECT_EQ(span.parent, "00-trace-span-01");
  EXPECT_EQ(span.start, absl::FromUnixSeconds(1000));
  EXPECT_EQ(span.end - span.start, absl::Microseconds(250));
  EXPECT_FALSE(span.failed);
  EXPECT_EQ(Text(span.attributes),
            "db.system.name=redis db.namespace=3 server.address=example.com server.port=7000 "
            "db.operation.name=INCR network.peer.address=b network.peer.port=2 redouble.sends=2 "
            "redouble.redirects=1");
  ASSERT_EQ(span.events.size(), 1u);
  EXPECT_EQ(span.events[0].name, "redirect");
  EXPECT_EQ(Text(span.events[0].attributes),
            "redouble.cause=MOVED 7 b:2 network.peer.address=a network.peer.port=1");
}

TEST_F(CommandSpansTest, SayWhyARequestFailedWithoutItsArguments) {
  client.Run("SET key secret", 1, Reply::Error("ERR bad argument 'secret'"));
  client.Run("GET key", 1, store::NotSentError("not connected to redis://b:2"));
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_TRUE(spans[0].failed && spans[1].failed);
  EXPECT_EQ(spans[0].description, "");
  EXPECT_TRUE(
      absl::StrContains(Text(spans[0].attributes), "error.type=ERR db.response.status_code=ERR"));
  EXPECT_EQ(Text(spans[0].attributes).find("secret"), std::string::npos);
  EXPECT_TRUE(
      absl::StrContains(Text(spans[0].attributes), "network.peer.address=/run/redis.sock "));
  EXPECT_EQ(spans[1].description, "not connected to redis://b:2");
  EXPECT_TRUE(absl::StrContains(Text(spans[1].attributes), "error.type=UNAVAILABLE"));
}

TEST_F(CommandSpansTest, CountTheCommandsOfABatch) {
  RequestForTest batch(Request::Kind::kPipeline, {"GET a", "GET b"});
  client.Redirect(batch, 1, Reply::Array({Reply::Nil(), Reply::Nil()}));
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].name, "PIPELINE GET");
  EXPECT_TRUE(absl::StrContains(Text(spans[0].attributes), "db.operation.batch.size=2"));
}

TEST(CombineHooks, PassesEachEventToAll) {
  CommandLatencies latencies;
  SlowCommands slow({.threshold = absl::ZeroDuration()});
  Client client(CombineHooks({latencies.hook(), slow.hook()}));
  client.Run("GET key", 1, Reply::Nil());
  EXPECT_EQ(latencies.Snapshot().size(), 1u);
  EXPECT_EQ(slow.total(), 1u);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
