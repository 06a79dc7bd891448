// ClientHooks: callbacks of a client: a log, the events of commands, credentials, idempotent
// requests, a seed.
//
//   redis::ClientHooks hooks;
//   hooks.log = [](const redis::LogEvent& event) {
//     std::cerr << redis::LogEventName(event.kind) << " " << event.address << " " << event.text;
//   };
//   auto client = co_await redis::Client::Connect(executor, options, Sharing::kShared, hooks);
//
// An unset hook costs one comparison when a connection changes its state or a command is submitted.
//
// Thread-safety: the hooks are called on the client's executor.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_HOOKS_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_HOOKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "redouble/backends/redis/credential_source.h"
#include "redouble/backends/redis/observe/command_event.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// An event of a connection. Views are valid during the call.
struct LogEvent {
  enum class Kind : uint8_t {
    kConnected,              // Connected; `text`: the server's version, if known.
    kConnectFailed,          // An attempt failed; `text`: the reason, never with a password.
    kWaiting,                // The next attempt is made after `wait`.
    kLost,                   // A connection was lost; `text`: the reason.
    kUnhealthy,              // No answer to the health check; kLost follows.
    kPushesDropped,          // A subscription's queue was full; `count`: dropped messages.
    kAuthenticationRefused,  // AUTH with new credentials failed; `text`: the server's error code.
  };

  Kind kind;
  std::string_view address;  // "redis://127.0.0.1:6379".
  std::string_view text = {};
  absl::Duration wait = absl::ZeroDuration();
  int64_t count = 0;
};

// "connected", "connect failed", ...
constexpr std::string_view LogEventName(LogEvent::Kind kind) {
  switch (kind) {
    case LogEvent::Kind::kConnected:
      return "connected";
    case LogEvent::Kind::kConnectFailed:
      return "connect failed";
    case LogEvent::Kind::kWaiting:
      return "waiting";
    case LogEvent::Kind::kLost:
      return "lost";
    case LogEvent::Kind::kUnhealthy:
      return "unhealthy";
    case LogEvent::Kind::kPushesDropped:
      return "pushes dropped";
    case LogEvent::Kind::kAuthenticationRefused:
      return "authentication refused";
  }
  return "?";
}

struct ClientHooks {
  // Called for each event. Must not close or destroy the client.
  std::function<void(const LogEvent&)> log = nullptr;

  // Called when a request starts, is sent, is redirected and ends (observe/command_event.h). Must
  // not submit requests to the client, and not close or destroy it.
  CommandHook command = nullptr;

  // With RespVersion::kResp3: called for each push on the connection of commands, such as an
  // invalidation: an array that begins with the kind of the push. Must not submit requests to the
  // client, and not close or destroy it.
  std::function<void(const store::Reply& push)> push = nullptr;

  // With RetryPolicy::kIdempotent: returns true for requests that may run twice although they do
  // more than read, such as SET of a fixed value. Called only when a connection is lost.
  std::function<bool(const store::Request&)> is_idempotent = nullptr;

  // The credentials, instead of those of the options; null: those of the options.
  std::shared_ptr<CredentialSource> credentials = nullptr;

  // Called for each connection with Options::tls and a key file: returns the password of the key,
  // instead of TlsOptions::key_password. May be slow only if the event loop may.
  std::function<std::string()> key_password = nullptr;

  // The seed of the reconnection jitter. nullopt: a random seed, so that the clients of one server
  // do not reconnect in step.
  std::optional<uint64_t> seed = std::nullopt;
};

// For the connections of a client that reports the requests of its callers itself.
inline ClientHooks WithoutCommands(ClientHooks hooks) {
  hooks.command = nullptr;
  return hooks;
}

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_HOOKS_H_
