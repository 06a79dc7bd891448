#include "redouble/backends/redis/option_table.h"

#include <sys/un.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::redis {
namespace {

using Place = OptionRow::Place;
using Scope = OptionRow::Scope;

constexpr std::string_view kHidden = "***";

bool ReadInteger(std::string_view text, int64_t low, int64_t high, int64_t& value) {
  const std::optional<int64_t> number = base::ParseInt64(text);
  if (!number || *number < low || *number > high) return false;
  value = *number;
  return true;
}

bool IsHost(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c != 0x7f && c != '/' && c != ',';
  });
}

// Kinds of values. Each pair parses a text (false: invalid) and prints the value (nullopt: not
// set).

template <std::string Options::*kField>
bool ReadName(std::string_view text, Options& options) {
  options.*kField = text;
  return text.find('\0') == text.npos;
}
template <std::string Options::*kField>
std::optional<std::string> WriteName(const Options& options) {
  if ((options.*kField).empty()) return std::nullopt;
  return options.*kField;
}

template <std::optional<std::string> Options::*kField>
bool ReadSecret(std::string_view text, Options& options) {
  options.*kField = text;
  return true;
}
template <std::optional<std::string> Options::*kField>
std::optional<std::string> WriteSecret(const Options& options) {
  if (!(options.*kField)) return std::nullopt;
  return std::string(kHidden);
}

bool ReadKeyPassword(std::string_view text, Options& options) {
  options.tls.key_password = text;
  return true;
}
std::optional<std::string> WriteKeyPassword(const Options& options) {
  if (!options.tls.key_password) return std::nullopt;
  return std::string(kHidden);
}

template <std::string TlsOptions::*kField>
bool ReadTlsText(std::string_view text, Options& options) {
  options.tls.*kField = text;
  return text.find('\0') == text.npos;
}
template <std::string TlsOptions::*kField>
std::optional<std::string> WriteTlsText(const Options& options) {
  if ((options.tls.*kField).empty()) return std::nullopt;
  return options.tls.*kField;
}

bool ReadYesOrNo(std::string_view text, bool& value) {
  value = text == "yes";
  return value || text == "no";
}
std::string YesOrNo(bool value) { return value ? "yes" : "no"; }

template <bool Options::*kField>
bool ReadFlag(std::string_view text, Options& options) {
  return ReadYesOrNo(text, options.*kField);
}
template <bool Options::*kField>
std::optional<std::string> WriteFlag(const Options& options) {
  return YesOrNo(options.*kField);
}

// A timeout below a millisecond would always fire. Limiting timeouts to a year keeps sums of them
// within 64 bits.
template <absl::Duration Options::*kField>
bool ReadTime(std::string_view text, Options& options) {
  absl::Duration& time = options.*kField;
  if (!absl::ParseDuration(std::string(text), &time)) return false;
  return time == absl::InfiniteDuration() ||
         (time >= absl::Milliseconds(1) && time <= absl::Hours(8760));
}
template <absl::Duration Options::*kField>
std::optional<std::string> WriteTime(const Options& options) {
  return absl::FormatDuration(options.*kField);
}

constexpr int64_t kMaxCount = 1'000'000'000;

template <int Options::*kField, int64_t kLow, int64_t kHigh>
bool ReadCount(std::string_view text, Options& options) {
  int64_t value = 0;
  if (!ReadInteger(text, kLow, kHigh, value)) return false;
  options.*kField = static_cast<int>(value);
  return true;
}
template <int Options::*kField>
std::optional<std::string> WriteCount(const Options& options) {
  return absl::StrCat(options.*kField);
}

// A year of traffic would not reach this many bytes.
constexpr int64_t kMaxBytes = int64_t{1} << 50;

template <int64_t Options::*kField, int64_t kLow>
bool ReadBytes(std::string_view text, Options& options) {
  return ReadInteger(text, kLow, kMaxBytes, options.*kField);
}
template <int64_t Options::*kField>
std::optional<std::string> WriteBytes(const Options& options) {
  return absl::StrCat(options.*kField);
}

// Options with their own format.

