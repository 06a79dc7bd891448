#include "redouble/backends/memory/server/kept_parameters.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/server/memory_size.h"
#include "redouble/backends/memory/server/parameter_value.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

using Kind = KeptParameter::Kind;
using Error = ValueError;

constexpr int64_t kMinInt = std::numeric_limits<int32_t>::min();
constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

bool Same(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(base::ToAbsl(a), base::ToAbsl(b));
}

// As in Redis, each blank ends a word, which may be empty.
std::vector<std::string> WordsOf(std::string_view text) {
  if (text.empty()) return {};
  return absl::StrSplit(base::ToAbsl(text), ' ');
}

Error CheckInteger(const KeptParameter& parameter, std::string& value) {
  int64_t ignored = 0;
  return ReadNumber(value, parameter.low, parameter.high, ignored);
}

Error CheckMemory(const KeptParameter& parameter, std::string& value) {
  int64_t bytes = 0;
  if (Error error = ReadSize(value, parameter.low, parameter.high, bytes)) return error;
  value = absl::StrCat(bytes);
  return std::nullopt;
}

Error CheckSwitch(std::string& value) {
  bool yes = false;
  if (Error error = ReadSwitch(value, yes)) return error;
  value = yes ? "yes" : "no";
  return std::nullopt;
}

Error CheckUnsignedMemory(std::string& value) {
  uint64_t bytes = 0;
  if (Error error = ReadUnsignedSize(value, bytes)) return error;
  value = absl::StrCat(bytes);
  return std::nullopt;
}

// Redis keeps a percentage as a negative number, so that a size of 2^63 bytes and more is one.
Error CheckMemoryOrPercent(std::string& value) {
  constexpr char kNeither[] = "argument must be a memory or percent value";
  constexpr int64_t kMostPercent = 100;
  int64_t number = 0;
  if (value.ends_with('%')) {
    const std::optional<int64_t> percent =
        base::ParseInt64(std::string_view(value).substr(0, value.size() - 1));
    if (!percent || *percent < 0) return kNeither;
    number = -*percent;
  } else {
    const std::optional<uint64_t> bytes = ReadMemory(value);
    if (!bytes) return kNeither;
    number = static_cast<int64_t>(*bytes);
  }
  if (number < -kMostPercent) return "percentage argument must be less or equal to 100";
  value = number < 0 ? absl::StrCat(-number, "%") : absl::StrCat(number);
  return std::nullopt;
}

// Replaces `words` of the value by the names of `choices`, each once, in their order.
Error CheckChoices(const KeptParameter& parameter, const std::vector<std::string>& words,
                   std::string& value) {
  const std::vector<absl::string_view> split =
      absl::StrSplit(base::ToAbsl(parameter.choices), ", ");
  std::vector<std::string_view> names;
  for (const absl::string_view name : split) names.push_back(base::ToStd(name));
  std::set<size_t> chosen;
  for (const std::string& word : words.empty() ? std::vector<std::string>{""} : words) {
    size_t index = 0;
    if (Error error = ReadChoice(word, names, index)) return error;
    chosen.insert(index);
  }
  value = absl::StrJoin(chosen, " ",
                        [&](std::string* out, size_t index) { out->append(names[index]); });
  return std::nullopt;
}

Error CheckShutdown(std::string& value) {
  const std::vector<std::string> words = WordsOf(value);
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (!has("save") || !has("nosave")) return std::nullopt;
  return "shutdown options SAVE and NOSAVE can't be used simultaneously";
}

// Redis shows the first of two names of a choice.
Error NameOomPolicy(std::string& value) {
  if (value == "relative") value = "yes";
  return std::nullopt;
}

Error ClampHz(std::string& value) {
  value = absl::StrCat(std::clamp<int64_t>(base::ParseInt64(value).value_or(0), 1, 500));
  return std::nullopt;
}

// Redis allows no period below two turns of its timer, of which there are 10 in a second.
Error ClampWatchdog(std::string& value) {
  constexpr int64_t kLeastMs = 200;
  const int64_t period_ms = base::ParseInt64(value).value_or(0);
  if (period_ms != 0) value = absl::StrCat(std::max(period_ms, kLeastMs));
  return std::nullopt;
}

Error ClampBacklog(std::string& value) {
  constexpr int64_t kLeastBytes = 16 << 10;
  value = absl::StrCat(std::max(base::ParseInt64(value).value_or(0), kLeastBytes));
  return std::nullopt;
}

