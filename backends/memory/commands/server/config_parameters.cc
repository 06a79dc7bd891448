#include "redouble/backends/memory/commands/server/config_parameters.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/server/config_values.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/keyspace/notifications.h"
#include "redouble/backends/memory/server/host.h"
#include "redouble/backends/memory/server/memory_size.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxUint = std::numeric_limits<uint32_t>::max();
constexpr int64_t kMaxPort = 65535;
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

// The part of the options that has the member.
template <typename Options, typename T>
auto& PartOf(Options& options, T EngineOptions::*) {
  return options;
}
template <typename Options, typename T>
auto& PartOf(Options& options, T EncodingLimits::*) {
  return options.encoding_limits;
}
template <typename Options, typename T>
auto& PartOf(Options& options, T ServerOptions::*) {
  return options.server;
}

template <auto kMember>
int64_t Get(const EngineOptions& options) {
  return static_cast<int64_t>(PartOf(options, kMember).*kMember);
}
template <auto kMember>
void Set(EngineOptions& options, int64_t value) {
  auto& member = PartOf(options, kMember).*kMember;
  member = static_cast<std::remove_reference_t<decltype(member)>>(value);
}

template <auto kMember>
constexpr Parameter Number(std::string_view name, int64_t low, int64_t high,
                           std::string_view alias = {}) {
  return {name, alias, Parameter::Kind::kInteger, false, low, high, Get<kMember>, Set<kMember>};
}
template <auto kMember>
constexpr Parameter Limit(std::string_view name, Parameter::Kind kind,
                          std::string_view alias = {}) {
  return {name, alias, kind, false, 0, kMaxInt64, Get<kMember>, Set<kMember>};
}

template <auto kMember>
constexpr Parameter OfServer(std::string_view name, Parameter::Kind kind, int64_t low,
                             int64_t high) {
  return {name, "", kind, false, low, high, Get<kMember>, Set<kMember>};
}
constexpr Parameter Text(std::string_view name, std::string (*get)(const EngineOptions&),
                         std::optional<std::string> (*set)(EngineOptions&, std::string_view),
                         LineForm form = LineForm::kWords,
                         ConfigLines (*lines)(const EngineOptions&) = nullptr) {
  return {name, "",  Parameter::Kind::kText, set == nullptr, 0,    0, nullptr, nullptr,
          get,  set, /*is_protected=*/false, form,           lines};
}

// The whole range of 64 bits, unlike other sizes.
std::string MaxmemoryText(const EngineOptions& options) {
  return std::to_string(options.maxmemory_bytes);
}
std::optional<std::string> SetMaxmemory(EngineOptions& options, std::string_view text) {
  return ReadUnsignedSize(text, options.maxmemory_bytes);
}

std::string EventsText(const EngineOptions& options) {
  return Notifications::Parse(options.notify_keyspace_events).value_or(Notifications()).Letters();
}
std::optional<std::string> SetEvents(EngineOptions& options, std::string_view text) {
  if (!Notifications::Parse(text)) {
    return "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";
  }
  options.notify_keyspace_events = std::string(text);
  return std::nullopt;
}

std::string PasswordText(const EngineOptions& options) { return options.requirepass; }
std::optional<std::string> SetPassword(EngineOptions& options, std::string_view text) {
  options.requirepass = std::string(text);
  return std::nullopt;
}

std::string ChannelsText(const EngineOptions& options) {
  return options.acl_pubsub_default_all ? "allchannels" : "resetchannels";
}
std::optional<std::string> SetChannels(EngineOptions& options, std::string_view text) {
  static constexpr std::string_view kNames[] = {"allchannels", "resetchannels"};
  size_t index = 0;
  ValueError error = ReadChoice(text, kNames, index);
  if (!error) options.acl_pubsub_default_all = index == 0;
  return error;
}

std::string UnixSocketText(const EngineOptions& options) { return options.server.unixsocket; }
std::string ClusterText(const EngineOptions& options) { return options.cluster ? "yes" : "no"; }

std::string BindText(const EngineOptions& options) { return options.server.bind; }
std::optional<std::string> SetBind(EngineOptions& options, std::string_view text) {
  options.server.bind = std::string(text);
  return std::nullopt;
}

// An empty list of addresses is a quoted word.
ConfigLines BindLines(const EngineOptions& options) {
  const std::string& bind = options.server.bind;
  ConfigLines lines = LineOf("bind", LineForm::kWords, bind, EngineOptions().server.bind);
  if (bind.empty()) lines.lines[0].text = "bind \"\"";
  return lines;
}

