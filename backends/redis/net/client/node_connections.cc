#include "redouble/backends/redis/net/client/node_connections.h"

#include <boost/asio/post.hpp>

#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

namespace asio = boost::asio;

// No request was sent, whatever the handshake returned.
absl::Status Unreachable(const absl::Status& status) {
  if (store::ErrorKindOf(status) == store::ErrorKind::kNotSent) return status;
  const std::string text(status.message());
  return store::NotSentError(std::string_view(text), status.code());
}

}  // namespace

NodeConnections::NodeConnections(asio::any_io_executor executor, Options options, ClientHooks hooks)
    : executor_(std::move(executor)),
      given_(std::move(options)),
      options_(ServerOptions(given_)),
      hooks_(WithoutCommands(std::move(hooks))),
      rng_(RngOf(hooks_)) {}

Options NodeConnections::ServerOptions(Options options) {
  const Options defaults;
  const bool reads_replicas = options.cluster && options.read_from != ReadFrom::kMaster;
  options.cluster = defaults.cluster;
  options.sentinel_master = defaults.sentinel_master;
  options.seeds = defaults.seeds;
  options.address_map = defaults.address_map;
  options.sentinel_user = defaults.sentinel_user;
  options.sentinel_password = defaults.sentinel_password;
  options.sentinel_tls = defaults.sentinel_tls;
  options.redirections = defaults.redirections;
  options.split_commands = defaults.split_commands;
  options.refresh_interval = defaults.refresh_interval;
  // A replica of a cluster answers reads; the nodes' roles change, so all connections say so.
  options.readonly = reads_replicas;
  options.read_from = defaults.read_from;
  // With sentinel_tls, the files may be those of the other connections.
  if (!options.tls.enabled) options.tls = defaults.tls;
  options.retry = defaults.retry;
  options.attempts = defaults.attempts;
  options.reconnect = false;
  return options;
}

Options NodeConnections::ServerOptionsAt(const Options& options, const TcpAddress& address) {
  Options server = ServerOptions(options);
  server.address = options.Mapped(address);
  return server;
}

Options NodeConnections::OptionsOf(const TcpAddress& address) const {
  Options options = options_;
  options.address = given_.Mapped(address);
  return options;
}

void NodeConnections::Submit(const TcpAddress& address, NodeRequest& request) {
  if (closed_) return request.FailUnreachable(store::NotSentError("the client was closed"));
  CloseForgottenLater();
  const auto found = nodes_.find(address);
  Node& node =
      found != nodes_.end()
          ? found->second
          : nodes_
                .try_emplace(address, Backoff(DurationMicros(options_.backoff_base),
                                              DurationMicros(options_.backoff_cap), rng_.Fork()))
                .first->second;
  node.forgotten = false;
  if (node.client != nullptr && node.client->connected()) return Pass(node, request);
  request.SetKeeper(this);
  if (!node.dialing) {
    NoteLoss(node);
    if (SteadyMicros() < node.retry_at_us) return FailLater(request, node);
    node.dialing.emplace(Dial(address, node));
    node.dialing->Start();
  }
  node.waiting.push_back(&request);
}

void NodeConnections::Pass(Node& node, NodeRequest& request) {
  if (MayBlock(request)) return node.pool->Submit(request);
  node.client->Submit(request);
}

// A lost client that never answered counts as a failed attempt to connect.
void NodeConnections::NoteLoss(Node& node) {
  if (node.client == nullptr) return;
  if (node.client->counters().answered > 0) {
    node.backoff.Reset();
  } else {
    node.last_failure = absl::UnavailableError("the server closed the connection");
    node.retry_at_us = LaterMicros(SteadyMicros(), node.backoff.AddFailure());
  }
  Replace(node, nullptr);
}

// The owner may be in the middle of an event, so the request fails in the next turn.
void NodeConnections::FailLater(NodeRequest& request, Node& node) {
  failing_.emplace_back(&request, Unreachable(node.last_failure));
  asio::post(executor_, [self = shared_from_this()] {
    // One request for each post. It may have been abandoned.
    if (self->failing_.empty()) return;
    const auto [failing, status] = std::move(self->failing_.front());
    self->failing_.pop_front();
    failing->FailUnreachable(status);
  });
}

bool NodeConnections::IsConnected(const TcpAddress& address) const {
  const auto node = nodes_.find(address);
  return node != nodes_.end() && node->second.client != nullptr && node->second.client->connected();
}

