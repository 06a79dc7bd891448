// ClientHooks: what a program may hang into a client: a log, a promise about its own requests, a
// seed.
//
//   redis::ClientHooks hooks;
//   hooks.log = [](const redis::LogEvent& event) {
//     std::cerr << redis::LogEventName(event.kind) << " " << event.address << " " << event.text;
//   };
//   auto client = co_await redis::Client::Connect(executor, options, Sharing::kShared, hooks);
//
// A hook that is not set costs one comparison where something out of the ordinary happens, and
// nothing at all for a command.
//
// Thread-safety: the hooks are called on the client's executor.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_HOOKS_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_HOOKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "absl/time/time.h"
#include "core/store/store.h"

namespace redouble::redis {

// Something happened to a connection. Views are good during the call.
struct LogEvent {
  enum class Kind : uint8_t {
    kConnected,      // A connection stands; `text`: the server's version, if it told.
    kConnectFailed,  // An attempt came to nothing; `text`: why, never with a password.
    kWaiting,        // The next attempt is made after `wait`.
    kLost,           // A connection is gone; `text`: why.
    kUnhealthy,      // No answer to the health check; kLost follows.
    kPushesDropped,  // A subscription's queue was full; `count`: how many messages are gone.
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
  }
  return "?";
}

struct ClientHooks {
  // Must not destroy the client.
  std::function<void(const LogEvent&)> log = nullptr;

  // With Options::retry idempotent: true for requests that may run twice although they do more than
  // read, such as SET of a fixed value. Asked only when a connection is lost.
  std::function<bool(const store::Request&)> is_idempotent = nullptr;

  // Where the jitter of reconnection starts. Unset: from the system's randomness, so that no two
  // clients of one server wait for the same times.
  std::optional<uint64_t> seed = std::nullopt;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_HOOKS_H_
