#include "redouble/backends/redis/spawn/loopback_port.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;

// Listens as Redis does. Returns 0, or the errno of the failed call.
int TryToListen(int port, bool reuse_address) {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  const int reuse = reuse_address ? 1 : 0;
  setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool listens = bind(file, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
                       listen(file, 1) == 0;
  const int error = listens ? 0 : errno;
  close(file);
  return error;
}

TEST(LoopbackPort, LetsAServerListenOnThePortItHolds) {
  const auto port = LoopbackPort::Reserve();
  ASSERT_THAT(port, IsOk());
  ASSERT_GT((*port)->number(), 0);
  EXPECT_EQ(TryToListen((*port)->number(), true), 0);
}

TEST(LoopbackPort, KeepsOthersOffThePort) {
  const auto port = LoopbackPort::Reserve();
  ASSERT_THAT(port, IsOk());
  EXPECT_EQ(TryToListen((*port)->number(), false), EADDRINUSE);
}

TEST(LoopbackPort, ReturnsADifferentPortToEachCaller) {
  const auto first = LoopbackPort::Reserve();
  const auto second = LoopbackPort::Reserve();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE((*first)->number(), (*second)->number());
}

TEST(LoopbackPort, ReleasesThePort) {
  int number = 0;
  {
    const auto port = LoopbackPort::Reserve();
    ASSERT_THAT(port, IsOk());
    number = (*port)->number();
  }
  EXPECT_EQ(TryToListen(number, false), 0);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
