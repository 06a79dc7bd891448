// Options: where a Redis server is and how to talk to it, as a struct and as a URI.
//
//   redis://[user:password@]host[:port][/db][?option=value&...]
//   rediss://...                                                 the same through TLS
//   unix://[user:password@]/path/of/socket[?db=N&option=value&...]
//
//   absl::StatusOr<Options> options = Options::Parse("redis://:secret@cache.example:6380/2");
//   LOG(options->ToUri());  // redis://:***@cache.example:6380/2
//
// Everything that may hold a special character is percent-encoded, in both directions: a password
// `p@ss` is written `p%40ss`. One table (option_table.cc) drives reading, printing, checking and
// docs/live_options.md, which lists every option.
//
// A cluster and a server found through sentinels are options of the same URI; further nodes or
// sentinels to ask are its seeds:
//
//   redis://node1:7000?cluster=yes&seeds=node2:7000,node3:7000
//   rediss://:pw@sentinel1:26379/0?sentinel_master=mymaster&seeds=sentinel2:26379
//
// With sentinel_master, user and password are those of the master; sentinels that want a login have
// sentinel_user and sentinel_password.
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_BACKENDS_REDIS_OPTIONS_H_
#define REDOUBLE_BACKENDS_REDIS_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

struct TlsOptions {
  bool enabled = false;
  // False accepts any certificate: whoever sits on the way can read and change everything.
  bool verify = true;
  // PEM file of the authorities to trust; empty: those of the system.
  std::string ca_file = {};
  // The name that is asked for (SNI) and that the certificate must bear; empty: the host.
  std::string server_name = {};
  // PEM files of the client's own certificate and its key: both or none.
  std::string certificate_file = {};
  std::string key_file = {};

  friend bool operator==(const TlsOptions&, const TlsOptions&) = default;
};

// What is sent again, by the client itself, when a connection is lost.
enum class RetryPolicy : uint8_t {
  kNever,       // Nothing: every request under way fails, and says what became of it.
  kNotSent,     // What certainly was not sent: no byte of it was written.
  kIdempotent,  // That, and what was written but only reads, or is declared idempotent.
};

struct Options {
  // The server; of a cluster or of sentinels, the first to ask.
  std::variant<TcpAddress, UnixAddress> address = TcpAddress();

  // The ACL user to log in as; empty: Redis's default user. Needs a password, which may be empty.
  std::string user = {};
  // None: the client does not log in.
  std::optional<std::string> password = std::nullopt;

  // Selected once after connecting.
  int database = 0;

  // What CLIENT LIST shows; printable ASCII without spaces, as Redis demands. Empty: none.
  std::string client_name = {};

  TlsOptions tls = {};

  // `address` and `seeds` are nodes of a Redis Cluster. Excludes a database other than 0, as in
  // Redis.
  bool cluster = false;
  // Not empty: `address` and `seeds` are sentinels, to be asked for the master of this name.
  std::string sentinel_master = {};
  // Further nodes or sentinels, tried in this order when those before do not answer.
  std::vector<TcpAddress> seeds = {};
  // Login at the sentinels, when they want one.
  std::string sentinel_user = {};
  std::optional<std::string> sentinel_password = std::nullopt;

  // How long one attempt to connect may take in all: resolving, connecting, TLS, logging in.
  absl::Duration connect_timeout = absl::Seconds(5);
  // How long a command or batch may wait for its last reply, from the moment it is submitted: the
  // wait for a connection is part of it. InfiniteDuration: for ever.
  absl::Duration command_timeout = absl::Seconds(5);
  // How long a command that blocks on purpose (BLPOP) may wait at most. One with a time-out of its
  // own is given up, too, command_timeout after that should have ended it.
  absl::Duration blocking_timeout = absl::InfiniteDuration();

  // TCP only: how long a connection may be silent before the system asks whether the other side is
  // there. InfiniteDuration: never.
  absl::Duration keep_alive = absl::Seconds(60);
  // How long nothing may have been received before the client sends a PING. Unless something comes
  // within command_timeout after it, the connection counts as lost. InfiniteDuration: never.
  absl::Duration health_check_interval = absl::Seconds(10);

  // Whether a shared client whose connection is lost makes a new one.
  bool reconnect = true;
  // The wait before the n-th attempt in a row is drawn evenly from 0 to backoff_base * 2^(n-1), at
  // most backoff_cap ("full jitter"). The first attempt after a loss (n = 0) does not wait.
  absl::Duration backoff_base = absl::Milliseconds(50);
  absl::Duration backoff_cap = absl::Seconds(5);

  RetryPolicy retry = RetryPolicy::kNever;
  // How often one request may be written in all, when `retry` allows more than once.
  int attempts = 3;

  // How many requests may wait for their replies at once; one more fails as not sent with
  // ResourceExhausted.
  int queue_limit = 100'000;
  // How many connections may carry blocking commands at once; further blocking commands wait.
  int blocking_connections = 64;
  // How many of them stay open when they have nothing to do.
  int idle_connections = 4;
  // How many messages of a subscription may wait for their reader. One more drops the oldest, which
  // the reader is told as a gap.
  int push_queue = 10'000;

  // Cluster: how many times one command may be sent on (MOVED, ASK) or wait (TRYAGAIN, CLUSTERDOWN)
  // before its last error is given to the caller.
  int redirections = 16;
  // Cluster and sentinel: the least time between two requests for the map or the master.
  absl::Duration refresh_interval = absl::Milliseconds(100);

  // Reads a URI.
  //
  // Errors: InvalidArgument, saying what was wrong and what is expected, for text that is not such
  // a URI, an option that is unknown, malformed, given twice, without meaning beside the others
  // (tls_ca_file without TLS), or contradicts another. The message never quotes a password.
  static absl::StatusOr<Options> Parse(std::string_view uri);

  // What Parse would have refused in a struct filled by hand. Errors: InvalidArgument.
  absl::Status Validate() const;

  // The URI of these options, with passwords, if any, replaced by "***". Options at their
  // default are left out; host, port and database are always written.
  std::string ToUri() const;

  // Where the server is, for messages: "redis://127.0.0.1:6379", "rediss://127.0.0.1:6379" or
  // "unix:///run/redis.sock".
  std::string AddressUri() const;

  friend bool operator==(const Options&, const Options&) = default;
};

// The options as a Markdown table: option, how it is written, value, default, meaning.
std::string OptionsReference();

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_OPTIONS_H_
