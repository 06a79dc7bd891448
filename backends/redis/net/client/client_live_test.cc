#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/net/asio_clock.h"
#include "redouble/backends/redis/net/await_task.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/post.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::Batch;
using store::Command;
using store::CommandId;
using store::ErrorKind;
using store::Reply;
using testing::Eq;
using testing::Optional;

class LiveClient : public LiveTest {
 protected:
  void SetUp() override { StartServer({}); }

  absl::StatusOr<std::unique_ptr<Client>> Connect(const std::string& uri,
                                                  Sharing sharing = Sharing::kShared) {
    return Run(Client::Connect(context.get_executor(), Options::Parse(uri).value(), sharing));
  }
  std::unique_ptr<Client> Connected(std::string_view query = "",
                                    Sharing sharing = Sharing::kShared) {
    absl::StatusOr<std::unique_ptr<Client>> client =
        Connect(absl::StrCat(server->uri(), std::string(query)), sharing);
    EXPECT_THAT(client, IsOk());
    return std::move(client).value();
  }
};

base::Task<absl::StatusOr<Reply>> SendCommand(store::Store& store, Command command) {
  co_return co_await store.Execute(command);
}

// Sets and reads its own key several times. Returns the number of wrong replies.
base::Task<int> UseOwnKey(store::Store& store, int number) {
  const std::string key = absl::StrCat("key-", number);
  int wrong = 0;
  for (int round = 0; round < 3; ++round) {
    const std::string value = absl::StrCat(number, "-", round);
    const absl::StatusOr<bool> set = co_await store::Set(store, key, value);
    const absl::StatusOr<std::optional<std::string>> read = co_await store::Get(store, key);
    wrong += set.ok() && *set && read.ok() && *read == value ? 0 : 1;
  }
  co_return wrong;
}

TEST_F(LiveClient, AThousandCoroutinesShareFewWrites) {
  const std::unique_ptr<Client> client = Connected();
  std::vector<base::Task<int>> tasks;
  for (int i = 0; i < 1000; ++i) tasks.push_back(UseOwnKey(*client, i));
  for (const int wrong : Run(base::WhenAll(std::move(tasks)))) EXPECT_EQ(wrong, 0);
  EXPECT_EQ(client->counters().requests, 6000u);
  // Six rounds. The replies of a round may arrive in several pieces, each of which resumes its own
  // coroutines.
  EXPECT_LT(client->counters().writes, 120u);
}

TEST_F(LiveClient, ATransactionIsAtomicAndReturnsAReplyPerCommand) {
  const std::unique_ptr<Client> client = Connected();
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kIncr, {"n"});
  batch.Add(CommandId::kGet, {"n"});
  const auto replies = Run(store::Execute(*client, batch));
  ASSERT_THAT(replies, IsOk());
  EXPECT_EQ(*replies, (std::vector<Reply>{Reply::Integer(1), Reply::Bulk("1")}));
  EXPECT_EQ(client->counters().writes, 1u);
}

TEST_F(LiveClient, ARefusedTransactionReportsExecabort) {
  const std::unique_ptr<Client> client = Connected();
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kIncr, {"n"});
  batch.Add(CommandId::kGet);
  const auto replies = Run(store::Execute(*client, batch));
  EXPECT_THAT(replies, StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(replies.status().message(),
            "EXECABORT Transaction discarded because of previous errors.");
  EXPECT_THAT(Run(store::Get(*client, "n")), IsOkAndHolds(Eq(std::nullopt)));
}

TEST_F(LiveClient, APipelineKeepsErrorsInTheirPlace) {
  const std::unique_ptr<Client> client = Connected();
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kSet, {"text", "x"});
  batch.Add(CommandId::kIncr, {"text"});
  batch.Add(CommandId::kGet, {"text"});
  const auto replies = Run(store::Execute(*client, batch));
  ASSERT_THAT(replies, IsOk());
  EXPECT_EQ(*replies, (std::vector<Reply>{
                          Reply::Ok(), Reply::Error("ERR value is not an integer or out of range"),
                          Reply::Bulk("x")}));
}

