#include "backends/redis/net/node_lines.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <exception>

#include "absl/strings/str_cat.h"
#include "backends/redis/net/await_task.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

namespace asio = boost::asio;

// Nothing was sent, whatever the handshake was answered.
absl::Status Unreachable(const absl::Status& status) {
  if (store::ErrorKindOf(status) == store::ErrorKind::kNotSent) return status;
  const std::string text(status.message());
  return store::NotSentError(std::string_view(text), status.code());
}

std::string NameOf(const TcpAddress& address) {
  return absl::StrCat(address.host, " ", address.port);
}

}  // namespace

NodeLines::NodeLines(asio::any_io_executor executor, Options options, ClientHooks hooks)
    : executor_(std::move(executor)),
      options_(ServerOptions(std::move(options))),
      hooks_(std::move(hooks)) {}

Options NodeLines::ServerOptions(Options options) {
  const Options defaults;
  options.cluster = defaults.cluster;
  options.sentinel_master = defaults.sentinel_master;
  options.seeds = defaults.seeds;
  options.sentinel_user = defaults.sentinel_user;
  options.sentinel_password = defaults.sentinel_password;
  options.redirections = defaults.redirections;
  options.refresh_interval = defaults.refresh_interval;
  options.retry = defaults.retry;
  options.attempts = defaults.attempts;
  options.reconnect = false;
  options.backoff_base = defaults.backoff_base;
  options.backoff_cap = defaults.backoff_cap;
  return options;
}

void NodeLines::Submit(const TcpAddress& address, NodeRequest& request) {
  if (closed_) return request.FailUnreachable(store::NotSentError("the client was closed"));
  Line& line = lines_[NameOf(address)];
  if (line.client != nullptr && line.client->connected()) return line.client->Submit(request);
  line.waiting.push_back(&request);
  request.SetKeeper(this);
  if (line.dialing == nullptr) Dial(address, line);
}

bool NodeLines::IsConnected(const TcpAddress& address) const {
  const auto line = lines_.find(NameOf(address));
  return line != lines_.end() && line->second.client != nullptr && line->second.client->connected();
}

void NodeLines::Abandon(store::Request& request) {
  for (auto& [name, line] : lines_) {
    const auto is_it = [&](const NodeRequest* kept) { return kept == &request; };
    line.waiting.remove_if(is_it);
    line.served.remove_if(is_it);
  }
}

void NodeLines::Dial(const TcpAddress& address, Line& line) {
  Options options = options_;
  options.address = address;
  line.dialing = std::make_unique<asio::cancellation_signal>();
  auto done = [self = shared_from_this(), address, &line](
                  std::exception_ptr, absl::StatusOr<std::unique_ptr<Client>> client) {
    self->OnDialed(address, line, std::move(client));
  };
  asio::co_spawn(
      executor_,
      AwaitTask(Client::Connect(executor_, std::move(options), Sharing::kRouted, hooks_)),
      asio::bind_cancellation_slot(line.dialing->slot(), std::move(done)));
}

// Client::Connect reports a failed attempt to its caller only.
void NodeLines::NoteFailure(const TcpAddress& address, const absl::Status& status) {
  ++gone_.connect_failures;
  if (!hooks_.log) return;
  Options options = options_;
  options.address = address;
  const std::string uri = options.AddressUri();
  const std::string why(status.message());
  hooks_.log({LogEvent::Kind::kConnectFailed, uri, why});
}

void NodeLines::Replace(Line& line, std::unique_ptr<Client> client) {
  const std::unique_ptr<Client> old = std::exchange(line.client, std::move(client));
  if (old == nullptr) return;
  // What it still carries, commands that block, ends and counts before it goes.
  old->Close();
  gone_.Add(old->counters());
}

Counters NodeLines::counters() const {
  Counters all = gone_;
  for (const auto& [name, line] : lines_) {
    if (line.client != nullptr) all.Add(line.client->counters());
  }
  return all;
}

void NodeLines::OnDialed(const TcpAddress& address, Line& line,
                         absl::StatusOr<std::unique_ptr<Client>> client) {
  line.dialing.reset();
  const absl::Status status =
      closed_ ? absl::CancelledError("the client was closed") : absl::Status(client.status());
  if (!status.ok() && !closed_) NoteFailure(address, status);
  if (status.ok()) Replace(line, *std::move(client));
  // What is submitted meanwhile, by those that fail here, dials anew.
  line.served.splice(line.served.end(), line.waiting);
  while (!line.served.empty()) {
    NodeRequest& request = *line.served.front();
    line.served.pop_front();
    if (status.ok()) {
      line.client->Submit(request);
    } else {
      request.FailUnreachable(Unreachable(status));
    }
  }
}

void NodeLines::Close() {
  closed_ = true;
  for (auto& [name, line] : lines_) {
    if (line.dialing != nullptr) line.dialing->emit(asio::cancellation_type::terminal);
    if (line.client != nullptr) line.client->Close();
  }
}

}  // namespace redouble::redis
