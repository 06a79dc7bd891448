// CONFIG.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/commands/server/config_values.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/keyspace/notifications.h"
#include "redouble/backends/memory/server/host.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/backends/memory/server/memory_size.h"
#include "redouble/backends/memory/server/parameter_value.h"
#include "redouble/core/base/text/glob.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::memory {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxUint = std::numeric_limits<uint32_t>::max();
constexpr int64_t kMaxPort = 65535;
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

// A parameter and its option. Numbers are in the option's unit.
struct Parameter {
  enum class Kind : uint8_t {
    kInteger,
    kMemory,  // An integer with an optional unit: "64mb".
    kBool,    // "yes" or "no"
    kPolicy,  // maxmemory-policy
    kText,    // A value with its own format.
  };
  std::string_view name;
  std::string_view alias;  // The former name; may be empty.
  Kind kind;
  bool immutable;
  int64_t low;
  int64_t high;
  int64_t (*get)(const EngineOptions& options);
  void (*set)(EngineOptions& options, int64_t value);
  // Getter and setter of kText. The setter returns the text of an error; nullopt if it set the
  // option.
  std::string (*get_text)(const EngineOptions& options) = nullptr;
  std::optional<std::string> (*set_text)(EngineOptions& options, std::string_view text) = nullptr;
  // CONFIG SET is refused unless enable-protected-configs allows it.
  bool is_protected = false;
};

template <auto kMember>
int64_t Get(const EngineOptions& options) {
  return static_cast<int64_t>(options.*kMember);
}
template <auto kMember>
void Set(EngineOptions& options, int64_t value) {
  options.*kMember = static_cast<std::remove_reference_t<decltype(options.*kMember)>>(value);
}
template <auto kMember>
int64_t GetLimit(const EngineOptions& options) {
  return static_cast<int64_t>(options.encoding_limits.*kMember);
}
template <auto kMember>
void SetLimit(EngineOptions& options, int64_t value) {
  auto& limit = options.encoding_limits.*kMember;
  limit = static_cast<std::remove_reference_t<decltype(limit)>>(value);
}

template <auto kMember>
int64_t GetServer(const EngineOptions& options) {
  return static_cast<int64_t>(options.server.*kMember);
}
template <auto kMember>
void SetServer(EngineOptions& options, int64_t value) {
  auto& member = options.server.*kMember;
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
  return {name, alias, kind, false, 0, kMaxInt64, GetLimit<kMember>, SetLimit<kMember>};
}

template <auto kMember>
constexpr Parameter OfServer(std::string_view name, Parameter::Kind kind, int64_t low,
                             int64_t high) {
  return {name, "", kind, false, low, high, GetServer<kMember>, SetServer<kMember>};
}
constexpr Parameter Text(std::string_view name, std::string (*get)(const EngineOptions&),
                         std::optional<std::string> (*set)(EngineOptions&, std::string_view)) {
  return {name, "", Parameter::Kind::kText, set == nullptr, 0, 0, nullptr, nullptr, get, set};
}

// The whole range of 64 bits, unlike other sizes.
std::string MaxmemoryText(const EngineOptions& options) {
  return std::to_string(options.maxmemory_bytes);
}
std::optional<std::string> SetMaxmemory(EngineOptions& options, std::string_view text) {
  const std::optional<uint64_t> bytes = ReadMemory(text);
  if (!bytes) return "argument must be a memory value";
  options.maxmemory_bytes = *bytes;
  return std::nullopt;
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
  if (!IsWord(text, "allchannels") && !IsWord(text, "resetchannels")) {
    return "argument(s) must be one of the following: allchannels, resetchannels";
  }
  options.acl_pubsub_default_all = IsWord(text, "allchannels");
  return std::nullopt;
}

std::string UnixSocketText(const EngineOptions& options) { return options.server.unixsocket; }
std::string ClusterText(const EngineOptions& options) { return options.cluster ? "yes" : "no"; }

std::string BindText(const EngineOptions& options) { return options.server.bind; }
std::optional<std::string> SetBind(EngineOptions& options, std::string_view text) {
  options.server.bind = std::string(text);
  return std::nullopt;
}

std::string FileNameText(const EngineOptions& options) { return options.server.dbfilename; }
std::optional<std::string> SetFileName(EngineOptions& options, std::string_view text) {
  ValueError error = CheckFileName(text);
  if (!error) options.server.dbfilename = std::string(text);
  return error;
}

// The append-only file of Redis may be named and turned off.
std::string NoText(const EngineOptions&) { return "no"; }
std::optional<std::string> KeepOff(EngineOptions&, std::string_view text) {
  if (IsWord(text, "no")) return std::nullopt;
  return IsWord(text, "yes") ? "this server writes no append-only file"
                             : "argument must be 'yes' or 'no'";
}
template <auto kMember>
std::string PermissionText(const EngineOptions& options) {
  return std::string(kProtectedAccessNames[static_cast<size_t>(options.server.*kMember)]);
}

