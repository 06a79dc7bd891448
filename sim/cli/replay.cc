#include "sim/cli/replay.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "core/base/string_bridge.h"
#include "core/base/utc.h"
#include "core/store/errors.h"
#include "sim/cli/live_backend.h"
#include "sim/cli/scenario_files.h"
#include "sim/cli/systems.h"
#include "sim/scenario/memory_backend.h"
#include "sim/scenario/runner.h"
#include "sim/scenario/scenario.h"

namespace redouble::sim {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble replay                                    all scenarios, on the embedded engine\n"
    "  redouble replay scenarios/gateway my_case.json     folders and files\n"
    "  redouble replay --filter boundary                  those with this in their file or name\n"
    "  redouble replay --verbose x.json                   every command and reply\n"
    "  redouble replay --spawn-redis                      on a redis-server of its own, whose "
    "clock\n"
    "                                                     follows the scenario\n"
    "  redouble replay --redis redis://127.0.0.1/9        on your Redis, in real time: scenarios "
    "that\n"
    "                                                     move time or restart the server fail\n"
    "  redouble replay --redis unix:///run/r.sock --flush first deletes what the database holds\n"
    "\n"
    "The format of scenario files: scenarios/README.md.\n"
    "Exit codes: 0 all passed, 1 something failed, 2 bad usage, a missing or malformed file\n"
    "(nothing was run).";

// How many digits of a trace hash tell runs apart on a line; --verbose prints them all.
constexpr size_t kShortHashDigits = 16;

struct ReplayOptions {
  std::vector<std::string> files;
  std::string redis_uri;
  bool spawn_redis = false;
  bool flush = false;
  bool verbose = false;
  std::string filter;
};

bool Matches(const Scenario& scenario, const std::string& filter) {
  return absl::StrContains(scenario.file, filter) || absl::StrContains(scenario.name, filter);
}

// Reads all files; prints what is wrong with any of them. False when something was.
bool ReadScenarios(const std::vector<ScenarioFile>& files, const ProgramContext& context,
                   std::vector<Scenario>& scenarios) {
  bool good = true;
  for (const ScenarioFile& file : files) {
    const absl::StatusOr<std::string> text = ReadFile(file.path);
    absl::StatusOr<Scenario> scenario =
        text.ok() ? ParseScenario(*text, file.name, AllSystems())
                  : absl::UnavailableError(absl::StrCat(file.name, ": ", text.status().message()));
    if (scenario.ok()) {
      scenarios.push_back(*std::move(scenario));
    } else {
      context.err << "redouble replay: " << scenario.status().message() << "\n";
      good = false;
    }
  }
  return good;
}

absl::StatusOr<std::unique_ptr<ScenarioBackend>> MakeBackend(const ReplayOptions& options) {
  if (options.spawn_redis) return SpawnedBackend::Start();
  if (options.redis_uri.empty()) return std::make_unique<MemoryBackend>();
  return UriBackend::Open(options.redis_uri,
                          options.flush ? UriBackend::OnKeys::kFlush : UriBackend::OnKeys::kRefuse);
}

std::string SpanText(const ScenarioResult& result) {
  return absl::StrCat(base::FormatRfc3339(result.start), " +",
                      absl::FormatDuration(result.end - result.start));
}

class Replay {
 public:
  Replay(const ReplayOptions& options, const ProgramContext& context)
      : options_(options), context_(context) {}

  // Runs them all and prints the closing line; returns the exit code.
  int Run(const std::vector<Scenario>& scenarios, ScenarioBackend& backend) {
    for (const Scenario& scenario : scenarios) {
      name_width_ = std::max(name_width_, scenario.file.size());
    }
    for (const Scenario& scenario : scenarios) RunOne(scenario, backend);
    context_.out << passed_ << " passed, " << failed_ << " failed" << std::endl;
    return failed_ == 0 ? kExitPassed : kExitFailed;
  }

