#include "redouble/sim/server/listening/server_listeners.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::sim {

namespace {

// As in Redis, a server with `bind ""` has no TCP socket.
bool ServesTcp(const memory::ServerOptions& server) {
  return server.port > 0 && !server.bind.empty();
}

}  // namespace

absl::Status ServerListeners::Open(const memory::ServerOptions& server, bool any_port) {
  const bool serves_tcp = any_port || ServesTcp(server);
  if (!serves_tcp && server.unixsocket.empty()) {
    return absl::InvalidArgumentError(
        "nowhere to listen: neither a port with an address nor a Unix socket");
  }
  if (serves_tcp) {
    REDOUBLE_ASSIGN_OR_RETURN(tcp_, ListenOnTcp(context_, server.bind, any_port ? 0 : server.port));
  }
  if (!server.unixsocket.empty()) {
    REDOUBLE_ASSIGN_OR_RETURN(std::unique_ptr<Listener> listener,
                              Listener::OnUnixSocket(context_, server.unixsocket));
    unix_.push_back(std::move(listener));
  }
  return absl::OkStatus();
}

// The old sockets are closed first, because the new ones may share addresses with them.
absl::Status ServerListeners::ReopenTcp(const memory::ServerOptions& server,
                                        const memory::ServerOptions& before) {
  Close(tcp_);
  absl::StatusOr<Listeners> opened = Listeners();
  if (ServesTcp(server)) opened = ListenOnTcp(context_, server.bind, server.port);
  const absl::Status status = opened.status();
  if (!status.ok() && ServesTcp(before)) opened = ListenOnTcp(context_, before.bind, before.port);
  if (opened.ok()) tcp_ = *std::move(opened);
  Watch(tcp_);
  return status;
}

void ServerListeners::Watch() {
  Watch(tcp_);
  Watch(unix_);
}

void ServerListeners::Watch(const Listeners& listeners) {
  for (const std::unique_ptr<Listener>& listener : listeners) {
    poller_.Add(listener->descriptor(), nullptr);
  }
}

void ServerListeners::Close() {
  Close(tcp_);
  Close(unix_);
}

void ServerListeners::Close(Listeners& listeners) {
  for (const std::unique_ptr<Listener>& listener : listeners) {
    poller_.Remove(listener->descriptor());
    listener->Close();
  }
  listeners.clear();
}

void ServerListeners::Accept(const Listener::Handler& handler) {
  for (const Listeners* listeners : {&tcp_, &unix_}) {
    for (const std::unique_ptr<Listener>& listener : *listeners) listener->Accept(handler);
  }
}

std::string ServerListeners::names() const {
  std::string text;
  for (const Listeners* listeners : {&tcp_, &unix_}) {
    for (const std::unique_ptr<Listener>& listener : *listeners) {
      absl::StrAppend(&text, text.empty() ? "" : " and ", listener->name());
    }
  }
  return text;
}

std::vector<int> ServerListeners::descriptors() const {
  std::vector<int> descriptors;
  for (const Listeners* listeners : {&tcp_, &unix_}) {
    for (const std::unique_ptr<Listener>& listener : *listeners) {
      descriptors.push_back(listener->descriptor());
    }
  }
  return descriptors;
}

}  // namespace redouble::inline v0_1::sim
