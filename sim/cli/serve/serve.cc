#include "redouble/sim/cli/serve/serve.h"

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/backends/memory/server/memory_size.h"
#include "redouble/backends/memory/server/parameter_value.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/sim/cli/serve/configuration.h"
#include "redouble/sim/cli/serve/start.h"
#include "redouble/sim/cli/support/compatibility_option.h"
#include "redouble/sim/cli/support/data_files.h"
#include "redouble/sim/cli/support/engine_backend.h"
#include "redouble/sim/cli/support/key_selection.h"
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/scenario/runner.h"
#include "redouble/sim/scenario/scenario.h"
#include "redouble/sim/server/server.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace fs = std::filesystem;

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble serve                                       on 127.0.0.1:6379, in real time\n"
    "  redouble serve --port 0 --ready-file r.json          on a free port, which r.json has\n"
    "  redouble serve --port none --unixsocket /tmp/r.sock  on a Unix socket alone\n"
    "  redouble serve --config redis.conf --loglevel verbose\n"
    "  redouble serve --clock manual --start 2026-05-09T14:03:02Z --seed 7\n"
    "                                                       time and chance are the clients':\n"
    "    redis-cli SET k v PX 1500\n"
    "    redis-cli SIM CLOCK ADVANCE 1501ms                 now k is gone\n"
    "  redouble serve --clock manual --load case.json       the keys that a scenario leaves\n"
    "  redouble serve --load dump.rdb                       the keys of an RDB file\n"
    "  redouble serve --dir data                            keys that SAVE wrote, again\n"
    "  redouble serve --port 0 --replicaof 10.0.0.1 6379    a replica of a live server\n"
    "\n"
    "The first line of output names the addresses. Log lines in the format of Redis follow. It\n"
    "stops on SIGTERM, SIGINT and SHUTDOWN. The commands of SIM: docs/serve.md.\n"
    "Exit codes: 0 stopped when told to, 1 it cannot listen or the scenario failed, 2 bad usage.";

constexpr char kNoTcp[] = "none";
constexpr int kLargestPort = 65535;

// Nullopt: not given; the configuration file's value, or the default.
struct ServeArguments {
  std::string config;
  std::optional<std::string> port;
  std::optional<std::string> unixsocket;
  std::optional<std::string> bind;
  std::optional<std::string> clock;
  std::optional<std::string> start;
  std::optional<uint64_t> seed;
  CompatibilityOption compatibility;
  std::optional<std::string> requirepass;
  std::optional<std::string> maxmemory;
  std::optional<std::string> loglevel;
  std::optional<std::string> aclfile;
  bool cluster_slots = false;
  std::string load;
  KeySelection selection;
  std::optional<std::string> load_times;
  // Whether `load` names an RDB file or an append-only log.
  bool loads_data = false;
  std::string ready_file;
  bool exit_with_parent = false;
  std::optional<std::string> dir;
  std::optional<std::string> dbfilename;
  std::optional<std::string> appendonly;
  std::optional<std::string> enable_debug_command;
  std::vector<std::string> replicaof;
};

int Fail(const ProgramContext& context, const absl::Status& status, int code) {
  context.err << "redouble serve: " << status.message() << "\n";
  return code;
}

// Sets the port, or any free port for 0. Errors: InvalidArgument.
absl::Status ReadPort(const std::string& text, ServeOptions& options) {
  int port = 0;
  const bool is_number = absl::SimpleAtoi(text, &port);
  if (text != kNoTcp && (!is_number || port < 0 || port > kLargestPort)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--port ", text, ": expected 1 to 65535, 0 for a free port, or none"));
  }
  options.engine.server.port = port;
  options.any_port = is_number && port == 0;
  return absl::OkStatus();
}

