#include "redouble/sim/cli/replay/replay.h"

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
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/store/errors.h"
#include "redouble/sim/cli/replay/live_backend.h"
#include "redouble/sim/cli/replay/replay_world.h"
#include "redouble/sim/cli/replay/time_travel.h"
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/recording/recording.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/sim/scenario/runner.h"
#include "redouble/sim/scenario/scenario.h"
#include "redouble/sim/world_file/world_file.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble replay                                    all scenarios, on the embedded engine\n"
    "  redouble replay scenarios/gateway my_case.json     folders and files\n"
    "  redouble replay --filter boundary                  scenarios with this text in file or "
    "name\n"
    "  redouble replay --verbose x.json                   every command and reply\n"
    "  redouble replay --spawn-redis                      on a redis-server that it starts, whose\n"
    "                                                     clock follows the scenario\n"
    "  redouble replay --redis redis://127.0.0.1/9        on your Redis, in real time: scenarios\n"
    "                                                     that move time or restart it fail\n"
    "  redouble replay --redis unix:///run/r.sock --flush deletes the keys of the database first\n"
    "  redouble replay --html run.html x.json             a page of one run: actors, faults, keys\n"
    "  redouble replay --trace run.jsonl x.json           its events; see redouble trace diff\n"
    "  redouble replay --until 7 x.json                   the keys after event 7\n"
    "  redouble replay --break-at '\"DEL\"' x.json         the keys after the first DEL\n"
    "  redouble replay --changes 3:7 x.json               the keys that differ after events 3 and "
    "7\n"
    "\n"
    "The format of scenario files: scenarios/README.md.\n"
    "Exit codes: 0 all passed, 1 something failed, 2 bad usage, a missing or malformed file\n"
    "(nothing was run).";

// The number of digits of a trace hash that are printed; --verbose prints all.
constexpr size_t kShortHashDigits = 16;

struct ReplayOptions {
  std::vector<std::string> files;
  std::string redis_uri;
  bool spawn_redis = false;
  bool flush = false;
  bool verbose = false;
  std::string filter;
  TimeTravelOptions time_travel;
};

template <typename File>
bool Matches(const File& file, const std::string& filter) {
  return absl::StrContains(file.file, filter) || absl::StrContains(file.name, filter);
}

// The contents of the files.
struct Files {
  std::vector<Scenario> scenarios;
  std::vector<WorldFile> worlds;
};

absl::Status ReadWorld(const ScenarioFile& file, std::string_view text, const SystemTable& systems,
                       Files& read) {
  REDOUBLE_ASSIGN_OR_RETURN(WorldFile world, ParseWorldFile(text, file.name, systems));
  if (!world.violation) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.name, ": a world without a schedule; redouble explore looks for one"));
  }
  read.worlds.push_back(std::move(world));
  return absl::OkStatus();
}

absl::Status ReadOne(const ScenarioFile& file, const SystemTable& systems, Files& read) {
  const absl::StatusOr<std::string> text = ReadFile(file.path);
  if (!text.ok()) {
    return absl::UnavailableError(absl::StrCat(file.name, ": ", text.status().message()));
  }
  if (IsWorldFile(*text)) return ReadWorld(file, *text, systems, read);
  REDOUBLE_ASSIGN_OR_RETURN(Scenario scenario, ParseScenario(*text, file.name, systems));
  read.scenarios.push_back(std::move(scenario));
  return absl::OkStatus();
}

