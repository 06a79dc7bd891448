#include "redouble/core/base/posix/sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

bool IsInherited(int descriptor) { return (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0; }
bool Blocks(int descriptor) { return (fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0; }

int OptionOf(int socket, int level, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  EXPECT_EQ(getsockopt(socket, level, option, &value, &size), 0);
  return value;
}

// A listener on 127.0.0.1, a connection to it, and the accepted side of that.
class Sockets : public testing::Test {
 protected:
  Sockets() {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    auto* const generic = reinterpret_cast<sockaddr*>(&address_);
    EXPECT_EQ(bind(listener_, generic, size), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    EXPECT_EQ(getsockname(listener_, generic, &size), 0);
    EXPECT_EQ(connect(client_, generic, size), 0);
    accepted_ = AcceptNonBlocking(listener_);
    EXPECT_GE(accepted_, 0);
  }
  ~Sockets() override {
    for (const int socket : {listener_, client_, accepted_}) close(socket);
  }

  sockaddr_in address_ = {};
  const int listener_ = OpenSocket(AF_INET, SOCK_STREAM);
  const int client_ = OpenSocket(AF_INET, SOCK_STREAM);
  int accepted_ = -1;
};

TEST_F(Sockets, AreNotInherited) {
  for (const int socket : {listener_, client_, accepted_}) EXPECT_FALSE(IsInherited(socket));
  EXPECT_TRUE(Blocks(client_));
  EXPECT_FALSE(Blocks(accepted_));
}

TEST_F(Sockets, DoNotBlockIfTheyShallNot) {
  EXPECT_EQ(MakeNonBlocking(listener_), 0);
  EXPECT_EQ(AcceptNonBlocking(listener_), -1);
  EXPECT_TRUE(errno == EAGAIN || errno == EWOULDBLOCK);
}

// The default action of the signal would end this test.
TEST_F(Sockets, GiveNoSignalWhenThePeerIsGone) {
  close(client_);
  char byte = 'x';
  ssize_t sent = 1;
  // The first one may arrive before the peer says that it is gone.
  for (int i = 0; sent == 1 && i < 1'000'000; ++i) sent = send(accepted_, &byte, 1, kNoSignal);
  EXPECT_EQ(sent, -1);
}

TEST_F(Sockets, KeepConnectionsAlive) {
  SetKeepAlive(client_, {.idle_seconds = 30, .interval_seconds = 10, .probes = 4});
  EXPECT_NE(OptionOf(client_, SOL_SOCKET, SO_KEEPALIVE), 0);
#ifdef __linux__
  EXPECT_EQ(OptionOf(client_, IPPROTO_TCP, TCP_KEEPIDLE), 30);
  EXPECT_EQ(OptionOf(client_, IPPROTO_TCP, TCP_KEEPINTVL), 10);
  EXPECT_EQ(OptionOf(client_, IPPROTO_TCP, TCP_KEEPCNT), 4);
  SetUnacknowledgedLimit(client_, 60'000);
  EXPECT_EQ(OptionOf(client_, IPPROTO_TCP, TCP_USER_TIMEOUT), 60'000);
#endif
}

TEST(OpenSocket, ReportsARefusal) {
  EXPECT_EQ(OpenSocket(-1, SOCK_STREAM), -1);
  EXPECT_EQ(AcceptNonBlocking(-1), -1);
  EXPECT_EQ(MakeNonBlocking(-1), -1);
}

TEST(OpenPipe, MakesTwoEndsThatAreNotInherited) {
  int ends[2];
  ASSERT_EQ(OpenPipe(ends), 0);
  for (const int end : ends) EXPECT_FALSE(IsInherited(end));
  char byte = 'x';
  EXPECT_EQ(write(ends[1], &byte, 1), 1);
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  for (const int end : ends) close(end);
}

}  // namespace
}  // namespace redouble::inline v0_1::base