// Reads the file of --config; prints all that is wrong with it.
absl::Status ReadConfig(const std::string& name, const ProgramContext& context,
                        ServeSettings& settings) {
  const absl::StatusOr<std::string> text = ReadFile(context.folder / name);
  if (!text.ok()) {
    return absl::UnavailableError(absl::StrCat(name, ": ", text.status().message()));
  }
  settings.options.config_file = ConfigFilePath(context.folder, name);
  std::vector<std::string> messages;
  for (const ConfigurationError& error : ReadConfiguration(*text, settings)) {
    messages.push_back(
        absl::StrCat(name, ":", error.line, ": '", error.text, "': ", error.message));
  }
  if (messages.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(messages, "\nredouble serve: "));
}

absl::Status ReadEngineOptions(const ServeArguments& arguments, ServeSettings& settings) {
  memory::EngineOptions& engine = settings.options.engine;
  if (arguments.seed) engine.seed = *arguments.seed;
  if (const auto version = arguments.compatibility.version()) engine.compatibility = *version;
  if (arguments.requirepass) engine.requirepass = *arguments.requirepass;
  if (arguments.maxmemory) {
    const std::optional<uint64_t> bytes = memory::ReadMemory(*arguments.maxmemory);
    if (!bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("--maxmemory ", *arguments.maxmemory, ": no number of bytes, like 64mb"));
    }
    engine.maxmemory_bytes = *bytes;
  }
  if (arguments.cluster_slots && !engine.cluster) engine.cluster.emplace();
  if (arguments.enable_debug_command) {
    size_t index = 0;
    const memory::ValueError error =
        memory::ReadChoice(*arguments.enable_debug_command, memory::kProtectedAccessNames, index);
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrCat("--enable-debug-command ", *arguments.enable_debug_command, ": ", *error));
    }
    engine.server.enable_debug_command = static_cast<memory::ProtectedAccess>(index);
  }
  if (arguments.bind) engine.server.bind = *arguments.bind;
  if (arguments.unixsocket) engine.server.unixsocket = *arguments.unixsocket;
  return arguments.port ? ReadPort(*arguments.port, settings.options) : absl::OkStatus();
}

// --dir, --dbfilename and --appendonly are lines of a configuration. Errors: InvalidArgument.
absl::Status ReadKeyFile(const ServeArguments& arguments, ServeSettings& settings) {
  if (arguments.dir) {
    settings.folder = *arguments.dir;
    settings.loads_keys = true;
  }
  if (arguments.appendonly) {
    settings.options.engine.server.appendonly = *arguments.appendonly == "yes";
    settings.loads_keys = settings.loads_keys || settings.options.engine.server.appendonly;
  }
  if (!arguments.dbfilename) return absl::OkStatus();
  if (const memory::ValueError error = memory::CheckFileName(*arguments.dbfilename)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--dbfilename ", *arguments.dbfilename, ": ", *error, "; see --dir"));
  }
  settings.options.engine.server.dbfilename = *arguments.dbfilename;
  settings.loads_keys = true;
  return absl::OkStatus();
}

absl::Status ReadArguments(const ServeArguments& arguments, ServeSettings& settings) {
  ServeOptions& options = settings.options;
  REDOUBLE_RETURN_IF_ERROR(ReadKeyFile(arguments, settings));
  if (arguments.clock) {
    options.clock =
        *arguments.clock == "manual" ? ServeOptions::Clock::kManual : ServeOptions::Clock::kSystem;
  }
  const bool manual = options.clock == ServeOptions::Clock::kManual;
  if (!manual && arguments.start) {
    return absl::InvalidArgumentError("--start needs --clock manual");
  }
  if (!manual && !arguments.load.empty() && !arguments.loads_data) {
    return absl::InvalidArgumentError("--load needs --clock manual: a scenario has its own time");
  }
  if (arguments.load.empty() && !arguments.selection.empty()) {
    return absl::InvalidArgumentError("--pattern and --family need --load");
  }
  if (arguments.start) {
    const absl::StatusOr<absl::Time> start = ParseStart(*arguments.start);
    if (!start.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--start ", start.status().message()));
    }
    options.start = *start;
  }
  // CONFIG GET shows these.
  auto& kept_parameters = options.engine.kept_parameters;
  if (arguments.loglevel) {
    settings.log_level = FindLogLevel(*arguments.loglevel).value_or(LogLevel::kNotice);
    kept_parameters["loglevel"] = *arguments.loglevel;
  }
  if (arguments.aclfile) kept_parameters["aclfile"] = *arguments.aclfile;
  if (!arguments.replicaof.empty()) {
    int port = 0;
    if (!absl::SimpleAtoi(arguments.replicaof[1], &port) || port < 0 || port > kLargestPort) {
      return absl::InvalidArgumentError(absl::StrCat("--replicaof ",
                                                     absl::StrJoin(arguments.replicaof, " "),
                                                     ": expected a host and a port, 0 to 65535"));
    }
    kept_parameters["replicaof"] = absl::StrJoin(arguments.replicaof, " ");
  }
  return ReadEngineOptions(arguments, settings);
}

