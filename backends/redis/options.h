// Options: where a Redis server is and how to talk to it, as a struct and as a URI.
//
//   redis://[user:password@]host[:port][/db][?option=value&...]
//   unix://[user:password@]/path/of/socket[?db=N&option=value&...]
//
//   absl::StatusOr<Options> options = Options::Parse("redis://:secret@cache.example:6380/2");
//   LOG(options->ToUri());  // redis://:***@cache.example:6380/2
//
// Everything that may hold a special character is percent-encoded, in both directions: a password
// `p@ss` is written `p%40ss`. Options behind the question mark: client_name, connect_timeout,
// command_timeout, and db. One table (options.cc) drives reading, printing and OptionsReference().
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_BACKENDS_REDIS_OPTIONS_H_
#define REDOUBLE_BACKENDS_REDIS_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace redouble::redis {

struct TcpAddress {
  std::string host = "127.0.0.1";  // A name, an IPv4 or an IPv6 address (without brackets).
  uint16_t port = 6379;

  friend bool operator==(const TcpAddress&, const TcpAddress&) = default;
};

struct UnixAddress {
  std::string path;  // Absolute; at most 107 bytes, as the system demands.

  friend bool operator==(const UnixAddress&, const UnixAddress&) = default;
};

struct Options {
  std::variant<TcpAddress, UnixAddress> address;

  // The ACL user to log in as; empty: Redis's default user. Needs a password, which may be empty.
  std::string user;
  // None: the client does not log in.
  std::optional<std::string> password;

  // Selected once after connecting.
  int database = 0;

  // What CLIENT LIST shows; printable ASCII without spaces, as Redis demands. Empty: none.
  std::string client_name;

  // How long Connect may take in all: resolving, connecting, logging in.
  absl::Duration connect_timeout = absl::Seconds(5);
  // How long a command or batch may wait for its last reply, from the moment it is submitted.
  // InfiniteDuration: for ever. A command that blocks on purpose (BLPOP) is no exception.
  absl::Duration command_timeout = absl::Seconds(5);

  // Reads a URI.
  //
  // Errors: InvalidArgument, saying what was wrong and what is expected, for text that is not such
  // a URI, an option that is unknown, malformed, given twice or contradicts another. Unimplemented
  // for rediss://, since TLS is not built yet. The message never quotes a password.
  static absl::StatusOr<Options> Parse(std::string_view uri);

  // What Parse would have refused in a struct filled by hand. Errors: InvalidArgument.
  absl::Status Validate() const;

  // The URI of these options, with the password, if any, replaced by "***". Options at their
  // default are left out; host, port and database are always written.
  std::string ToUri() const;

  // Where the server is, for messages: "redis://127.0.0.1:6379" or "unix:///run/redis.sock".
  std::string AddressUri() const;

  friend bool operator==(const Options&, const Options&) = default;
};

// The options as a Markdown table: option, how it is written, value, default, meaning.
std::string OptionsReference();

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_OPTIONS_H_
