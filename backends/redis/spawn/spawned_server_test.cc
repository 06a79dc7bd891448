// Starting, stopping and killing a real server. held_time_test.cc covers its held clock.

#include "redouble/backends/redis/spawn/spawned_server.h"

#include <signal.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/tests/support/target/raw_connection.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;
using tests::Ask;
using tests::RawConnection;

std::unique_ptr<SpawnedServer> StartOrDie(const SpawnedServerOptions& options = {}) {
  auto server = SpawnedServer::Start(options);
  EXPECT_THAT(server, IsOk());
  return std::move(server).value();
}

std::unique_ptr<RawConnection> Connect(const SpawnedServer& server) {
  return RawConnection::ConnectUnix(server.unix_socket()).value();
}

bool ProcessExists(pid_t pid) { return kill(pid, 0) == 0; }

// A program that is used instead of redis-server.
std::string WriteScript(const PrivateFolder& folder, const std::string& body) {
  const std::string path = folder.PathOf("server.sh");
  EXPECT_THAT(WriteFile(path, absl::StrCat("#!/bin/sh\n", body, "\n")), IsOk());
  EXPECT_EQ(chmod(path.c_str(), 0700), 0);
  return path;
}

TEST(SpawnedServer, AnswersOnItsSocketOnceStarted) {
  const auto server = StartOrDie();
  const auto client = Connect(*server);
  EXPECT_EQ(Ask(*client, {"PING"}), "PONG");
  EXPECT_EQ(server->uri(), "unix://" + server->unix_socket());
  EXPECT_EQ(server->port(), 0);
  EXPECT_EQ(server->loopback_uri(), "");
  EXPECT_TRUE(absl::StrContains(server->log(), "now ready to accept connections"));
}

