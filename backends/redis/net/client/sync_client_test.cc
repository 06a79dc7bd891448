#include "redouble/backends/redis/net/client/sync_client.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/observe/command_event.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::Command;
using store::CommandId;
using store::ErrorKind;
using store::Reply;
using testing::Eq;
using testing::Optional;

class SyncClientTest : public testing::Test {
 protected:
  void SetUp() override {
    SpawnedServerOptions options;
    options.listen_on_loopback = true;
    absl::StatusOr<std::unique_ptr<SpawnedServer>> started = SpawnedServer::Start(options);
    ASSERT_THAT(started, IsOk());
    server = std::move(started).value();
  }

  std::unique_ptr<SyncClient> Connected(const std::string& query = "") {
    auto client = SyncClient::Connect(server->uri() + query);
    EXPECT_THAT(client, IsOk());
    return std::move(client).value();
  }

  std::unique_ptr<SpawnedServer> server;
};

base::Task<absl::StatusOr<Reply>> Send(store::Store& store, Command command) {
  co_return co_await store.Execute(command);
}

TEST_F(SyncClientTest, CallsTheHooks) {
  std::vector<std::string> events;
  ClientHooks hooks;
  hooks.log = [&](const LogEvent& event) { events.emplace_back(LogEventName(event.kind)); };
  ASSERT_OK_AND_ASSIGN(const Options options, Options::Parse(server->uri()));
  ASSERT_OK_AND_ASSIGN(const auto client,
                       SyncClient::Connect(options, Sharing::kShared, std::move(hooks)));
  EXPECT_THAT(base::Run(store::Get(*client, "key")), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_THAT(events, testing::ElementsAre("connected"));
}

// Commands on the main connection, blocking commands on their own, refused and failed ones.
TEST_F(SyncClientTest, ReportsEachCommandToTheHook) {
  std::vector<std::string> events;
  ClientHooks hooks;
  hooks.command = [&](const CommandEvent& event) {
    static constexpr const char* kNames[] = {"start", "send", "redirect", "end"};
    std::string line = absl::StrCat(kNames[static_cast<size_t>(event.kind)], " ", event.id, " ",
                                    RequestName(*event.request));
    if (event.kind != CommandEvent::Kind::kStart) {
      absl::StrAppend(&line, " ", event.node == server->unix_socket() ? "server" : "");
    }
    if (event.kind == CommandEvent::Kind::kEnd) {
      absl::StrAppend(&line, " ", event.request_bytes, "+", event.reply_bytes, " ", ErrorOf(event));
    }
    events.push_back(std::move(line));
  };
  ASSERT_OK_AND_ASSIGN(const Options options, Options::Parse(server->uri()));
  const auto client = SyncClient::Connect(options, Sharing::kShared, hooks);
  ASSERT_THAT(client, IsOk());
  ASSERT_THAT(base::Run(store::Set(**client, "key", "value")), IsOk());
  ASSERT_THAT(base::Run(Send(**client, Command(CommandId::kIncr, {"key"}))), IsOk());
  ASSERT_THAT(base::Run(Send(**client, Command(CommandId::kBLPop, {"list", "0.01"}))), IsOk());
  EXPECT_FALSE(base::Run(Send(**client, Command(CommandId::kMulti, {}))).ok());
  EXPECT_EQ(events, (std::vector<std::string>{
                        "start 1 SET", "send 1 SET server", "end 1 SET server 11+2 ",
                        "start 2 INCR", "send 2 INCR server", "end 2 INCR server 7+43 ERR",
                        "start 3 BLPOP", "send 3 BLPOP server", "end 3 BLPOP server 13+0 ",
                        "start 4 MULTI", "end 4 MULTI  5+0 FAILED_PRECONDITION"}));
}

TEST_F(SyncClientTest, RunsTypedCommandsWithoutAnEventLoop) {
  const std::unique_ptr<SyncClient> client = Connected();
  EXPECT_THAT(base::Run(store::Set(*client, "key", "value")), IsOkAndHolds(true));
  EXPECT_THAT(base::Run(store::Get(*client, "key")), IsOkAndHolds(Optional(Eq("value"))));
  EXPECT_TRUE(client->connected());
}

TEST_F(SyncClientTest, ConnectsByTcp) {
  const auto client = SyncClient::Connect(server->loopback_uri());
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT(base::Run(store::Incr(**client, "n")), IsOkAndHolds(1));
}

TEST_F(SyncClientTest, RunsTasksThatAwaitSeveralCommandsAtOnce) {
  const std::unique_ptr<SyncClient> client = Connected();
  std::vector<base::Task<absl::StatusOr<int64_t>>> tasks;
  for (int i = 0; i < 10; ++i) tasks.push_back(store::Incr(*client, "n"));
  const auto counts = base::Run(base::WhenAll(std::move(tasks)));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(counts[i].value(), i + 1);
}

TEST_F(SyncClientTest, AllowsTransactionsByHand) {
  const std::unique_ptr<SyncClient> client = Connected();
  EXPECT_THAT(base::Run(Send(*client, Command(CommandId::kMulti))), IsOkAndHolds(Reply::Ok()));
  EXPECT_THAT(base::Run(Send(*client, Command(CommandId::kIncr, {"n"}))),
              IsOkAndHolds(Reply::Status("QUEUED")));
  EXPECT_THAT(base::Run(Send(*client, Command(CommandId::kExec))),
              IsOkAndHolds(Reply::Array({Reply::Integer(1)})));
}

TEST_F(SyncClientTest, RunsBatches) {
  const std::unique_ptr<SyncClient> client = Connected();
  store::Batch batch(store::Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kIncr, {"n"});
  batch.Add(CommandId::kIncr, {"n"});
  const auto replies = base::Run(store::Execute(*client, batch));
  EXPECT_EQ(replies.value(), (std::vector<Reply>{Reply::Integer(1), Reply::Integer(2)}));
}

TEST_F(SyncClientTest, RefusesABadUri) {
  EXPECT_THAT(SyncClient::Connect("redis://h:0"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(SyncClient::Connect("redis://h?cluster=yes"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(SyncClientTest, ReportsAnUnreachableServer) {
  server->Kill();
  const absl::Status status = SyncClient::Connect(server->loopback_uri()).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(status.message(), absl::StrCat("cannot connect to ", server->loopback_uri(),
                                           ": Connection refused (while trying to connect)"));
}

TEST_F(SyncClientTest, NoticesALostConnectionBeforeTheNextCommandIsSent) {
  const std::unique_ptr<SyncClient> client = Connected();
  EXPECT_THAT(base::Run(store::Set(*client, "key", "value")), IsOkAndHolds(true));
  server->Kill();
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = base::Run(store::Get(*client, "key")).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable)) << status;
    EXPECT_EQ(store::ErrorKindOf(status), ErrorKind::kNotSent) << status;
  }
  EXPECT_FALSE(client->connected());
}

TEST_F(SyncClientTest, TimesOutAgainstAStoppedServer) {
  const std::unique_ptr<SyncClient> client = Connected("?command_timeout=50ms");
  ASSERT_EQ(kill(server->pid(), SIGSTOP), 0);
  const absl::Status status = base::Run(store::Get(*client, "key")).status();
  ASSERT_EQ(kill(server->pid(), SIGCONT), 0);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(store::ErrorKindOf(status), ErrorKind::kOutcomeUnknown);
}

TEST_F(SyncClientTest, WaitsForABlockingCommand) {
  const std::unique_ptr<SyncClient> client = Connected();
  Command pop = Command::Named("BLPOP");
  pop.Add("list").Add("0.001");
  EXPECT_THAT(base::Run(Send(*client, std::move(pop))), IsOkAndHolds(Reply::Nil()));
}

TEST_F(SyncClientTest, ASharedOneComesBackAfterARestart) {
  auto client = SyncClient::Connect(server->uri(), Sharing::kShared);
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT(base::Run(store::Set(**client, "key", "value")), IsOkAndHolds(true));
  ASSERT_THAT(server->Restart(), IsOk());
  EXPECT_THAT(base::Run(store::Get(**client, "key")), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_EQ((*client)->counters().connects, 2u);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