bool ReadHost(std::string_view text, Options& options) {
  std::get<TcpAddress>(options.address).host = text;
  return IsHost(text);
}
std::optional<std::string> WriteHost(const Options& options) {
  const auto* tcp = std::get_if<TcpAddress>(&options.address);
  if (tcp == nullptr) return std::nullopt;
  return tcp->host;
}

bool ReadPortNumber(std::string_view text, uint16_t& port) {
  int64_t value = 0;
  if (!ReadInteger(text, 1, std::numeric_limits<uint16_t>::max(), value)) return false;
  port = static_cast<uint16_t>(value);
  return true;
}

bool ReadPort(std::string_view text, Options& options) {
  return ReadPortNumber(text, std::get<TcpAddress>(options.address).port);
}
std::optional<std::string> WritePort(const Options& options) {
  const auto* tcp = std::get_if<TcpAddress>(&options.address);
  if (tcp == nullptr) return std::nullopt;
  return absl::StrCat(tcp->port);
}

bool ReadSocket(std::string_view text, Options& options) {
  std::get<UnixAddress>(options.address).path = text;
  return text.size() > 1 && text[0] == '/' && text.find('\0') == text.npos &&
         text.size() < sizeof(sockaddr_un::sun_path);
}
std::optional<std::string> WriteSocket(const Options& options) {
  const auto* local = std::get_if<UnixAddress>(&options.address);
  if (local == nullptr) return std::nullopt;
  return local->path;
}

bool ReadClientName(std::string_view text, Options& options) {
  options.client_name = text;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

bool ReadTlsVerify(std::string_view text, Options& options) {
  return ReadYesOrNo(text, options.tls.verify);
}
std::optional<std::string> WriteTlsVerify(const Options& options) {
  return YesOrNo(options.tls.verify);
}

bool ReadSeed(std::string_view text, TcpAddress& seed) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || !ReadPortNumber(text.substr(colon + 1), seed.port)) return false;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != host.npos) {
    return false;
  }
  seed.host = host;
  return IsHost(host) && host.find_first_of("[]") == host.npos;
}
bool ReadSeeds(std::string_view text, Options& options) {
  options.seeds.clear();
  while (true) {
    const size_t comma = text.find(',');
    if (!ReadSeed(text.substr(0, comma), options.seeds.emplace_back())) return false;
    if (comma == text.npos) return true;
    text.remove_prefix(comma + 1);
  }
}
std::optional<std::string> WriteSeeds(const Options& options) {
  if (options.seeds.empty()) return std::nullopt;
  std::string text;
  for (const TcpAddress& seed : options.seeds) {
    const bool is_ipv6 = seed.host.find(':') != seed.host.npos;
    absl::StrAppend(&text, text.empty() ? "" : ",", is_ipv6 ? "[" : "", seed.host,
                    is_ipv6 ? "]:" : ":", seed.port);
  }
  return text;
}

// "HOST", with the port 0, or "HOST:PORT". IPv6 in [ ].
bool ReadHostMaybePort(std::string_view text, std::string& host, uint16_t& port) {
  const bool in_brackets = text.starts_with('[') && text.ends_with(']');
  if (text.find(':') == text.npos || in_brackets) {
    host = in_brackets ? text.substr(1, text.size() - 2) : text;
    return IsHost(host) && host.find_first_of("[]") == host.npos;
  }
  TcpAddress address;
  if (!ReadSeed(text, address)) return false;
  host = address.host;
  port = address.port;
  return true;
}

