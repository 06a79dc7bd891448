// An open-loop client: sends GETs to a Unix socket at a fixed mean rate, whatever the server does,
// and prints the latencies. A latency counts from the moment at which the request was due, so that
// a server that stops for a while is charged for everything that was due meanwhile ("coordinated
// omission" would leave it out).
//
//   bazel-bin/bench/serve/open_loop SOCKET RATE SECONDS
//
// The times between requests are exponentially distributed, from one seed. The requests go to 50
// connections in turn. Prints the number of requests, and the median, 99th, 99.9th percentile and
// the greatest latency in microseconds. bench/serve/latency_bench.py runs it.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::bench {
namespace {

constexpr size_t kConnections = 50;
constexpr std::string_view kSet = "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$10\r\n0123456789\r\n";
constexpr std::string_view kSetReply = "+OK\r\n";
constexpr std::string_view kGet = "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n";
constexpr std::string_view kGetReply = "$10\r\n0123456789\r\n";

void ExitUnless(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  std::exit(1);
}

int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// One connection. Its replies have one size each, so that counting bytes counts replies.
class Connection {
 public:
  explicit Connection(const char* path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    ExitUnless(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, path);
    Send(kSet);
    std::array<char, kSetReply.size()> reply;
    ExitUnless(recv(socket_, reply.data(), reply.size(), MSG_WAITALL) ==
                   static_cast<ssize_t>(reply.size()),
               "SET");
    ExitUnless(fcntl(socket_, F_SETFL, O_NONBLOCK) == 0, "fcntl");
  }

  int socket() const { return socket_; }

  void Request(int64_t due_ns) {
    due_ns_.push_back(due_ns);
    Send(kGet);
  }

  // Adds the latencies of the replies that have arrived.
  void Receive(std::vector<int64_t>& latencies_ns) {
    std::array<char, 1 << 16> buffer;
    const ssize_t size = recv(socket_, buffer.data(), buffer.size(), 0);
    ExitUnless(size > 0, "the server closed the connection");
    bytes_ += static_cast<size_t>(size);
    const int64_t now_ns = NowNanos();
    for (; bytes_ >= kGetReply.size(); bytes_ -= kGetReply.size()) {
      latencies_ns.push_back(now_ns - due_ns_.front());
      due_ns_.pop_front();
    }
  }

 private:
  void Send(std::string_view request) {
    ExitUnless(
        send(socket_, request.data(), request.size(), 0) == static_cast<ssize_t>(request.size()),
        "send");
  }

  const int socket_;
  std::deque<int64_t> due_ns_;
  size_t bytes_ = 0;
};

class OpenLoop {
 public:
  explicit OpenLoop(const char* path) : epoll_(epoll_create1(0)) {
    for (size_t i = 0; i < kConnections; ++i) connections_.emplace_back(path);
    for (size_t i = 0; i < kConnections; ++i) {
      epoll_event event = {.events = EPOLLIN, .data = {.u64 = i}};
      ExitUnless(epoll_ctl(epoll_, EPOLL_CTL_ADD, connections_[i].socket(), &event) == 0, "epoll");
    }
  }

  // Never sleeps: the client has a core of its own.
  std::vector<int64_t> Run(double rate, double seconds) {
    const auto count = static_cast<size_t>(rate * seconds);
    std::vector<int64_t> latencies_ns;
    latencies_ns.reserve(count);
    base::Rng rng(1);
    double due_ns = static_cast<double>(NowNanos());
    size_t sent = 0;
    while (latencies_ns.size() < count) {
      while (sent < count && static_cast<double>(NowNanos()) >= due_ns) {
        connections_[sent % kConnections].Request(static_cast<int64_t>(due_ns));
        ++sent;
        due_ns += -std::log(1 - rng.Unit()) * 1e9 / rate;
      }
      std::array<epoll_event, kConnections> events;
      const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
      for (int i = 0; i < ready; ++i) {
        connections_[events[static_cast<size_t>(i)].data.u64].Receive(latencies_ns);
      }
    }
    return latencies_ns;
  }

 private:
  const int epoll_;
  std::vector<Connection> connections_;
};

}  // namespace
}  // namespace redouble::inline v0_1::bench

int main(int argc, char** argv) {
  double rate = 0;
  double seconds = 0;
  if (argc != 4 || !absl::SimpleAtod(argv[2], &rate) || !absl::SimpleAtod(argv[3], &seconds) ||
      rate <= 0 || seconds <= 0) {
    std::fprintf(stderr, "usage: open_loop SOCKET RATE SECONDS\n");
    return 2;
  }
  std::vector<int64_t> latencies_ns = redouble::bench::OpenLoop(argv[1]).Run(rate, seconds);
  std::sort(latencies_ns.begin(), latencies_ns.end());
  const auto percentile_us = [&](double part) {
    const auto at = static_cast<size_t>(part * static_cast<double>(latencies_ns.size() - 1));
    return static_cast<double>(latencies_ns[at]) / 1000;
  };
  std::printf("%zu %.1f %.1f %.1f %.1f\n", latencies_ns.size(), percentile_us(0.5),
              percentile_us(0.99), percentile_us(0.999), percentile_us(1));
  return 0;
}
