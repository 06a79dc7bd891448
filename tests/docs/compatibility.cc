#include "redouble/tests/docs/compatibility.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/text/glob.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/table/command_table.h"
#include "redouble/sim/cli/serve/configuration.h"
#include "redouble/tests/docs/generated_part.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/words.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

// A command whose effect is limited. The table shows the reply to `words`.
struct LimitedCommand {
  Words words;
  std::string_view why;
  bool in_cluster = false;
};

const std::vector<LimitedCommand>& LimitedCommands() {
  static const std::vector<LimitedCommand> rows = {
      {{"SAVE"}, "An engine alone keeps its keys in memory; `redouble serve` saves them."},
      {{"BGSAVE"},
       "The same. `redouble serve` makes no child process: it writes the keys in parts, between "
       "which commands run."},
      {{"BGREWRITEAOF"}, "The same: `redouble serve` rewrites its append-only log."},
      {{"LASTSAVE"}, "The start of the engine; under `redouble serve` the last save."},
      {{"REPLICAOF", "127.0.0.1", "6380"},
       "An engine alone follows no master; `redouble serve` does."},
      {{"SLAVEOF", "127.0.0.1", "6380"},
       "An engine alone follows no master; `redouble serve` does."},
      {{"REPLICAOF", "NO", "ONE"}, "The server is a master already."},
      {{"SYNC"}, "An engine alone has no replicas; `redouble serve` does."},
      {{"PSYNC", "?", "-1"}, "The same."},
      {{"REPLCONF", "listening-port", "6380"}, "The client does not become a replica."},
      {{"REPLCONF", "ACK", "0"}, "There are no replicas."},
      {{"FAILOVER"}, "The reply of a Redis without replicas."},
      {{"ROLE"}, "An engine alone is a master without replicas; `redouble serve` reports them."},
      {{"WAIT", "0", "0"}, "The same: 0 at the timeout. Without a timeout it blocks, as in Redis."},
      {{"MIGRATE", "127.0.0.1", "1", "k", "0", "10"},
       "An engine alone connects to no other server; `redouble serve` does."},
      {{"MODULE", "LOAD", "/m.so"}, "There are no modules."},
      {{"SCRIPT", "DEBUG", "YES"},
       "The next EVAL of an engine alone fails, and `SYNC` is refused; `redouble serve` has the "
       "debugger, for `redis-cli --ldb`."},
      {{"CONFIG", "REWRITE"},
       "An engine alone has no configuration file; `redouble serve --config` writes it."},
      {{"MEMORY", "DOCTOR"},
       "Sizes are computed by the engine; some allocator fields describe the whole process."},
      {{"CLUSTER", "MEET", "127.0.0.1", "7001"},
       "The nodes never change. The same holds for `FORGET`, `REPLICATE`, `RESET` and the failover "
       "of "
       "a replica.",
       /*in_cluster=*/true},
  };
  return rows;
}

struct RedisParameter {
  std::string_view name;
  std::string_view initial;  // Redis's default.
};
constexpr RedisParameter kRedisParameters[] = {
#define REDOUBLE_PARAMETER(name, initial) {name, initial},
#include "redouble/tests/docs/redis_parameters.inc"
#undef REDOUBLE_PARAMETER
};