Error CheckHostname(std::string& value) {
  constexpr size_t kLongest = 255;
  if (value.size() > kLongest) return "Hostnames must be less than 256 characters";
  const bool valid = std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '.';
  });
  if (valid) return std::nullopt;
  return "Hostnames may only contain alphanumeric characters, hyphens or dots";
}

Error CheckOomScores(std::string& value) {
  constexpr size_t kScores = 3;
  constexpr int64_t kHighest = 2000;
  const std::vector<std::string> words = WordsOf(value);
  if (words.size() != kScores) return "wrong number of arguments";
  for (const std::string& word : words) {
    const std::optional<int64_t> score = base::ParseInt64(word);
    if (!score || *score < -kHighest || *score > kHighest) {
      return "Invalid oom-score-adj-values, elements must be between -2000 and 2000.";
    }
  }
  return std::nullopt;
}

Error CheckTitle(std::string& value) {
  constexpr char kInvalid[] = "template format is invalid or contains unknown variables";
  static constexpr std::string_view kVariables[] = {
      "title", "listen-addr", "server-mode", "port", "tls-port", "unixsocket", "config-file"};
  // Without a process, Redis's check leaves out the other variables. The result must not be empty.
  static constexpr std::string_view kNeverEmpty[] = {"listen-addr", "port", "tls-port"};
  const auto is_in = [](std::string_view name, const auto& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  const auto has_text = [](std::string_view text) {
    return text.find_first_not_of(' ') != text.npos;
  };
  bool empty = true;
  std::string_view rest = value;
  for (size_t open = rest.find('{'); open != rest.npos; open = rest.find('{')) {
    const size_t close = rest.find('}', open);
    const std::string_view name = rest.substr(open + 1, close - open - 1);
    if (close == rest.npos || !is_in(name, kVariables)) return kInvalid;
    empty = empty && !is_in(name, kNeverEmpty) && !has_text(rest.substr(0, open));
    rest.remove_prefix(close + 1);
  }
  if (empty && !has_text(rest)) return kInvalid;
  return std::nullopt;
}

// The only known locale is the empty name, which means the locale of the environment.
Error CheckLocale(std::string& value) {
  if (value.empty()) return std::nullopt;
  return "Invalid locale name";
}

// Addresses for clients are not supported; only none is accepted.
Error CheckNoIpv4(std::string& value) {
  if (value.empty()) return std::nullopt;
  return "Invalid IPv4 address";
}
Error CheckNoIpv6(std::string& value) {
  if (value.empty()) return std::nullopt;
  return "Invalid IPv6 address";
}

// Debian's servers have TLS, but no certificate.
Error RefuseTls(std::string& value) {
  if (value == "no" || value == "0") return std::nullopt;
  return "Unable to update TLS configuration. Check server logs.";
}

Error RefuseRdma(std::string& value) {
  if (value.empty() || value == "0") return std::nullopt;
  return "No RDMA building support.";
}

// As a server with the allocator of the system.
Error RefuseDefragmentation(std::string& value) {
  if (value == "no") return std::nullopt;
  return "Active defragmentation cannot be enabled: it requires a Redis server compiled with a "
         "modified Jemalloc like the one shipped by default with the Redis source distribution";
}
Error RefuseDefragmentationInValkey(std::string& value) {
  if (value == "no") return std::nullopt;
  return "Active defragmentation cannot be enabled: it requires a server compiled with a modified "
         "Jemalloc like the one shipped by default with the source distribution";
}

constexpr KeptParameter Switch(std::string_view name, std::string_view initial,
                               std::string_view former_name = {},
                               Error (*check)(std::string& value) = nullptr) {
  return {name, former_name, Kind::kSwitch, initial, 0, 0, "", check};
}
constexpr KeptParameter Integer(std::string_view name, std::string_view initial, int64_t low,
                                int64_t high, std::string_view former_name = {},
                                Error (*check)(std::string& value) = nullptr) {
  return {name, former_name, Kind::kInteger, initial, low, high, "", check};
}
constexpr KeptParameter Memory(std::string_view name, std::string_view initial, int64_t low,
                               Kind kind = Kind::kMemory,
                               Error (*check)(std::string& value) = nullptr) {
  return {name, "", kind, initial, low, kMaxInt64, "", check, false, LineForm::kBytes};
}
constexpr KeptParameter Choice(std::string_view name, std::string_view initial,
                               std::string_view choices) {
  return {name, "", Kind::kChoice, initial, 0, 0, choices};
}
// A text whose default is not empty may be empty; without a default, an empty one has no line.
constexpr LineForm FormOfText(std::string_view initial) {
  return initial.empty() ? LineForm::kQuotedOrNone : LineForm::kQuoted;
}
constexpr KeptParameter Text(std::string_view name, std::string_view initial = {},
                             std::string_view former_name = {},
                             Error (*check)(std::string& value) = nullptr) {
  return {name, former_name, Kind::kText, initial,          0,
          0,    "",          check,       /*hidden=*/false, FormOfText(initial)};
}
constexpr KeptParameter Bytes(std::string_view name, std::string_view former_name = {}) {
  KeptParameter parameter = Text(name, "", former_name);
  parameter.kind = Kind::kBytes;
  return parameter;
}
constexpr KeptParameter Fixed(std::string_view name, std::string_view initial) {
  return {name, "", Kind::kFixed, initial};
}
constexpr KeptParameter FixedText(std::string_view name, std::string_view initial = {},
                                  std::string_view former_name = {}) {
  return {name, former_name, Kind::kFixed, initial,          0,
          0,    "",          nullptr,      /*hidden=*/false, FormOfText(initial)};
}
// A text that has a line although it is empty.
constexpr KeptParameter Quoted(KeptParameter parameter) {
  parameter.form = LineForm::kQuoted;
  return parameter;
}

// A parameter that not all versions have.
constexpr KeptParameter In(store::VersionSet versions, KeptParameter parameter) {
  parameter.versions = versions;
  return parameter;
}

constexpr store::VersionSet kValkey = store::Since("valkey 8.0.0");
constexpr store::VersionSet kNotValkey = store::Until("valkey 8.0.0");
constexpr store::VersionSet kSince72 = store::Since("7.2.0");

constexpr KeptParameter kParameters[] = {
    Quoted(FixedText("aclfile")),
    Integer("active-defrag-cycle-max", "25", 1, 99),
    Integer("active-defrag-cycle-min", "1", 1, 99),
    In(store::Since("valkey 8.1.0"), Integer("active-defrag-cycle-us", "500", 0, 100000)),
    Memory("active-defrag-ignore-bytes", "104857600", 1),
    Integer("active-defrag-max-scan-fields", "1000", 1, kMaxInt64),
    Integer("active-defrag-threshold-lower", "10", 0, 1000),
    Integer("active-defrag-threshold-upper", "100", 0, 1000),
    Integer("active-expire-effort", "1", 1, 10),
    In(kNotValkey, Switch("activedefrag", "no", "", RefuseDefragmentation)),
    In(kValkey, Switch("activedefrag", "no", "", RefuseDefragmentationInValkey)),
    Switch("activerehashing", "yes"),
    Fixed("always-show-logo", "no"),
    In(store::Until("7.2.0"), Switch("aof-disable-auto-gc", "no")),
    In(kSince72, FixedText("aof-rewrite-cpulist", "", "aof_rewrite_cpulist")),
    Switch("aof-rewrite-incremental-fsync", "yes"),
    In(store::Until("7.2.0"), FixedText("aof_rewrite_cpulist")),
    In(kValkey, Text("availability-zone")),
    In(kSince72, FixedText("bgsave-cpulist", "", "bgsave_cpulist")),
    In(store::Until("7.2.0"), FixedText("bgsave_cpulist")),
    Text("bind-source-addr"),
    In(kSince72, FixedText("bio-cpulist", "", "bio_cpulist")),
    In(store::Until("7.2.0"), FixedText("bio_cpulist")),
    {"cluster-allow-pubsubshard-when-down", "", Kind::kSwitch, "yes"},
    Switch("cluster-allow-reads-when-down", "no"),
    Switch("cluster-allow-replica-migration", "yes"),
    Integer("cluster-announce-bus-port", "0", 0, 65535),
    In(kValkey, Text("cluster-announce-client-ipv4", "", "", CheckNoIpv4)),
    In(kValkey, Text("cluster-announce-client-ipv6", "", "", CheckNoIpv6)),
    Text("cluster-announce-hostname", "", "", CheckHostname),
    In(kSince72, Text("cluster-announce-human-nodename", "", "", CheckHostname)),
    Text("cluster-announce-ip"),
    Integer("cluster-announce-port", "0", 0, 65535),
    Integer("cluster-announce-tls-port", "0", 0, 65535),
    In(kValkey, Integer("cluster-blacklist-ttl", "60", 0, kMaxInt64)),
    In(store::Since("8.0.0"), Integer("cluster-compatibility-sample-ratio", "0", 0, 100)),
    FixedText("cluster-config-file", "nodes.conf"),
    Memory("cluster-link-sendbuf-limit", "0", 0, Kind::kUnsignedMemory),
    In(store::Since("valkey 8.1.0"),
       Integer("cluster-manual-failover-timeout", "5000", 1, kMaxInt)),
    Integer("cluster-migration-barrier", "1", 0, kMaxInt),
    Integer("cluster-node-timeout", "15000", 0, kMaxInt64),
    Fixed("cluster-port", "0"),
    Choice("cluster-preferred-endpoint-type", "ip", "ip, hostname, unknown-endpoint"),
    Switch("cluster-replica-no-failover", "no", "cluster-slave-no-failover"),
    Integer("cluster-replica-validity-factor", "10", 0, kMaxInt, "cluster-slave-validity-factor"),
    Switch("cluster-require-full-coverage", "yes"),
    In(kValkey, Switch("cluster-slot-stats-enabled", "no")),
    In(store::Since("valkey 8.1.0"),
       Integer("commandlog-large-reply-max-len", "128", 0, kMaxInt64)),
    In(store::Since("valkey 8.1.0"),
       Integer("commandlog-large-request-max-len", "128", 0, kMaxInt64)),
    In(store::Since("valkey 8.1.0"),
       Integer("commandlog-reply-larger-than", "1048576", -1, kMaxInt64)),
    In(store::Since("valkey 8.1.0"),
       Integer("commandlog-request-larger-than", "1048576", -1, kMaxInt64)),
    Switch("crash-log-enabled", "yes"),
    Switch("crash-memcheck-enabled", "yes"),
    Fixed("daemonize", "no"),
    Fixed("disable-thp", "yes"),
    In(kValkey, Switch("dual-channel-replication-enabled", "no")),
    In(store::Until("valkey 8.1.0"), Switch("dynamic-hz", "yes")),
    In(store::Version::kValkey80, Integer("events-per-io-thread", "2", 0, kMaxInt)),
    In(kValkey, Switch("extended-redis-compatibility", "no")),
    In(store::Since("7.4.0"), Switch("hide-user-data-from-log", "no")),
    In(kValkey, Switch("hide-user-data-from-log", "yes")),
    {"hz", "", Kind::kInteger, "10", 0, kMaxInt, "", ClampHz},
    Quoted(Text("ignore-warnings")),
    In(store::Since("valkey 8.1.0"), Switch("import-mode", "no")),
    Fixed("io-threads", "1"),
    In(store::Until("8.0.0") - kValkey, Fixed("io-threads-do-reads", "no")),
    In(store::Version::kValkey80, Fixed("io-threads-do-reads", "yes")),
    Switch("jemalloc-bg-thread", "yes"),
    {"key-load-delay", "", Kind::kInteger, "0", kMinInt, kMaxInt, "", nullptr, true},
    In(kNotValkey, Switch("lazyfree-lazy-eviction", "no")),
    In(kValkey, Switch("lazyfree-lazy-eviction", "yes")),
    In(kNotValkey, Switch("lazyfree-lazy-expire", "no")),
    In(kValkey, Switch("lazyfree-lazy-expire", "yes")),
    In(kNotValkey, Switch("lazyfree-lazy-server-del", "no")),
    In(kValkey, Switch("lazyfree-lazy-server-del", "yes")),
    In(kNotValkey, Switch("lazyfree-lazy-user-del", "no")),
    In(kValkey, Switch("lazyfree-lazy-user-del", "yes")),
    In(kNotValkey, Switch("lazyfree-lazy-user-flush", "no")),
    In(kValkey, Switch("lazyfree-lazy-user-flush", "yes")),
    {"loading-process-events-interval-bytes", "", Kind::kInteger, "2097152", 1024, kMaxInt, "",
     nullptr, true},
    In(kSince72, Text("locale-collate", "", "", CheckLocale)),
    In(store::Since("valkey 8.1.0"), Choice("log-format", "legacy", "legacy, logfmt")),
    In(store::Since("valkey 8.1.0"),
       Choice("log-timestamp-format", "legacy", "legacy, iso8601, milliseconds")),
    Quoted(FixedText("logfile")),
    Choice("loglevel", "notice", "debug, verbose, notice, warning"),
    In(kNotValkey, Bytes("masterauth")),
    In(kNotValkey, Text("masteruser")),
    In(store::Since("7.4.0") | kValkey, Integer("max-new-connections-per-cycle", "10", 1, 1000)),
    In(store::Since("7.4.0") | kValkey, Integer("max-new-tls-connections-per-cycle", "1", 1, 1000)),
    Memory("maxmemory-clients", "0", 0, Kind::kMemoryOrPercent),
    Integer("maxmemory-eviction-tenacity", "10", 0, 100),
    Switch("no-appendfsync-on-rewrite", "no"),
    {"oom-score-adj", "", Kind::kChoice, "no", 0, 0, "no, yes, relative, absolute", NameOomPolicy},
    {"oom-score-adj-values", "", Kind::kText, "0 200 800", 0, 0, "", CheckOomScores},
    FixedText("pidfile"),
    In(kValkey, Integer("prefetch-batch-max-size", "16", 0, 128)),
    In(kValkey, Bytes("primaryauth", "masterauth")),
    In(kValkey, Text("primaryuser", "", "masteruser")),
    Text("proc-title-template", "{title} {listen-addr} {server-mode}", "", CheckTitle),
    Choice("propagation-error-behavior", "ignore", "ignore, panic, panic-on-replicas"),
    Switch("rdb-del-sync-files", "no"),
    {"rdb-key-save-delay", "", Kind::kInteger, "0", kMinInt, kMaxInt, "", nullptr, true},
    Switch("rdb-save-incremental-fsync", "yes"),
    In(store::Since("valkey 8.1.0"), Choice("rdb-version-check", "strict", "strict, relaxed")),
    In(store::Since("valkey 8.1.0"), Text("rdma-bind", "", "", RefuseRdma)),
    In(store::Since("valkey 8.1.0"), Fixed("rdma-completion-vector", "-1")),
    In(store::Since("valkey 8.1.0"), Integer("rdma-port", "0", 0, 65535, "", RefuseRdma)),
    In(store::Since("valkey 8.1.0"), Fixed("rdma-rx-size", "1048576")),
    In(kNotValkey, Memory("repl-backlog-size", "1048576", 1, Kind::kMemory, ClampBacklog)),
    In(kValkey, Memory("repl-backlog-size", "10485760", 1, Kind::kMemory, ClampBacklog)),
    Integer("repl-backlog-ttl", "3600", 0, kMaxInt64),
    Switch("repl-disable-tcp-nodelay", "no"),
    Choice("repl-diskless-load", "disabled", "disabled, on-empty-db, swapdb"),
    Switch("repl-diskless-sync", "yes"),
    Integer("repl-diskless-sync-delay", "5", 0, kMaxInt),
    Integer("repl-diskless-sync-max-replicas", "0", 0, kMaxInt),
    Integer("repl-ping-replica-period", "10", 1, kMaxInt, "repl-ping-slave-period"),
    Integer("repl-timeout", "60", 1, kMaxInt),
    Text("replica-announce-ip", "", "slave-announce-ip"),
    Integer("replica-announce-port", "0", 0, 65535, "slave-announce-port"),
    Switch("replica-announced", "yes"),
    In(store::Since("8.0.0"), Memory("replica-full-sync-buffer-limit", "0", 0)),
    Switch("replica-ignore-disk-write-errors", "no"),
    Switch("replica-ignore-maxmemory", "yes", "slave-ignore-maxmemory"),
    In(kNotValkey, Switch("replica-lazy-flush", "no", "slave-lazy-flush")),
    In(kValkey, Switch("replica-lazy-flush", "yes", "slave-lazy-flush")),
    Integer("replica-priority", "100", 0, kMaxInt, "slave-priority"),
    Switch("replica-read-only", "yes", "slave-read-only"),
    Switch("replica-serve-stale-data", "yes", "slave-serve-stale-data"),
    FixedText("replicaof", "", "slaveof"),
    Choice("sanitize-dump-payload", "no", "no, yes, clients"),
    In(kSince72, FixedText("server-cpulist", "", "server_cpulist")),
    In(store::Until("7.2.0"), FixedText("server_cpulist")),
    Fixed("set-proc-title", "yes"),
    {"shutdown-on-sigint", "", Kind::kFlags, "default", 0, 0, "default, save, nosave, now, force",
     CheckShutdown},
    {"shutdown-on-sigterm", "", Kind::kFlags, "default", 0, 0, "default, save, nosave, now, force",
     CheckShutdown},
    Integer("shutdown-timeout", "10", 0, kMaxInt),
    Fixed("socket-mark-id", "0"),
    Fixed("supervised", "no"),
    Fixed("syslog-enabled", "no"),
    Fixed("syslog-facility", "local0"),
    In(kNotValkey, FixedText("syslog-ident", "redis")),
    In(kValkey, FixedText("syslog-ident", "valkey")),
    Fixed("tcp-backlog", "511"),
    Integer("tcp-keepalive", "300", 0, kMaxInt),
    Choice("tls-auth-clients", "yes", "no, yes, optional"),
    Text("tls-ca-cert-dir"),
    Text("tls-ca-cert-file"),
    Text("tls-cert-file"),
    Text("tls-ciphers"),
    Text("tls-ciphersuites"),
    Text("tls-client-cert-file"),
    Text("tls-client-key-file"),
    Text("tls-client-key-file-pass"),
    Switch("tls-cluster", "no", "", RefuseTls),
    Text("tls-dh-params-file"),
    Text("tls-key-file"),
    Text("tls-key-file-pass"),
    Integer("tls-port", "0", 0, 65535, "", RefuseTls),
    Switch("tls-prefer-server-ciphers", "no"),
    Text("tls-protocols"),
    Switch("tls-replication", "no", "", RefuseTls),
    Integer("tls-session-cache-size", "20480", 0, kMaxInt),
    Integer("tls-session-cache-timeout", "300", 0, kMaxInt),
    Switch("tls-session-caching", "yes"),
    In(kValkey, FixedText("unixsocketgroup")),
    Fixed("unixsocketperm", "0"),
    {"use-exit-on-panic", "", Kind::kSwitch, "no", 0, 0, "", nullptr, true},
    {"watchdog-period", "", Kind::kInteger, "0", 0, kMaxInt, "", ClampWatchdog, true},
};

}  // namespace

