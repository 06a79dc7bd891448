// Reconnection, retries, blocking commands, subscriptions and hooks against a real redis-server.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>

#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/net/await_task.h"
#include "redouble/backends/redis/net/connector.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/net/subscriber.h"
#include "redouble/backends/redis/net/transport.h"
#include "redouble/backends/redis/observe/command_event.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::ErrorKind;
using store::Reply;

class LiveReconnect : public LiveTest {
 protected:
  void SetUp() override { StartServer({}); }
  std::unique_ptr<Client> Connected(std::string_view query = "", ClientHooks hooks = {}) {
    auto client = Connect(absl::StrCat(server->uri(), std::string(query)), std::move(hooks));
    EXPECT_THAT(client, IsOk());
    return std::move(client).value();
  }
  std::unique_ptr<Subscriber> Subscribed(std::string_view query = "") {
    const Options options = Options::Parse(absl::StrCat(server->uri(), std::string(query))).value();
    auto subscriber = Run(Subscriber::Connect(context.get_executor(), options)).value();
    const std::string_view channels[] = {"news"};
    EXPECT_THAT(Run(store::Subscribe(*subscriber, channels)), IsOk());
    return subscriber;
  }
  std::string NextPayload(Subscriber& subscriber) {
    const absl::StatusOr<PushEvent> event = Run(subscriber.Next());
    if (!event.ok()) return std::string(event.status().message());
    if (event->is_gap()) return "gap";
    const std::optional<store::Message> message = store::ReadMessage(*event->push);
    return message ? message->payload : "no message";
  }
};

TEST_F(LiveReconnect, ComesBackByItselfAfterCrashAndRestart) {
  std::vector<std::string> log;
  ClientHooks hooks;
  hooks.log = [&](const LogEvent& event) { log.emplace_back(LogEventName(event.kind)); };
  const std::unique_ptr<Client> client = Connected("?backoff_cap=50ms&backoff_base=1ms", hooks);
  server->Kill();
  RunUntil([&] { return client->counters().connect_failures >= 2; });
  EXPECT_FALSE(client->connected());
  base::Task<absl::StatusOr<bool>> waiting = store::Set(*client, "key", "value");
  waiting.Start();
  ASSERT_THAT(server->Restart(), IsOk());
  RunUntil([&] { return waiting.done(); });
  EXPECT_THAT(waiting.TakeResult(), IsOk()) << "what was submitted in between waits";
  EXPECT_TRUE(client->connected());
  EXPECT_EQ(client->counters().connects, 2u);
  EXPECT_EQ(client->counters().losses, 1u);
  ASSERT_GE(log.size(), 5u);
  EXPECT_EQ(log[0], "connected");
  EXPECT_EQ(log[1], "lost");
  EXPECT_EQ(log[2], "connect failed");
  EXPECT_EQ(log[3], "waiting");
  EXPECT_EQ(log.back(), "connected");
}

TEST_F(LiveReconnect, WaitsNoLongerThanTheCommandsTimeout) {
  const std::unique_ptr<Client> client = Connected("?command_timeout=30ms");
  server->Kill();
  RunUntil([&] { return !client->connected(); });
  const absl::Status status = Run(store::Get(*client, "key")).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(store::ErrorKindOf(status), ErrorKind::kNotSent);
  EXPECT_TRUE(absl::StrContains(status.message(), "(not connected: ")) << status;
}

TEST_F(LiveReconnect, AKilledConnectionLeavesTheOutcomeUnknownUnlessItMayBeRepeated) {
  const std::unique_ptr<Client> client = Connected("?retry=idempotent");
  const std::unique_ptr<Client> killer = Connected();
  ASSERT_THAT(Send(*killer, {"CLIENT", "PAUSE", "60000", "ALL"}), IsOk());
  base::Task<absl::StatusOr<int64_t>> incr = store::Incr(*client, "n");
  base::Task<absl::StatusOr<std::optional<std::string>>> get = store::Get(*client, "n");
  incr.Start();
  get.Start();
  RunUntil([&] { return client->counters().writes > 0; });
  server->Kill();
  RunUntil([&] { return incr.done(); });
  EXPECT_EQ(store::ErrorKindOf(incr.TakeResult().status()), ErrorKind::kOutcomeUnknown);
  EXPECT_FALSE(get.done()) << "it only reads";
  ASSERT_THAT(server->Restart(), IsOk());
  RunUntil([&] { return get.done(); });
  EXPECT_EQ(get.TakeResult().value(), std::nullopt);
  EXPECT_EQ(client->counters().retries, 1u);
}