// Why parameters have a limited effect. Names are glob patterns, separated by spaces.
struct Reason {
  std::string_view names;
  std::string_view why;
};
constexpr Reason kParameterReasons[] = {
    {"appendonly appendfsync aof-load-truncated aof-timestamp-enabled aof-use-rdb-preamble "
     "appenddirname appendfilename auto-aof-*",
     "`redouble serve` writes the log; an engine alone has memory::AppendOnlyLog."},
    {"aof* no-appendfsync-on-rewrite", "A rewrite is made by the server itself, in parts."},
    {"rdb-*", "The file of keys is written by the server itself, in parts."},
    {"dbfilename dir", "Protected, as in Redis; see `--dir` and `--dbfilename`."},
    {"sanitize-dump-payload", "Payloads are always checked."},
    {"masterauth masteruser repl-backlog-size repl-backlog-ttl repl-diskless-load "
     "repl-diskless-sync repl-diskless-sync-delay repl-diskless-sync-max-replicas "
     "repl-ping-replica-period "
     "repl-ping-slave-period repl-timeout replica-announce-ip slave-announce-ip "
     "replica-announce-port slave-announce-port replica-announced replica-priority slave-priority "
     "replica-read-only slave-read-only replica-serve-stale-data slave-serve-stale-data replicaof "
     "slaveof",
     "`redouble serve` reads these for its replicas and its master; an engine alone has none."},
    {"repl-* replica* slave* master* propagation-error-behavior",
     "A file of keys passes through a temporary file on both sides, and replicas have no limits of "
     "their "
     "own."},
    {"cluster-*", "The nodes of a simulated cluster never change."},
    {"tls-*", "There is no TLS."},
    {"active-defrag* activedefrag activerehashing jemalloc-bg-thread disable-thp lazyfree-*",
     "The engine has other data structures, and frees memory at once."},
    {"maxmemory-clients", "`redouble serve` closes clients; an engine alone has no buffers."},
    {"maxmemory-eviction-tenacity", "Keys are evicted until the limit holds."},
    {"dynamic-hz active-expire-effort", "Keys expire at their deadlines, not in turns of a timer."},
    {"hz", "The upkeep of `redouble serve`; fixed while it runs."},
    {"io-threads* *_cpulist oom-score-adj* supervised set-proc-title proc-title-template "
     "always-show-logo ignore-warnings",
     "The process has one thread and changes no setting of the operating system."},
    {"shutdown-*", "`redouble serve` reads these; an engine alone does not shut down."},
    {"crash-* syslog-*", "The process logs to a file or to standard output."},
    {"aclfile daemonize logfile loglevel pidfile", "Decided when the process starts."},
    {"bind-source-addr tcp-backlog tcp-keepalive unixsocket unixsocketperm socket-mark-id",
     "Sockets are opened without these settings; `unixsocket` is fixed, as in Redis."},
    {"enable-module-command", "Fixed, as in Redis; there are no modules to load."},
    {"databases enable-debug-command enable-protected-configs rdbchecksum", "Fixed, as in Redis."},
};

// The subcommands of DEBUG in Redis, and why one is refused or limited.
struct DebugSubcommand {
  std::string_view name;
  std::string_view why = {};
};
constexpr std::string_view kNoAllocator = "The engine has other structures in memory.";
constexpr std::string_view kNoTables =
    "There are no such tables; in Redis the chains depend on a random seed of the process.";
constexpr std::string_view kKills = "It would end the process that the engine is part of.";
constexpr std::string_view kNotPrinted = "It replies, and prints nothing.";
constexpr DebugSubcommand kDebugSubcommands[] = {
    {"AOF-FLUSH-SLEEP"},
    {"ASSERT", kKills},
    {"CHANGE-REPL-ID"},
    {"CLIENT-EVICTION"},
    {"CLUSTERLINK KILL", "A simulated cluster has no links."},
    {"CONFIG-REWRITE-FORCE-ALL"},
    {"CRASH-AND-RECOVER", kKills},
    {"DIGEST"},
    {"DIGEST-VALUE"},
    {"DROP-CLUSTER-PACKET-FILTER", "A simulated cluster has no links."},
    {"ERROR"},
    {"HELP"},
    {"HTSTATS", kNoTables},
    {"HTSTATS-KEY", kNoTables},
    {"LEAK", "Nothing is leaked on purpose."},
    {"LISTPACK", kNotPrinted},
    {"LOADAOF", "Without a log, or with a damaged one, it is an error; Redis exits."},
    {"LOG", "`redouble serve` has a log; an engine alone replies, and writes nothing."},
    {"MALLCTL", kNoAllocator},
    {"MALLCTL-STR", kNoAllocator},
    {"OBJECT"},
    {"OOM", kKills},
    {"PANIC", kKills},
    {"PAUSE-CRON", "Stops the upkeep of `redouble serve`; timers follow the clock."},
    {"POPULATE"},
    {"PROTOCOL"},
    {"QUICKLIST", kNotPrinted},
    {"QUICKLIST-PACKED-THRESHOLD", "Every element of a list is in a listpack."},
    {"RELOAD",
     "An engine alone encodes and decodes every key as DUMP and RESTORE do; there is no file. A "
     "key "
     "that exists is an error without MERGE; Redis exits."},
    {"REPLICATE", "The words go to the database of the client."},
    {"REPLYBUFFER PEAK-RESET-TIME"},
    {"REPLYBUFFER RESIZING"},
    {"RESTART", kKills},
    {"SDSLEN", "The sizes that Redis has; spare room from APPEND or SETRANGE is not known."},
    {"SEGFAULT", kKills},
    {"SET-ACTIVE-EXPIRE"},
    {"SET-SKIP-CHECKSUM-VALIDATION", "For RESTORE; functions and files are always checked."},
    {"SLEEP"},
    {"STRINGMATCH-TEST"},
    {"STRUCTSIZE", "The sizes of Redis, by which `MEMORY USAGE` counts."},
};