absl::StatusOr<Scenario> ReadScenario(const std::string& name, const ProgramContext& context) {
  const absl::StatusOr<std::string> text = ReadFile(context.folder / name);
  if (!text.ok()) {
    return absl::UnavailableError(absl::StrCat(name, ": ", text.status().message()));
  }
  return ParseScenario(*text, name, context.systems.operations());
}

int LoadScenario(const Scenario& scenario, const memory::KeyFilter& keeps, memory::Engine& engine,
                 const ProgramContext& context) {
  // The server was made for its start and seed.
  EngineBackend backend(engine);
  const ScenarioResult result = RunScenario(scenario, backend);
  if (result.failure) {
    context.err << "redouble serve: " << scenario.file << ":\n"
                << result.failure->ToString(scenario);
    return kExitFailed;
  }
  RemoveOtherKeys(engine, keeps);
  return kExitPassed;
}

// What --load does with times: by default, with the system's clock as redis-server does; with a
// manual clock as if the file had been written now.
memory::RdbLoadOptions::TimePolicy TimePolicyOf(const ServeArguments& arguments, bool manual) {
  using TimePolicy = memory::RdbLoadOptions::TimePolicy;
  const bool shifts = arguments.load_times ? *arguments.load_times == "shift" : manual;
  return shifts ? TimePolicy::kShiftToNow : TimePolicy::kAbsolute;
}

// Loads an RDB file or a log.
int LoadDump(const fs::path& path, const DataFileOptions& options, memory::Engine& engine,
             const ProgramContext& context) {
  const absl::StatusOr<std::vector<std::string>> lines =
      LoadDataFile(path, options, engine, context);
  if (!lines.ok()) return Fail(context, lines.status(), kExitFailed);
  for (const std::string& line : *lines) context.err << "redouble serve: " << line << "\n";
  return kExitPassed;
}

int RunServe(ServeArguments arguments, const ProgramContext& context) {
  ServeSettings settings;
  const fs::path dump = context.folder / arguments.load;
  arguments.loads_data = !arguments.load.empty() && IsDataFile(dump);
  absl::Status status =
      arguments.config.empty() ? absl::OkStatus() : ReadConfig(arguments.config, context, settings);
  if (status.ok()) status = ReadArguments(arguments, settings);
  if (!status.ok()) return Fail(context, status, kExitBadUsage);
  StartOptions start{.program = "redouble serve",
                     .announces_addresses = true,
                     .ready_file = arguments.ready_file,
                     .exits_with_parent = arguments.exit_with_parent};
  std::optional<Scenario> scenario;
  const absl::StatusOr<memory::KeyFilter> keeps =
      arguments.selection.empty() ? memory::KeyFilter() : arguments.selection.Filter(context);
  if (!keeps.ok()) return Fail(context, keeps.status(), kExitBadUsage);
  if (arguments.loads_data) {
    const bool manual = settings.options.clock == ServeOptions::Clock::kManual;
    const DataFileOptions options = {.time_policy = TimePolicyOf(arguments, manual),
                                     .keeps = *keeps};
    start.prepare = [&context, dump, options](memory::Engine& engine) {
      return LoadDump(dump, options, engine, context);
    };
  } else if (!arguments.load.empty()) {
    absl::StatusOr<Scenario> read = ReadScenario(arguments.load, context);
    if (!read.ok()) return Fail(context, read.status(), kExitBadUsage);
    scenario = *std::move(read);
    if (!arguments.start) settings.options.start = scenario->start;
    if (!arguments.seed) settings.options.engine.seed = scenario->seed;
    if (!arguments.compatibility.version() && scenario->compatibility) {
      settings.options.engine.compatibility = *scenario->compatibility;
    }
    start.prepare = [&](memory::Engine& engine) {
      return LoadScenario(*scenario, *keeps, engine, context);
    };
  }
  return StartServer(std::move(settings), start, context);
}