TEST_F(LiveReconnect, AClientMayBeMadeBeforeItsServerIsThere) {
  server->Kill();
  const auto client = Client::Create(context.get_executor(), Options::Parse(server->uri()).value());
  ASSERT_THAT(client, IsOk());
  RunUntil([&] { return (*client)->counters().connect_failures > 0; });
  ASSERT_THAT(server->Restart(), IsOk());
  EXPECT_THAT(Run(store::Set(**client, "key", "value")), IsOk());
  EXPECT_FALSE(
      Client::Create(context.get_executor(), Options::Parse("redis://h?cluster=yes").value()).ok());
}

TEST_F(LiveReconnect, PingsAServerThatIsSilentAndGivesItUp) {
  std::vector<std::string> log;
  ClientHooks hooks;
  hooks.log = [&](const LogEvent& event) { log.emplace_back(LogEventName(event.kind)); };
  const std::unique_ptr<Client> client =
      Connected("?health_check_interval=5ms&command_timeout=50ms", hooks);
  RunUntil([&] { return client->counters().pings >= 2; });
  EXPECT_TRUE(client->connected());
  ASSERT_EQ(kill(server->pid(), SIGSTOP), 0);
  RunUntil([&] { return client->counters().losses > 0; });
  ASSERT_EQ(kill(server->pid(), SIGCONT), 0);
  EXPECT_EQ(log[1], "unhealthy");
  EXPECT_EQ(log[2], "lost");
}

TEST_F(LiveReconnect, ASubscriberGivesUpAServerThatIsSilent) {
  const std::unique_ptr<Subscriber> subscriber =
      Subscribed("?health_check_interval=5ms&command_timeout=50ms&connect_timeout=50ms");
  ASSERT_EQ(kill(server->pid(), SIGSTOP), 0);
  RunUntil([&] { return subscriber->counters().losses > 0; });
  ASSERT_EQ(kill(server->pid(), SIGCONT), 0);
  EXPECT_EQ(NextPayload(*subscriber), "gap") << "it has subscribed again";
}

TEST_F(LiveReconnect, BlockingCommandsKeepTheirConnectionWhenTheMainOneIsLost) {
  const std::unique_ptr<Client> client = Connected("?retry=idempotent");
  const auto id = Send(*client, {"CLIENT", "ID"});
  ASSERT_THAT(id, IsOk());
  base::Task<absl::StatusOr<Reply>> pop = SendWords(*client, {"BLPOP", "list", "0"});
  pop.Start();
  RunUntil([&] { return client->counters().connects == 2; });
  const std::unique_ptr<Client> other = Connected();
  const std::string main_id = absl::StrCat(id->integer());
  EXPECT_THAT(Send(*other, {"CLIENT", "KILL", "ID", main_id}), IsOkAndHolds(Reply::Integer(1)));
  EXPECT_THAT(Send(*client, {"GET", "key"}), IsOk());
  EXPECT_EQ(client->counters().losses, 1u);
  EXPECT_FALSE(pop.done());
  EXPECT_THAT(Send(*other, {"RPUSH", "list", "x"}), IsOkAndHolds(Reply::Integer(1)));
  RunUntil([&] { return pop.done(); });
  EXPECT_EQ(pop.TakeResult()->DebugString(), R"(["list", "x"])");
}