Error KeptParameter::Check(std::string& value) const {
  Error error;
  switch (kind) {
    case Kind::kSwitch:
      error = CheckSwitch(value);
      break;
    case Kind::kInteger:
      error = CheckInteger(*this, value);
      break;
    case Kind::kMemory:
      error = CheckMemory(*this, value);
      break;
    case Kind::kUnsignedMemory:
      error = CheckUnsignedMemory(value);
      break;
    case Kind::kMemoryOrPercent:
      error = CheckMemoryOrPercent(value);
      break;
    case Kind::kChoice:
      error = CheckChoices(*this, {value}, value);
      break;
    case Kind::kFlags:
      error = CheckChoices(*this, WordsOf(value), value);
      break;
    case Kind::kText:
      value.resize(std::min(value.size(), value.find('\0')));
      break;
    case Kind::kBytes:
      break;
    case Kind::kFixed:
      return "can't set immutable config";
  }
  return error || check == nullptr ? error : check(value);
}

std::string KeptParameter::ValueIn(const EngineOptions& options) const {
  const auto kept = options.kept_parameters.find(std::string(name));
  return kept == options.kept_parameters.end() ? std::string(initial) : kept->second;
}

std::span<const KeptParameter> KeptParameters() { return kParameters; }

const KeptParameter* FindKeptParameter(std::string_view name, store::Version version) {
  const auto* found =
      std::find_if(std::begin(kParameters), std::end(kParameters), [&](const KeptParameter& row) {
        if (!row.versions.Has(version)) return false;
        return Same(name, row.name) || (!row.former_name.empty() && Same(name, row.former_name));
      });
  return found == std::end(kParameters) ? nullptr : found;
}

std::string KeptValue(std::string_view name, const EngineOptions& options) {
  return FindKeptParameter(name, options.compatibility)->ValueIn(options);
}

int64_t KeptNumber(std::string_view name, const EngineOptions& options) {
  return base::ParseInt64(KeptValue(name, options)).value_or(0);
}

}  // namespace redouble::inline v0_1::memory
