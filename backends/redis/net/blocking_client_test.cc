#include "backends/redis/net/blocking_client.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/redis/spawn/spawned_server.h"
#include "core/base/run.h"
#include "core/store/batch.h"
#include "core/store/errors.h"
#include "core/store/keys.h"
#include "core/store/strings.h"

namespace redouble::redis {
namespace {

using store::Command;
using store::CommandId;
using store::ErrorKind;
using store::Reply;

class BlockingClientTest : public testing::Test {
 protected:
  void SetUp() override {
    SpawnedServerOptions options;
    options.listen_on_loopback = true;
    absl::StatusOr<std::unique_ptr<SpawnedServer>> started = SpawnedServer::Start(options);
    ASSERT_TRUE(started.ok()) << started.status();
    server = *std::move(started);
  }

  std::unique_ptr<BlockingClient> Connected(const std::string& query = "") {
    auto client = BlockingClient::Connect(server->uri() + query);
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }

  std::unique_ptr<SpawnedServer> server;
};

base::Task<absl::StatusOr<Reply>> Send(store::Store& store, Command command) {
  co_return co_await store.Execute(command);
}

TEST_F(BlockingClientTest, RunsTypedCommandsWithoutAnEventLoop) {
  const std::unique_ptr<BlockingClient> client = Connected();
  EXPECT_TRUE(*base::Run(store::Set(*client, "key", "value")));
  EXPECT_EQ(**base::Run(store::Get(*client, "key")), "value");
  EXPECT_TRUE(client->connected());
}

TEST_F(BlockingClientTest, ConnectsByTcp) {
  const auto client = BlockingClient::Connect(server->loopback_uri());
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_EQ(*base::Run(store::Incr(**client, "n")), 1);
}

TEST_F(BlockingClientTest, RunsTasksThatAwaitSeveralCommandsAtOnce) {
  const std::unique_ptr<BlockingClient> client = Connected();
  std::vector<base::Task<absl::StatusOr<int64_t>>> tasks;
  for (int i = 0; i < 10; ++i) tasks.push_back(store::Incr(*client, "n"));
  const auto counts = base::Run(base::WhenAll(std::move(tasks)));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(*counts[i], i + 1);
}

TEST_F(BlockingClientTest, AllowsTransactionsByHand) {
  const std::unique_ptr<BlockingClient> client = Connected();
  EXPECT_EQ(*base::Run(Send(*client, Command(CommandId::kMulti))), Reply::Ok());
  EXPECT_EQ(*base::Run(Send(*client, Command(CommandId::kIncr, {"n"}))), Reply::Status("QUEUED"));
  EXPECT_EQ(*base::Run(Send(*client, Command(CommandId::kExec))),
            Reply::Array({Reply::Integer(1)}));
}

TEST_F(BlockingClientTest, RunsBatches) {
  const std::unique_ptr<BlockingClient> client = Connected();
  store::Batch batch(store::Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kIncr, {"n"});
  batch.Add(CommandId::kIncr, {"n"});
  const auto replies = base::Run(store::Execute(*client, batch));
  EXPECT_EQ(*replies, (std::vector<Reply>{Reply::Integer(1), Reply::Integer(2)}));
}

TEST_F(BlockingClientTest, RefusesABadUri) {
  EXPECT_EQ(BlockingClient::Connect("redis://h:0").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(BlockingClient::Connect("redis://h?cluster=yes").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(BlockingClientTest, ReportsAnUnreachableServer) {
  server->Kill();
  const absl::Status status = BlockingClient::Connect(server->loopback_uri()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), absl::StrCat("cannot connect to ", server->loopback_uri(),
                                           ": Connection refused (while trying to connect)"));
}

TEST_F(BlockingClientTest, NoticesALostConnectionBeforeTheNextCommandIsSent) {
  const std::unique_ptr<BlockingClient> client = Connected();
  EXPECT_TRUE(*base::Run(store::Set(*client, "key", "value")));
  server->Kill();
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = base::Run(store::Get(*client, "key")).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_EQ(store::ErrorKindOf(status), ErrorKind::kNotSent) << status;
  }
  EXPECT_FALSE(client->connected());
}

TEST_F(BlockingClientTest, TimesOutAgainstAStoppedServer) {
  const std::unique_ptr<BlockingClient> client = Connected("?command_timeout=50ms");
  ASSERT_EQ(kill(server->pid(), SIGSTOP), 0);
  const absl::Status status = base::Run(store::Get(*client, "key")).status();
  ASSERT_EQ(kill(server->pid(), SIGCONT), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(store::ErrorKindOf(status), ErrorKind::kOutcomeUnknown);
}

TEST_F(BlockingClientTest, WaitsForABlockingCommand) {
  const std::unique_ptr<BlockingClient> client = Connected();
  Command pop = Command::Named("BLPOP");
  pop.Add("list").Add("0.001");
  EXPECT_EQ(*base::Run(Send(*client, std::move(pop))), Reply::Nil());
}

TEST_F(BlockingClientTest, ASharedOneComesBackAfterARestart) {
  auto client = BlockingClient::Connect(server->uri(), Sharing::kShared);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE(*base::Run(store::Set(**client, "key", "value")));
  ASSERT_TRUE(server->Restart().ok());
  EXPECT_EQ(*base::Run(store::Get(**client, "key")), std::nullopt);
  EXPECT_EQ((*client)->counters().connects, 2u);
}

}  // namespace
}  // namespace redouble::redis