TEST_F(LiveReconnect, BlockingCommandsDelayNoOtherCommand) {
  const std::unique_ptr<Client> client = Connected();
  std::vector<base::Task<absl::StatusOr<Reply>>> pops;
  for (int i = 0; i < 3; ++i) {
    pops.push_back(SendWords(*client, {"BLPOP", "list", "0"}));
    pops.back().Start();
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Send(*client, {"RPUSH", "list", "x"}), IsOk());
  }
  RunUntil([&] { return pops[0].done() && pops[1].done() && pops[2].done(); });
  for (auto& pop : pops) EXPECT_EQ(pop.TakeResult()->DebugString(), R"(["list", "x"])");
}

TEST_F(LiveReconnect, FurtherBlockingCommandsWaitForAConnection) {
  const std::unique_ptr<Client> client =
      Connected("?blocking_connections=1&idle_connections=1&command_timeout=1s");
  base::Task<absl::StatusOr<Reply>> first = SendWords(*client, {"BLPOP", "a", "0"});
  base::Task<absl::StatusOr<Reply>> second = SendWords(*client, {"BLPOP", "b", "0"});
  first.Start();
  second.Start();
  EXPECT_THAT(Send(*client, {"RPUSH", "b", "2"}), IsOk());
  EXPECT_FALSE(second.done());
  EXPECT_THAT(Send(*client, {"RPUSH", "a", "1"}), IsOk());
  RunUntil([&] { return first.done() && second.done(); });
  EXPECT_EQ(first.TakeResult()->DebugString(), R"(["a", "1"])");
  EXPECT_EQ(second.TakeResult()->DebugString(), R"(["b", "2"])");
  EXPECT_EQ(client->counters().connects, 2u) << "the one connection was used twice";
}

TEST_F(LiveReconnect, ABlockingCommandThatIsTakenBackPopsNothing) {
  const std::unique_ptr<Client> client = Connected();
  {
    base::Task<absl::StatusOr<Reply>> pop = SendWords(*client, {"BLPOP", "list", "0"});
    pop.Start();
    while (Send(*client, {"INFO", "clients"}).value().text().find("blocked_clients:1") ==
           std::string::npos) {
    }
  }
  while (Send(*client, {"INFO", "clients"}).value().text().find("blocked_clients:0") ==
         std::string::npos) {
  }
  EXPECT_THAT(Send(*client, {"RPUSH", "list", "x"}), IsOkAndHolds(Reply::Integer(1)));
  EXPECT_THAT(Send(*client, {"LLEN", "list"}), IsOkAndHolds(Reply::Integer(1)));
}

TEST_F(LiveReconnect, ABlockingCommandEndsWithinItsTimeouts) {
  const std::unique_ptr<Client> client = Connected("?blocking_timeout=30ms&blocking_connections=1");
  base::Task<absl::StatusOr<Reply>> first = SendWords(*client, {"BLPOP", "a", "0"});
  base::Task<absl::StatusOr<Reply>> second = SendWords(*client, {"BLPOP", "a", "0"});
  first.Start();
  second.Start();
  RunUntil([&] { return first.done() && second.done(); });
  EXPECT_EQ(store::ErrorKindOf(first.TakeResult().status()), ErrorKind::kOutcomeUnknown);
  const absl::Status waited = second.TakeResult().status();
  EXPECT_THAT(waited, StatusIs(absl::StatusCode::kDeadlineExceeded)) << waited;
  const Counters& counters = client->counters();
  EXPECT_EQ(counters.requests, 2u);
  EXPECT_EQ(counters.outcome_unknown, 1u);
  EXPECT_EQ(counters.not_sent, 1u);
  EXPECT_EQ(counters.timeouts, 2u);
  EXPECT_EQ(counters.in_flight, 0u);
}