bool ReadMapping(std::string_view text, AddressMapping& mapping) {
  const size_t tilde = text.find('~');
  if (tilde == text.npos || tilde != text.rfind('~')) return false;
  return ReadHostMaybePort(text.substr(0, tilde), mapping.from_host, mapping.from_port) &&
         ReadHostMaybePort(text.substr(tilde + 1), mapping.to_host, mapping.to_port);
}
bool ReadAddressMap(std::string_view text, Options& options) {
  options.address_map.clear();
  while (true) {
    const size_t comma = text.find(',');
    if (!ReadMapping(text.substr(0, comma), options.address_map.emplace_back())) return false;
    if (comma == text.npos) return true;
    text.remove_prefix(comma + 1);
  }
}
std::optional<std::string> WriteAddressMap(const Options& options) {
  if (options.address_map.empty()) return std::nullopt;
  const auto written = [](const std::string& host, uint16_t port) {
    const bool is_ipv6 = host.find(':') != host.npos;
    return absl::StrCat(is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "",
                        port == 0 ? "" : absl::StrCat(":", port));
  };
  std::string text;
  for (const AddressMapping& mapping : options.address_map) {
    absl::StrAppend(&text, text.empty() ? "" : ",", written(mapping.from_host, mapping.from_port),
                    "~", written(mapping.to_host, mapping.to_port));
  }
  return text;
}

bool ReadProtocol(std::string_view text, Options& options) {
  options.protocol = text == "3" ? RespVersion::kResp3 : RespVersion::kResp2;
  return text == "2" || text == "3";
}
std::optional<std::string> WriteProtocol(const Options& options) {
  return options.protocol == RespVersion::kResp3 ? "3" : "2";
}

// A prefix with a comma cannot be written.
bool ReadPrefixes(std::string_view text, Options& options) {
  options.cache_prefixes.clear();
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view prefix = text.substr(0, comma);
    for (const std::string& other : options.cache_prefixes) {
      if (prefix.starts_with(other) || std::string_view(other).starts_with(prefix)) return false;
    }
    options.cache_prefixes.emplace_back(prefix);
    if (prefix.empty()) return false;
    if (comma == text.npos) return true;
    text.remove_prefix(comma + 1);
  }
}
std::optional<std::string> WritePrefixes(const Options& options) {
  if (options.cache_prefixes.empty()) return std::nullopt;
  return absl::StrJoin(options.cache_prefixes, ",");
}

constexpr std::array<std::string_view, 3> kRetryNames = {"never", "not_sent", "idempotent"};

bool ReadRetry(std::string_view text, Options& options) {
  const auto name = std::find(kRetryNames.begin(), kRetryNames.end(), text);
  options.retry = static_cast<RetryPolicy>(name - kRetryNames.begin());
  return name != kRetryNames.end();
}
std::optional<std::string> WriteRetry(const Options& options) {
  const auto index = static_cast<size_t>(options.retry);
  // An invalid policy is printed as text that does not parse, so that Validate refuses it.
  return std::string(index < kRetryNames.size() ? kRetryNames[index] : "?");
}

constexpr std::array<std::string_view, 4> kReadFromNames = {"master", "replica_preferred",
                                                            "replica", "any"};

bool ReadReadFrom(std::string_view text, Options& options) {
  const auto name = std::find(kReadFromNames.begin(), kReadFromNames.end(), text);
  options.read_from = static_cast<ReadFrom>(name - kReadFromNames.begin());
  return name != kReadFromNames.end();
}
std::optional<std::string> WriteReadFrom(const Options& options) {
  const auto index = static_cast<size_t>(options.read_from);
  return std::string(index < kReadFromNames.size() ? kReadFromNames[index] : "?");
}

bool ReadSentinelTls(std::string_view text, Options& options) {
  bool value = false;
  if (text == "same") {
    options.sentinel_tls.reset();
    return true;
  }
  if (!ReadYesOrNo(text, value)) return false;
  options.sentinel_tls = value;
  return true;
}
std::optional<std::string> WriteSentinelTls(const Options& options) {
  return options.sentinel_tls ? YesOrNo(*options.sentinel_tls) : "same";
}

constexpr std::string_view kTimeValue =
    "a duration from 1ms to 8760h with its unit, such as 500ms or 2s, or inf";
constexpr std::string_view kYesOrNoValue = "yes or no";
constexpr std::string_view kFileValue = "the path of a PEM file";
constexpr std::string_view kCountValue = "a number from 1 to 1000000000";

constexpr OptionRow Time(std::string_view name, std::string_view written, std::string_view meaning,
                         decltype(OptionRow::read) read, decltype(OptionRow::write) write,
                         Scope scope = Scope::kAny) {
  return {name, Place::kQuery, scope, written, kTimeValue, meaning, read, write};
}

