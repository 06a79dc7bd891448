#include "redouble/backends/redis/net/client/client.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/net/fake_server.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;
using store::ErrorKind;
using Value = absl::StatusOr<std::optional<std::string>>;

class ClientTest : public LiveTest {
 protected:
  absl::StatusOr<std::unique_ptr<Client>> Connect(const std::string& uri,
                                                  Sharing sharing = Sharing::kShared) {
    return Run(Client::Connect(context.get_executor(), Options::Parse(uri).value(), sharing));
  }
  std::unique_ptr<Client> Connected(const FakeServer& server, std::string_view query = "") {
    absl::StatusOr<std::unique_ptr<Client>> client =
        Connect(absl::StrCat(server.uri(), std::string(query)));
    EXPECT_THAT(client, IsOk());
    return std::move(client).value();
  }
  absl::Status RefusalOf(const std::string& uri) {
    absl::StatusOr<std::unique_ptr<Client>> client = Connect(uri);
    EXPECT_FALSE(client.ok());
    return client.status();
  }
};

void ExpectFailure(const absl::Status& status, ErrorKind kind, absl::StatusCode code) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(store::ErrorKindOf(status), kind) << status;
}

TEST_F(ClientTest, ConnectsAndCarriesACommand) {
  FakeServer server(context);
  const std::unique_ptr<Client> client = Connected(server);
  EXPECT_TRUE(client->connected());
  base::Task<Value> get = store::Get(*client, "key");
  get.Start();
  RunUntil([&] { return !server.received().empty(); });
  EXPECT_EQ(server.received(), "*2\r\n$3\r\nget\r\n$3\r\nkey\r\n");
  EXPECT_FALSE(get.done());
  server.Send("$5\r\nvalue\r\n");
  RunUntil([&] { return get.done(); });
  EXPECT_EQ(get.TakeResult().value(), "value");
}

TEST_F(ClientTest, TakesARepliesBytesOneByOne) {
  FakeServer server(context);
  const std::unique_ptr<Client> client = Connected(server);
  base::Task<Value> get = store::Get(*client, "key");
  get.Start();
  for (const char byte : std::string("$5\r\nva\r\ne\r\n")) {
    EXPECT_FALSE(get.done());
    const uint64_t reads = client->counters().reads;
    server.Send(std::string_view(&byte, 1));
    RunUntil([&] { return client->counters().reads > reads; });
  }
  EXPECT_EQ(get.TakeResult().value(), "va\r\ne");
}

TEST_F(ClientTest, WritesWhatOneTurnIssuedInOneWrite) {
  FakeServer server(context);
  const std::unique_ptr<Client> client = Connected(server);
  std::vector<base::Task<Value>> gets;
  for (int i = 0; i < 1000; ++i) {
    gets.push_back(store::Get(*client, "key"));
    gets.back().Start();
  }
  RunUntil([&] { return server.received().size() == 1000 * 22; });
  EXPECT_EQ(client->counters().writes, 1u);
  EXPECT_EQ(client->counters().requests, 1000u);
  EXPECT_EQ(client->counters().bytes_written, 22'000u);
}

TEST_F(ClientTest, ReportsARefusedConnection) {
  std::string uri;
  {
    FakeServer gone(context);
    uri = gone.uri();
  }
  const absl::Status status = RefusalOf(uri);
  ExpectFailure(status, ErrorKind::kNotSent, absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), absl::StrCat("cannot connect to ", uri,
                                           ": Connection refused (while trying to connect)"));
}

TEST_F(ClientTest, ReportsAMissingSocket) {
  const absl::Status status = RefusalOf("unix:///nowhere/redis.sock");
  ExpectFailure(status, ErrorKind::kNotSent, absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            "cannot connect to unix:///nowhere/redis.sock: No such file or directory (while trying "
            "to connect)");
}

TEST_F(ClientTest, ReportsAHostThatCannotBeResolved) {
  // The name is longer than a DNS name may be, so no name server is asked.
  const absl::Status status = RefusalOf("redis://" + std::string(300, 'x'));
  ExpectFailure(status, ErrorKind::kNotSent, absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StrContains(status.message(), "while trying to resolve its name")) << status;
}

TEST_F(ClientTest, ResolvesAName) {
  FakeServer server(context);
  const std::string port = server.uri().substr(server.uri().rfind(':'));
  EXPECT_THAT(Connect("redis://localhost" + port), IsOk());
}

