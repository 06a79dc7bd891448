// Options: the address of a Redis server and the behavior of its client, as a struct and as a URI.
//
//   redis://[user:password@]host[:port][/db][?option=value&...]
//   rediss://...                                                 the same through TLS
//   unix://[user:password@]/path/of/socket[?db=N&option=value&...]
//
//   absl::StatusOr<Options> options = Options::Parse("redis://:secret@cache.example:6380/2");
//   LOG(options->ToUri());  // redis://:***@cache.example:6380/2
//
// Special characters are percent-encoded in both directions: the password `p@ss` is written
// `p%40ss`. One table (option_table.cc) drives parsing, printing, validation and
// docs/live_options.md, which lists every option.
//
// A Redis Cluster, or a master that sentinels watch, has a URI of the same form. Further nodes or
// sentinels are its seeds:
//
//   redis://node1:7000?cluster=yes&seeds=node2:7000,node3:7000
//   rediss://:pw@sentinel1:26379/0?sentinel_master=mymaster&seeds=sentinel2:26379
//
// With sentinel_master, user and password belong to the master. sentinel_user and sentinel_password
// authenticate at the sentinels.
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

namespace redouble::inline v0_1::redis {

// The address of a server by TCP.
struct TcpAddress {
  std::string host = "127.0.0.1";  // A name or an IP address; IPv6 without brackets.
  uint16_t port = 6379;

  friend bool operator==(const TcpAddress&, const TcpAddress&) = default;
};

// Whether a host is an IP address and not a name.
bool IsIpAddress(const std::string& host);

// The address of a server by a Unix socket.
struct UnixAddress {
  std::string path;  // Absolute; at most 107 bytes, the limit of Unix sockets.

  friend bool operator==(const UnixAddress&, const UnixAddress&) = default;
};

// Where to connect to instead of an address that a cluster or a sentinel names, if clients reach
// the servers through NAT or a tunnel.
struct AddressMapping {
  std::string from_host;
  uint16_t from_port = 0;  // 0: every port of the host.
  std::string to_host;
  uint16_t to_port = 0;  // 0: the same port.

  friend bool operator==(const AddressMapping&, const AddressMapping&) = default;
};

struct TlsOptions {
  bool enabled = false;
  // False accepts any certificate: an attacker on the network path can read and change all traffic.
  bool verify = true;
  // PEM file of the certificate authorities to trust. Empty: those of the operating system.
  std::string ca_file = {};
  // A folder of such files, named by their hashes as c_rehash of OpenSSL names them. It may be used
  // beside ca_file, and changes in it take effect without a restart.
  std::string ca_folder = {};
  // The ciphers to offer for TLS 1.2 and for TLS 1.3, in OpenSSL's notation. Empty: OpenSSL's.
  std::string ciphers = {};
  std::string ciphersuites = {};
  // The name that is sent as SNI and that the certificate must contain. Empty: the host.
  std::string server_name = {};
  // PEM files of the client's own certificate and its key. Set both or neither.
  std::string certificate_file = {};
  std::string key_file = {};
  // The password of an encrypted key file. nullopt: an encrypted key is refused.
  std::optional<std::string> key_password = std::nullopt;

  friend bool operator==(const TlsOptions&, const TlsOptions&) = default;
};

// Which requests the client sends again when a connection is lost.
enum class RetryPolicy : uint8_t {
  kNever,       // No request: all requests under way fail, as not sent or outcome unknown.
  kNotSent,     // Requests of which no byte was written.
  kIdempotent,  // Also written requests that only read, or that are declared idempotent.
};

// Which servers of a cluster, or of a master with sentinels, answer requests that only read. A
// request reads if Redis flags all its commands as read-only; a transaction goes to the master.
// A replica may return older data than the master.
enum class ReadFrom : uint8_t {
  kMaster,
  kReplicaPreferred,  // A replica, or the master if no replica is available.
  kReplica,           // A replica; requests wait for one within their timeout.
  kAny,               // The master or a replica, at random.
};

// The protocol that a client asks the server for.
enum class RespVersion : uint8_t {
  kResp2,
  kResp3,  // With pushes. A server that refuses it is used with RESP2.
};

struct Options {
  // The server. With `cluster` or `sentinel_master`: the first node or sentinel to ask.
  std::variant<TcpAddress, UnixAddress> address = TcpAddress();