std::string FileNameText(const EngineOptions& options) { return options.server.dbfilename; }
std::optional<std::string> SetFileName(EngineOptions& options, std::string_view text) {
  ValueError error = CheckFileName(text);
  if (!error) options.server.dbfilename = std::string(text);
  return error;
}

std::string LogFolderText(const EngineOptions& options) { return options.server.appenddirname; }
std::string LogNameText(const EngineOptions& options) { return options.server.appendfilename; }

std::string FsyncText(const EngineOptions& options) {
  const auto* found =
      std::find(std::begin(kAppendFsyncs), std::end(kAppendFsyncs), options.server.appendfsync);
  return std::string(kAppendFsyncNames[found - std::begin(kAppendFsyncs)]);
}
std::optional<std::string> SetFsync(EngineOptions& options, std::string_view text) {
  size_t index = 0;
  ValueError error = ReadChoice(text, kAppendFsyncNames, index);
  if (!error) options.server.appendfsync = kAppendFsyncs[index];
  return error;
}

template <auto kMember>
std::string PermissionText(const EngineOptions& options) {
  return std::string(kProtectedAccessNames[static_cast<size_t>(options.server.*kMember)]);
}
// An embedded engine allows DEBUG by default; a configuration file does not.
ConfigLines DebugLines(const EngineOptions& options) {
  return LineOf("enable-debug-command", LineForm::kWords,
                PermissionText<&ServerOptions::enable_debug_command>(options), "no");
}

// A parameter that not all versions have.
constexpr Parameter In(store::VersionSet versions, Parameter parameter) {
  parameter.versions = versions;
  return parameter;
}

constexpr store::VersionSet kFewSamples = store::Since("7.4.0") | store::Since("valkey 8.0.0");
constexpr store::VersionSet kCommandLogs = store::Since("valkey 8.1.0");