TEST_F(LiveReconnect, CountsWhatWaitsForAConnectionAndNeverGetsIt) {
  const std::unique_ptr<Client> client = Connected("?blocking_connections=1");
  const Counters& counters = client->counters();
  base::Task<absl::StatusOr<Reply>> first = SendWords(*client, {"BLPOP", "a", "0"});
  std::optional second = SendWords(*client, {"BLPOP", "a", "0"});
  base::Task<absl::StatusOr<Reply>> third = SendWords(*client, {"BLPOP", "a", "0"});
  first.Start();
  second->Start();
  third.Start();
  EXPECT_EQ(counters.in_flight, 3u);
  second.reset();
  EXPECT_EQ(counters.abandoned, 1u);
  client->Close();
  EXPECT_EQ(store::ErrorKindOf(third.TakeResult().status()), ErrorKind::kNotSent);
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  batch.Add(store::CommandId::kBLPop, {"a", "0"});
  EXPECT_FALSE(Run(store::Execute(*client, batch)).ok());
  EXPECT_EQ(counters.requests, 4u);
  EXPECT_EQ(counters.commands, 4u);
  EXPECT_EQ(counters.not_sent, 3u);
  EXPECT_EQ(counters.in_flight, 0u);
}

TEST_F(LiveReconnect, RefusesBlockingCommandsBeyondItsLimits) {
  for (const std::string_view limit : {"queue_limit=1", "queue_bytes=7"}) {
    const std::unique_ptr<Client> client =
        Connected(absl::StrCat("?blocking_connections=1&", std::string(limit)));
    base::Task<absl::StatusOr<Reply>> blocked = SendWords(*client, {"BLPOP", "a", "0"});
    base::Task<absl::StatusOr<Reply>> waiting = SendWords(*client, {"BLPOP", "b", "0"});
    blocked.Start();
    waiting.Start();
    const absl::Status refused = Send(*client, {"BLPOP", "c", "0"}).status();
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted)) << limit;
    EXPECT_EQ(store::ErrorKindOf(refused), ErrorKind::kNotSent);
    EXPECT_THAT(Send(*client, {"RPUSH", "a", "1"}), IsOk());
    EXPECT_THAT(Send(*client, {"RPUSH", "b", "2"}), IsOk());
    RunUntil([&] { return blocked.done() && waiting.done(); });
    EXPECT_THAT(waiting.TakeResult(), IsOk());
    EXPECT_THAT(Send(*client, {"BLPOP", "c", "0.001"}), IsOk()) << "there is room again";
  }
}

// A worker that repeats its command does not dial the server in a circle.
TEST_F(LiveReconnect, BlockingCommandsWaitForAServerThatIsDown) {
  const std::unique_ptr<Client> client = Connected("?command_timeout=30ms&backoff_base=1ms");
  EXPECT_THAT(Send(*client, {"BLPOP", "list", "0.001"}), IsOk());
  server->Kill();
  RunUntil([&] { return !client->connected(); });
  const absl::Status status = Send(*client, {"BLPOP", "list", "0.001"}).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(store::ErrorKindOf(status), ErrorKind::kNotSent);
  EXPECT_TRUE(absl::StrContains(status.message(), "not connected to ")) << status;
  base::Task<absl::StatusOr<Reply>> pop = SendWords(*client, {"BLPOP", "list", "0"});
  pop.Start();
  ASSERT_THAT(server->Restart(), IsOk());
  // The command timeout is short, and a slow machine may need it several times.
  while (!Send(*client, {"RPUSH", "list", "x"}).ok()) continue;
  RunUntil([&] { return pop.done(); });
  EXPECT_EQ(pop.TakeResult()->DebugString(), R"(["list", "x"])");
}

TEST_F(LiveReconnect, BlockingCommandsFailOnceThereWillBeNoConnection) {
  server->Kill();
  const auto client = Client::Create(context.get_executor(),
                                     Options::Parse(server->uri() + "?reconnect=no").value(), {});
  ASSERT_THAT(client, IsOk());
  const absl::Status status = Send(**client, {"BLPOP", "list", "0"}).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(store::ErrorKindOf(status), ErrorKind::kNotSent);
}