TEST(SpawnedServer, LeavesNoProcessAndNoFolderBehind) {
  auto server = StartOrDie();
  const pid_t pid = server->pid();
  const std::string folder = server->folder();
  ASSERT_TRUE(ProcessExists(pid));
  ASSERT_TRUE(std::filesystem::exists(folder));
  server.reset();
  EXPECT_FALSE(ProcessExists(pid));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(SpawnedServer, SharesNothingWithAnother) {
  const auto first = StartOrDie();
  const auto second = StartOrDie();
  const auto first_client = Connect(*first);
  const auto second_client = Connect(*second);
  EXPECT_EQ(Ask(*first_client, {"SET", "key", "first"}), "OK");
  EXPECT_EQ(Ask(*second_client, {"GET", "key"}), "nil");
  EXPECT_EQ(Ask(*first_client, {"GET", "key"}), "\"first\"");
}

TEST(SpawnedServer, PersistsNothingUnlessToldTo) {
  const auto server = StartOrDie();
  const auto client = Connect(*server);
  EXPECT_EQ(Ask(*client, {"CONFIG", "GET", "save"}), "[\"save\", \"\"]");
  EXPECT_EQ(Ask(*client, {"CONFIG", "GET", "appendonly"}), "[\"appendonly\", \"no\"]");
}

TEST(SpawnedServer, FollowsFurtherLinesOfConfiguration) {
  SpawnedServerOptions options;
  options.config = {"notify-keyspace-events KEA", "hz 10", "save 900 1"};
  const auto server = StartOrDie(options);
  const auto client = Connect(*server);
  EXPECT_EQ(Ask(*client, {"CONFIG", "GET", "notify-keyspace-events"}),
            "[\"notify-keyspace-events\", \"AKE\"]");
  EXPECT_EQ(Ask(*client, {"CONFIG", "GET", "hz"}), "[\"hz\", \"10\"]");
  EXPECT_EQ(Ask(*client, {"CONFIG", "GET", "save"}), "[\"save\", \"900 1\"]");
}

TEST(SpawnedServer, AsksForItsPassword) {
  SpawnedServerOptions options;
  options.password = "pass word/\"\\:@%\x01\xff";
  const auto server = StartOrDie(options);
  const auto client = Connect(*server);
  EXPECT_EQ(Ask(*client, {"PING"}), "(error) NOAUTH Authentication required.");
  EXPECT_TRUE(absl::StartsWith(Ask(*client, {"AUTH", "wrong"}), "(error) WRONGPASS"));
  EXPECT_EQ(Ask(*client, {"AUTH", options.password}), "OK");
  EXPECT_EQ(Ask(*client, {"PING"}), "PONG");
  EXPECT_EQ(server->uri(), "unix://:pass%20word%2F%22%5C%3A%40%25%01%FF@" + server->unix_socket());
}

TEST(SpawnedServer, ListensOnLoopbackWhenAsked) {
  SpawnedServerOptions options;
  options.listen_on_loopback = true;
  const auto first = StartOrDie(options);
  const auto second = StartOrDie(options);
  EXPECT_NE(first->port(), second->port());
  const auto by_port = RawConnection::ConnectLoopback(first->port()).value();
  EXPECT_EQ(Ask(*by_port, {"SET", "key", "value"}), "OK");
  const auto by_socket = Connect(*first);
  EXPECT_EQ(Ask(*by_socket, {"GET", "key"}), "\"value\"");
  EXPECT_EQ(first->loopback_uri(), absl::StrCat("redis://127.0.0.1:", first->port()));
}

TEST(SpawnedServer, KeepsItsSocketAndPortOverARestart) {
  SpawnedServerOptions options;
  options.listen_on_loopback = true;
  const auto server = StartOrDie(options);
  const std::string socket = server->unix_socket();
  const int port = server->port();
  const pid_t pid = server->pid();
  const auto before = Connect(*server);
  EXPECT_EQ(Ask(*before, {"SET", "key", "value"}), "OK");
  ASSERT_THAT(server->Restart(), IsOk());
  EXPECT_THAT(before->Receive(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_NE(server->pid(), pid);
  EXPECT_FALSE(ProcessExists(pid));
  EXPECT_EQ(server->unix_socket(), socket);
  EXPECT_EQ(server->port(), port);
  const auto after = RawConnection::ConnectLoopback(port).value();
  EXPECT_EQ(Ask(*after, {"GET", "key"}), "nil");
}

TEST(SpawnedServer, ComesBackAfterACrashWithWhatItHadPersisted) {
  SpawnedServerOptions options;
  options.config = {"appendonly yes", "appendfsync always"};
  const auto server = StartOrDie(options);
  const pid_t pid = server->pid();
  {
    const auto client = Connect(*server);
    EXPECT_EQ(Ask(*client, {"SET", "key", "value"}), "OK");
    server->Kill();
    EXPECT_THAT(client->Receive(), StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_EQ(server->pid(), 0);
  EXPECT_FALSE(ProcessExists(pid));
  ASSERT_THAT(server->Restart(), IsOk());
  const auto client = Connect(*server);
  EXPECT_EQ(Ask(*client, {"GET", "key"}), "\"value\"");
}

TEST(SpawnedServer, NoticesThatItWasKilledByOthers) {
  const auto server = StartOrDie();
  const auto client = Connect(*server);
  ASSERT_EQ(kill(server->pid(), SIGKILL), 0);
  EXPECT_THAT(client->Receive(), StatusIs(absl::StatusCode::kUnavailable));
  ASSERT_THAT(server->Terminate(), IsOk());
  EXPECT_EQ(server->pid(), 0);
  ASSERT_THAT(server->Restart(), IsOk());
  const auto again = Connect(*server);
  EXPECT_EQ(Ask(*again, {"PING"}), "PONG");
}

TEST(SpawnedServer, ShutsDownInGoodOrderWhenTerminated) {
  const auto server = StartOrDie();
  ASSERT_THAT(server->Terminate(), IsOk());
  EXPECT_TRUE(absl::StrContains(server->log(), "ready to exit"));
  EXPECT_EQ(server->pid(), 0);
  EXPECT_THAT(server->Terminate(), IsOk());
  server->Kill();
}

TEST(SpawnedServer, KillsAServerThatDoesNotShutDown) {
  SpawnedServerOptions options;
  options.patience = absl::Seconds(2);
  const auto server = StartOrDie(options);
  const pid_t pid = server->pid();
  ASSERT_EQ(kill(pid, SIGSTOP), 0);
  const absl::Status status = server->Terminate();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_FALSE(ProcessExists(pid));
}

TEST(SpawnedServer, ReportsAMissingExecutable) {
  SpawnedServerOptions options;
  options.executable = "no-such-redis-server";
  const absl::Status status = SpawnedServer::Start(options).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(absl::StartsWith(std::string(status.message()),
                               "no-such-redis-server is in no folder of PATH"));
}

TEST(SpawnedServer, QuotesTheLogOfTheServerForABadOption) {
  SpawnedServerOptions options;
  options.config = {"no-such-directive 1"};
  const absl::Status status = SpawnedServer::Start(options).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  const std::string message(status.message());
  EXPECT_TRUE(absl::StrContains(message, "exited with status 1")) << message;
  EXPECT_TRUE(absl::StrContains(message, ">>> 'no-such-directive 1'")) << message;
  EXPECT_TRUE(absl::StrContains(message, "Bad directive or wrong number of arguments")) << message;
}

TEST(SpawnedServer, QuotesNoMoreThanTheEndOfALongLog) {
  const PrivateFolder folder = PrivateFolder::Create("script-").value();
  SpawnedServerOptions options;
  options.executable = WriteScript(folder, "seq 1 2000; exit 1");
  const std::string message(SpawnedServer::Start(options).status().message());
  EXPECT_TRUE(absl::EndsWith(message, "\n1999\n2000\n"));
  EXPECT_TRUE(absl::StrContains(message, "its log ends:\n..."));
  EXPECT_LT(message.size(), 2500u);
}

TEST(SpawnedServer, RefusesOptionsThatNoConfigurationCanExpress) {
  SpawnedServerOptions two_lines;
  two_lines.config = {"hz 10\nport 6379"};
  EXPECT_THAT(SpawnedServer::Start(two_lines), StatusIs(absl::StatusCode::kInvalidArgument));
  SpawnedServerOptions zero_byte;
  zero_byte.password = std::string("a\0b", 3);
  EXPECT_THAT(SpawnedServer::Start(zero_byte), StatusIs(absl::StatusCode::kInvalidArgument));
  SpawnedServerOptions endless_time;
  endless_time.held_time = absl::InfiniteFuture();
  EXPECT_THAT(SpawnedServer::Start(endless_time), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SpawnedServer, GivesUpOnAServerThatNeverAnswers) {
  const PrivateFolder folder = PrivateFolder::Create("script-").value();
  SpawnedServerOptions options;
  options.executable = WriteScript(folder, "echo deaf; exec sleep 1000");
  options.patience = absl::Milliseconds(100);
  const absl::Status status = SpawnedServer::Start(options).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(SpawnedServer, ReportsAProgramThatCannotBeRun) {
  const PrivateFolder folder = PrivateFolder::Create("script-").value();
  SpawnedServerOptions options;
  options.executable = folder.PathOf("empty");
  ASSERT_THAT(WriteFile(options.executable, ""), IsOk());
  ASSERT_EQ(chmod(options.executable.c_str(), 0700), 0);
  const absl::Status status = SpawnedServer::Start(options).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_TRUE(absl::StrContains(std::string(status.message()), "cannot execute")) << status;
}

TEST(SpawnedServer, RefusesAServerThatDoesNotFollowTheHeldClock) {
  const PrivateFolder folder = PrivateFolder::Create("script-").value();
  SpawnedServerOptions options;
  options.executable = WriteScript(folder, "unset LD_PRELOAD; exec redis-server \"$@\"");
  EXPECT_THAT(SpawnedServer::Start(options), IsOk());
  options.held_time = absl::FromUnixSeconds(1'700'000'000);
  const absl::Status status = SpawnedServer::Start(options).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(absl::StrContains(std::string(status.message()), "does not follow the held clock"));
}

TEST(SpawnedServer, HasNoTimeToSetUnlessItsClockIsHeld) {
  const auto server = StartOrDie();
  EXPECT_EQ(server->held_time(), std::nullopt);
  for (const absl::Status& status : {server->SetTime(absl::FromUnixSeconds(1)),
                                     server->AdvanceTime(absl::Seconds(1)), server->Settle()}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_EQ(status.message(), "this server's clock is not held");
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
