#include "redouble/tests/chaos/chaos_proxy.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <chrono>

#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::tests {

namespace asio = boost::asio;
using boost::system::error_code;

ChaosProxy::ChaosProxy(asio::io_context& context, std::string unix_socket, uint64_t seed)
    : context_(context),
      unix_socket_(std::move(unix_socket)),
      rng_(seed),
      acceptor_(context, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
  asio::co_spawn(context_, Accept(), asio::detached);
}

std::string ChaosProxy::uri() const {
  return absl::StrCat("redis://127.0.0.1:", acceptor_.local_endpoint().port());
}

void ChaosProxy::Pair::Close() {
  error_code ignored;
  client.close(ignored);
  server.close(ignored);
}

void ChaosProxy::Close() {
  closed_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  for (const std::weak_ptr<Pair>& weak : pairs_) {
    if (const auto pair = weak.lock()) pair->Close();
  }
}

asio::awaitable<void> ChaosProxy::Accept() {
  while (!closed_) {
    auto pair = std::make_shared<Pair>(context_);
    error_code error;
    co_await acceptor_.async_accept(pair->client, asio::redirect_error(asio::use_awaitable, error));
    if (error) continue;
    std::erase_if(pairs_, [](const std::weak_ptr<Pair>& weak) { return weak.expired(); });
    pairs_.push_back(pair);
    asio::co_spawn(context_, Serve(std::move(pair)), asio::detached);
  }
}

asio::awaitable<void> ChaosProxy::Serve(std::shared_ptr<Pair> pair) {
  error_code error;
  co_await pair->server.async_connect(asio::local::stream_protocol::endpoint(unix_socket_),
                                      asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return pair->Close();
  asio::co_spawn(context_, Pump(pair, pair->client, pair->server), asio::detached);
  co_await Pump(pair, pair->server, pair->client);
}

template <typename From, typename To>
asio::awaitable<void> ChaosProxy::Pump(std::shared_ptr<Pair> pair, From& from, To& to) {
  std::array<char, 4096> buffer;
  error_code error;
  while (true) {
    const size_t size = co_await from.async_read_some(
        asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
    if (error) break;
    const bool goes_on = co_await Pass(*pair, to, std::string_view(buffer.data(), size));
    if (!goes_on) co_return;
  }
  pair->Close();
}

template <typename To>
asio::awaitable<bool> ChaosProxy::Pass(Pair& pair, To& to, std::string_view bytes) {
  constexpr int64_t kPatienceUs = 5'000;
  while (mode_ == Mode::kStall && !closed_) {
    ++handled_[static_cast<size_t>(Mode::kStall)];
    co_await Sleep(kPatienceUs);
  }
  const Mode mode = mode_;
  ++handled_[static_cast<size_t>(mode)];
  if (mode == Mode::kDelay) co_await Sleep(rng_.Between(0, 20'000));
  error_code error;
  if (mode == Mode::kCut) bytes = bytes.substr(0, rng_.Below(bytes.size() + 1));
  while (!bytes.empty() && !error) {
    const size_t piece = mode == Mode::kSplit ? 1 + rng_.Below(7) : bytes.size();
    const auto buffer = asio::buffer(bytes.data(), std::min(piece, bytes.size()));
    const size_t written =
        co_await asio::async_write(to, buffer, asio::redirect_error(asio::use_awaitable, error));
    bytes.remove_prefix(written);
  }
  if (mode == Mode::kHalfClose) {
    error_code ignored;
    if (rng_.Chance(0.5)) {
      pair.server.shutdown(asio::socket_base::shutdown_send, ignored);
    } else {
      pair.client.shutdown(asio::socket_base::shutdown_send, ignored);
    }
  }
  if (mode == Mode::kCut || error) pair.Close();
  co_return mode != Mode::kCut && !error;
}

asio::awaitable<void> ChaosProxy::Sleep(int64_t duration_us) {
  asio::steady_timer timer(context_, std::chrono::microseconds(duration_us));
  error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace redouble::inline v0_1::tests