 private:
  void RunOne(const Scenario& scenario, ScenarioBackend& backend) {
    RunOptions run_options;
    if (options_.verbose) {
      context_.out << scenario.file << ": " << scenario.name << ": " << scenario.description
                   << std::endl;
      run_options.trace_listener = [this](std::string_view line) {
        context_.out << "  " << line << std::endl;
      };
    }
    const auto begun = std::chrono::steady_clock::now();
    const ScenarioResult result = RunScenario(scenario, backend, run_options);
    const std::chrono::duration<double, std::milli> wall_ms =
        std::chrono::steady_clock::now() - begun;
    Print(scenario, result, wall_ms.count());
    ++(result.failure ? failed_ : passed_);
  }

  void Print(const Scenario& scenario, const ScenarioResult& result, double wall_ms) {
    const size_t digits = options_.verbose ? std::string::npos : kShortHashDigits;
    context_.out << absl::StreamFormat("%s %-*s  %-40s  %4d commands  %8.3f ms  %s",
                                       result.failure ? "FAIL" : "PASS", name_width_, scenario.file,
                                       SpanText(result), result.commands, wall_ms,
                                       result.trace_hash.substr(0, digits))
                 << std::endl;
    if (result.failure) context_.out << result.failure->ToString(scenario) << std::flush;
  }

  const ReplayOptions& options_;
  const ProgramContext& context_;
  size_t name_width_ = 0;
  int passed_ = 0;
  int failed_ = 0;
};

int Fail(const ProgramContext& context, const absl::Status& status, int code) {
  context.err << "redouble replay: " << status.message() << "\n";
  return code;
}

int RunReplay(const ReplayOptions& options, const ProgramContext& context) {
  const absl::StatusOr<std::vector<ScenarioFile>> files = FindScenarioFiles(options.files, context);
  if (!files.ok()) return Fail(context, files.status(), kExitBadUsage);
  std::vector<Scenario> scenarios;
  if (!ReadScenarios(*files, context, scenarios)) return kExitBadUsage;
  std::erase_if(scenarios,
                [&](const Scenario& scenario) { return !Matches(scenario, options.filter); });
  if (scenarios.empty()) {
    return Fail(
        context,
        absl::NotFoundError(absl::StrCat("--filter ", options.filter, ": matches no scenario")),
        kExitBadUsage);
  }
  const absl::StatusOr<std::unique_ptr<ScenarioBackend>> backend = MakeBackend(options);
  if (!backend.ok()) {
    // A server can find an argument invalid too, as a database that it does not have.
    const bool bad_uri = absl::IsInvalidArgument(backend.status()) &&
                         !store::ErrorKindOf(backend.status()).has_value();
    return Fail(context, backend.status(), bad_uri ? kExitBadUsage : kExitFailed);
  }
  return Replay(options, context).Run(scenarios, **backend);
}

}  // namespace

std::function<int()> AddReplay(CLI::App& app, const ProgramContext& context) {
  const auto options = std::make_shared<ReplayOptions>();
  app.footer(kFooter);
  app.add_option("FILES", options->files,
                 "Scenario files and folders; without any, all of the project's");
  CLI::Option* redis = app.add_option("--redis", options->redis_uri,
                                      "Replay on this Redis, whose database must be empty: "
                                      "redis://[user:password@]host[:port][/db] or unix:///path");
  app.add_flag("--spawn-redis", options->spawn_redis,
               "Replay on a redis-server that is started for it, in virtual time")
      ->excludes(redis);
  app.add_flag("--flush", options->flush, "Delete what the database of --redis holds")
      ->needs(redis);
  app.add_option("--filter", options->filter, "Only scenarios with this text in file or name");
  app.add_flag("--verbose", options->verbose, "Print each event of the trace and whole hashes");
  return [options, &context] { return RunReplay(*options, context); };
}

}  // namespace redouble::sim
