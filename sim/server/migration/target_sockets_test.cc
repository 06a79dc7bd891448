// Real sockets on the loopback interface. No test waits for a time: a timeout is reached because
// the other side never does anything.
#include "redouble/sim/server/migration/target_sockets.h"

#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "redouble/core/base/posix/sockets.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::StatusIs;
using memory::MigrationConnection;

constexpr int64_t kLongMs = 60'000;
constexpr int64_t kShortMs = 20;

// A listening socket, whose connections the test serves by hand.
class Listener {
 public:
  Listener() : socket_(base::OpenSocket(AF_INET, SOCK_STREAM)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(socket_, any, size), 0);
    EXPECT_EQ(listen(socket_, 128), 0);
    EXPECT_EQ(getsockname(socket_, any, &size), 0);
    port_ = std::to_string(ntohs(address.sin_port));
  }
  ~Listener() { Close(); }

  const std::string& port() const { return port_; }
  int Accept() const { return accept(socket_, nullptr, nullptr); }
  void Close() {
    if (socket_ >= 0) close(std::exchange(socket_, -1));
  }

 private:
  int socket_;
  std::string port_;
};

void Send(int socket, std::string_view bytes) {
  EXPECT_EQ(send(socket, bytes.data(), bytes.size(), base::kNoSignal),
            static_cast<ssize_t>(bytes.size()));
}

class TargetSocketsTest : public ::testing::Test {
 protected:
  // Time passes with each look at it, so that no wait is endless.
  TargetSocketsTest() : sockets_([this] { return now_us_ += 1000; }) {}

  MigrationConnection& Open(const Listener& listener) {
    return *sockets_.Connect("127.0.0.1", listener.port(), kLongMs).value();
  }

  int64_t now_us_ = 0;
  TargetSockets sockets_;
};

TEST_F(TargetSocketsTest, WritesAndReadsLines) {
  const Listener listener;
  MigrationConnection& connection = Open(listener);
  const int peer = listener.Accept();
  EXPECT_THAT(connection.Write("PING\r\n", kLongMs), IsOk());
  std::array<char, 6> bytes;
  ASSERT_EQ(recv(peer, bytes.data(), bytes.size(), MSG_WAITALL), 6);
  EXPECT_EQ(std::string(bytes.data(), bytes.size()), "PING\r\n");
  Send(peer, "+PONG\r\n\r\n-ERR a\nrest");
  for (const char* line : {"+PONG", "", "-ERR a"}) {
    ASSERT_OK_AND_ASSIGN(const std::string read, connection.ReadLine(kLongMs));
    EXPECT_EQ(read, line);
  }
  EXPECT_THAT(connection.ReadLine(kShortMs), StatusIs(absl::StatusCode::kDeadlineExceeded));
  Send(peer, " of it\r\n");
  ASSERT_OK_AND_ASSIGN(const std::string rest, connection.ReadLine(kLongMs));
  EXPECT_EQ(rest, "rest of it");
  close(peer);
  EXPECT_THAT(connection.ReadLine(kLongMs), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TargetSocketsTest, CutsALongLine) {
  const Listener listener;
  MigrationConnection& connection = Open(listener);
  const int peer = listener.Accept();
  Send(peer, std::string(1023, 'a') + "\r\n" + std::string(1022, 'b') + "\r\n");
  for (const std::string& line : {std::string(1023, 'a'), std::string(), std::string(1022, 'b')}) {
    ASSERT_OK_AND_ASSIGN(const std::string read, connection.ReadLine(kLongMs));
    EXPECT_EQ(read, line);
  }
  Send(peer, "\n");
  EXPECT_THAT(connection.ReadLine(kLongMs), StatusIs(absl::StatusCode::kUnavailable));
  close(peer);
}

TEST_F(TargetSocketsTest, WritesUntilTheTargetTakesNoMore) {
  const Listener listener;
  MigrationConnection& connection = Open(listener);
  const int peer = listener.Accept();
  const std::string bytes(size_t{64} << 20, 'x');
  EXPECT_THAT(connection.Write(bytes, kShortMs), StatusIs(absl::StatusCode::kDeadlineExceeded));
  close(peer);
  EXPECT_THAT(connection.Write(bytes, kLongMs), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TargetSocketsTest, KeepsOneConnectionForEachTarget) {
  const Listener first;
  const Listener second;
  MigrationConnection& connection = Open(first);
  connection.set_database(3);
  EXPECT_EQ(&Open(first), &connection);
  EXPECT_NE(&Open(second), &connection);
  EXPECT_EQ(sockets_.size(), 2u);
  sockets_.Forget("127.0.0.1", first.port());
  sockets_.Forget("127.0.0.1", "1");
  EXPECT_EQ(sockets_.size(), 1u);
  EXPECT_EQ(Open(first).database(), std::nullopt);
}

TEST_F(TargetSocketsTest, ClosesWhatIsNotUsed) {
  const Listener first;
  const Listener second;
  Open(first);
  now_us_ += TargetSockets::kUnusedMicros / 2;
  Open(second);
  sockets_.CloseUnused();
  EXPECT_EQ(sockets_.size(), 2u);
  now_us_ += TargetSockets::kUnusedMicros / 2;
  sockets_.CloseUnused();
  EXPECT_EQ(sockets_.size(), 1u);
  Open(second);
  now_us_ += TargetSockets::kUnusedMicros - 2000;
  sockets_.CloseUnused();
  EXPECT_EQ(sockets_.size(), 1u);
  now_us_ += 2000;
  sockets_.CloseUnused();
  EXPECT_EQ(sockets_.size(), 0u);
}

TEST_F(TargetSocketsTest, KeepsALimitedNumber) {
  const Listener listener;
  // Words that mean the same port are different targets, as in Redis.
  std::string port = listener.port();
  for (size_t i = 0; i <= TargetSockets::kMost; ++i) {
    ASSERT_THAT(sockets_.Connect("127.0.0.1", port, kLongMs), IsOk());
    port.insert(0, "0");
  }
  EXPECT_EQ(sockets_.size(), TargetSockets::kMost);
  Open(listener).set_database(1);
  EXPECT_EQ(sockets_.size(), TargetSockets::kMost);
  EXPECT_EQ(Open(listener).database(), 1);
}

TEST_F(TargetSocketsTest, NoticesARefusalWhenItWrites) {
  Listener listener;
  listener.Close();
  MigrationConnection& connection = Open(listener);
  EXPECT_THAT(connection.Write("PING\r\n", kLongMs), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TargetSocketsTest, TriesAllAddressesOfAName) {
  const Listener listener;  // At one of the addresses of localhost.
  ASSERT_OK_AND_ASSIGN(MigrationConnection * connection,
                       sockets_.Connect("localhost", listener.port(), kLongMs));
  EXPECT_THAT(connection->Write("PING\r\n", kLongMs), IsOk());
  const int peer = listener.Accept();
  EXPECT_GE(peer, 0);
  close(peer);
}

TEST_F(TargetSocketsTest, DoesNotReachANameThatIsNoHost) {
  for (const char* host : {"", "not a host", "1.2.3.4.5"}) {
    EXPECT_THAT(sockets_.Connect(host, "1", kLongMs), StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_EQ(sockets_.size(), 0u);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