memory::EngineOptions Options(bool in_cluster) {
  memory::EngineOptions options;
  if (in_cluster) options.cluster.emplace();
  return options;
}

Reply Ask(Target& target, const Words& words) { return target.RunAll(0, std::span(&words, 1))[0]; }

std::string Code(std::string_view text) { return absl::StrCat("`", base::ToAbsl(Cell(text)), "`"); }

std::string Row(const std::vector<std::string>& cells) {
  return absl::StrCat("| ", absl::StrJoin(cells, " | "), " |\n");
}

std::string CommandTable() {
  std::string table = "\n| command | here | why |\n| --- | --- | --- |\n";
  for (const LimitedCommand& row : LimitedCommands()) {
    MemoryTarget target(Options(row.in_cluster));
    Ask(target, {"SET", "k", "v"});
    const Reply reply = Ask(target, row.words);
    const std::string here =
        reply.is_error() ? absl::StrCat("refused: ", Code(reply.text())) : "limited effect";
    table += Row({Code(JoinWords(row.words)), here, std::string(row.why)});
  }
  return table + "\n";
}

bool NamesParameter(const Reason& reason, std::string_view name) {
  for (const absl::string_view pattern : absl::StrSplit(base::ToAbsl(reason.names), ' ')) {
    if (base::GlobMatch(base::ToStd(pattern), name)) return true;
  }
  return false;
}

std::string_view WhyOfParameter(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kParameterReasons), std::end(kParameterReasons),
                   [&](const Reason& reason) { return NamesParameter(reason, name); });
  return found == std::end(kParameterReasons) ? std::string_view() : found->why;
}

constexpr char kGetAndSet[] = "GET, SET";

// What CONFIG and a configuration file do with a parameter.
struct ParameterRow {
  std::string name;
  std::string config;
  std::string file;

  bool done() const { return config == kGetAndSet && file == "done"; }
};

// The value that is tried: the other one of a switch, which must do more than stay as it is.
std::string TriedValue(const RedisParameter& parameter) {
  if (parameter.initial == "yes") return "no";
  if (parameter.initial == "no") return "yes";
  return std::string(parameter.initial);
}

std::string ConfigCell(Target& target, const RedisParameter& parameter) {
  const std::string name(parameter.name);
  const Reply got = Ask(target, {"CONFIG", "GET", name});
  if (got.elements().empty()) return "unknown";
  const Reply set = Ask(target, {"CONFIG", "SET", name, TriedValue(parameter)});
  if (!set.is_error()) {
    return memory::FindKeptParameter(name) == nullptr ? kGetAndSet : "GET, SET without effect";
  }
  // "ERR CONFIG SET failed (possibly related to argument 'x') - WHY"
  const std::string& text = set.text();
  const size_t dash = text.find(" - ");
  return absl::StrCat("GET; SET is refused: ",
                      Code(dash == text.npos ? text : text.substr(dash + 3)));
}