  // The ACL user to authenticate as; requires a password, which may be empty. Empty: the default
  // user.
  std::string user = {};
  // nullopt: the client does not authenticate.
  std::optional<std::string> password = std::nullopt;

  // The database that is selected after connecting.
  int database = 0;

  // The connection name in CLIENT LIST: printable ASCII without spaces. Empty: no name.
  std::string client_name = {};

  TlsOptions tls = {};

  // Replies have the same value in both protocols (resp2_form.h).
  RespVersion protocol = RespVersion::kResp2;
  // The size limit in bytes of the cache of replies of each shared connection; 0: no cache.
  // Requires kResp3. See fsm/cache/tracking_cache.h for what is cached and how fresh it is.
  int64_t cache_bytes = 0;
  // Whether the server sends an invalidation for every changed key with one of the prefixes,
  // instead of remembering the keys that this connection has read. Without prefixes: for every
  // changed key.
  bool cache_broadcast = false;
  // With cache_broadcast: the prefixes of the keys to cache. No prefix may begin with another one.
  std::vector<std::string> cache_prefixes = {};

  // Whether the client sends READONLY after connecting, so that a replica of a cluster answers
  // reads of its slots instead of redirecting them. For clients of one server; with `cluster`,
  // read_from decides.
  bool readonly = false;

  // Whether `address` and `seeds` are nodes of a Redis Cluster, which has database 0 only.
  bool cluster = false;
  // If not empty, `address` and `seeds` are sentinels, which are asked for the master of this name.
  std::string sentinel_master = {};
  // Further nodes or sentinels, tried in this order if the previous ones do not answer.
  std::vector<TcpAddress> seeds = {};
  // Cluster and sentinel: the addresses to connect to instead of those that the servers name, the
  // first match first. The addresses in the options are mapped, too. Slot maps and the events of
  // commands have the named addresses. With TLS and without tls.server_name, the certificate must
  // contain the name of the address that is connected to.
  std::vector<AddressMapping> address_map = {};
  // Credentials for the sentinels, if they require authentication.
  std::string sentinel_user = {};
  std::optional<std::string> sentinel_password = std::nullopt;
  // Whether connections to the sentinels use TLS, with the files and names of `tls`. nullopt: as
  // those to the master.
  std::optional<bool> sentinel_tls = std::nullopt;

  // Time limit of one attempt to connect: resolving, connecting, TLS handshake and authentication.
  absl::Duration connect_timeout = absl::Seconds(5);
  // Time limit from the submission of a command or batch to its last reply; includes the wait for a
  // connection. InfiniteDuration: no limit; health checks then use connect_timeout.
  absl::Duration command_timeout = absl::Seconds(5);
  // Time limit of a blocking command (BLPOP). A blocking command with its own timeout is also
  // limited to that timeout plus command_timeout.
  absl::Duration blocking_timeout = absl::InfiniteDuration();

  // TCP only: idle time before the operating system sends keep-alive probes. Sent bytes that the
  // peer does not acknowledge within twice this time end the connection. InfiniteDuration: never.
  absl::Duration keep_alive = absl::Seconds(60);
  // Time without received bytes before the client sends a PING. If nothing is received within
  // command_timeout after it (connect_timeout if that is infinite), the connection counts as lost.
  // InfiniteDuration: never.
  absl::Duration health_check_interval = absl::Seconds(10);

