// CredentialSource: credentials that change while clients run, such as tokens that expire.
//
// The program sets new credentials before the old ones expire. Clients that were made with the
// source in their hooks use them for new connections, and authenticate again on open ones.
//
//   auto source = std::make_shared<redis::CredentialSource>(redis::Credentials{"app", token});
//   hooks.credentials = source;
//   auto client = co_await redis::Client::Connect(executor, options, Sharing::kShared, hooks);
//   ...
//   source->Set({"app", next_token});
//
// On an open connection AUTH is sent in a later turn of the event loop, after the commands that
// were submitted until then, so the old credentials must be valid a little longer. If the server
// refuses it, the connection keeps the old identity, and LogEvent::kAuthenticationRefused is
// logged.
//
//   shared, cluster, sentinel    each connection authenticates again, also those for blocking
//   clients                      commands, once the command under way has ended
//   SyncPool                     connections with old credentials are replaced when they are next
//                                borrowed
//   subscribers                  use the new credentials for their next connection: RESP2 has no
//                                AUTH on a subscribed connection
//   dedicated clients            the caller sends AUTH: it knows whether it is within MULTI
//   connections to sentinels     keep Options::sentinel_user and sentinel_password
//
// Thread-safety: any thread may call any function. The clients' execution contexts must exist
// during Set().
#ifndef REDOUBLE_BACKENDS_REDIS_CREDENTIAL_SOURCE_H_
#define REDOUBLE_BACKENDS_REDIS_CREDENTIAL_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redouble::inline v0_1::redis {

struct Credentials {
  std::string user = {};                               // Empty: the default user.
  std::optional<std::string> password = std::nullopt;  // nullopt: do not authenticate.

  friend bool operator==(const Credentials&, const Credentials&) = default;
};

// Credentials, and how many times they have been set before.
struct NumberedCredentials {
  Credentials credentials;
  uint64_t number = 0;
};

class CredentialSource {
 public:
  explicit CredentialSource(Credentials first) : current_{std::move(first), 0} {}
  CredentialSource(const CredentialSource&) = delete;
  CredentialSource& operator=(const CredentialSource&) = delete;

  // Replaces the credentials, and tells the clients. O(connections).
  void Set(Credentials next);

  NumberedCredentials current() const;

  // For clients: calls `listener` after each Set, on its thread, as long as `owner` exists.
  void Listen(std::weak_ptr<const void> owner, std::function<void()> listener);

 private:
  struct Listener {
    std::weak_ptr<const void> owner;
    std::function<void()> call;
  };

  mutable std::mutex mutex_;  // Guards the members below.
  NumberedCredentials current_;
  std::vector<Listener> listeners_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_CREDENTIAL_SOURCE_H_
