#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/net/client/node_connections.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/net/client/sync_store.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/spawn/loopback_port.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::Command;
using store::Reply;

// A request for a server, and its result.
struct Sent {
  Sent(NodeConnections& nodes, const TcpAddress& address, std::vector<std::string_view> words) {
    commands.push_back(Command::Named(words[0], std::span(words).subspan(1)));
    request = std::make_unique<NodeRequest>(store::Request::Kind::kCommand, commands,
                                            [this](bool was_reached, auto reply) {
                                              reached = was_reached;
                                              result = std::move(reply);
                                            });
    nodes.Submit(address, *request);
  }

  std::vector<Command> commands;
  std::unique_ptr<NodeRequest> request;
  bool reached = false;
  std::optional<absl::StatusOr<Reply>> result;
};

class NodeConnectionsTest : public LiveTest {
 protected:
  ~NodeConnectionsTest() override {
    nodes->Close();
    context.restart();
    context.run();
  }

  void RunUntilDone(const Sent& sent) {
    RunUntil([&] { return sent.result.has_value(); });
  }

  static ClientHooks Seeded() {
    ClientHooks hooks;
    hooks.seed = 7;
    return hooks;
  }

  std::shared_ptr<NodeConnections> nodes =
      std::make_shared<NodeConnections>(context.get_executor(), Options(), Seeded());
};

TEST_F(NodeConnectionsTest, DialsAServerThatIsDownLessAndLessOften) {
  // Bound, but not listening.
  const auto port = LoopbackPort::Reserve();
  ASSERT_THAT(port, IsOk());
  const TcpAddress down{"127.0.0.1", static_cast<uint16_t>((*port)->number())};
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  int requests = 0;
  for (; std::chrono::steady_clock::now() < end; ++requests) {
    const Sent get(*nodes, down, {"GET", "key"});
    EXPECT_FALSE(get.result.has_value()) << "nothing completes during Submit";
    RunUntilDone(get);
    ASSERT_TRUE(get.result.has_value());
    EXPECT_FALSE(get.reached);
    EXPECT_EQ(store::ErrorKindOf(get.result->status()), store::ErrorKind::kNotSent);
  }
  EXPECT_GT(requests, 50);
  EXPECT_LT(nodes->counters().connect_failures, 20u) << "for " << requests << " requests";
}

TEST_F(NodeConnectionsTest, KeepsBlockingCommandsWhenTheMainConnectionIsLost) {
  SpawnedServerOptions options;
  options.listen_on_loopback = true;
  auto server = SpawnedServer::Start(options);
  ASSERT_THAT(server, IsOk());
  const TcpAddress address{"127.0.0.1", static_cast<uint16_t>((*server)->port())};
  Sent id(*nodes, address, {"CLIENT", "ID"});
  RunUntilDone(id);
  ASSERT_THAT(*id.result, IsOk());
  const Sent pop(*nodes, address, {"BLPOP", "list", "20"});
  Sent ready(*nodes, address, {"PING"});
  RunUntilDone(ready);

  auto other = SyncClient::Connect((*server)->uri());
  ASSERT_THAT(other, IsOk());
  const std::string main_id = absl::StrCat((*id.result)->integer());
  Command kill = Command::Named("CLIENT");
  kill.Add("KILL").Add("ID").Add(main_id);
  const auto send = [&](const Command& command) -> base::Task<absl::StatusOr<Reply>> {
    co_return co_await (*other)->Execute(command);
  };
  EXPECT_THAT(base::Run(send(kill)), IsOkAndHolds(Reply::Integer(1)));
  RunUntil([&] { return !nodes->IsConnected(address); });
  Sent again(*nodes, address, {"GET", "key"});
  RunUntilDone(again);
  EXPECT_THAT(*again.result, IsOk());
  EXPECT_FALSE(pop.result.has_value()) << "BLPOP has a connection of its own";
  Command push = Command::Named("RPUSH");
  push.Add("list").Add("element");
  EXPECT_THAT(base::Run(send(push)), IsOkAndHolds(Reply::Integer(1)));
  RunUntilDone(pop);
  EXPECT_THAT(*pop.result,
              IsOkAndHolds(Reply::Array({Reply::Bulk("list"), Reply::Bulk("element")})));
}