  // Whether a shared client reconnects after a lost connection.
  bool reconnect = true;
  // The wait before the n-th attempt in a row is drawn evenly from 0 to backoff_base * 2^(n-1), at
  // most backoff_cap ("full jitter"). The first attempt after a loss (n = 0) is made at once.
  absl::Duration backoff_base = absl::Milliseconds(50);
  absl::Duration backoff_cap = absl::Seconds(5);

  RetryPolicy retry = RetryPolicy::kNever;
  // How many times one request may be written, the first time included.
  int attempts = 3;

  // How many requests may wait for their replies at once. One more fails with ResourceExhausted, as
  // "not sent". Blocking commands that wait for a connection have a limit of their own of this
  // size.
  int queue_limit = 100'000;
  // How many bytes of commands may wait for their replies at once. A request that is submitted
  // while at least this many bytes wait fails as above.
  int64_t queue_bytes = int64_t{256} << 20;
  // How many connections may carry blocking commands at once. Further blocking commands wait.
  int blocking_connections = 64;
  // How many idle connections for blocking commands stay open.
  int idle_connections = 4;
  // SyncPool: the largest number of connections.
  int pool_size = 8;
  // How long a call waits for a connection of the pool. InfiniteDuration: until there is one.
  absl::Duration pool_acquire_timeout = absl::Seconds(5);
  // A pooled connection that was idle for this time is closed. InfiniteDuration: never.
  absl::Duration pool_idle_time = absl::Minutes(5);
  // A pooled connection that was opened this time ago is closed. InfiniteDuration: never.
  absl::Duration pool_lifetime = absl::InfiniteDuration();
  // A pooled connection that was idle for this time must answer a PING before it is used.
  // InfiniteDuration: never.
  absl::Duration pool_check_after = absl::Seconds(10);
  // How many messages of a subscription may wait for their reader. One more drops the oldest, and
  // the reader receives a gap.
  int push_queue = 10'000;

  // Cluster and sentinel: how many times one command may be redirected (MOVED, ASK, READONLY).
  // After that the caller receives its last error. Waits (TRYAGAIN, CLUSTERDOWN) are limited by the
  // timeout of the command only.
  int redirections = 16;
  // Cluster: whether MGET, MSET, DEL, UNLINK, EXISTS and TOUCH with keys of several slots are sent
  // as one command for each slot, and their replies merged. Each of these commands is atomic, the
  // whole is not. Otherwise such a command fails with FailedPrecondition, as "not sent".
  bool split_commands = false;
  // Cluster and sentinel.
  ReadFrom read_from = ReadFrom::kMaster;
  // Cluster and sentinel: the shortest time between two requests for the slot map or the master.
  // The real time is up to twice as long, and up to ten times after requests without an answer, so
  // that the clients of one cluster do not ask in step.
  absl::Duration refresh_interval = absl::Milliseconds(100);

  // Parses a URI.
  //
  // Errors: InvalidArgument, with the mistake and the expected form, if the text is not such a URI,
  // or if an option is unknown, malformed, given twice, meaningless in this combination
  // (tls_ca_file without TLS) or contradicts another one. The message never contains a password.
  static absl::StatusOr<Options> Parse(std::string_view uri);

  // Checks a struct filled by hand as Parse checks a URI. Errors: InvalidArgument.
  absl::Status Validate() const;

  // The URI of these options. Passwords are replaced by "***"; options with their default value are
  // left out, except host, port and database.
  std::string ToUri() const;

  // The address to connect to for a server that is named `address`: see address_map.
  TcpAddress Mapped(const TcpAddress& address) const;

  // The address for messages: "redis://127.0.0.1:6379", "rediss://127.0.0.1:6379" or
  // "unix:///run/redis.sock".
  std::string AddressUri() const;

  friend bool operator==(const Options&, const Options&) = default;
};

// The options as a Markdown table: option, written form, value, default, meaning.
std::string OptionsReference();

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_OPTIONS_H_