// Not constexpr: for g++ 12 the address of a function is no constant with -fsanitize=undefined.
const Parameter kParameters[] = {
    Text("acl-pubsub-default", ChannelsText, SetChannels),
    Number<&EngineOptions::acllog_max_len>("acllog-max-len", 0, kMaxInt64),
    OfServer<&ServerOptions::aof_load_truncated>("aof-load-truncated", Parameter::Kind::kBool, 0,
                                                 1),
    OfServer<&ServerOptions::aof_timestamp_enabled>("aof-timestamp-enabled", Parameter::Kind::kBool,
                                                    0, 1),
    OfServer<&ServerOptions::aof_use_rdb_preamble>("aof-use-rdb-preamble", Parameter::Kind::kBool,
                                                   0, 1),
    Text("appenddirname", LogFolderText, nullptr, LineForm::kQuoted),
    Text("appendfilename", LogNameText, nullptr, LineForm::kQuoted),
    Text("appendfsync", FsyncText, SetFsync),
    OfServer<&ServerOptions::appendonly>("appendonly", Parameter::Kind::kBool, 0, 1),
    OfServer<&ServerOptions::auto_aof_rewrite_min_size_bytes>(
        "auto-aof-rewrite-min-size", Parameter::Kind::kMemory, 0, kMaxInt64),
    OfServer<&ServerOptions::auto_aof_rewrite_percentage>("auto-aof-rewrite-percentage",
                                                          Parameter::Kind::kInteger, 0, kMaxInt),
    Text("bind", BindText, SetBind, LineForm::kWords, BindLines),
    Number<&EngineOptions::busy_reply_threshold_ms>("busy-reply-threshold", 0, kMaxInt64,
                                                    "lua-time-limit"),
    Text("client-output-buffer-limit", OutputLimitsText, SetOutputLimits, LineForm::kWords,
         OutputLimitLines),
    OfServer<&ServerOptions::client_query_buffer_limit_bytes>(
        "client-query-buffer-limit", Parameter::Kind::kMemory, 1 << 20, kMaxInt64),
    Text("cluster-enabled", ClusterText, nullptr),
    In(kCommandLogs,
       Number<&EngineOptions::slowlog_log_slower_than_us>("commandlog-execution-slower-than", -1,
                                                          kMaxInt64, "slowlog-log-slower-than")),
    In(kCommandLogs, Number<&EngineOptions::slowlog_max_len>("commandlog-slow-execution-max-len", 0,
                                                             kMaxInt64, "slowlog-max-len")),
    {"databases", "", Parameter::Kind::kInteger, true, 1, kMaxInt, Get<&EngineOptions::databases>,
     nullptr},
    {"dbfilename", "", Parameter::Kind::kText, false, 0, 0, nullptr, nullptr, FileNameText,
     SetFileName, true, LineForm::kQuoted},
    Text("enable-debug-command", PermissionText<&ServerOptions::enable_debug_command>, nullptr,
         LineForm::kWords, DebugLines),
    Text("enable-module-command", PermissionText<&ServerOptions::enable_module_command>, nullptr),
    Text("enable-protected-configs", PermissionText<&ServerOptions::enable_protected_configs>,
         nullptr),
    Limit<&EncodingLimits::hash_max_listpack_entries>(
        "hash-max-listpack-entries", Parameter::Kind::kInteger, "hash-max-ziplist-entries"),
    Limit<&EncodingLimits::hash_max_listpack_value>(
        "hash-max-listpack-value", Parameter::Kind::kMemory, "hash-max-ziplist-value"),
    Limit<&EncodingLimits::hll_sparse_max_bytes>("hll-sparse-max-bytes", Parameter::Kind::kMemory),
    Number<&EngineOptions::latency_monitor_threshold_ms>("latency-monitor-threshold", 0, kMaxInt64),
    {"latency-tracking", "", Parameter::Kind::kBool, false, 0, 1,
     Get<&EngineOptions::latency_tracking>, Set<&EngineOptions::latency_tracking>},
    Text("latency-tracking-info-percentiles", PercentilesText, SetPercentiles, LineForm::kWords,
         PercentileLines),
    Number<&EngineOptions::lfu_decay_time_minutes>("lfu-decay-time", 0, kMaxInt),
    Number<&EngineOptions::lfu_log_factor>("lfu-log-factor", 0, kMaxInt),
    {"list-compress-depth", "", Parameter::Kind::kInteger, false, 0, kMaxInt,
     Get<&EncodingLimits::list_compress_depth>, Set<&EncodingLimits::list_compress_depth>},
    {"list-max-listpack-size", "list-max-ziplist-size", Parameter::Kind::kInteger, false,
     std::numeric_limits<int32_t>::min(), kMaxInt, Get<&EncodingLimits::list_max_listpack_size>,
     Set<&EncodingLimits::list_max_listpack_size>},
    OfServer<&ServerOptions::maxclients>("maxclients", Parameter::Kind::kInteger, 1, kMaxUint),
    Text("maxmemory", MaxmemoryText, SetMaxmemory, LineForm::kBytes),
    {"maxmemory-policy", "", Parameter::Kind::kPolicy, false, 0, 0,
     Get<&EngineOptions::maxmemory_policy>, Set<&EngineOptions::maxmemory_policy>},
    In(kFewSamples, Number<&EngineOptions::maxmemory_samples>("maxmemory-samples", 1, 64)),
    In(store::Since("7.0.0") - kFewSamples,
       Number<&EngineOptions::maxmemory_samples>("maxmemory-samples", 1, kMaxInt)),
    Number<&EngineOptions::min_replicas_max_lag_s>("min-replicas-max-lag", 0, kMaxInt,
                                                   "min-slaves-max-lag"),
    Number<&EngineOptions::min_replicas_to_write>("min-replicas-to-write", 0, kMaxInt,
                                                  "min-slaves-to-write"),
    Text("notify-keyspace-events", EventsText, SetEvents, LineForm::kQuoted),
    OfServer<&ServerOptions::port>("port", Parameter::Kind::kInteger, 0, kMaxPort),
    OfServer<&ServerOptions::protected_mode>("protected-mode", Parameter::Kind::kBool, 0, 1),
    {"proto-max-bulk-len", "", Parameter::Kind::kMemory, false, 1 << 20, kMaxInt64,
     Get<&EngineOptions::proto_max_bulk_len_bytes>, Set<&EngineOptions::proto_max_bulk_len_bytes>},
    {"rdbchecksum", "", Parameter::Kind::kBool, true, 0, 1, Get<&ServerOptions::rdbchecksum>,
     nullptr},
    OfServer<&ServerOptions::rdbcompression>("rdbcompression", Parameter::Kind::kBool, 0, 1),
    Text("requirepass", PasswordText, SetPassword, LineForm::kQuotedOrNone),
    Text("save", SavePointsText, SetSavePoints, LineForm::kWords, SavePointLines),
    Limit<&EncodingLimits::set_max_intset_entries>("set-max-intset-entries",
                                                   Parameter::Kind::kInteger),
    In(store::Since("7.2.0"), Limit<&EncodingLimits::set_max_listpack_entries>(
                                  "set-max-listpack-entries", Parameter::Kind::kInteger)),
    In(store::Since("7.2.0"), Limit<&EncodingLimits::set_max_listpack_value>(
                                  "set-max-listpack-value", Parameter::Kind::kInteger)),
    In(store::Until("valkey 8.1.0"), Number<&EngineOptions::slowlog_log_slower_than_us>(
                                         "slowlog-log-slower-than", -1, kMaxInt64)),
    In(store::Until("valkey 8.1.0"),
       Number<&EngineOptions::slowlog_max_len>("slowlog-max-len", 0, kMaxInt64)),
    OfServer<&ServerOptions::stop_writes_on_bgsave_error>("stop-writes-on-bgsave-error",
                                                          Parameter::Kind::kBool, 0, 1),
    Limit<&EncodingLimits::stream_node_max_bytes>("stream-node-max-bytes",
                                                  Parameter::Kind::kMemory),
    Limit<&EncodingLimits::stream_node_max_entries>("stream-node-max-entries",
                                                    Parameter::Kind::kInteger),
    OfServer<&ServerOptions::timeout_s>("timeout", Parameter::Kind::kInteger, 0, kMaxInt),
    Number<&EngineOptions::tracking_table_max_keys>("tracking-table-max-keys", 0, kMaxInt64),
    Text("unixsocket", UnixSocketText, nullptr, LineForm::kQuotedOrNone),
    Limit<&EncodingLimits::zset_max_listpack_entries>(
        "zset-max-listpack-entries", Parameter::Kind::kInteger, "zset-max-ziplist-entries"),
    Limit<&EncodingLimits::zset_max_listpack_value>(
        "zset-max-listpack-value", Parameter::Kind::kMemory, "zset-max-ziplist-value"),
};