// Reads all files and prints every error. Returns whether there was none.
bool ReadFiles(const std::vector<ScenarioFile>& files, const ProgramContext& context, Files& read) {
  bool good = true;
  for (const ScenarioFile& file : files) {
    const absl::Status status = ReadOne(file, context.systems.operations(), read);
    if (status.ok()) continue;
    context.err << "redouble replay: " << status.message() << "\n";
    good = false;
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

  // Runs all scenarios and prints the closing line; returns the exit code.
  int Run(const Files& files, ScenarioBackend& backend) {
    for (const Scenario& scenario : files.scenarios) {
      name_width_ = std::max(name_width_, scenario.file.size());
    }
    for (const Scenario& scenario : files.scenarios) RunOne(scenario, backend);
    for (const WorldFile& world : files.worlds) RunOne(world);
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

  void RunOne(const WorldFile& world) {
    const WorldReplay replay = ReplayWorld(world, [this](std::string_view line) {
      if (options_.verbose) context_.out << "  " << line << std::endl;
    });
    const absl::Status& violation = replay.outcome.violation;
    context_.out << absl::StreamFormat("%s %s  %d commands  %s\n", violation.ok() ? "PASS" : "FAIL",
                                       world.file, replay.outcome.commands,
                                       ShortHash(replay.outcome.trace_hash));
    if (!violation.ok()) context_.out << "  " << violation.message() << "\n";
    context_.out << "  " << replay.comparison << std::endl;
    ++(violation.ok() ? passed_ : failed_);
  }

  std::string ShortHash(const std::string& hash) const {
    return hash.substr(0, options_.verbose ? std::string::npos : kShortHashDigits);
  }

  void Print(const Scenario& scenario, const ScenarioResult& result, double wall_ms) {
    context_.out << absl::StreamFormat("%s %-*s  %-40s  %4d commands  %8.3f ms  %s",
                                       result.failure ? "FAIL" : "PASS", name_width_, scenario.file,
                                       SpanText(result), result.commands, wall_ms,
                                       ShortHash(result.trace_hash))
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

// Runs the one file that is given, records it and does what the options say.
int RecordOne(const Files& files, const ReplayOptions& options, const ProgramContext& context) {
  const size_t count = files.scenarios.size() + files.worlds.size();
  if (count != 1) {
    return Fail(
        context,
        absl::InvalidArgumentError(absl::StrCat(
            "--trace, --html, --until, --break-at and --changes take one file, got ", count)),
        kExitBadUsage);
  }
  const StopAfter stop_after = options.time_travel.stop_after();
  if (files.worlds.empty()) {
    const Scenario& scenario = files.scenarios.front();
    return TravelInTime(RecordScenario(scenario, stop_after), scenario.file, options.time_travel,
                        context);
  }
  const WorldFile& world = files.worlds.front();
  return TravelInTime(RecordWorld(world, stop_after), world.file, options.time_travel, context);
}

int RunReplay(const ReplayOptions& options, const ProgramContext& context) {
  const absl::StatusOr<std::vector<ScenarioFile>> files = FindScenarioFiles(options.files, context);
  if (!files.ok()) return Fail(context, files.status(), kExitBadUsage);
  Files read;
  if (!ReadFiles(*files, context, read)) return kExitBadUsage;
  const auto is_filtered_out = [&](const auto& file) { return !Matches(file, options.filter); };
  std::erase_if(read.scenarios, is_filtered_out);
  std::erase_if(read.worlds, is_filtered_out);
  if (read.scenarios.empty() && read.worlds.empty()) {
    return Fail(
        context,
        absl::NotFoundError(absl::StrCat("--filter ", options.filter, ": matches no scenario")),
        kExitBadUsage);
  }
  if (options.time_travel.any()) return RecordOne(read, options, context);
  const absl::StatusOr<std::unique_ptr<ScenarioBackend>> backend = MakeBackend(options);
  if (!backend.ok()) {
    // A server can refuse an argument too, such as a database index that is out of range.
    const bool bad_uri = absl::IsInvalidArgument(backend.status()) &&
                         !store::ErrorKindOf(backend.status()).has_value();
    return Fail(context, backend.status(), bad_uri ? kExitBadUsage : kExitFailed);
  }
  return Replay(options, context).Run(read, **backend);
}

}  // namespace

std::function<int()> AddReplay(CLI::App& app, const ProgramContext& context) {
  const auto options = std::make_shared<ReplayOptions>();
  app.footer(kFooter);
  app.add_option("FILES", options->files,
                 "Scenario files and folders; by default all of the project");
  CLI::Option* redis = app.add_option("--redis", options->redis_uri,
                                      "Replay on this Redis, whose database must be empty: "
                                      "redis://[user:password@]host[:port][/db], with "
                                      "?cluster=yes or ?sentinel_master=NAME, or unix:///path");
  CLI::Option* spawn = app.add_flag("--spawn-redis", options->spawn_redis,
                                    "Start a redis-server with a held clock and replay on it")
                           ->excludes(redis);
  app.add_flag("--flush", options->flush, "Delete the keys of the database of --redis first")
      ->needs(redis);
  app.add_option("--filter", options->filter,
                 "Only scenarios with this text in their file or name");
  CLI::Option* verbose = app.add_flag("--verbose", options->verbose,
                                      "Print each event of the trace, and hashes in full");
  for (CLI::Option* option : AddTimeTravelOptions(app, options->time_travel)) {
    option->excludes(redis)->excludes(spawn)->excludes(verbose);
  }
  return [options, &context] { return RunReplay(*options, context); };
}

}  // namespace redouble::inline v0_1::sim