void NodeConnections::Abandon(store::Request& request) {
  const auto is_it = [&](const NodeRequest* kept) { return kept == &request; };
  failing_.remove_if([&](const auto& entry) { return is_it(entry.first); });
  for (auto& [name, node] : nodes_) {
    node.waiting.remove_if(is_it);
    node.served.remove_if(is_it);
  }
}

base::Task<void> NodeConnections::Dial(TcpAddress address, Node& node) {
  auto client = co_await Client::Connect(executor_, OptionsOf(address), Sharing::kRouted, hooks_);
  // In a turn of its own, because the report destroys this task.
  asio::post(executor_, [self = shared_from_this(), address = std::move(address), &node,
                         client = std::move(client)]() mutable {
    self->OnDialed(address, node, std::move(client));
  });
}

// Client::Connect reports a failed attempt to its caller only.
void NodeConnections::NoteFailure(const TcpAddress& address, const absl::Status& status) {
  ++gone_.connect_failures;
  if (!hooks_.log) return;
  const std::string uri = OptionsOf(address).AddressUri();
  const std::string why(status.message());
  hooks_.log({LogEvent::Kind::kConnectFailed, uri, why});
}

void NodeConnections::Replace(Node& node, std::unique_ptr<Client> client) {
  const std::unique_ptr<Client> old = std::exchange(node.client, std::move(client));
  if (old == nullptr) return;
  // The requests of the old client end and are counted before it is destroyed.
  old->Close();
  gone_.Add(old->counters());
}

Counters NodeConnections::counters() const {
  Counters all = gone_;
  for (const auto& [name, node] : nodes_) {
    if (node.client != nullptr) all.Add(node.client->counters());
    if (node.pool != nullptr) all.Add(node.pool_context->counters);
  }
  return all;
}

void NodeConnections::OnDialed(const TcpAddress& address, Node& node,
                               absl::StatusOr<std::unique_ptr<Client>> client) {
  if (closed_) return;
  node.dialing.reset();
  const absl::Status status = client.status();
  if (!status.ok()) {
    NoteFailure(address, status);
    node.last_failure = status;
    node.retry_at_us = LaterMicros(SteadyMicros(), node.backoff.AddFailure());
  }
  if (status.ok()) {
    Replace(node, *std::move(client));
    if (node.pool == nullptr) {
      node.pool_context = std::make_shared<ClientContext>(executor_, OptionsOf(address), hooks_);
      node.pool = std::make_shared<BlockingPool>(node.pool_context);
    }
  }
  // A request submitted by a failing waiter starts another attempt.
  node.served.splice(node.served.end(), node.waiting);
  while (!node.served.empty()) {
    NodeRequest& request = *node.served.front();
    node.served.pop_front();
    if (status.ok()) {
      Pass(node, request);
    } else {
      request.FailUnreachable(Unreachable(status));
    }
  }
  CloseForgottenLater();
}

bool NodeConnections::Node::idle() const {
  return !dialing && waiting.empty() && served.empty() &&
         (client == nullptr || client->counters().in_flight == 0) &&
         (pool == nullptr || pool_context->counters.in_flight == 0);
}

void NodeConnections::Forget(const TcpAddress& address) {
  const auto found = nodes_.find(address);
  if (found == nodes_.end()) return;
  found->second.forgotten = true;
  has_forgotten_ = true;
  CloseForgottenLater();
}

// A caller, or one of its callers, may hold a reference to a node, so the nodes are destroyed in
// the next turn.
void NodeConnections::CloseForgottenLater() {
  if (!has_forgotten_) return;
  has_forgotten_ = false;
  asio::post(executor_, [self = shared_from_this()] { self->CloseForgotten(); });
}

void NodeConnections::CloseForgotten() {
  if (closed_) return;
  for (auto node = nodes_.begin(); node != nodes_.end();) {
    Node& gone = node->second;
    if (!gone.forgotten || !gone.idle()) {
      has_forgotten_ |= gone.forgotten;
      ++node;
      continue;
    }
    Replace(gone, nullptr);
    if (gone.pool != nullptr) {
      gone.pool->Close("the server has left");
      gone_.Add(gone.pool_context->counters);
    }
    node = nodes_.erase(node);
  }
}

void NodeConnections::Close() {
  closed_ = true;
  for (auto& [name, node] : nodes_) {
    if (node.dialing) {
      node.dialing.reset();
      node.last_failure = absl::CancelledError("the client was closed");
      for (NodeRequest* request : std::exchange(node.waiting, {})) FailLater(*request, node);
    }
    if (node.client != nullptr) node.client->Close();
    if (node.pool != nullptr) node.pool->Close("the client was closed");
  }
}

}  // namespace redouble::inline v0_1::redis
