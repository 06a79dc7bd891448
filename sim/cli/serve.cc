#include "sim/cli/serve.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/memory/memory_size.h"
#include "core/base/redis_number.h"
#include "core/base/run.h"
#include "core/base/string_bridge.h"
#include "core/base/utc.h"
#include "core/store/keys.h"
#include "sim/cli/scenario_files.h"
#include "sim/cli/systems.h"
#include "sim/scenario/backend.h"
#include "sim/scenario/runner.h"
#include "sim/scenario/scenario.h"
#include "sim/server/server.h"

namespace redouble::sim {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble serve                                       on 127.0.0.1:6379, in real time\n"
    "  redouble serve --port 0 --unixsocket /tmp/r.sock     on a Unix socket alone\n"
    "  redouble serve --clock manual --start 2026-05-09T14:03:02Z --seed 7\n"
    "                                                       time and chance are the clients':\n"
    "    redis-cli SET k v PX 1500\n"
    "    redis-cli SIM CLOCK ADVANCE 1501ms                 now k is gone\n"
    "  redouble serve --clock manual --load case.json       the keys that a scenario leaves\n"
    "\n"
    "It prints one line when it accepts connections, and stops on SIGTERM, SIGINT and SHUTDOWN.\n"
    "The commands of SIM: docs/serve.md.\n"
    "Exit codes: 0 stopped when told to, 1 it cannot listen or the scenario failed, 2 bad usage.";

struct ServeArguments {
  int port = 6379;
  std::string unixsocket;
  std::string bind = "127.0.0.1";
  std::string clock = "system";
  std::string start;
  uint64_t seed = 0;
  std::string requirepass;
  std::string maxmemory;
  bool cluster_slots = false;
  std::string load;
};

int Fail(const ProgramContext& context, const absl::Status& status, int code) {
  context.err << "redouble serve: " << status.message() << "\n";
  return code;
}

absl::StatusOr<absl::Time> ReadStart(const std::string& text) {
  if (const std::optional<int64_t> ms = base::ParseInt64(text)) return absl::FromUnixMillis(*ms);
  absl::StatusOr<absl::Time> time = base::ParseRfc3339(text);
  if (time.ok()) return time;
  return absl::InvalidArgumentError(
      absl::StrCat("--start ", text, ": neither RFC 3339 nor milliseconds since the epoch"));
}

absl::StatusOr<ServeOptions> ReadOptions(const ServeArguments& arguments) {
  ServeOptions options;
  const bool manual = arguments.clock == "manual";
  if (manual) options.clock = ServeOptions::Clock::kManual;
  if (!manual && !arguments.start.empty()) {
    return absl::InvalidArgumentError("--start needs --clock manual");
  }
  if (!manual && !arguments.load.empty()) {
    return absl::InvalidArgumentError("--load needs --clock manual: a scenario has its own time");
  }
  if (!arguments.start.empty()) {
    const absl::StatusOr<absl::Time> start = ReadStart(arguments.start);
    if (!start.ok()) return start.status();
    options.start = *start;
  }
  options.engine.seed = arguments.seed;
  options.engine.requirepass = arguments.requirepass;
  if (!arguments.maxmemory.empty()) {
    const std::optional<uint64_t> bytes = memory::ReadMemory(arguments.maxmemory);
    if (!bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("--maxmemory ", arguments.maxmemory, ": no number of bytes, like 64mb"));
    }
    options.engine.maxmemory_bytes = *bytes;
  }
  if (arguments.cluster_slots) options.engine.cluster.emplace();
  options.engine.server.port = arguments.port;
  options.engine.server.bind = arguments.bind;
  options.engine.server.unixsocket = arguments.unixsocket;
  return options;
}

absl::StatusOr<Scenario> ReadScenario(const std::string& name, const ProgramContext& context) {
  const absl::StatusOr<std::string> text = ReadFile(context.folder / name);
  if (!text.ok()) {
    return absl::UnavailableError(absl::StrCat(name, ": ", text.status().message()));
  }
  return ParseScenario(*text, name, AllSystems());
}