TEST_F(LiveClient, RunsScripts) {
  const std::unique_ptr<Client> client = Connected();
  const auto reply = Run(
      SendWords(*client, {"EVAL", "redis.call('SET', KEYS[1], ARGV[1]) return {KEYS[1], 7, false}",
                          "1", "key", "value"}));
  ASSERT_THAT(reply, IsOk());
  EXPECT_EQ(*reply, Reply::Array({Reply::Bulk("key"), Reply::Integer(7), Reply::Nil()}));
  EXPECT_THAT(Run(store::Get(*client, "key")), IsOkAndHolds(Optional(Eq("value"))));
}

TEST_F(LiveClient, ASharedClientRefusesTransactionsByHand) {
  const std::unique_ptr<Client> client = Connected();
  const auto reply = Run(SendCommand(*client, Command(CommandId::kMulti)));
  EXPECT_THAT(reply, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(store::ErrorKindOf(reply.status()), ErrorKind::kNotSent);
}

TEST_F(LiveClient, ADedicatedClientWatchesKeys) {
  const std::unique_ptr<Client> client = Connected("", Sharing::kDedicated);
  const std::unique_ptr<Client> other = Connected();
  ASSERT_THAT(Run(SendCommand(*client, Command(CommandId::kWatch, {"n"}))), IsOk());
  ASSERT_THAT(Run(store::Incr(*other, "n")), IsOk());
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kIncr, {"n"});
  EXPECT_THAT(Run(store::Execute(*client, batch)), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(Run(store::Get(*other, "n")), IsOkAndHolds(Optional(Eq("1"))));
}

TEST_F(LiveClient, ADedicatedClientBlocks) {
  const std::unique_ptr<Client> client = Connected("", Sharing::kDedicated);
  const std::unique_ptr<Client> other = Connected();
  base::Task<absl::StatusOr<Reply>> pop = SendWords(*client, {"BLPOP", "list", "0"});
  pop.Start();
  ASSERT_THAT(Run(SendWords(*other, {"RPUSH", "list", "a"})), IsOk());
  while (!pop.done()) ASSERT_GT(context.run_one(), 0u);
  EXPECT_EQ(pop.TakeResult().value(), Reply::Array({Reply::Bulk("list"), Reply::Bulk("a")}));
}

TEST_F(LiveClient, SelectsItsDatabaseAndSetsItsName) {
  const std::unique_ptr<Client> zero = Connected();
  const std::unique_ptr<Client> three = Connected("?db=3&client_name=web-1");
  ASSERT_THAT(Run(store::Set(*three, "key", "three")), IsOk());
  EXPECT_THAT(Run(store::Get(*zero, "key")), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_THAT(Run(SendWords(*three, {"CLIENT", "GETNAME"})), IsOkAndHolds(Reply::Bulk("web-1")));
}

TEST_F(LiveClient, KeepsAnyBytesOfKeysAndValues) {
  const std::unique_ptr<Client> client = Connected();
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  const std::string key = "\r\n" + bytes;
  ASSERT_THAT(Run(store::Set(*client, key, bytes + "\r\n$-1\r\n")), IsOk());
  EXPECT_THAT(Run(store::Get(*client, key)), IsOkAndHolds(Optional(bytes + "\r\n$-1\r\n")));
  ASSERT_THAT(Run(store::Set(*client, "", "")), IsOk());
  EXPECT_THAT(Run(store::Get(*client, "")), IsOkAndHolds(Optional(Eq(""))));
}

TEST_F(LiveClient, CarriesAHugeValueThereAndBack) {
  const std::unique_ptr<Client> client = Connected("?command_timeout=60s");
  std::string huge(64 << 20, 'x');
  for (size_t i = 0; i < huge.size(); i += 4096) huge[i] = static_cast<char>(i >> 12);
  ASSERT_THAT(Run(store::Set(*client, "huge", huge)), IsOk());
  const auto read = Run(store::Get(*client, "huge"));
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE(*read == huge);
}

TEST_F(LiveClient, ReportsRedissOwnErrors) {
  const std::unique_ptr<Client> client = Connected();
  ASSERT_THAT(Run(SendWords(*client, {"RPUSH", "list", "a"})), IsOk());
  const absl::Status status = Run(store::Get(*client, "list")).status();
  EXPECT_EQ(store::ServerErrorCode(status), "WRONGTYPE");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(LiveClient, ReadsRepliesAsDeepAsRedisSendsThem) {
  const std::unique_ptr<Client> client = Connected();
  constexpr std::string_view kNested = "local t = {} for i = 1, ARGV[1] do t = {t} end return t";
  for (const std::string_view depth : {"8", "12", "1000"}) {
    const auto read = Run(SendWords(*client, {"EVAL", kNested, "0", depth}));
    ASSERT_THAT(read, IsOk()) << depth;
    EXPECT_TRUE(read->is_array());
  }
  EXPECT_THAT(Run(SendWords(*client, {"COMMAND", "DOCS"})), IsOk());
  EXPECT_TRUE(client->connected());
  EXPECT_EQ(client->counters().losses, 0u);
}

TEST_F(LiveClient, APostedBatchArrivesWithoutAWaiter) {
  const std::unique_ptr<Client> client = Connected();
  const auto post = [&]() -> base::Task<absl::Status> {
    const std::string value = "value";  // Ends with this coroutine.
    store::Batch batch(store::Batch::Atomicity::kPipeline);
    batch.Add(CommandId::kSet, {"key", value});
    batch.Add(CommandId::kIncr, {"key"});  // Its error is dropped.
    store::Post(*client, batch);
    co_return absl::OkStatus();
  };
  ASSERT_THAT(Run(post()), IsOk());
  EXPECT_THAT(Run(store::Get(*client, "key")), IsOkAndHolds(Optional(Eq("value"))));
  EXPECT_EQ(client->counters().abandoned, 0u);
}

TEST_F(LiveClient, TimesOutAgainstAStoppedServerAndGoesOnWhenItDoes) {
  ASSERT_THAT(Run(store::Set(*Connected(), "key", "value")), IsOk());
  const std::unique_ptr<Client> client = Connected("?command_timeout=50ms");
  ASSERT_EQ(kill(server->pid(), SIGSTOP), 0);
  const absl::Status status = Run(store::Incr(*client, "n")).status();
  ASSERT_EQ(kill(server->pid(), SIGCONT), 0);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(store::ErrorKindOf(status), ErrorKind::kOutcomeUnknown);
  // The connection stays in use. On a slow machine the server may need longer than one timeout.
  auto read = Run(store::Get(*client, "key"));
  while (absl::IsDeadlineExceeded(read.status())) read = Run(store::Get(*client, "key"));
  EXPECT_EQ(**read, "value");
}

TEST_F(LiveClient, TimesOutAgainstAPausedServer) {
  const std::unique_ptr<Client> client = Connected("?command_timeout=50ms");
  const std::unique_ptr<Client> other = Connected();
  ASSERT_THAT(Run(SendWords(*other, {"CLIENT", "PAUSE", "60000", "WRITE"})), IsOk());
  EXPECT_TRUE(absl::IsDeadlineExceeded(Run(store::Incr(*client, "n")).status()));
  ASSERT_THAT(Run(SendWords(*other, {"CLIENT", "UNPAUSE"})), IsOk());
  // The command that timed out was executed later: its outcome was unknown.
  auto value = Run(store::Get(*other, "n"));
  while (value.ok() && !*value) value = Run(store::Get(*other, "n"));
  EXPECT_EQ(**value, "1");
}

TEST_F(LiveClient, ConnectingTimesOutAgainstAStoppedServer) {
  ASSERT_EQ(kill(server->pid(), SIGSTOP), 0);
  const auto client = Connect(server->uri() + "?connect_timeout=50ms");
  ASSERT_EQ(kill(server->pid(), SIGCONT), 0);
  EXPECT_THAT(client, StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(LiveClient, AKilledServerLeavesTheOutcomeUnknown) {
  const std::unique_ptr<Client> client = Connected();
  ASSERT_THAT(Run(store::Set(*client, "key", "value")), IsOk());
  ASSERT_EQ(kill(server->pid(), SIGSTOP), 0);
  base::Task<absl::StatusOr<int64_t>> sent = store::Incr(*client, "n");
  sent.Start();
  const uint64_t writes = client->counters().writes;
  while (client->counters().writes == writes) ASSERT_GT(context.run_one(), 0u);
  server->Kill();
  while (!sent.done()) ASSERT_GT(context.run_one(), 0u);
  const absl::Status status = sent.TakeResult().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(store::ErrorKindOf(status), ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(store::ErrorKindOf(Run(store::Incr(*client, "n")).status()), ErrorKind::kNotSent);
  EXPECT_FALSE(client->connected());
}

TEST_F(LiveClient, ReportsAnUnreachableServer) {
  const std::string uri = server->uri();
  server->Kill();
  const absl::Status status = Connect(uri).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(store::ErrorKindOf(status), ErrorKind::kNotSent);
}

TEST_F(LiveClient, ReportsADatabaseThatTheServerDoesNotHave) {
  const absl::Status status = Connect(server->uri() + "?db=16").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(status.message(), absl::StrCat("ERR DB index is out of range (SELECT at unix://",
                                           server->unix_socket(), ")"));
}

class LiveClientWithPassword : public LiveClient {
 protected:
  void SetUp() override {
    SpawnedServerOptions options;
    options.password = "p@ss\r\nword";
    options.listen_on_loopback = true;
    options.config = {"user ann on >ann#s +get +set +auth ~*"};
    StartServer(std::move(options));
  }
  std::string Address() const { return absl::StrCat("127.0.0.1:", server->port()); }
};

TEST_F(LiveClientWithPassword, LogsInByTcpAndByUnixSocket) {
  for (const std::string& uri : {server->uri(), server->loopback_uri()}) {
    absl::StatusOr<std::unique_ptr<Client>> client = Connect(uri);
    ASSERT_THAT(client, IsOk());
    EXPECT_THAT(Run(store::Set(**client, "key", "value")), IsOk());
  }
}

TEST_F(LiveClientWithPassword, LogsInAnAclUserWhoMayNotEvenPing) {
  absl::StatusOr<std::unique_ptr<Client>> client = Connect("redis://ann:ann%23s@" + Address());
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT(Run(store::Set(**client, "key", "value")), IsOk());
  EXPECT_THAT(Run(store::Incr(**client, "n")), StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(LiveClientWithPassword, RefusesAWrongPasswordWithoutRevealingIt) {
  const absl::Status status = Connect("redis://:wr0ng@" + Address()).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_EQ(status.message(),
            absl::StrCat("WRONGPASS invalid username-password pair or user is disabled. (AUTH at "
                         "redis://",
                         Address(), ")"));
}

TEST_F(LiveClientWithPassword, RefusesAMissingPassword) {
  const absl::Status status = Connect("redis://" + Address()).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_EQ(store::ServerErrorCode(status), "NOAUTH");
}

// A whole program in one spawned task, with its own clock.
base::Task<void> Program(boost::asio::any_io_executor executor, std::string uri,
                         std::string& output) {
  AsioClock clock(executor);
  const absl::StatusOr<std::unique_ptr<Client>> client =
      co_await Client::Connect(executor, Options::Parse(uri).value());
  if (!client.ok()) co_return;
  store::SetOptions set;
  set.expiry = store::Expiry::In(absl::Milliseconds(1));
  const absl::StatusOr<bool> written = co_await store::Set(**client, "key", "value", set);
  if (!written.ok()) co_return;
  for (;;) {
    co_await clock.Sleep(absl::Milliseconds(2));
    const auto value = co_await store::Get(**client, "key");
    output = value.ok() && !*value ? "expired" : "there";
    if (output == "expired") co_return;
  }
}

TEST_F(LiveClient, ASpawnedTaskIsAWholeProgram) {
  std::string output;
  SpawnTask(context.get_executor(), Program(context.get_executor(), server->uri(), output));
  context.run();
  EXPECT_EQ(output, "expired");
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