std::vector<std::string> LogLevels() {
  return {std::begin(kLogLevelNames), std::end(kLogLevelNames)};
}

}  // namespace

std::function<int()> AddServe(CLI::App& app, const ProgramContext& context) {
  const auto arguments = std::make_shared<ServeArguments>();
  app.footer(kFooter);
  app.add_option("--port", arguments->port,
                 "TCP port, 6379 by default; 0: a free port; none: no TCP");
  app.add_option("--unixsocket", arguments->unixsocket, "Path of a Unix socket");
  app.add_option("--bind", arguments->bind, "IP address to listen on, 127.0.0.1 by default");
  app.add_option("--config", arguments->config,
                 "A file in the format of redis.conf; the other options override it");
  app.add_option("--clock", arguments->clock,
                 "\"system\": the machine's time, the default; \"manual\": moved by SIM CLOCK")
      ->check(CLI::IsMember({"system", "manual"}));
  app.add_option("--start", arguments->start,
                 "The start time of a manual clock: RFC 3339, or milliseconds since the epoch");
  app.add_option("--seed", arguments->seed, "The seed of all random choices, 0 by default");
  arguments->compatibility.AddTo(
      app, "The version of Redis or Valkey that it answers as, redis-7.0 by default");
  app.add_option("--requirepass", arguments->requirepass, "The password of the default user");
  app.add_option("--maxmemory", arguments->maxmemory, "The memory limit, as in redis.conf: 64mb");
  app.add_flag("--cluster-slots", arguments->cluster_slots,
               "Refuse commands with keys of several slots, as a node of a cluster does");
  app.add_option("--load", arguments->load,
                 "Serve the keys of this RDB file, or what this scenario leaves");
  app.add_option("--load-times", arguments->load_times,
                 "The times of an RDB file or a log of --load: keep, or shift by the age of the "
                 "file; shift with a manual clock by default")
      ->check(CLI::IsMember({"keep", "shift"}));
  arguments->selection.AddOptions(app);
  arguments->selection.AddRulesOption(app);
  app.add_option("--dir", arguments->dir,
                 "The working folder, where SAVE writes; keys saved there are loaded");
  app.add_option("--dbfilename", arguments->dbfilename,
                 "The file in the working folder, dump.rdb by default; loaded if it exists");
  app.add_option("--appendonly", arguments->appendonly,
                 "yes: write and load the append-only log below the working folder; no by default")
      ->check(CLI::IsMember({"yes", "no"}));
  app.add_option("--replicaof", arguments->replicaof,
                 "Be a replica of the redis-server or `redouble serve` at this host and port")
      ->expected(2);
  app.add_option("--aclfile", arguments->aclfile,
                 "The file of users in the working folder, for ACL LOAD and ACL SAVE");
  app.add_option(
      "--enable-debug-command", arguments->enable_debug_command,
      "Who may use DEBUG: no (nobody, the default), yes, or local (clients of this machine)");
  app.add_option("--loglevel", arguments->loglevel,
                 "The log level, notice by default; verbose logs connections")
      ->check(CLI::IsMember(LogLevels()));
  app.add_option(
      "--ready-file", arguments->ready_file,
      "When clients can connect, write port, addresses and process id to this file, as JSON");
  app.add_flag("--exit-with-parent", arguments->exit_with_parent,
               "Stop when the process that started this one ends, also if it is killed");
  return [arguments, &context] { return RunServe(*arguments, context); };
}

}  // namespace redouble::inline v0_1::sim
