#include "redouble/backends/redis/net/tls/tls_sessions.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace redouble::inline v0_1::redis {
namespace {

struct FreeSession {
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using Session = std::unique_ptr<SSL_SESSION, FreeSession>;

// The sessions of a context, by server.
class Sessions {
 public:
  void Keep(const std::string& server, Session session) {
    const std::lock_guard lock(mutex_);
    if (sessions_.size() >= kKeptTlsSessions && !sessions_.contains(server)) sessions_.clear();
    sessions_[server] = std::move(session);
  }
  void Offer(const std::string& server, SSL* connection) {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(server);
    if (found != sessions_.end()) SSL_set_session(connection, found->second.get());
  }

 private:
  std::mutex mutex_;  // Guards sessions_.
  std::map<std::string, Session> sessions_;
};

// OpenSSL keeps a pointer to T with each context or connection, and calls this at its end.
template <typename T>
void Delete(void*, void* data, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<T*>(data);
}

int SessionsIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, Delete<Sessions>);
  return index;
}

int ServerIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, Delete<std::string>);
  return index;
}

Sessions* SessionsOf(const SSL* connection) {
  return static_cast<Sessions*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), SessionsIndex()));
}

// Returns 1 if the session was taken.
int OnNewSession(SSL* connection, SSL_SESSION* session) {
  const auto* server = static_cast<const std::string*>(SSL_get_ex_data(connection, ServerIndex()));
  Sessions* const sessions = SessionsOf(connection);
  if (server == nullptr || sessions == nullptr) return 0;
  sessions->Keep(*server, Session(session));
  return 1;
}

}  // namespace

void KeepTlsSessions(SSL_CTX* context) {
  SSL_CTX_set_ex_data(context, SessionsIndex(), new Sessions);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, OnNewSession);
}

void ResumeTlsSession(SSL* connection, std::string server) {
  if (Sessions* const sessions = SessionsOf(connection)) sessions->Offer(server, connection);
  SSL_set_ex_data(connection, ServerIndex(), new std::string(std::move(server)));
}

}  // namespace redouble::inline v0_1::redis