std::string FileCell(const RedisParameter& parameter) {
  sim::ServeSettings settings;
  const std::vector<sim::ConfigurationError> errors = sim::ReadConfiguration(
      base::ToStd(absl::StrCat(base::ToAbsl(parameter.name), " ",
                               store::QuoteBytes(TriedValue(parameter)), "\n")),
      settings);
  if (!errors.empty()) return absl::StrCat("refused: ", Code(errors[0].message));
  return settings.warnings.empty() ? "done" : "no effect";
}

std::vector<ParameterRow> ParameterRows() {
  std::vector<ParameterRow> rows;
  MemoryTarget target;
  for (const RedisParameter& parameter : kRedisParameters) {
    rows.push_back(
        {std::string(parameter.name), ConfigCell(target, parameter), FileCell(parameter)});
  }
  return rows;
}

std::string ParameterTable() {
  std::string table =
      "\n| parameter | CONFIG | configuration file | why |\n| --- | --- | --- | --- |\n";
  for (const ParameterRow& row : ParameterRows()) {
    const std::string_view why = row.done() ? std::string_view() : WhyOfParameter(row.name);
    table += Row({Code(row.name), row.config, row.file, std::string(why)});
  }
  return table + "\n";
}

bool IsDone(const std::vector<std::string>& ours, std::string_view name) {
  return std::binary_search(ours.begin(), ours.end(), name);
}

std::string DebugTable() {
  MemoryTarget target;
  const std::vector<std::string> ours = DebugSubcommandsOf(target);
  std::string table = "\n| subcommand | here | why |\n| --- | --- | --- |\n";
  for (const DebugSubcommand& row : kDebugSubcommands) {
    const bool done = IsDone(ours, row.name);
    table += Row({Code(row.name), done ? (row.why.empty() ? "done" : "limited effect") : "refused",
                  std::string(row.why)});
  }
  return table + "\n";
}

}  // namespace

std::string WithCompatibilityTables(std::string_view page) {
  std::string result = WithGeneratedPart(page, "commands", CommandTable());
  result = WithGeneratedPart(result, "parameters", ParameterTable());
  return WithGeneratedPart(result, "debug", DebugTable());
}

std::vector<std::string> IncompleteReasons() {
  std::vector<std::string> mistakes;
  const std::vector<ParameterRow> rows = ParameterRows();
  for (const ParameterRow& row : rows) {
    if (!row.done() && WhyOfParameter(row.name).empty()) mistakes.push_back(row.name);
  }
  for (const Reason& reason : kParameterReasons) {
    const bool used = std::any_of(rows.begin(), rows.end(), [&](const ParameterRow& row) {
      return !row.done() && NamesParameter(reason, row.name);
    });
    if (!used) mistakes.emplace_back(reason.names);
  }
  MemoryTarget target;
  const std::vector<std::string> ours = DebugSubcommandsOf(target);
  for (const DebugSubcommand& row : kDebugSubcommands) {
    if (!IsDone(ours, row.name) && row.why.empty()) mistakes.emplace_back(row.name);
  }
  return mistakes;
}

std::vector<std::string> ParametersOfRedis() {
  std::vector<std::string> names;
  for (const RedisParameter& parameter : kRedisParameters) names.emplace_back(parameter.name);
  return names;
}

std::vector<std::string> DebugSubcommandsOfRedis() {
  std::vector<std::string> names;
  for (const DebugSubcommand& row : kDebugSubcommands) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> DebugSubcommandsOf(Target& target) {
  std::vector<std::string> names;
  const Reply help = Ask(target, {"DEBUG", "HELP"});
  // The first line is about DEBUG; indented lines describe the subcommand before them.
  for (const Reply& line : std::span(help.elements()).subspan(1)) {
    const std::string& text = line.text();
    if (!text.starts_with(' ')) names.push_back(text.substr(0, text.find_first_of("<[")));
  }
  for (std::string& name : names) name.erase(name.find_last_not_of(' ') + 1);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace redouble::inline v0_1::tests