// The parameters that have an effect, in the order of their names. server/kept_parameters.h has the
// others. The host keeps `dir`.
constexpr Parameter kParameters[] = {
    Text("acl-pubsub-default", ChannelsText, SetChannels),
    Number<&EngineOptions::acllog_max_len>("acllog-max-len", 0, kMaxInt64),
    Text("appendonly", NoText, KeepOff),
    Text("bind", BindText, SetBind),
    Number<&EngineOptions::busy_reply_threshold_ms>("busy-reply-threshold", 0, kMaxInt64,
                                                    "lua-time-limit"),
    Text("client-output-buffer-limit", OutputLimitsText, SetOutputLimits),
    OfServer<&ServerOptions::client_query_buffer_limit_bytes>(
        "client-query-buffer-limit", Parameter::Kind::kMemory, 1 << 20, kMaxInt64),
    Text("cluster-enabled", ClusterText, nullptr),
    {"databases", "", Parameter::Kind::kInteger, true, 1, kMaxInt, Get<&EngineOptions::databases>,
     nullptr},
    {"dbfilename", "", Parameter::Kind::kText, false, 0, 0, nullptr, nullptr, FileNameText,
     SetFileName, true},
    Text("enable-debug-command", PermissionText<&ServerOptions::enable_debug_command>, nullptr),
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
    Text("latency-tracking-info-percentiles", PercentilesText, SetPercentiles),
    Number<&EngineOptions::lfu_decay_time_minutes>("lfu-decay-time", 0, kMaxInt),
    Number<&EngineOptions::lfu_log_factor>("lfu-log-factor", 0, kMaxInt),
    {"list-compress-depth", "", Parameter::Kind::kInteger, false, 0, kMaxInt,
     GetLimit<&EncodingLimits::list_compress_depth>,
     SetLimit<&EncodingLimits::list_compress_depth>},
    {"list-max-listpack-size", "list-max-ziplist-size", Parameter::Kind::kInteger, false,
     std::numeric_limits<int32_t>::min(), kMaxInt,
     GetLimit<&EncodingLimits::list_max_listpack_size>,
     SetLimit<&EncodingLimits::list_max_listpack_size>},
    OfServer<&ServerOptions::maxclients>("maxclients", Parameter::Kind::kInteger, 1, kMaxUint),
    Text("maxmemory", MaxmemoryText, SetMaxmemory),
    {"maxmemory-policy", "", Parameter::Kind::kPolicy, false, 0, 0,
     Get<&EngineOptions::maxmemory_policy>, Set<&EngineOptions::maxmemory_policy>},
    Number<&EngineOptions::maxmemory_samples>("maxmemory-samples", 1, kMaxInt),
    Number<&EngineOptions::min_replicas_max_lag_s>("min-replicas-max-lag", 0, kMaxInt,
                                                   "min-slaves-max-lag"),
    Number<&EngineOptions::min_replicas_to_write>("min-replicas-to-write", 0, kMaxInt,
                                                  "min-slaves-to-write"),
    Text("notify-keyspace-events", EventsText, SetEvents),
    OfServer<&ServerOptions::port>("port", Parameter::Kind::kInteger, 0, kMaxPort),
    OfServer<&ServerOptions::protected_mode>("protected-mode", Parameter::Kind::kBool, 0, 1),
    {"proto-max-bulk-len", "", Parameter::Kind::kMemory, false, 1 << 20, kMaxInt64,
     Get<&EngineOptions::proto_max_bulk_len_bytes>, Set<&EngineOptions::proto_max_bulk_len_bytes>},
    {"rdbchecksum", "", Parameter::Kind::kBool, true, 0, 1, GetServer<&ServerOptions::rdbchecksum>,
     nullptr},
    OfServer<&ServerOptions::rdbcompression>("rdbcompression", Parameter::Kind::kBool, 0, 1),
    Text("requirepass", PasswordText, SetPassword),
    Text("save", SavePointsText, SetSavePoints),
    Limit<&EncodingLimits::set_max_intset_entries>("set-max-intset-entries",
                                                   Parameter::Kind::kInteger),
    Number<&EngineOptions::slowlog_log_slower_than_us>("slowlog-log-slower-than", -1, kMaxInt64),
    Number<&EngineOptions::slowlog_max_len>("slowlog-max-len", 0, kMaxInt64),
    OfServer<&ServerOptions::stop_writes_on_bgsave_error>("stop-writes-on-bgsave-error",
                                                          Parameter::Kind::kBool, 0, 1),
    Limit<&EncodingLimits::stream_node_max_bytes>("stream-node-max-bytes",
                                                  Parameter::Kind::kMemory),
    Limit<&EncodingLimits::stream_node_max_entries>("stream-node-max-entries",
                                                    Parameter::Kind::kInteger),
    OfServer<&ServerOptions::timeout_s>("timeout", Parameter::Kind::kInteger, 0, kMaxInt),
    Number<&EngineOptions::tracking_table_max_keys>("tracking-table-max-keys", 0, kMaxInt64),
    Text("unixsocket", UnixSocketText, nullptr),
    Limit<&EncodingLimits::zset_max_listpack_entries>(
        "zset-max-listpack-entries", Parameter::Kind::kInteger, "zset-max-ziplist-entries"),
    Limit<&EncodingLimits::zset_max_listpack_value>(
        "zset-max-listpack-value", Parameter::Kind::kMemory, "zset-max-ziplist-value"),
};

