#include "backends/redis/net/connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

namespace redouble::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr size_t kReadBytes = 64 * 1024;

int64_t NowMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool MustWait(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

}  // namespace

Connection::Connection(Socket socket, ExecOptions options)
    : socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      machine_(std::move(options)),
      read_buffer_(kReadBytes) {}

void Connection::Start() {
  error_code error;
  socket_.non_blocking(true, error);
  if (error) return Close(error.message());
  Read();
}

void Connection::Submit(store::Request& request) {
  ++counters_.requests;
  machine_.Submit(request);
  if (turn_will_end_ || machine_.lost() || machine_.queued() == 0) return;
  turn_will_end_ = true;
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->EndTurn(); });
}

void Connection::EndTurn() {
  turn_will_end_ = false;
  Perform(machine_.Resume(ExecEvent::TurnEnded(NowMicros())));
}

void Connection::Perform(ExecAction action) {
  if (action.wake_at_us) SetTimer(*action.wake_at_us);
  while (!action.close && !action.write.empty()) {
    if (!Write(action)) return;
  }
  if (action.close) CloseSocket();
}

// Writes a part and puts the next action in place; false when the socket has to be waited for.
bool Connection::Write(ExecAction& action) {
  error_code error;
  const size_t size =
      socket_.write_some(asio::buffer(action.write.data(), action.write.size()), error);
  if (MustWait(error)) {
    WaitUntilWritable(action.write);
    return false;
  }
  if (error) {
    action = machine_.Resume(ExecEvent::Lost(error.message()));
    return true;
  }
  ++counters_.writes;
  counters_.bytes_written += size;
  action = machine_.Resume(ExecEvent::Written(size));
  return true;
}

void Connection::WaitUntilWritable(std::string_view rest) {
  socket_.async_wait(Socket::wait_write,
                     [self = shared_from_this(), rest](const error_code& error) {
                       // Aborted: the socket was closed, and nobody wants `rest` any more.
                       if (error || self->machine_.lost()) return;
                       self->Perform(ExecAction{.write = rest});
                     });
}

void Connection::Read() {
  socket_.async_read_some(asio::buffer(read_buffer_),
                          [self = shared_from_this()](const error_code& error, size_t size) {
                            self->OnRead(error, size);
                          });
}

void Connection::OnRead(const error_code& error, size_t size) {
  if (machine_.lost()) return;
  if (error) {
    return Close(error == asio::error::eof ? "the server closed it" : error.message());
  }
  ++counters_.reads;
  counters_.bytes_read += size;
  turn_will_end_ = true;
  ExecAction action =
      machine_.Resume(ExecEvent::Received(std::string_view(read_buffer_.data(), size)));
  Perform(std::move(action));
  EndTurn();
  if (!machine_.lost()) Read();
}

void Connection::SetTimer(int64_t wake_at_us) {
  timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::microseconds(wake_at_us)));
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error) self->OnTimer();
  });
}

void Connection::OnTimer() {
  if (machine_.lost()) return;
  turn_will_end_ = true;
  Perform(machine_.Resume(ExecEvent::Timer(NowMicros())));
  EndTurn();
}

void Connection::Close(std::string_view reason) {
  // A waiter that fails may destroy the client, and with it the last owner.
  const auto self = shared_from_this();
  CloseSocket();
  machine_.Resume(ExecEvent::Lost(reason));
}

void Connection::CloseSocket() {
  timer_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace redouble::redis
