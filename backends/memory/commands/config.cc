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
#include "backends/memory/commands/argument.h"
#include "backends/memory/commands/help.h"
#include "backends/memory/engine.h"
#include "backends/memory/handlers.h"
#include "backends/memory/notifications.h"
#include "core/base/glob.h"
#include "core/base/redis_number.h"

namespace redouble::memory {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

// A parameter and the option that it is. Numbers are in their option's own unit.
struct Parameter {
  enum class Kind : uint8_t {
    kInteger,
    kMemory,  // An integer that may end in a unit: "64mb".
    kPolicy,  // maxmemory-policy
    kEvents,  // notify-keyspace-events
  };
  std::string_view name;
  std::string_view alias;  // The name that it had in earlier versions; may be empty.
  Kind kind;
  bool immutable;
  int64_t low;
  int64_t high;
  int64_t (*get)(const EngineOptions& options);
  void (*set)(EngineOptions& options, int64_t value);
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
constexpr Parameter Number(std::string_view name, int64_t low, int64_t high,
                           std::string_view alias = {}) {
  return {name, alias, Parameter::Kind::kInteger, false, low, high, Get<kMember>, Set<kMember>};
}
template <auto kMember>
constexpr Parameter Limit(std::string_view name, Parameter::Kind kind,
                          std::string_view alias = {}) {
  return {name, alias, kind, false, 0, kMaxInt64, GetLimit<kMember>, SetLimit<kMember>};
}

// Every parameter that means something to the engine, by name; the others are unknown to it.
constexpr Parameter kParameters[] = {
    Number<&EngineOptions::busy_reply_threshold_ms>("busy-reply-threshold", 0, kMaxInt64,
                                                    "lua-time-limit"),
    {"databases", "", Parameter::Kind::kInteger, true, 1, kMaxInt, Get<&EngineOptions::databases>,
     nullptr},
    Limit<&EncodingLimits::hash_max_listpack_entries>(
        "hash-max-listpack-entries", Parameter::Kind::kInteger, "hash-max-ziplist-entries"),
    Limit<&EncodingLimits::hash_max_listpack_value>(
        "hash-max-listpack-value", Parameter::Kind::kMemory, "hash-max-ziplist-value"),
    Limit<&EncodingLimits::hll_sparse_max_bytes>("hll-sparse-max-bytes", Parameter::Kind::kMemory),
    Number<&EngineOptions::lfu_decay_time_minutes>("lfu-decay-time", 0, kMaxInt),
    Number<&EngineOptions::lfu_log_factor>("lfu-log-factor", 0, kMaxInt),
    {"list-compress-depth", "", Parameter::Kind::kInteger, false, 0, kMaxInt,
     GetLimit<&EncodingLimits::list_compress_depth>,
     SetLimit<&EncodingLimits::list_compress_depth>},
    {"list-max-listpack-size", "list-max-ziplist-size", Parameter::Kind::kInteger, false,
     std::numeric_limits<int32_t>::min(), kMaxInt,
     GetLimit<&EncodingLimits::list_max_listpack_size>,
     SetLimit<&EncodingLimits::list_max_listpack_size>},
    {"maxmemory", "", Parameter::Kind::kMemory, false, 0, kMaxInt64,
     Get<&EngineOptions::maxmemory_bytes>, Set<&EngineOptions::maxmemory_bytes>},
    {"maxmemory-policy", "", Parameter::Kind::kPolicy, false, 0, 0,
     Get<&EngineOptions::maxmemory_policy>, Set<&EngineOptions::maxmemory_policy>},
    Number<&EngineOptions::maxmemory_samples>("maxmemory-samples", 1, kMaxInt),
    {"notify-keyspace-events", "", Parameter::Kind::kEvents, false, 0, 0, nullptr, nullptr},
    {"proto-max-bulk-len", "", Parameter::Kind::kMemory, false, 1 << 20, kMaxInt64,
     Get<&EngineOptions::proto_max_bulk_len_bytes>, Set<&EngineOptions::proto_max_bulk_len_bytes>},
    Limit<&EncodingLimits::set_max_intset_entries>("set-max-intset-entries",
                                                   Parameter::Kind::kInteger),
    Limit<&EncodingLimits::stream_node_max_bytes>("stream-node-max-bytes",
                                                  Parameter::Kind::kMemory),
    Limit<&EncodingLimits::stream_node_max_entries>("stream-node-max-entries",
                                                    Parameter::Kind::kInteger),
    Limit<&EncodingLimits::zset_max_listpack_entries>(
        "zset-max-listpack-entries", Parameter::Kind::kInteger, "zset-max-ziplist-entries"),
    Limit<&EncodingLimits::zset_max_listpack_value>(
        "zset-max-listpack-value", Parameter::Kind::kMemory, "zset-max-ziplist-value"),
};

// The names of MaxmemoryPolicy, in its order.
constexpr std::string_view kPolicies[] = {"volatile-lru",   "volatile-lfu", "volatile-random",
                                          "volatile-ttl",   "allkeys-lru",  "allkeys-lfu",
                                          "allkeys-random", "noeviction"};

const Parameter* FindParameter(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kParameters), std::end(kParameters), [&](const Parameter& row) {
        return IsWord(name, row.name) || (!row.alias.empty() && IsWord(name, row.alias));
      });
  return found == std::end(kParameters) ? nullptr : found;
}

std::string TextOf(const Parameter& parameter, const EngineOptions& options) {
  if (parameter.kind == Parameter::Kind::kEvents) {
    return Notifications::Parse(options.notify_keyspace_events).value_or(Notifications()).Letters();
  }
  if (parameter.kind == Parameter::Kind::kPolicy) {
    return std::string(kPolicies[parameter.get(options)]);
  }
  return std::to_string(parameter.get(options));
}

