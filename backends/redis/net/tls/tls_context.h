// TlsContextFor: the certificates and keys of TlsOptions as an OpenSSL context, from a cache.
//
// Internal to Transport. Reading an operating system's bundle of authorities blocks the event loop
// for milliseconds, so connections with equal options share a context. Each call checks the files:
// after one of them was replaced, the next connection reads all of them again. Connections keep the
// context that they started with.
//
//   REDOUBLE_ASSIGN_OR_RETURN(const auto context, TlsContextFor(options));
//   boost::asio::ssl::stream<Socket> stream(std::move(socket), *context);
//
// Thread-safety: calls may be concurrent. The context must not be changed.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_TLS_TLS_CONTEXT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_TLS_TLS_CONTEXT_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "boost/asio/ssl/context.hpp"
#include "redouble/backends/redis/options.h"

namespace redouble::inline v0_1::redis {

// How many contexts the cache keeps; the one that was used least recently is dropped first.
inline constexpr size_t kCachedTlsContexts = 8;

// The server name of the options does not matter. Errors: InvalidArgument, with the file that
// OpenSSL refuses; errors are not cached.
absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> TlsContextFor(const TlsOptions& options);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_TLS_TLS_CONTEXT_H_
