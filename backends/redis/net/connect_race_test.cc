#include "redouble/backends/redis/net/connect_race.h"

#include <gtest/gtest.h>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace redouble::inline v0_1::redis {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

tcp::endpoint AnyPort() { return {asio::ip::address_v4::loopback(), 0}; }

// A port where connections are neither accepted nor refused: its backlog is full.
class BlackHole {
 public:
  explicit BlackHole(asio::io_context& context) : acceptor_(context) {
    acceptor_.open(tcp::v4());
    acceptor_.bind(AnyPort());
    acceptor_.listen(0);
    for (int i = 0; i < 4; ++i) {
      tcp::socket& filler = fillers_.emplace_back(context);
      filler.async_connect(endpoint(), [](const error_code&) {});
    }
  }
  tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

 private:
  tcp::acceptor acceptor_;
  std::deque<tcp::socket> fillers_;
};

class ConnectRaceTest : public testing::Test {
 protected:
  // Returns the result of the race, or nullopt if it has not ended after 10 s.
  std::optional<error_code> Race(std::vector<ConnectRace::Endpoint> endpoints) {
    const auto race = std::make_shared<ConnectRace>(context.get_executor(), std::move(endpoints),
                                                    std::chrono::milliseconds(20));
    std::optional<error_code> result;
    race->Start([&](const error_code& error, ConnectRace::Socket socket) {
      result = error;
      if (!error) peer = socket.remote_endpoint();
    });
    context.restart();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!result && std::chrono::steady_clock::now() < end) context.run_one_until(end);
    race->Cancel();
    return result;
  }
  // A port that refuses connections.
  tcp::endpoint Refusing() {
    tcp::acceptor closed(context, AnyPort());
    return closed.local_endpoint();
  }

  asio::io_context context;
  tcp::acceptor server{context, AnyPort()};
  std::optional<ConnectRace::Endpoint> peer;
};

TEST_F(ConnectRaceTest, ConnectsToTheOnlyAddress) {
  EXPECT_EQ(Race({server.local_endpoint()}), error_code());
  EXPECT_EQ(peer, ConnectRace::Endpoint(server.local_endpoint()));
}

TEST_F(ConnectRaceTest, DoesNotWaitForAnAddressThatNeverAnswers) {
  const BlackHole hole(context);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Race({hole.endpoint(), server.local_endpoint()}), error_code());
  EXPECT_EQ(peer, ConnectRace::Endpoint(server.local_endpoint()));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_F(ConnectRaceTest, GoesOnWhenAnAddressRefuses) {
  EXPECT_EQ(Race({Refusing(), Refusing(), server.local_endpoint()}), error_code());
}

TEST_F(ConnectRaceTest, ReportsThatAllAddressesRefuse) {
  EXPECT_EQ(Race({Refusing(), Refusing()}), error_code(asio::error::connection_refused));
}

TEST_F(ConnectRaceTest, CallsNobodyAfterCancel) {
  const auto race = std::make_shared<ConnectRace>(
      context.get_executor(), std::vector<ConnectRace::Endpoint>{server.local_endpoint()},
      ConnectRace::kDelay);
  race->Start([](const error_code&, ConnectRace::Socket) { FAIL() << "it was cancelled"; });
  race->Cancel();
  EXPECT_GT(context.run(), 0u);
}

TEST(WithFamiliesInTurn, MixesFamiliesInTheOrderOfTheResolver) {
  const auto v4 = [](uint16_t port) {
    return ConnectRace::Endpoint(tcp::endpoint(asio::ip::address_v4::loopback(), port));
  };
  const auto v6 = [](uint16_t port) {
    return ConnectRace::Endpoint(tcp::endpoint(asio::ip::address_v6::loopback(), port));
  };
  EXPECT_EQ(WithFamiliesInTurn({v6(1), v6(2), v6(3), v4(4), v4(5)}),
            (std::vector{v6(1), v4(4), v6(2), v4(5), v6(3)}));
  EXPECT_EQ(WithFamiliesInTurn({v4(1)}), std::vector{v4(1)});
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
