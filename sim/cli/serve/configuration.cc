#include "redouble/sim/cli/serve/configuration.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/compatibility/compatibility.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/backends/memory/server/parameter_value.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/quoted_words.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/table/command_table.h"
#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::sim {
namespace {

using Words = std::vector<std::string>;

constexpr char kBadDirective[] = "Bad directive or wrong number of arguments";
constexpr char kWrongNumber[] = "wrong number of arguments";
constexpr char kNotAnInteger[] = "argument couldn't be parsed into an integer";

absl::Status Wrong(std::string_view message) {
  return absl::InvalidArgumentError(base::ToAbsl(message));
}

absl::Status StatusOf(const memory::ValueError& error) {
  return error ? Wrong(*error) : absl::OkStatus();
}

absl::Status ReadInteger(const std::string& text, int low, int high, int& value) {
  int64_t parsed = value;
  const absl::Status status = StatusOf(memory::ReadNumber(text, low, high, parsed));
  value = static_cast<int>(parsed);
  return status;
}

absl::Status ReadBool(const std::string& text, bool& value) {
  return StatusOf(memory::ReadSwitch(text, value));
}

// Source: Redis 7.0 config.c, isValidAOFfilename and isValidAOFdirname.
absl::Status ReadFileName(absl::string_view parameter, const std::string& text,
                          std::string& value) {
  if (text.empty()) return Wrong(base::ToStd(absl::StrCat(parameter, " can't be empty")));
  if (absl::StrContains(text, '/')) {
    const bool is_folder = parameter == "appenddirname";
    return Wrong(base::ToStd(
        absl::StrCat(parameter, " can't be a path, just a ", is_folder ? "dirname" : "filename")));
  }
  value = text;
  return absl::OkStatus();
}

// A command that was renamed before is found by its new name.
absl::Status Rename(const Words& values, ServeSettings& settings) {
  std::map<std::string, std::string>& new_names = settings.options.engine.renamed_commands;
  const std::string name = absl::AsciiStrToLower(values[0]);
  const std::string new_name = absl::AsciiStrToLower(values[1]);
  const auto find = [&](const std::string& sent) {
    return memory::Compatibility(settings.options.engine.compatibility, new_names)
        .FindCommand(sent);
  };
  const store::CommandId id = find(name);
  if (id == store::CommandId::kUnknown || name.find('|') != std::string::npos) {
    return Wrong("No such command in rename-command");
  }
  new_names.erase(std::string(store::SpecOf(id).name));
  if (new_name == store::SpecOf(id).name) return absl::OkStatus();
  if (!new_name.empty() && find(new_name) != store::CommandId::kUnknown) {
    return Wrong("Target command name already exists");
  }
  new_names[std::string(store::SpecOf(id).name)] = new_name;
  return absl::OkStatus();
}

// Only cluster-enabled makes the server a node. The other directives of a node may come before or
// after it.
void UpdateCluster(ServeSettings& settings) {
  if (!settings.cluster_enabled) return;
  settings.options.engine.cluster.emplace().shards[0].master = settings.cluster_node;
}

// A directive and the number of its values.
constexpr int kAnyNumber = -1;
constexpr int kAtLeastOne = -2;
struct Directive {
  std::string_view name;
  int values;
  absl::Status (*read)(const Words& values, ServeSettings& settings);
};

constexpr int kLargestPort = 65535;

void WarnOfNoEffect(std::string_view name, const Words& values, ServeSettings& settings) {
  settings.warnings.push_back(absl::StrCat(
      "\"", base::ToAbsl(name), " ", absl::StrJoin(values, " "), "\" has no effect in Redouble"));
}

// CONFIG GET shows it, and the server follows the master when it starts.
absl::Status ReadMaster(const Words& values, ServeSettings&) {
  int port = 0;
  return ReadInteger(values[1], 0, kLargestPort, port).ok() ? absl::OkStatus()
                                                            : Wrong("Invalid master port");
}

template <auto kMember>
absl::Status ReadPermission(const Words& values, ServeSettings& settings) {
  size_t index = 0;
  REDOUBLE_RETURN_IF_ERROR(
      StatusOf(memory::ReadChoice(values[0], memory::kProtectedAccessNames, index)));
  settings.options.engine.server.*kMember = static_cast<memory::ProtectedAccess>(index);
  return absl::OkStatus();
}

constexpr Directive kDirectives[] = {
    // The value is a parameter, which the server reads.
    {"aclfile", 1, [](const Words&, ServeSettings&) { return absl::OkStatus(); }},
    {"appenddirname", 1,
     [](const Words& values, ServeSettings& settings) {
       return ReadFileName("appenddirname", values[0],
                           settings.options.engine.server.appenddirname);
     }},
    {"appendfilename", 1,
     [](const Words& values, ServeSettings& settings) {
       return ReadFileName("appendfilename", values[0],
                           settings.options.engine.server.appendfilename);
     }},
    {"appendonly", 1,
     [](const Words& values, ServeSettings& settings) {
       bool& enabled = settings.options.engine.server.appendonly;
       REDOUBLE_RETURN_IF_ERROR(ReadBool(values[0], enabled));
       settings.loads_keys = settings.loads_keys || enabled;
       return absl::OkStatus();
     }},
    {"bind", kAnyNumber,
     [](const Words& values, ServeSettings& settings) {
       settings.options.engine.server.bind = absl::StrJoin(values, " ");
       return absl::OkStatus();
     }},
    {"cluster-announce-ip", 1,
     [](const Words& values, ServeSettings& settings) {
       settings.cluster_node.host = values[0];
       return absl::OkStatus();
     }},
    {"cluster-announce-port", 1,
     [](const Words& values, ServeSettings& settings) {
       return ReadInteger(values[0], 0, kLargestPort, settings.cluster_node.port);
     }},
    // The file has the node's id in its first line.
    {"cluster-config-file", 1,
     [](const Words& values, ServeSettings& settings) {
       std::string id;
       if (std::ifstream(values[0]) >> id) settings.cluster_node.id = id;
       return absl::OkStatus();
     }},
    {"cluster-enabled", 1,
     [](const Words& values, ServeSettings& settings) {
       REDOUBLE_RETURN_IF_ERROR(ReadBool(values[0], settings.cluster_enabled));
       settings.options.engine.cluster.reset();
       return absl::OkStatus();
     }},
    {"daemonize", 1,
     [](const Words& values, ServeSettings& settings) {
       return ReadBool(values[0], settings.daemonize);
     }},
    {"databases", 1,
     [](const Words& values, ServeSettings& settings) {
       return ReadInteger(values[0], 1, std::numeric_limits<int>::max(),
                          settings.options.engine.databases);
     }},
    {"dbfilename", 1,
     [](const Words& values, ServeSettings& settings) {
       REDOUBLE_RETURN_IF_ERROR(StatusOf(memory::CheckFileName(values[0])));
       settings.options.engine.server.dbfilename = values[0];
       settings.loads_keys = true;
       return absl::OkStatus();
     }},
    {"dir", 1,
     [](const Words& values, ServeSettings& settings) {
       settings.folder = values[0];
       settings.loads_keys = true;
       return absl::OkStatus();
     }},
    {"enable-debug-command", 1, ReadPermission<&memory::ServerOptions::enable_debug_command>},
    {"enable-module-command", 1, ReadPermission<&memory::ServerOptions::enable_module_command>},
    {"enable-protected-configs", 1,
     ReadPermission<&memory::ServerOptions::enable_protected_configs>},
    {"hz", 1,
     [](const Words& values, ServeSettings& settings) {
       int hz = 0;
       REDOUBLE_RETURN_IF_ERROR(ReadInteger(values[0], 0, std::numeric_limits<int>::max(), hz));
       settings.options.upkeep_period = absl::Seconds(1) / std::clamp(hz, 1, 500);
       return absl::OkStatus();
     }},
    {"logfile", 1,
     [](const Words& values, ServeSettings& settings) {
       settings.logfile = values[0];
       return absl::OkStatus();
     }},
    {"loglevel", 1,
     [](const Words& values, ServeSettings& settings) {
       size_t level = 0;
       REDOUBLE_RETURN_IF_ERROR(StatusOf(memory::ReadChoice(values[0], kLogLevelNames, level)));
       settings.log_level = static_cast<LogLevel>(level);
       return absl::OkStatus();
     }},
    {"pidfile", 1,
     [](const Words& values, ServeSettings& settings) {
       settings.pidfile = values[0];
       return absl::OkStatus();
     }},
    {"port", 1,
     [](const Words& values, ServeSettings& settings) {
       return ReadInteger(values[0], 0, kLargestPort, settings.options.engine.server.port);
     }},
    {"rdbchecksum", 1,
     [](const Words& values, ServeSettings& settings) {
       return ReadBool(values[0], settings.options.engine.server.rdbchecksum);
     }},
    // Redouble's own: the clock and the seed of `redouble serve`.
    {"redouble-clock", 1,
     [](const Words& values, ServeSettings& settings) {
       const bool manual = values[0] == "manual";
       if (!manual && values[0] != "system") {
         return Wrong("argument(s) must be one of the following: system, manual");
       }
       settings.options.clock =
           manual ? ServeOptions::Clock::kManual : ServeOptions::Clock::kSystem;
       return absl::OkStatus();
     }},
    {"redouble-compatibility", 1,
     [](const Words& values, ServeSettings& settings) {
       const std::optional<store::Version> version = store::VersionNamed(values[0]);
       if (!version) return Wrong("no version: see redouble serve --compatibility");
       settings.options.engine.compatibility = *version;
       return absl::OkStatus();
     }},
    {"redouble-seed", 1,
     [](const Words& values, ServeSettings& settings) {
       return absl::SimpleAtoi(values[0], &settings.options.engine.seed) ? absl::OkStatus()
                                                                         : Wrong(kNotAnInteger);
     }},
    {"redouble-start", 1,
     [](const Words& values, ServeSettings& settings) {
       REDOUBLE_ASSIGN_OR_RETURN(settings.options.start, ParseStart(values[0]));
       return absl::OkStatus();
     }},
    {"rename-command", 2,
     [](const Words& values, ServeSettings& settings) { return Rename(values, settings); }},
    {"replicaof", 2, ReadMaster},
    {"slaveof", 2, ReadMaster},
    {"tls-port", 1,
     [](const Words& values, ServeSettings&) {
       int port = 0;
       REDOUBLE_RETURN_IF_ERROR(ReadInteger(values[0], 0, kLargestPort, port));
       return port == 0 ? absl::OkStatus() : Wrong("TLS is not supported by Redouble");
     }},
    {"unixsocket", 1,
     [](const Words& values, ServeSettings& settings) {
       settings.options.engine.server.unixsocket = values[0];
       return absl::OkStatus();
     }},
    {"user", kAtLeastOne,
     [](const Words& values, ServeSettings& settings) {
       REDOUBLE_RETURN_IF_ERROR(StatusOf(memory::CheckUserDirective(values, settings.users)));
       settings.users.push_back(values);
       return absl::OkStatus();
     }},
};

// These are no parameters, which CONFIG GET would show.
constexpr std::string_view kOtherDirectives[] = {"rename-command", "user"};

// The parameters that have any number of values in Redis; a single one is split at its spaces. The
// others have one.
constexpr std::string_view kSeveralValues[] = {
    "bind",
    "client-output-buffer-limit",
    "latency-tracking-info-percentiles",
    "oom-score-adj-values",
    "replicaof",
    "save",
    "shutdown-on-sigint",
    "shutdown-on-sigterm",
    "slaveof",
};

// Kept parameters that the server reads.
constexpr std::string_view kReadParameters[] = {
    "key-load-delay",
    "loading-process-events-interval-bytes",
    "masterauth",
    "masteruser",
    "rdb-key-save-delay",
    "repl-backlog-size",
    "repl-backlog-ttl",
    "repl-diskless-load",
    "repl-diskless-sync",
    "repl-diskless-sync-delay",
    "repl-diskless-sync-max-replicas",
    "repl-ping-replica-period",
    "repl-timeout",
    "replica-announce-ip",
    "replica-announce-port",
    "replica-announced",
    "replica-priority",
    "replica-read-only",
    "replica-serve-stale-data",
    "shutdown-on-sigint",
    "shutdown-on-sigterm",
    "shutdown-timeout",
};

bool IsOneOf(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Names whose meaning cannot be left out.
struct Refusal {
  std::string_view name;
  std::string_view message;
};
constexpr Refusal kRefusals[] = {
    {"include", "include is not supported by Redouble"},
    {"loadmodule", "Modules are not supported by Redouble"},
};

base::Task<absl::StatusOr<store::Reply>> Send(store::Store& store, const Words& words) {
  const std::vector<std::string_view> arguments(words.begin() + 1, words.end());
  const store::Command command = store::Command::Named(words[0], arguments);
  co_return co_await store.Execute(command);
}

class Reader {
 public:
  explicit Reader(ServeSettings& settings) : settings_(settings) {}

  absl::Status ReadLine(std::string_view line) {
    std::optional<Words> split = base::SplitQuotedWords(line);
    if (!split) return Wrong("Unbalanced quotes in configuration line");
    Words& words = *split;
    if (words.empty()) return absl::OkStatus();
    const std::string name = absl::AsciiStrToLower(words[0]);
    words.erase(words.begin());
    if (IsOneOf(kSeveralValues, name) && words.size() == 1 && !words[0].empty()) {
      words = base::SplitQuotedWords(words[0]).value_or(words);
    }
    return Read(name, words);
  }

 private:
  absl::Status Read(const std::string& name, const Words& values) {
    const auto* directive = std::find_if(std::begin(kDirectives), std::end(kDirectives),
                                         [&](const Directive& row) { return row.name == name; });
    if (directive != std::end(kDirectives)) return ReadDirective(*directive, values);
    for (const Refusal& refusal : kRefusals) {
      if (refusal.name == name) return Wrong(refusal.message);
    }
    if (values.size() != 1 && !IsOneOf(kSeveralValues, name)) {
      return Wrong(IsParameter(name) ? kWrongNumber : kBadDirective);
    }
    if (name == "save") return ReadSave(values);
    if (const memory::KeptParameter* kept = memory::FindKeptParameter(name, version())) {
      REDOUBLE_RETURN_IF_ERROR(Keep(*kept, values));
      if (!IsOneOf(kReadParameters, kept->name)) WarnOfNoEffect(name, values, settings_);
      return absl::OkStatus();
    }
    return ReadParameter(name, absl::StrJoin(values, " "));
  }

  absl::Status ReadDirective(const Directive& directive, const Words& values) {
    const bool fits = directive.values == kAnyNumber ||
                      (directive.values == kAtLeastOne ? !values.empty()
                                                       : std::ssize(values) == directive.values);
    if (!fits) {
      return Wrong(IsOneOf(kOtherDirectives, directive.name) ? kBadDirective : kWrongNumber);
    }
    REDOUBLE_RETURN_IF_ERROR(directive.read(values, settings_));
    UpdateCluster(settings_);
    // CONFIG GET shows the value.
    const memory::KeptParameter* kept = memory::FindKeptParameter(directive.name, version());
    return kept == nullptr ? absl::OkStatus() : Keep(*kept, values);
  }

  // The version so far: redouble-compatibility comes before the parameters of later versions.
  store::Version version() const { return settings_.options.engine.compatibility; }

  absl::Status Keep(const memory::KeptParameter& kept, const Words& values) {
    std::string value = absl::StrJoin(values, " ");
    if (kept.kind != memory::KeptParameter::Kind::kFixed) {
      REDOUBLE_RETURN_IF_ERROR(StatusOf(kept.Check(value)));
    }
    settings_.options.engine.kept_parameters[std::string(kept.name)] = std::move(value);
    return absl::OkStatus();
  }

  // The first line replaces the default; each further one adds its save points. `save ""` removes
  // all, and `save` does if it is the first line. Source: Redis 7.0 config.c, setConfigSaveOption.
  absl::Status ReadSave(const Words& values) {
    if (values.empty() && reads_save_points_) return absl::OkStatus();
    const std::string points = absl::StrJoin(values, " ");
    const bool adds = reads_save_points_ && !points.empty();
    const std::string before = adds ? save_points_ : "";
    save_points_ = absl::StrCat(before, before.empty() ? "" : " ", points);
    reads_save_points_ = true;
    return ReadParameter("save", save_points_);
  }

  // Sends a command to an engine without clients, and takes over its options.
  absl::StatusOr<store::Reply> Ask(const Words& words) {
    base::VirtualClock clock;
    memory::Engine engine(clock, settings_.options.engine);
    const std::unique_ptr<memory::Session> session = engine.ConnectTrusted();
    REDOUBLE_ASSIGN_OR_RETURN(store::Reply reply, base::Run(Send(*session, words)));
    if (!reply.is_error()) settings_.options.engine = engine.options();
    return reply;
  }

  bool IsParameter(const std::string& name) {
    const absl::StatusOr<store::Reply> reply = Ask({"CONFIG", "GET", name});
    return reply.ok() && reply->elements().size() == 2 && reply->elements()[0].text() == name;
  }

  absl::Status ReadParameter(const std::string& name, const std::string& value) {
    REDOUBLE_ASSIGN_OR_RETURN(const store::Reply reply, Ask({"CONFIG", "SET", name, value}));
    if (!reply.is_error()) return absl::OkStatus();
    constexpr std::string_view kUnknown = "ERR Unknown option";
    if (reply.text().starts_with(kUnknown)) return Wrong(kBadDirective);
    // "ERR CONFIG SET failed (possibly related to argument 'x') - WHY"
    const size_t dash = reply.text().find(" - ");
    return Wrong(dash == std::string::npos ? reply.text() : reply.text().substr(dash + 3));
  }

  std::string save_points_;
  bool reads_save_points_ = false;
  ServeSettings& settings_;
};

}  // namespace

std::vector<ConfigurationError> ReadConfiguration(std::string_view text, ServeSettings& settings) {
  std::vector<ConfigurationError> errors;
  Reader reader(settings);
  int number = 0;
  for (const absl::string_view raw : absl::StrSplit(base::ToAbsl(text), '\n')) {
    ++number;
    const std::string line(absl::StripAsciiWhitespace(raw));
    if (line.empty() || line[0] == '#') continue;
    const absl::Status status = reader.ReadLine(line);
    if (!status.ok()) {
      errors.push_back(ConfigurationError{number, line, std::string(status.message())});
    }
  }
  return errors;
}

std::string ConfigFilePath(const std::filesystem::path& folder, const std::string& name) {
  return std::filesystem::absolute(folder / name).lexically_normal().string();
}

absl::StatusOr<absl::Time> ParseStart(const std::string& text) {
  if (const std::optional<int64_t> ms = base::ParseInt64(text)) return absl::FromUnixMillis(*ms);
  absl::StatusOr<absl::Time> time = base::ParseRfc3339(text);
  if (time.ok()) return time;
  return absl::InvalidArgumentError(
      absl::StrCat(text, ": neither RFC 3339 nor milliseconds since the epoch"));
}

}  // namespace redouble::inline v0_1::sim