TEST_F(NodeConnectionsTest, ForgetsAServerOnceNoRequestUsesIt) {
  SpawnedServerOptions options;
  options.listen_on_loopback = true;
  auto server = SpawnedServer::Start(options);
  ASSERT_THAT(server, IsOk());
  const TcpAddress address{"127.0.0.1", static_cast<uint16_t>((*server)->port())};
  Sent ping(*nodes, address, {"PING"});
  nodes->Forget(address);
  EXPECT_EQ(nodes->size(), 1u) << "a request waits for the connection";
  RunUntilDone(ping);
  ASSERT_THAT(*ping.result, IsOk());
  nodes->Forget(address);
  RunUntil([this] { return nodes->size() == 0; });
  EXPECT_EQ(nodes->counters().answered, 1u) << "its counters are kept";
}

// A failover: the last request for the old master fails, and its result makes the owner forget that
// server while the attempt to connect is still being reported.
TEST_F(NodeConnectionsTest, ClosingFailsTheRequestsThatWaitForAConnection) {
  const auto port = LoopbackPort::Reserve();
  ASSERT_THAT(port, IsOk());
  const Sent ping(*nodes, {"127.0.0.1", static_cast<uint16_t>((*port)->number())}, {"PING"});
  nodes->Close();
  EXPECT_FALSE(ping.result.has_value()) << "nothing completes during Close";
  RunUntilDone(ping);
  EXPECT_FALSE(ping.reached);
  EXPECT_EQ(store::ErrorKindOf(ping.result->status()), store::ErrorKind::kNotSent);
  EXPECT_EQ(ping.result->status().message(), "the client was closed");
}

TEST_F(NodeConnectionsTest, AResultMayForgetTheServer) {
  const auto port = LoopbackPort::Reserve();
  ASSERT_THAT(port, IsOk());
  const TcpAddress down{"127.0.0.1", static_cast<uint16_t>((*port)->number())};
  const Command ping = Command::Named("PING");
  bool done = false;
  NodeRequest request(store::Request::Kind::kCommand, std::span(&ping, 1), [&](bool, const auto&) {
    nodes->Forget(down);
    done = true;
  });
  nodes->Submit(down, request);
  RunUntil([&] { return done; });
  RunUntil([this] { return nodes->size() == 0; });
  EXPECT_EQ(nodes->counters().connect_failures, 1u);
}

// The leak checker sees what this leaves.
TEST(NodeConnections, AContextMayBeDestroyedAfterAnAttemptToConnectWasClosed) {
  SpawnedServerOptions options;
  options.listen_on_loopback = true;
  auto server = SpawnedServer::Start(options);
  ASSERT_THAT(server, IsOk());
  const auto nodes_gone = [&] {
    boost::asio::io_context context;
    const auto nodes =
        std::make_shared<NodeConnections>(context.get_executor(), Options(), ClientHooks());
    const Sent ping(*nodes, {"127.0.0.1", static_cast<uint16_t>((*server)->port())}, {"PING"});
    context.run_one();
    nodes->Close();
    return std::weak_ptr<NodeConnections>(nodes);
  }();
  EXPECT_TRUE(nodes_gone.expired());
}

TEST(SyncStore, ComesBackAfterALostConnection) {
  auto server = SpawnedServer::Start({});
  ASSERT_THAT(server, IsOk());
  auto store = SyncStore::Connect((*server)->uri());
  ASSERT_THAT(store, IsOk());
  EXPECT_THAT(base::Run(store::Incr(**store, "n")), IsOkAndHolds(1));
  ASSERT_THAT((*server)->Restart(), IsOk());
  EXPECT_THAT(base::Run(store::Incr(**store, "n")), IsOkAndHolds(1));
}

TEST(SyncStore, StaysDisconnectedIfItIsDedicated) {
  auto server = SpawnedServer::Start({});
  ASSERT_THAT(server, IsOk());
  auto store = SyncStore::Connect((*server)->uri(), Sharing::kDedicated);
  ASSERT_THAT(store, IsOk());
  ASSERT_THAT((*server)->Restart(), IsOk());
  EXPECT_FALSE(base::Run(store::Incr(**store, "n")).ok());
  EXPECT_FALSE(base::Run(store::Incr(**store, "n")).ok());
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