const Parameter* FindParameter(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kParameters), std::end(kParameters), [&](const Parameter& row) {
        return IsWord(name, row.name) || (!row.alias.empty() && IsWord(name, row.alias));
      });
  return found == std::end(kParameters) ? nullptr : found;
}

std::string TextOf(const Parameter& parameter, const EngineOptions& options) {
  if (parameter.kind == Parameter::Kind::kText) return parameter.get_text(options);
  if (parameter.kind == Parameter::Kind::kBool) return parameter.get(options) != 0 ? "yes" : "no";
  if (parameter.kind == Parameter::Kind::kPolicy) {
    return std::string(kMaxmemoryPolicyNames[parameter.get(options)]);
  }
  return std::to_string(parameter.get(options));
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

// A parameter of one of the three kinds.
struct Found {
  const Parameter* parameter = nullptr;
  const KeptParameter* kept = nullptr;
  bool is_folder = false;  // dir

  bool any() const { return parameter != nullptr || kept != nullptr || is_folder; }
  bool immutable() const {
    return (parameter != nullptr && parameter->immutable) ||
           (kept != nullptr && kept->kind == KeptParameter::Kind::kFixed);
  }
  bool is_protected() const {
    return is_folder || (parameter != nullptr && parameter->is_protected);
  }
};

constexpr std::string_view kFolder = "dir";

Found Find(std::string_view name) {
  Found found{.parameter = FindParameter(name), .is_folder = IsWord(name, kFolder)};
  if (found.parameter == nullptr) found.kept = FindKeptParameter(name);
  return found;
}

std::string TextOf(const Found& found, EngineCore& engine) {
  if (found.parameter != nullptr) return TextOf(*found.parameter, engine.options());
  if (found.kept != nullptr) return found.kept->ValueIn(engine.options());
  Host* host = engine.administration().host();
  return host == nullptr ? "" : host->Folder();
}

// Sets a value in `options`. Returns the text of an error.
ValueError SetValue(const Found& found, std::string_view text, EngineOptions& options) {
  if (found.parameter != nullptr) return SetParameter(*found.parameter, text, options);
  std::string value(text);
  ValueError error = found.kept->Check(value);
  if (!error) options.kept_parameters[std::string(found.kept->name)] = std::move(value);
  return error;
}

Reply SetFailed(std::string_view name, std::string_view why) {
  return Reply::Error(
      base::ToStd(absl::StrCat("ERR CONFIG SET failed (possibly related to argument '",
                               base::ToAbsl(name), "') - ", base::ToAbsl(why))));
}

// The error for names that cannot be set; nullopt if all can.
std::optional<Reply> CheckNames(CommandContext& context, Arguments arguments) {
  EngineCore& engine = context.engine();
  const bool protects =
      !Permits(engine, context.session(), engine.options().server.enable_protected_configs);
  std::vector<std::string_view> names;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    const Found found = Find(name);
    if (!found.any()) {
      return Reply::Error("ERR Unknown option or number of arguments for CONFIG SET - '" +
                          WordInError(name) + "'");
    }
    if (found.immutable()) return SetFailed(name, "can't set immutable config");
    if (found.is_protected() && protects) return SetFailed(name, "can't set protected config");
    const auto same = [&](std::string_view other) { return IsWord(name, other); };
    if (std::any_of(names.begin(), names.end(), same)) {
      return SetFailed(name, "duplicate parameter");
    }
    names.push_back(name);
  }
  return std::nullopt;
}

// The error if the process cannot have that many clients.
std::optional<Reply> CheckRoom(EngineCore& engine, const EngineOptions& options) {
  const int wanted = options.server.maxclients;
  Host* host = engine.administration().host();
  if (host == nullptr || wanted <= engine.options().server.maxclients) return std::nullopt;
  const int room = host->RoomForClients(wanted);
  if (room >= wanted) return std::nullopt;
  return SetFailed("maxclients",
                   base::ToStd(absl::StrCat("The operating system is not able to handle the "
                                            "specified number of clients, try with ",
                                            room)));
}

