// TLS sessions that later connections to the same server resume, which saves most of the handshake.
//
// Internal to Transport. Each context keeps the last session of each server, in memory; sessions
// end with their context, which is replaced when a certificate file changes (tls_context.h). The
// peer's certificate is not verified again when a session is resumed, so a session is used only for
// the server and the name that it was verified for. The server decides how long it accepts one; a
// session that it refuses costs nothing but the full handshake.
//
//   KeepTlsSessions(context->native_handle());                     // Once for each context.
//   ResumeTlsSession(stream.native_handle(), "redis.example 6379");  // Before each handshake.
//
// Thread-safety: calls may be concurrent for different connections.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_TLS_TLS_SESSIONS_H_
#define REDOUBLE_BACKENDS_REDIS_NET_TLS_TLS_SESSIONS_H_

#include <openssl/ssl.h>

#include <cstddef>
#include <string>

namespace redouble::inline v0_1::redis {

// How many sessions a context keeps; all are dropped when one more is to be kept.
inline constexpr size_t kKeptTlsSessions = 1000;

// Makes the context keep sessions.
void KeepTlsSessions(SSL_CTX* context);

// Offers the last session of `server`, its name and address, and keeps the sessions that the
// connection receives under this name.
void ResumeTlsSession(SSL* connection, std::string server);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_TLS_TLS_SESSIONS_H_