const Parameter* FindParameter(std::string_view name, store::Version version) {
  const auto* found =
      std::find_if(std::begin(kParameters), std::end(kParameters), [&](const Parameter& row) {
        if (!row.versions.Has(version)) return false;
        return IsWord(name, row.name) || (!row.alias.empty() && IsWord(name, row.alias));
      });
  return found == std::end(kParameters) ? nullptr : found;
}

// Returns the text of an error; nullopt if the option is set.
ValueError SetParameter(const Parameter& parameter, std::string_view text, EngineOptions& options) {
  if (parameter.kind == Parameter::Kind::kText) return parameter.set_text(options, text);
  ValueError error;
  int64_t value = 0;
  if (parameter.kind == Parameter::Kind::kPolicy) {
    size_t index = 0;
    error = ReadChoice(text, kMaxmemoryPolicyNames, index);
    value = static_cast<int64_t>(index);
  } else if (parameter.kind == Parameter::Kind::kBool) {
    bool yes = false;
    error = ReadSwitch(text, yes);
    value = yes ? 1 : 0;
  } else if (parameter.kind == Parameter::Kind::kMemory) {
    error = ReadSize(text, parameter.low, parameter.high, value);
  } else {
    error = ReadNumber(text, parameter.low, parameter.high, value);
  }
  if (!error) parameter.set(options, value);
  return error;
}

}  // namespace

std::span<const Parameter> Parameters() { return kParameters; }

std::string TextOf(const Parameter& parameter, const EngineOptions& options) {
  if (parameter.kind == Parameter::Kind::kText) return parameter.get_text(options);
  if (parameter.kind == Parameter::Kind::kBool) return parameter.get(options) != 0 ? "yes" : "no";
  if (parameter.kind == Parameter::Kind::kPolicy) {
    return std::string(kMaxmemoryPolicyNames[parameter.get(options)]);
  }
  return std::to_string(parameter.get(options));
}

Found Find(std::string_view name, store::Version version) {
  Found found{.parameter = FindParameter(name, version), .is_folder = IsWord(name, kFolder)};
  if (found.parameter == nullptr) found.kept = FindKeptParameter(name, version);
  return found;
}

std::string TextOf(const Found& found, EngineCore& engine) {
  if (found.parameter != nullptr) return TextOf(*found.parameter, engine.options());
  if (found.kept != nullptr) return found.kept->ValueIn(engine.options());
  Host* host = engine.administration().host();
  return host == nullptr ? "" : host->Folder();
}

ValueError SetValue(const Found& found, std::string_view text, EngineOptions& options) {
  if (found.parameter != nullptr) return SetParameter(*found.parameter, text, options);
  std::string value(text);
  ValueError error = found.kept->Check(value);
  if (!error) options.kept_parameters[std::string(found.kept->name)] = std::move(value);
  return error;
}

ConfigLines LinesOf(const Parameter& parameter, const EngineOptions& options) {
  if (parameter.lines != nullptr) return parameter.lines(options);
  const bool is_memory = parameter.kind == Parameter::Kind::kMemory;
  return LineOf(parameter.name, is_memory ? LineForm::kBytes : parameter.form,
                TextOf(parameter, options), TextOf(parameter, EngineOptions()));
}

}  // namespace redouble::inline v0_1::memory