constexpr OptionRow Count(std::string_view name, std::string_view written, std::string_view meaning,
                          decltype(OptionRow::read) read, decltype(OptionRow::write) write) {
  return {name, Place::kQuery, Scope::kAny, written, kCountValue, meaning, read, write};
}

constexpr std::array kTable = {
    OptionRow{"user", Place::kUser, Scope::kAny, "//USER:PASSWORD@",
              "a user name without zero bytes",
              "ACL user to log in as; without it the password is the default user's",
              ReadName<&Options::user>, WriteName<&Options::user>},
    OptionRow{"password", Place::kPassword, Scope::kAny, "//USER:PASSWORD@", "any bytes",
              "password to log in with; without it the client does not log in",
              ReadSecret<&Options::password>, WriteSecret<&Options::password>},
    OptionRow{"host", Place::kHost, Scope::kAny, "redis://HOST or rediss://HOST",
              "a host name or an IP address, IPv6 in [ ]",
              "server to connect to by TCP; rediss:// goes through TLS", ReadHost, WriteHost},
    OptionRow{"port", Place::kPort, Scope::kAny, "redis://HOST:PORT", "a number from 1 to 65535",
              "TCP port of the server", ReadPort, WritePort},
    OptionRow{"path", Place::kSocket, Scope::kAny, "unix:///PATH",
              "an absolute path of at most 107 bytes", "Unix socket of the server", ReadSocket,
              WriteSocket},
    OptionRow{"db", Place::kDatabase, Scope::kAny, "redis://HOST/N or ?db=N",
              "a number from 0 to 2147483647", "database to select",
              ReadCount<&Options::database, 0, std::numeric_limits<int>::max()>,
              WriteCount<&Options::database>},
    OptionRow{"client_name", Place::kQuery, Scope::kAny, "?client_name=NAME",
              "printable ASCII without spaces", "name that CLIENT LIST shows", ReadClientName,
              WriteName<&Options::client_name>},
    OptionRow{"tls_verify", Place::kQuery, Scope::kTls, "?tls_verify=no", kYesOrNoValue,
              "whether the server's certificate must be valid and match its name", ReadTlsVerify,
              WriteTlsVerify},
    OptionRow{"tls_ca_file", Place::kQuery, Scope::kTls, "?tls_ca_file=PATH", kFileValue,
              "certificate authorities to trust; without it those of the system",
              ReadTlsText<&TlsOptions::ca_file>, WriteTlsText<&TlsOptions::ca_file>},
    OptionRow{"tls_ca_folder", Place::kQuery, Scope::kTls, "?tls_ca_folder=PATH",
              "the path of a folder as c_rehash of OpenSSL prepares it",
              "certificate authorities to trust, also beside tls_ca_file",
              ReadTlsText<&TlsOptions::ca_folder>, WriteTlsText<&TlsOptions::ca_folder>},
    OptionRow{"tls_ciphers", Place::kQuery, Scope::kTls, "?tls_ciphers=LIST",
              "a list of ciphers as OpenSSL writes it",
              "ciphers to offer for TLS 1.2; without it those of OpenSSL",
              ReadTlsText<&TlsOptions::ciphers>, WriteTlsText<&TlsOptions::ciphers>},
    OptionRow{"tls_ciphersuites", Place::kQuery, Scope::kTls, "?tls_ciphersuites=LIST",
              "a list of cipher suites as OpenSSL writes it",
              "cipher suites to offer for TLS 1.3; without it those of OpenSSL",
              ReadTlsText<&TlsOptions::ciphersuites>, WriteTlsText<&TlsOptions::ciphersuites>},
    OptionRow{"tls_server_name", Place::kQuery, Scope::kTls, "?tls_server_name=NAME",
              "a name without zero bytes",
              "name sent as SNI and expected in the certificate; without it the host",
              ReadTlsText<&TlsOptions::server_name>, WriteTlsText<&TlsOptions::server_name>},
    OptionRow{"tls_certificate_file", Place::kQuery, Scope::kTls, "?tls_certificate_file=PATH",
              kFileValue, "the client's own certificate, with its chain",
              ReadTlsText<&TlsOptions::certificate_file>,
              WriteTlsText<&TlsOptions::certificate_file>},
    OptionRow{"tls_key_file", Place::kQuery, Scope::kTls, "?tls_key_file=PATH", kFileValue,
              "the key of the client's certificate", ReadTlsText<&TlsOptions::key_file>,
              WriteTlsText<&TlsOptions::key_file>},
    OptionRow{"tls_key_password", Place::kQuery, Scope::kTls, "?tls_key_password=PASSWORD",
              "any bytes", "password of an encrypted tls_key_file", ReadKeyPassword,
              WriteKeyPassword},
    OptionRow{"protocol", Place::kQuery, Scope::kAny, "?protocol=3", "2 or 3",
              "version of RESP to ask for; a server that refuses 3 is used with 2", ReadProtocol,
              WriteProtocol},
    OptionRow{"cache_bytes", Place::kQuery, Scope::kAny, "?protocol=3&cache_bytes=N",
              "a number from 0 to 1125899906842624",
              "size limit of the cache of replies of each shared connection, which the server "
              "invalidates; 0: no cache",
              ReadBytes<&Options::cache_bytes, 0>, WriteBytes<&Options::cache_bytes>},
    OptionRow{"cache_broadcast", Place::kQuery, Scope::kAny, "?cache_broadcast=yes", kYesOrNoValue,
              "whether the server sends invalidations for all keys with one of cache_prefixes, "
              "instead of those that were read",
              ReadFlag<&Options::cache_broadcast>, WriteFlag<&Options::cache_broadcast>},
    OptionRow{"cache_prefixes", Place::kQuery, Scope::kAny, "?cache_prefixes=PREFIX,PREFIX",
              "one or several prefixes with commas between them, none of which begins with another",
              "with cache_broadcast: prefixes of the keys to cache; without it all keys",
              ReadPrefixes, WritePrefixes},
    OptionRow{"readonly", Place::kQuery, Scope::kAny, "?readonly=yes", kYesOrNoValue,
              "whether READONLY is sent after connecting, so that a replica of a cluster answers "
              "reads; with cluster=yes, read_from decides",
              ReadFlag<&Options::readonly>, WriteFlag<&Options::readonly>},
    OptionRow{"cluster", Place::kQuery, Scope::kTcp, "?cluster=yes", kYesOrNoValue,
              "whether host and seeds are nodes of a Redis Cluster", ReadFlag<&Options::cluster>,
              WriteFlag<&Options::cluster>},
    OptionRow{"sentinel_master", Place::kQuery, Scope::kTcp, "?sentinel_master=NAME",
              "a name without zero bytes",
              "host and seeds are sentinels, which are asked for the master of this name",
              ReadName<&Options::sentinel_master>, WriteName<&Options::sentinel_master>},
    OptionRow{"seeds", Place::kQuery, Scope::kSeveral, "?seeds=HOST:PORT,HOST:PORT",
              "HOST:PORT, one or several with commas between them, IPv6 in [ ]",
              "further nodes or sentinels, asked if the previous ones do not answer", ReadSeeds,
              WriteSeeds},
    OptionRow{"address_map", Place::kQuery, Scope::kSeveral, "?address_map=FROM~TO,FROM~TO",
              "HOST~HOST or HOST:PORT~HOST:PORT, one or several with commas between them, IPv6 in "
              "[ ]; without a port, every port stays as it is",
              "addresses to connect to instead of those that a cluster or a sentinel names",
              ReadAddressMap, WriteAddressMap},
    OptionRow{"sentinel_user", Place::kQuery, Scope::kSentinel, "?sentinel_user=USER",
              "a user name without zero bytes", "ACL user to log in as at the sentinels",
              ReadName<&Options::sentinel_user>, WriteName<&Options::sentinel_user>},
    OptionRow{"sentinel_password", Place::kQuery, Scope::kSentinel, "?sentinel_password=PASSWORD",
              "any bytes", "password to log in with at the sentinels",
              ReadSecret<&Options::sentinel_password>, WriteSecret<&Options::sentinel_password>},
    OptionRow{"sentinel_tls", Place::kQuery, Scope::kSentinel, "?sentinel_tls=no",
              "yes, no or same",
              "whether the connections to the sentinels go through TLS; same: as those to the "
              "master. The other options of TLS hold for both",
              ReadSentinelTls, WriteSentinelTls},
    Time("connect_timeout", "?connect_timeout=TIME",
         "how long one attempt to resolve, connect and log in may take in all",
         ReadTime<&Options::connect_timeout>, WriteTime<&Options::connect_timeout>),
    Time("command_timeout", "?command_timeout=TIME",
         "time limit from submission to the last reply of a command or batch; includes the wait "
         "for a connection",
         ReadTime<&Options::command_timeout>, WriteTime<&Options::command_timeout>),
    Time("blocking_timeout", "?blocking_timeout=TIME",
         "time limit of a blocking command; a blocking command with its own timeout is limited to "
         "that timeout plus command_timeout",
         ReadTime<&Options::blocking_timeout>, WriteTime<&Options::blocking_timeout>),
    Time("keep_alive", "?keep_alive=TIME",
         "idle time before the operating system sends TCP keep-alive probes; sent bytes that are "
         "not acknowledged within twice this time end the connection; inf: never",
         ReadTime<&Options::keep_alive>, WriteTime<&Options::keep_alive>, Scope::kTcp),
    Time("health_check_interval", "?health_check_interval=TIME",
         "idle time before the client sends a PING, whose reply must arrive within "
         "command_timeout, or connect_timeout if that is inf; inf: never",
         ReadTime<&Options::health_check_interval>, WriteTime<&Options::health_check_interval>),
    OptionRow{"reconnect", Place::kQuery, Scope::kAny, "?reconnect=no", kYesOrNoValue,
              "whether a shared client reconnects after a lost connection",
              ReadFlag<&Options::reconnect>, WriteFlag<&Options::reconnect>},
    Time("backoff_base", "?backoff_base=TIME",
         "longest wait before the second attempt to reconnect; doubles with each attempt",
         ReadTime<&Options::backoff_base>, WriteTime<&Options::backoff_base>),
    Time("backoff_cap", "?backoff_cap=TIME", "longest wait before any attempt to reconnect",
         ReadTime<&Options::backoff_cap>, WriteTime<&Options::backoff_cap>),
    OptionRow{"retry", Place::kQuery, Scope::kAny, "?retry=POLICY", "never, not_sent or idempotent",
              "which requests are sent again after a lost connection. never: no request; "
              "not_sent: requests of which no byte was written; idempotent: also requests that "
              "only read or are declared idempotent",
              ReadRetry, WriteRetry},
    Count("attempts", "?attempts=N",
          "how many times one request may be written, the first time included",
          ReadCount<&Options::attempts, 1, kMaxCount>, WriteCount<&Options::attempts>),
    Count("queue_limit", "?queue_limit=N", "how many requests may wait for their replies at once",
          ReadCount<&Options::queue_limit, 1, kMaxCount>, WriteCount<&Options::queue_limit>),
    OptionRow{"queue_bytes", Place::kQuery, Scope::kAny, "?queue_bytes=N",
              "a number from 1 to 1125899906842624",
              "how many bytes of commands may wait for their replies at once; a request beyond "
              "the limit is refused",
              ReadBytes<&Options::queue_bytes, 1>, WriteBytes<&Options::queue_bytes>},
    Count("blocking_connections", "?blocking_connections=N",
          "how many connections may carry blocking commands at once; further commands wait",
          ReadCount<&Options::blocking_connections, 1, kMaxCount>,
          WriteCount<&Options::blocking_connections>),
    OptionRow{"idle_connections", Place::kQuery, Scope::kAny, "?idle_connections=N",
              "a number from 0 to 1000000000",
              "how many idle connections for blocking commands stay open",
              ReadCount<&Options::idle_connections, 0, kMaxCount>,
              WriteCount<&Options::idle_connections>},
    Count("pool_size", "?pool_size=N", "the largest number of connections of a SyncPool",
          ReadCount<&Options::pool_size, 1, kMaxCount>, WriteCount<&Options::pool_size>),
    Time("pool_acquire_timeout", "?pool_acquire_timeout=TIME",
         "how long a call waits for a connection of a SyncPool; inf: until there is one",
         ReadTime<&Options::pool_acquire_timeout>, WriteTime<&Options::pool_acquire_timeout>),
    Time("pool_idle_time", "?pool_idle_time=TIME",
         "idle time after which a connection of a SyncPool is closed; inf: never",
         ReadTime<&Options::pool_idle_time>, WriteTime<&Options::pool_idle_time>),
    Time("pool_lifetime", "?pool_lifetime=TIME",
         "age at which a connection of a SyncPool is closed; inf: never",
         ReadTime<&Options::pool_lifetime>, WriteTime<&Options::pool_lifetime>),
    Time("pool_check_after", "?pool_check_after=TIME",
         "idle time after which a connection of a SyncPool must answer a PING before it is used; "
         "inf: never",
         ReadTime<&Options::pool_check_after>, WriteTime<&Options::pool_check_after>),
    Count("push_queue", "?push_queue=N",
          "how many messages of a subscription may wait for their reader; a further message "
          "drops the oldest one, and the reader receives a gap",
          ReadCount<&Options::push_queue, 1, kMaxCount>, WriteCount<&Options::push_queue>),
    OptionRow{
        "redirections", Place::kQuery, Scope::kCluster, "?redirections=N",
        "a number from 0 to 1000000000",
        "how many times one command may be redirected to another node; waits for the cluster are "
        "limited by the timeout of the command only",
        ReadCount<&Options::redirections, 0, kMaxCount>, WriteCount<&Options::redirections>},
    OptionRow{"split_commands", Place::kQuery, Scope::kCluster, "?split_commands=yes",
              kYesOrNoValue,
              "whether MGET, MSET, DEL, UNLINK, EXISTS and TOUCH with keys of several slots are "
              "sent as one command for each slot; the whole is then not atomic",
              ReadFlag<&Options::split_commands>, WriteFlag<&Options::split_commands>},
    OptionRow{"read_from", Place::kQuery, Scope::kSeveral, "?read_from=POLICY",
              "master, replica_preferred, replica or any",
              "which servers answer requests that only read. master: the master; "
              "replica_preferred: replicas, or the master if none is available; replica: replicas; "
              "any: the master and its replicas",
              ReadReadFrom, WriteReadFrom},
    Time("refresh_interval", "?refresh_interval=TIME",
         "shortest time between two requests for the slot map or for the sentinels' master; the "
         "real time is random, up to twice as long, and up to ten times while no server answers",
         ReadTime<&Options::refresh_interval>, WriteTime<&Options::refresh_interval>,
         Scope::kSeveral),
};

}  // namespace

std::span<const OptionRow> OptionTable() { return kTable; }

bool Applies(Scope scope, const Options& options) {
  switch (scope) {
    case Scope::kAny:
      return true;
    case Scope::kTcp:
      return std::holds_alternative<TcpAddress>(options.address);
    case Scope::kTls:
      return options.tls.enabled || options.sentinel_tls.value_or(false);
    case Scope::kCluster:
      return options.cluster;
    case Scope::kSentinel:
      return !options.sentinel_master.empty();
    case Scope::kSeveral:
      return options.cluster || !options.sentinel_master.empty();
  }
  return false;
}

std::string_view ScopeText(Scope scope) {
  switch (scope) {
    case Scope::kAny:
      break;
    case Scope::kTcp:
      return "redis:// or rediss://";
    case Scope::kTls:
      return "rediss://";
    case Scope::kCluster:
      return "cluster=yes";
    case Scope::kSentinel:
      return "sentinel_master";
    case Scope::kSeveral:
      return "cluster=yes or sentinel_master";
  }
  return "any URI";
}

}  // namespace redouble::inline v0_1::redis