TEST_F(ClientTest, RefusesInvalidOptions) {
  Options options;
  options.database = -1;
  const auto client = Run(Client::Connect(context.get_executor(), options));
  EXPECT_THAT(client, StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ClientTest, GivesUpOnAServerThatDoesNotAnswer) {
  FakeServer silent(context, "");
  const absl::Status status = RefusalOf(silent.uri() + "?connect_timeout=20ms");
  ExpectFailure(status, ErrorKind::kNotSent, absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(),
            absl::StrCat("cannot connect to ", silent.uri(),
                         " within 20ms (while trying to get the answer to HELLO)"));
}

TEST_F(ClientTest, ReportsAWrongPasswordWithoutRevealingIt) {
  FakeServer server(context, "-WRONGPASS invalid\r\n-NOAUTH Authentication required.\r\n");
  const std::string address = server.uri().substr(std::string("redis://").size());
  const absl::Status status = RefusalOf("redis://:s3cret@" + address);
  ExpectFailure(status, ErrorKind::kServer, absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(status.message(), absl::StrCat("WRONGPASS invalid (AUTH at ", server.uri(), ")"));
}

TEST_F(ClientTest, ReportsAServerThatClosesDuringTheHandshake) {
  FakeServer server(context, "");
  base::Task<absl::StatusOr<std::unique_ptr<Client>>> connecting =
      Client::Connect(context.get_executor(), Options::Parse(server.uri() + "/1").value());
  connecting.Start();
  server.StopReading();
  while (!connecting.done()) {
    context.poll_one();
    server.Disconnect();
  }
  const absl::Status status = connecting.TakeResult().status();
  ExpectFailure(status, ErrorKind::kNotSent, absl::StatusCode::kUnavailable);
}

TEST_F(ClientTest, ReportsAServerThatIsNoRedis) {
  FakeServer server(context, "SSH-2.0-OpenSSH_9.2\r\n");
  const absl::Status status = RefusalOf(server.uri());
  ExpectFailure(status, ErrorKind::kProtocol, absl::StatusCode::kInternal);
}

TEST_F(ClientTest, GivesUpConnectingWhenTheTaskIsDestroyed) {
  FakeServer silent(context, "");
  {
    auto connecting = Client::Connect(context.get_executor(), Options::Parse(silent.uri()).value());
    connecting.Start();
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(Step());
    EXPECT_FALSE(connecting.done());
  }
  // Only the read of the fake server is pending; it ends with the connection.
  context.run();
  EXPECT_TRUE(context.stopped());
}

TEST_F(ClientTest, ALostConnectionDistinguishesSentFromUnsent) {
  FakeServer server(context);
  const std::unique_ptr<Client> client = Connected(server, "?reconnect=no");
  server.StopReading();
  // More than the socket buffers hold, so that the write stops in the middle.
  const std::string huge(32 << 20, 'x');
  base::Task<absl::StatusOr<bool>> halved = store::Set(*client, "key", huge);
  halved.Start();
  RunUntil([&] { return client->counters().writes > 0; });
  base::Task<Value> waiting = store::Get(*client, "key");
  waiting.Start();
  context.poll();
  server.Disconnect();
  RunUntil([&] { return halved.done() && waiting.done(); });
  ExpectFailure(halved.TakeResult().status(), ErrorKind::kOutcomeUnknown,
                absl::StatusCode::kUnavailable);
  ExpectFailure(waiting.TakeResult().status(), ErrorKind::kNotSent, absl::StatusCode::kUnavailable);
  EXPECT_FALSE(client->connected());
  ExpectFailure(Run(store::Get(*client, "key")).status(), ErrorKind::kNotSent,
                absl::StatusCode::kUnavailable);
}

TEST_F(ClientTest, ReportsThatTheServerClosedTheConnection) {
  FakeServer server(context);
  const std::unique_ptr<Client> client = Connected(server);
  base::Task<Value> get = store::Get(*client, "key");
  get.Start();
  RunUntil([&] { return !server.received().empty(); });
  server.Disconnect();
  RunUntil([&] { return get.done(); });
  EXPECT_EQ(get.TakeResult().status().message(),
            absl::StrCat("the connection to ", server.uri(),
                         " was lost (the server closed it) before GET was answered"));
}

TEST_F(ClientTest, TimesOutAndStaysInUse) {
  FakeServer server(context);
  const std::unique_ptr<Client> client = Connected(server, "?command_timeout=20ms");
  const absl::Status status = Run(store::Get(*client, "a")).status();
  ExpectFailure(status, ErrorKind::kOutcomeUnknown, absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), absl::StrCat(server.uri(), " did not answer GET within 20ms"));
  base::Task<Value> next = store::Get(*client, "b");
  next.Start();
  server.Send("$4\r\nlate\r\n$4\r\nnext\r\n");
  RunUntil([&] { return next.done(); });
  EXPECT_EQ(next.TakeResult().value(), "next");
}

TEST_F(ClientTest, DropsTheReplyOfADestroyedTask) {
  FakeServer server(context);
  const std::unique_ptr<Client> client = Connected(server);
  {
    base::Task<Value> gone = store::Get(*client, "a");
    gone.Start();
    RunUntil([&] { return !server.received().empty(); });
  }
  base::Task<Value> next = store::Get(*client, "b");
  next.Start();
  server.Send("$4\r\ngone\r\n$4\r\nnext\r\n");
  RunUntil([&] { return next.done(); });
  EXPECT_EQ(next.TakeResult().value(), "next");
}

TEST_F(ClientTest, NeverWritesACommandWhoseTaskIsDestroyedInTheSameTurn) {
  FakeServer server(context);
  const std::unique_ptr<Client> client = Connected(server);
  {
    base::Task<Value> gone = store::Get(*client, "gone");
    gone.Start();
  }
  base::Task<Value> next = store::Get(*client, "kept");
  next.Start();
  RunUntil([&] { return !server.received().empty(); });
  EXPECT_EQ(server.received(), "*2\r\n$3\r\nget\r\n$4\r\nkept\r\n");
}

TEST_F(ClientTest, FailsWhatIsUnderWayWhenClosed) {
  FakeServer server(context);
  const std::unique_ptr<Client> client = Connected(server);
  base::Task<Value> get = store::Get(*client, "a");
  get.Start();
  client->Close();
  ASSERT_TRUE(get.done());
  EXPECT_EQ(get.TakeResult().status().message(),
            absl::StrCat("the connection to ", server.uri(),
                         " was lost (the client was closed) before GET was sent"));
  EXPECT_FALSE(client->connected());
}

base::Task<absl::Status> GetAndDestroy(std::unique_ptr<Client>& client) {
  const Value value = co_await store::Get(*client, "a");
  client.reset();
  co_return value.status();
}

TEST_F(ClientTest, MayBeDestroyedByAWaiter) {
  FakeServer server(context);
  std::unique_ptr<Client> client = Connected(server);
  base::Task<Value> other = store::Get(*client, "b");
  base::Task<absl::Status> destroyer = GetAndDestroy(client);
  destroyer.Start();
  other.Start();
  RunUntil([&] { return !server.received().empty(); });
  server.Send("$1\r\na\r\n$1\r\nb\r\n");
  RunUntil([&] { return destroyer.done(); });
  EXPECT_THAT(destroyer.TakeResult(), IsOk());
  ASSERT_TRUE(other.done());
  ExpectFailure(other.TakeResult().status(), ErrorKind::kOutcomeUnknown,
                absl::StatusCode::kUnavailable);
}

TEST_F(ClientTest, MayBeDestroyedByAWaiterThatFails) {
  FakeServer server(context);
  std::unique_ptr<Client> client = Connected(server);
  base::Task<absl::Status> destroyer = GetAndDestroy(client);
  destroyer.Start();
  RunUntil([&] { return !server.received().empty(); });
  server.Disconnect();
  RunUntil([&] { return destroyer.done(); });
  EXPECT_THAT(destroyer.TakeResult(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ClientTest, GarbageFailsTheRequestAndClosesTheConnection) {
  FakeServer server(context);
  const std::unique_ptr<Client> client = Connected(server);
  base::Task<Value> get = store::Get(*client, "a");
  get.Start();
  RunUntil([&] { return !server.received().empty(); });
  server.Send("?what\r\n");
  RunUntil([&] { return get.done(); });
  ExpectFailure(get.TakeResult().status(), ErrorKind::kProtocol, absl::StatusCode::kInternal);
  EXPECT_FALSE(client->connected());
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