// A scenario on the engine of a server that serves nobody yet.
class ServedBackend final : public ScenarioBackend {
 public:
  explicit ServedBackend(memory::Engine& engine) : engine_(engine) {}

  // The server was made for this start and seed.
  absl::Status Begin(absl::Time, uint64_t) override { return absl::OkStatus(); }
  absl::StatusOr<std::unique_ptr<store::Store>> Connect() override {
    std::unique_ptr<memory::Session> session = engine_.Connect();
    session->LogIn(engine_.acl().program());
    return session;
  }
  base::Clock& clock() override { return engine_.clock(); }
  absl::Status AdvanceTo(absl::Time time) override {
    engine_.clock().AdvanceTo(time);
    return absl::OkStatus();
  }
  absl::Status Flush() override {
    const absl::StatusOr<std::unique_ptr<store::Store>> connection = Connect();
    return base::Run(store::FlushAll(**connection));
  }
  absl::Status Restart() override {
    return absl::UnimplementedError("--load takes no scenario that restarts the server");
  }

 private:
  memory::Engine& engine_;
};

int Load(const Scenario& scenario, Server& server, const ProgramContext& context) {
  ServedBackend backend(server.engine());
  const ScenarioResult result = RunScenario(scenario, backend);
  if (!result.failure) return kExitPassed;
  context.err << "redouble serve: " << scenario.file << ":\n" << result.failure->ToString(scenario);
  return kExitFailed;
}

int RunServe(const ServeArguments& arguments, const ProgramContext& context) {
  absl::StatusOr<ServeOptions> options = ReadOptions(arguments);
  if (!options.ok()) return Fail(context, options.status(), kExitBadUsage);
  std::optional<Scenario> scenario;
  if (!arguments.load.empty()) {
    absl::StatusOr<Scenario> read = ReadScenario(arguments.load, context);
    if (!read.ok()) return Fail(context, read.status(), kExitBadUsage);
    scenario = *std::move(read);
    if (arguments.start.empty()) options->start = scenario->start;
    if (arguments.seed == 0) options->engine.seed = scenario->seed;
  }
  const absl::StatusOr<std::unique_ptr<Server>> server = Server::Open(*std::move(options));
  if (!server.ok()) {
    const bool bad_usage = absl::IsInvalidArgument(server.status());
    return Fail(context, server.status(), bad_usage ? kExitBadUsage : kExitFailed);
  }
  if (scenario) {
    if (const int code = Load(*scenario, **server, context); code != kExitPassed) return code;
  }
  context.out << "redouble serve: accepts connections on " << (*server)->addresses() << std::endl;
  (*server)->Run();
  return kExitPassed;
}

}  // namespace

std::function<int()> AddServe(CLI::App& app, const ProgramContext& context) {
  const auto arguments = std::make_shared<ServeArguments>();
  app.footer(kFooter);
  app.add_option("--port", arguments->port, "TCP port; 0: none")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  app.add_option("--unixsocket", arguments->unixsocket, "Path of a Unix socket");
  app.add_option("--bind", arguments->bind, "IP address to listen on")->capture_default_str();
  app.add_option("--clock", arguments->clock,
                 "\"system\": the machine's time; \"manual\": moved by SIM CLOCK")
      ->check(CLI::IsMember({"system", "manual"}))
      ->capture_default_str();
  app.add_option("--start", arguments->start,
                 "Where a manual clock begins: RFC 3339, or milliseconds since the epoch");
  app.add_option("--seed", arguments->seed, "Decides what Redis leaves to chance")
      ->capture_default_str();
  app.add_option("--requirepass", arguments->requirepass, "The password of the default user");
  app.add_option("--maxmemory", arguments->maxmemory, "Bytes that keys may take: 64mb");
  app.add_flag("--cluster-slots", arguments->cluster_slots,
               "Be a node of a cluster: keys of several slots in one command are refused");
  app.add_option("--load", arguments->load, "Run this scenario first and serve what it leaves");
  return [arguments, &context] { return RunServe(*arguments, context); };
}

}  // namespace redouble::sim