// Enters the folder. Returns the error.
std::optional<Reply> EnterFolder(EngineCore& engine, std::string_view folder) {
  Host* host = engine.administration().host();
  if (host == nullptr) return SetFailed(kFolder, "this server has no folder");
  const absl::Status entered = host->EnterFolder(std::string(folder));
  if (entered.ok()) return std::nullopt;
  return SetFailed(kFolder, base::ToStd(entered.message()));
}

// Makes the host listen where `options` say, if that has changed. Returns the error.
std::optional<Reply> MoveListeners(EngineCore& engine, const EngineOptions& options) {
  const ServerOptions& now = engine.options().server;
  Host* host = engine.administration().host();
  const bool moves = options.server.bind != now.bind;
  if (host == nullptr || (!moves && options.server.port == now.port)) return std::nullopt;
  if (host->Listen(options.server).ok()) return std::nullopt;
  return moves ? SetFailed("bind", "Failed to bind to specified addresses.")
               : SetFailed("port", "Unable to listen on this port. Check server logs.");
}

// What a host does about new options. Returns the error, after which the host is as it was.
std::optional<Reply> Apply(EngineCore& engine, const EngineOptions& options,
                           std::optional<std::string_view> folder) {
  if (std::optional<Reply> error = CheckRoom(engine, options)) return error;
  if (!folder) return MoveListeners(engine, options);
  const std::string before = TextOf({.is_folder = true}, engine);
  if (std::optional<Reply> error = EnterFolder(engine, *folder)) return error;
  std::optional<Reply> error = MoveListeners(engine, options);
  if (error) EnterFolder(engine, before);
  return error;
}

}  // namespace

// An exact name is returned as the client wrote it. A pattern returns names in the order of the
// tables, each followed by its former name.
Reply HandleConfigGet(CommandContext& context, Arguments arguments) {
  EngineCore& engine = context.engine();
  std::vector<Reply> pairs;
  std::vector<std::string_view> told;
  const auto tell = [&](std::string_view name, const Found& found) {
    const auto same = [&](std::string_view other) { return IsWord(name, other); };
    if (std::any_of(told.begin(), told.end(), same)) return;
    told.push_back(name);
    pairs.push_back(Reply::Bulk(name));
    pairs.push_back(Reply::Bulk(TextOf(found, engine)));
  };
  for (const std::string_view pattern : arguments) {
    if (pattern.find_first_of("[*?") == std::string_view::npos) {
      if (const Found found = Find(pattern); found.any()) tell(pattern, found);
      continue;
    }
    const auto tell_matching = [&](std::string_view name, const Found& found) {
      if (name.empty()) return;
      if (base::GlobMatch(pattern, name, base::GlobCase::kInsensitive)) tell(name, found);
    };
    for (const Parameter& row : kParameters) {
      for (const std::string_view name : {row.name, row.alias}) {
        tell_matching(name, {.parameter = &row});
      }
    }
    tell_matching(kFolder, {.is_folder = true});
    for (const KeptParameter& row : KeptParameters()) {
      if (row.hidden) continue;
      for (const std::string_view name : {row.name, row.former_name}) {
        tell_matching(name, {.kept = &row});
      }
    }
  }
  return Reply::Map(std::move(pairs));
}

Reply HandleConfigHelp(CommandContext&, Arguments) {
  static constexpr std::string_view kLines[] = {
      "GET <pattern>",
      "    Return parameters matching the glob-like <pattern> and their values.",
      "SET <directive> <value>",
      "    Set the configuration <directive> to <value>.",
      "RESETSTAT",
      "    Reset statistics reported by the INFO command.",
      "REWRITE",
      "    Rewrite the configuration file.",
  };
  return HelpReply("CONFIG", kLines);
}

Reply HandleConfigResetStat(CommandContext& context, Arguments) {
  context.engine().ResetStatistics();
  return Reply::Ok();
}

Reply HandleConfigRewrite(CommandContext&, Arguments) {
  return Reply::Error("ERR The server is running without a config file");
}

// Sets all of the parameters, or none.
Reply HandleConfigSet(CommandContext& context, Arguments arguments) {
  EngineCore& engine = context.engine();
  if (arguments.size() % 2 != 0) return SyntaxError();
  if (std::optional<Reply> error = CheckNames(context, arguments)) return *std::move(error);
  EngineOptions options = engine.options();
  std::optional<std::string_view> folder;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const Found found = Find(arguments[i]);
    if (found.is_folder) {
      folder = arguments[i + 1];
      continue;
    }
    const ValueError error = SetValue(found, arguments[i + 1], options);
    if (error) return SetFailed(arguments[i], *error);
  }
  if (std::optional<Reply> error = Apply(engine, options, folder)) return *std::move(error);
  engine.Configure(std::move(options));
  return Reply::Ok();
}

}  // namespace redouble::memory