TEST_F(LiveReconnect, BlockingCommandsFailWithTheirConnectionAndWithTheClient) {
  std::unique_ptr<Client> client = Connected("?blocking_connections=1");
  base::Task<absl::StatusOr<Reply>> blocked = SendWords(*client, {"BLPOP", "a", "0"});
  base::Task<absl::StatusOr<Reply>> waiting = SendWords(*client, {"BLPOP", "a", "0"});
  blocked.Start();
  waiting.Start();
  RunUntil([&] { return client->counters().connects == 2 && client->counters().writes > 0; });
  client->Close();
  EXPECT_EQ(store::ErrorKindOf(blocked.TakeResult().status()), ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(store::ErrorKindOf(waiting.TakeResult().status()), ErrorKind::kNotSent);
  EXPECT_TRUE(client->closed());
  EXPECT_EQ(store::ErrorKindOf(Send(*client, {"BLPOP", "a", "0"}).status()), ErrorKind::kNotSent);
}

TEST_F(LiveReconnect, SubscribesAgainAndReportsTheGap) {
  const std::unique_ptr<Subscriber> subscriber = Subscribed("?backoff_base=1ms");
  {
    const std::unique_ptr<Client> client = Connected();
    EXPECT_THAT(Run(store::Publish(*client, "news", "first")), IsOkAndHolds(1));
    EXPECT_EQ(NextPayload(*subscriber), "first");
  }
  ASSERT_THAT(server->Restart(), IsOk());
  EXPECT_EQ(NextPayload(*subscriber), "gap");
  const std::unique_ptr<Client> client = Connected();
  EXPECT_THAT(Run(store::Publish(*client, "news", "second")), IsOkAndHolds(1));
  EXPECT_EQ(NextPayload(*subscriber), "second");
  EXPECT_EQ(subscriber->counters().losses, 1u);
}

TEST_F(LiveReconnect, ReportsWhatASubscriberSends) {
  std::vector<std::string> events;
  ClientHooks hooks;
  hooks.command = [&](const CommandEvent& event) {
    static constexpr const char* kNames[] = {"start", "send", "redirect", "end"};
    events.push_back(absl::StrCat(kNames[static_cast<size_t>(event.kind)], " ", event.id, " ",
                                  RequestName(*event.request),
                                  event.node == server->unix_socket() ? " server" : ""));
  };
  const auto subscriber = Run(
      Subscriber::Connect(context.get_executor(), Options::Parse(server->uri()).value(), hooks));
  ASSERT_THAT(subscriber, IsOk());
  const std::string_view channels[] = {"news"};
  EXPECT_THAT(Run(store::Subscribe(**subscriber, channels)), IsOk());
  EXPECT_FALSE(Run(SendWords(**subscriber, {"GET", "key"})).ok());
  ASSERT_THAT(server->Restart(), IsOk());
  EXPECT_EQ(NextPayload(**subscriber), "gap") << "it subscribes again, which is no request";
  EXPECT_EQ(events,
            (std::vector<std::string>{"start 1 SUBSCRIBE", "send 1 SUBSCRIBE server",
                                      "end 1 SUBSCRIBE server", "start 2 GET", "end 2 GET"}));
}

TEST_F(LiveReconnect, ASlowReaderSeesTheNewestMessagesBehindAGap) {
  const std::unique_ptr<Subscriber> subscriber = Subscribed("?push_queue=10");
  const std::unique_ptr<Client> client = Connected();
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(Run(store::Publish(*client, "news", std::to_string(i))), IsOk());
  }
  RunUntil([&] { return subscriber->counters().pushes == 100; });
  EXPECT_EQ(NextPayload(*subscriber), "gap");
  for (int i = 90; i < 100; ++i) EXPECT_EQ(NextPayload(*subscriber), std::to_string(i));
  EXPECT_EQ(subscriber->counters().pushes_dropped, 90u);
}

class Collector final : public store::PushListener {
 public:
  void OnPush(const Reply& push) override {
    if (auto message = store::ReadMessage(push)) heard.push_back(message->payload);
  }
  void OnGap() override { heard.push_back("gap"); }
  std::vector<std::string> heard;
};

