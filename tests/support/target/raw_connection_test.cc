#include "redouble/tests/support/target/raw_connection.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "redouble/backends/redis/spawn/private_folder.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOkAndHolds;
using redis::SpawnedServer;
using redis::SpawnedServerOptions;
using store::Reply;
using ::testing::Eq;

class RawConnectionTest : public ::testing::Test {
 protected:
  static std::unique_ptr<SpawnedServer> StartServer() {
    SpawnedServerOptions options;
    options.held_time = absl::FromUnixSeconds(1'700'000'000);
    options.listen_on_loopback = true;
    return SpawnedServer::Start(options).value();
  }

  std::unique_ptr<RawConnection> Connect() const {
    return RawConnection::ConnectUnix(server_->unix_socket()).value();
  }

  const std::unique_ptr<SpawnedServer> server_ = StartServer();
  const std::unique_ptr<RawConnection> connection_ = Connect();
};

TEST_F(RawConnectionTest, AnswersACommandWithItsReply) {
  EXPECT_THAT(connection_->Call({"SET", "key", "value"}), IsOkAndHolds(Reply::Ok()));
  EXPECT_THAT(connection_->Call({"GET", "key"}), IsOkAndHolds(Reply::Bulk("value")));
  EXPECT_THAT(connection_->Call({"GET"}),
              IsOkAndHolds(Reply::Error("ERR wrong number of arguments for 'get' command")));
  EXPECT_EQ(Ask(*connection_, {"MGET", "key", "other"}), "[\"value\", nil]");
}

TEST_F(RawConnectionTest, KeepsEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  EXPECT_THAT(connection_->Call({"SET", bytes, bytes + bytes}), IsOkAndHolds(Reply::Ok()));
  EXPECT_THAT(connection_->Call({"GET", bytes}), IsOkAndHolds(Reply::Bulk(bytes + bytes)));
  EXPECT_THAT(connection_->Call({"SET", "", ""}), IsOkAndHolds(Reply::Ok()));
  EXPECT_THAT(connection_->Call({"GET", ""}), IsOkAndHolds(Reply::Bulk("")));
}

TEST_F(RawConnectionTest, SpeaksTheStoresOwnCommands) {
  const std::string value = "value";
  const store::Command set(store::CommandId::kSet, {"key", value});
  EXPECT_THAT(connection_->Call(set), IsOkAndHolds(Reply::Ok()));
  ASSERT_TRUE(connection_->Send(store::Command(store::CommandId::kGet, {"key"})).ok());
  EXPECT_THAT(connection_->Receive(), IsOkAndHolds(Reply::Bulk("value")));
}

TEST_F(RawConnectionTest, WorksOverALoopbackPortToo) {
  const auto by_port = RawConnection::ConnectLoopback(server_->port()).value();
  EXPECT_THAT(by_port->Call({"SET", "key", "value"}), IsOkAndHolds(Reply::Ok()));
  EXPECT_THAT(connection_->Call({"GET", "key"}), IsOkAndHolds(Reply::Bulk("value")));
}

TEST_F(RawConnectionTest, GivesTheRepliesOfAPipelineInOrder) {
  std::vector<RawConnection::Arguments> commands;
  for (int i = 0; i < 10'000; ++i) commands.push_back({"INCR", "counter"});
  const std::vector<Reply> replies = connection_->CallAll(commands).value();
  ASSERT_EQ(replies.size(), commands.size());
  for (size_t i = 0; i < replies.size(); ++i) {
    ASSERT_EQ(replies[i], Reply::Integer(static_cast<int64_t>(i) + 1));
  }
  EXPECT_TRUE(connection_->CallAll({}).value().empty());
}

// The sockets' buffers do not hold 64 MB: a client that only writes would wait for the server,
// which waits for the client to read.
TEST_F(RawConnectionTest, DoesNotLockUpOnAPipelineLargerThanAnyBuffer) {
  const std::string megabyte(1'000'000, 'x');
  const std::vector<RawConnection::Arguments> commands(64, {"ECHO", megabyte});
  const auto replies = connection_->CallAll(commands);
  ASSERT_TRUE(replies.ok()) << replies.status();
  for (const Reply& reply : *replies) ASSERT_EQ(reply.text().size(), megabyte.size());
}

TEST_F(RawConnectionTest, HoldsACommandBackUntilItIsFlushed) {
  connection_->Append({"SET", "key", "1"});
  const auto other = Connect();
  EXPECT_THAT(other->Call({"EXISTS", "key"}), IsOkAndHolds(Reply::Integer(0)));
  ASSERT_TRUE(connection_->Flush().ok());
  EXPECT_THAT(connection_->Receive(), IsOkAndHolds(Reply::Ok()));
  EXPECT_THAT(other->Call({"EXISTS", "key"}), IsOkAndHolds(Reply::Integer(1)));
}

TEST_F(RawConnectionTest, TellsWithoutWaitingWhetherABlockedCommandHasAnswered) {
  const auto other = Connect();
  ASSERT_TRUE(connection_->Send({"BLPOP", "list", "1"}).ok());
  ASSERT_TRUE(other->Synchronize().ok());
  EXPECT_THAT(connection_->TryReceive(), IsOkAndHolds(Eq(std::nullopt)));
  ASSERT_TRUE(server_->AdvanceTime(absl::Milliseconds(1000)).ok());
  ASSERT_TRUE(server_->Settle().ok());
  EXPECT_THAT(connection_->TryReceive(), IsOkAndHolds(Eq(std::nullopt)));
  ASSERT_TRUE(server_->AdvanceTime(absl::Milliseconds(1)).ok());
  ASSERT_TRUE(server_->Settle().ok());
  EXPECT_THAT(connection_->TryReceive(), IsOkAndHolds(Eq(Reply::Nil())));
}

TEST_F(RawConnectionTest, GetsTheReplyOfABlockedCommandThatAnotherOneServes) {
  const auto other = Connect();
  ASSERT_TRUE(connection_->Send({"BLPOP", "list", "0"}).ok());
  ASSERT_TRUE(other->Synchronize().ok());
  ASSERT_EQ(Ask(*other, {"RPUSH", "list", "a"}), "1");
  EXPECT_THAT(connection_->Receive(),
              IsOkAndHolds(Reply::Array({Reply::Bulk("list"), Reply::Bulk("a")})));
}

// The step of the clock reaches a deadline that was computed before it, and not one that was
// computed after it.
TEST_F(RawConnectionTest, SynchronizeProvesThatWhatOthersHadSentHasBegun) {
  const auto other = Connect();
  for (int round = 0; round < 1000; ++round) {
    const auto fresh = Connect();
    ASSERT_TRUE(fresh->Send({"SET", "fresh", "1", "PX", "1000"}).ok());
    ASSERT_TRUE(connection_->Send({"SET", "old", "1", "PX", "1000"}).ok());
    ASSERT_TRUE(other->Synchronize().ok());
    ASSERT_TRUE(server_->AdvanceTime(absl::Milliseconds(1000)).ok());
    ASSERT_THAT(fresh->Receive(), IsOkAndHolds(Reply::Ok()));
    ASSERT_THAT(connection_->Receive(), IsOkAndHolds(Reply::Ok()));
    ASSERT_EQ(Ask(*other, {"PTTL", "fresh"}), "0") << "round " << round;
    ASSERT_EQ(Ask(*other, {"PTTL", "old"}), "0") << "round " << round;
  }
}

TEST_F(RawConnectionTest, ReceivesMessagesThatNobodyAskedFor) {
  const auto other = Connect();
  EXPECT_EQ(Ask(*connection_, {"SUBSCRIBE", "news"}), "[\"subscribe\", \"news\", 1]");
  EXPECT_EQ(Ask(*other, {"PUBLISH", "news", "first"}), "1");
  EXPECT_EQ(Ask(*other, {"PUBLISH", "news", "second"}), "1");
  EXPECT_EQ(connection_->Receive().value().DebugString(), "[\"message\", \"news\", \"first\"]");
  EXPECT_EQ(connection_->Receive().value().DebugString(), "[\"message\", \"news\", \"second\"]");
}

TEST_F(RawConnectionTest, GivesUpWaitingForAReplyThatDoesNotCome) {
  ASSERT_TRUE(connection_->Send({"BLPOP", "list", "0"}).ok());
  const absl::Status status = connection_->Receive(absl::Milliseconds(5)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "no reply within 5ms");
}

TEST_F(RawConnectionTest, TimesOutWritingToAServerThatDoesNotReadAndContinuesWhenItDoes) {
  const std::string value(32'000'000, 'x');
  ASSERT_EQ(kill(server_->pid(), SIGSTOP), 0);
  connection_->Append({"SET", "key", value});
  const absl::Status status = connection_->Flush(absl::Milliseconds(20));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "the server does not read what is sent");
  ASSERT_EQ(kill(server_->pid(), SIGCONT), 0);
  ASSERT_TRUE(connection_->Flush().ok());
  EXPECT_THAT(connection_->Receive(), IsOkAndHolds(Reply::Ok()));
  EXPECT_THAT(connection_->Call({"GET", "key"}), IsOkAndHolds(Reply::Bulk(value)));
}

TEST_F(RawConnectionTest, GivesTheLastRepliesBeforeItReportsTheEnd) {
  connection_->Append({"SET", "key", "1"});
  connection_->Append({"QUIT"});
  ASSERT_TRUE(connection_->Flush().ok());
  EXPECT_THAT(connection_->Receive(), IsOkAndHolds(Reply::Ok()));
  EXPECT_THAT(connection_->Receive(), IsOkAndHolds(Reply::Ok()));
  EXPECT_EQ(connection_->Receive().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(connection_->TryReceive().status().message(), "the server has closed the connection");
  EXPECT_EQ(connection_->Send({"PING"}).code(), absl::StatusCode::kUnavailable);
}

TEST_F(RawConnectionTest, ReportsAServerThatWasKilled) {
  server_->Kill();
  EXPECT_EQ(connection_->Call({"PING"}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(connection_->Synchronize().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(connection_->CallAll({{"PING"}}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Ask(*connection_, {"PING"}), "UNAVAILABLE: the server has closed the connection");
}

// The peer is a socket that does not speak RESP.
TEST(RawConnection, ReportsAPeerThatDoesNotSpeakRedis) {
  const redis::PrivateFolder folder = redis::PrivateFolder::Create("peer-").value();
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = folder.PathOf("socket");
  std::copy(path.begin(), path.end(), address.sun_path);
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  const auto connection = RawConnection::ConnectUnix(path).value();
  const int peer = accept(listener, nullptr, nullptr);
  ASSERT_EQ(write(peer, "+OK\r\nHTTP/1.1 400", 17), 17);
  EXPECT_THAT(connection->Receive(), IsOkAndHolds(Reply::Ok()));
  const absl::Status status = connection->Receive().status();
  EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kProtocol) << status;
  EXPECT_EQ(connection->TryReceive().status(), status);
  close(peer);
  close(listener);
}

TEST_F(RawConnectionTest, SaysWhereItCannotConnect) {
  const absl::Status missing = RawConnection::ConnectUnix("/no/such/socket").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(std::string(missing.message()), "/no/such/socket")) << missing;
  EXPECT_EQ(RawConnection::ConnectUnix(std::string(108, 'x')).status().code(),
            absl::StatusCode::kInvalidArgument);
  const int port = server_->port();
  server_->Kill();
  EXPECT_EQ(RawConnection::ConnectLoopback(port).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