// Bytes, with a unit or without; none when they are not. What is too much for 64 bits is the most
// that they hold.
std::optional<uint64_t> ReadMemory(std::string_view text) {
  struct Unit {
    std::string_view name;
    uint64_t bytes;
  };
  constexpr Unit kUnits[] = {{"", 1},           {"b", 1},           {"k", 1000},
                             {"kb", 1 << 10},   {"m", 1000 * 1000}, {"mb", 1 << 20},
                             {"g", 1000000000}, {"gb", 1 << 30}};
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[digits]))) {
    ++digits;
  }
  if (digits == 0) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (!IsWord(text.substr(digits), unit.name)) continue;
    unsigned __int128 bytes = 0;
    for (const char digit : text.substr(0, std::min<size_t>(digits, 20))) {
      bytes = bytes * 10 + static_cast<unsigned>(digit - '0');
    }
    bytes *= unit.bytes;
    constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
    return bytes > kMost ? kMost : static_cast<uint64_t>(bytes);
  }
  return std::nullopt;
}

// The text of an error, or none and the option set.
std::optional<std::string> SetNumber(const Parameter& parameter, std::string_view text,
                                     EngineOptions& options) {
  std::optional<int64_t> value;
  bool in_range = true;
  if (parameter.kind == Parameter::Kind::kMemory) {
    const std::optional<uint64_t> bytes = ReadMemory(text);
    if (!bytes) return "argument must be a memory value";
    in_range = *bytes <= static_cast<uint64_t>(parameter.high);
    value = static_cast<int64_t>(*bytes);
  } else {
    value = base::ParseInt64(text);
    if (!value) return "argument couldn't be parsed into an integer";
  }
  if (!in_range || *value < parameter.low || *value > parameter.high) {
    return absl::StrCat("argument must be between ", parameter.low, " and ", parameter.high,
                        " inclusive");
  }
  parameter.set(options, *value);
  return std::nullopt;
}

std::optional<std::string> SetPolicy(const Parameter& parameter, std::string_view text,
                                     EngineOptions& options) {
  const auto* found = std::find_if(std::begin(kPolicies), std::end(kPolicies),
                                   [&](std::string_view name) { return IsWord(text, name); });
  if (found == std::end(kPolicies)) {
    std::string names;
    for (const std::string_view name : kPolicies) {
      if (!names.empty()) names += ", ";
      names += name;
    }
    return "argument(s) must be one of the following: " + names;
  }
  parameter.set(options, found - std::begin(kPolicies));
  return std::nullopt;
}

std::optional<std::string> SetParameter(const Parameter& parameter, std::string_view text,
                                        EngineOptions& options) {
  if (parameter.kind == Parameter::Kind::kPolicy) return SetPolicy(parameter, text, options);
  if (parameter.kind != Parameter::Kind::kEvents) return SetNumber(parameter, text, options);
  if (!Notifications::Parse(text)) {
    return "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";
  }
  options.notify_keyspace_events = std::string(text);
  return std::nullopt;
}

Reply SetFailed(std::string_view name, std::string_view why) {
  return Reply::Error(
      base::ToStd(absl::StrCat("ERR CONFIG SET failed (possibly related to argument '",
                               base::ToAbsl(name), "') - ", base::ToAbsl(why))));
}

}  // namespace

// A name is told as it was asked for; a pattern finds names in the order of the table, former names
// behind them.
Reply HandleConfigGet(CommandContext& context, Arguments arguments) {
  const EngineOptions& options = context.engine().options();
  std::vector<Reply> pairs;
  std::vector<std::string_view> told;
  const auto tell = [&](std::string_view name, const Parameter& parameter) {
    const auto same = [&](std::string_view other) { return IsWord(name, other); };
    if (std::any_of(told.begin(), told.end(), same)) return;
    told.push_back(name);
    pairs.push_back(Reply::Bulk(name));
    pairs.push_back(Reply::Bulk(TextOf(parameter, options)));
  };
  for (const std::string_view pattern : arguments) {
    if (pattern.find_first_of("[*?") == std::string_view::npos) {
      if (const Parameter* parameter = FindParameter(pattern)) tell(pattern, *parameter);
      continue;
    }
    for (const Parameter& parameter : kParameters) {
      for (const std::string_view name : {parameter.name, parameter.alias}) {
        if (name.empty()) continue;
        if (base::GlobMatch(pattern, name, base::GlobCase::kInsensitive)) tell(name, parameter);
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

// All of the parameters are set, or none.
Reply HandleConfigSet(CommandContext& context, Arguments arguments) {
  if (arguments.size() % 2 != 0) return SyntaxError();
  std::vector<std::string_view> names;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    const Parameter* parameter = FindParameter(name);
    if (parameter == nullptr) {
      return Reply::Error("ERR Unknown option or number of arguments for CONFIG SET - '" +
                          WordInError(name) + "'");
    }
    if (parameter->immutable) return SetFailed(name, "can't set immutable config");
    const auto same = [&](std::string_view other) { return IsWord(name, other); };
    if (std::any_of(names.begin(), names.end(), same))
      return SetFailed(name, "duplicate parameter");
    names.push_back(name);
  }
  EngineOptions options = context.engine().options();
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const Parameter& parameter = *FindParameter(arguments[i]);
    if (std::optional<std::string> why = SetParameter(parameter, arguments[i + 1], options)) {
      return SetFailed(arguments[i], *why);
    }
  }
  context.engine().Configure(std::move(options));
  return Reply::Ok();
}

}  // namespace redouble::memory