TEST_F(LiveReconnect, HandsMessagesToAListener) {
  Collector collector;
  const std::unique_ptr<Subscriber> subscriber = Subscribed();
  const std::unique_ptr<Client> client = Connected();
  ASSERT_THAT(Run(store::Publish(*client, "news", "queued")), IsOk());
  RunUntil([&] { return subscriber->counters().pushes == 1; });
  subscriber->Listen(&collector);
  RunUntil([&] { return collector.heard.size() == 1; });
  ASSERT_THAT(Run(store::Publish(*client, "news", "heard")), IsOk());
  RunUntil([&] { return collector.heard.size() == 2; });
  EXPECT_EQ(collector.heard, (std::vector<std::string>{"queued", "heard"}));
}

TEST_F(LiveReconnect, AClosedSubscriberEndsItsReader) {
  std::unique_ptr<Subscriber> subscriber = Subscribed();
  base::Task<absl::StatusOr<PushEvent>> next = subscriber->Next();
  next.Start();
  subscriber->Close();
  ASSERT_TRUE(next.done());
  EXPECT_THAT(next.TakeResult(), StatusIs(absl::StatusCode::kUnavailable));
  const std::unique_ptr<Subscriber> once = Subscribed("?reconnect=no");
  base::Task<absl::StatusOr<PushEvent>> last = once->Next();
  last.Start();
  server->Kill();
  RunUntil([&] { return last.done(); });
  EXPECT_FALSE(last.TakeResult().ok());
}

boost::asio::awaitable<absl::StatusOr<int64_t>> CountOn(boost::asio::any_io_executor strand,
                                                        Client& client) {
  co_return co_await AwaitTaskOn(strand, store::Incr(client, "n"));
}

// The operating system ends a connection whose peer is silent, also while commands have no limit.
TEST_F(LiveReconnect, LimitsTheSilenceOfThePeer) {
  SpawnedServerOptions tcp;
  tcp.listen_on_loopback = true;
  ASSERT_OK_AND_ASSIGN(const auto own, SpawnedServer::Start(tcp));
  const auto value_of = [&](const std::string& keep_alive, int name) {
    const Options options =
        Options::Parse(own->loopback_uri() + "?command_timeout=inf&keep_alive=" + keep_alive)
            .value();
    const auto connector = std::make_shared<Connector>(context.get_executor(), options);
    bool done = false;
    connector->Start([&] { done = true; });
    RunUntil([&] { return done; });
    EXPECT_THAT(connector->status(), IsOk());
    const std::unique_ptr<Transport> transport = connector->TakeTransport();
    int value = -1;
    socklen_t size = sizeof(value);
    getsockopt(transport->socket().native_handle(), IPPROTO_TCP, name, &value, &size);
    return value;
  };
  EXPECT_EQ(value_of("30s", TCP_KEEPIDLE), 30);
  EXPECT_EQ(value_of("30s", TCP_USER_TIMEOUT), 60'000);
  EXPECT_EQ(value_of("inf", TCP_USER_TIMEOUT), 0);
}

TEST_F(LiveReconnect, SeveralThreadsShareAClientThroughAStrand) {
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  const auto strand = boost::asio::make_strand(context.get_executor());
  auto connected = boost::asio::co_spawn(
      strand, AwaitTask(Client::Connect(strand, Options::Parse(server->uri()).value())),
      boost::asio::use_future);
  std::vector<std::thread> threads;
  auto work = boost::asio::make_work_guard(context);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&] { context.run(); });
  std::unique_ptr<Client> client = *connected.get();
  std::vector<std::future<absl::StatusOr<int64_t>>> counts;
  // Runs on the threads of the pool, on the strand while it uses the client.
  for (int i = 0; i < kEach; ++i) {
    auto count = CountOn(strand, *client);
    counts.push_back(boost::asio::co_spawn(context, std::move(count), boost::asio::use_future));
  }
  int64_t highest = 0;
  for (auto& count : counts) highest = std::max(highest, *count.get());
  EXPECT_EQ(highest, kEach);
  boost::asio::post(strand, [&] { client.reset(); });
  work.reset();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
