#include "redouble/sim/cli/inspect.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/redis/net/client/sync_store.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/sim/cli/support/compatibility_option.h"
#include "redouble/sim/cli/support/data_files.h"
#include "redouble/sim/cli/support/key_bindings.h"
#include "redouble/sim/cli/support/key_selection.h"
#include "redouble/sim/cli/support/rules_files.h"
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/inspect/data_profile.h"
#include "redouble/sim/inspect/inspect.h"
#include "redouble/sim/inspect/report.h"
#include "redouble/sim/inspect/rules_file.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/sim/scenario/runner.h"
#include "redouble/sim/scenario/scenario.h"
#include "redouble/sim/world_file/world_experiment.h"
#include "redouble/sim/world_file/world_file.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble inspect --redis redis://127.0.0.1/0       the keys of a live database; only reads\n"
    "  redouble inspect x.json                            the keys after a scenario\n"
    "  redouble inspect x.json --at 2026-05-09T14:03:59Z  the keys at that time of the scenario\n"
    "  redouble inspect found.world.json                  the keys after a world that explore "
    "wrote\n"
    "  redouble inspect dump.rdb                          the largest keys of an RDB file, and "
    "the\n"
    "                                                     keys without TTL; also appendonlydir\n"
    "  redouble inspect dump.rdb --format page > x.html   the same as a page\n"
    "  redouble inspect --redis URI --bind status_prefix=task --format json\n"
    "  redouble inspect --redis URI --rules shop.json     with key families of your own\n"
    "  redouble inspect --redis URI?cluster=yes --layout cluster  the keys of a cluster\n"
    "\n"
    "Anomalies: keys of no family, keys of the wrong type, keys without the TTL that their\n"
    "family requires, and keys whose parent key is missing.\n"
    "Exit codes: 0 no anomaly, 1 anomalies or a server that fails, 2 bad usage, a missing or\n"
    "malformed file.";

struct InspectArguments {
  std::string file;
  std::string at;
  std::string redis_uri;
  KeyBindings bindings;
  std::vector<std::string> rules;  // Files.
  std::string layout = "documented";
  std::string format = "table";
  size_t listed = 20;
  CompatibilityOption compatibility;
  KeySelection selection;
};

// Prints the progress of the scan on the error stream, about twenty times at most.
class Progress {
 public:
  explicit Progress(std::ostream& stream) : stream_(stream) {}

  void Tell(int64_t read, int64_t total) {
    constexpr int64_t kTimes = 20;
    if (read < next_) return;
    next_ = read + std::max<int64_t>(1, total / kTimes);
    stream_ << "redouble inspect: " << read << " of " << total << " keys" << std::endl;
  }

 private:
  std::ostream& stream_;
  int64_t next_ = 0;
};

class InspectCommand {
 public:
  InspectCommand(const InspectArguments& arguments, const ProgramContext& context)
      : arguments_(arguments), context_(context) {}

  int Run() {
    absl::StatusOr<RuleTable> table = MakeTable();
    if (!table.ok()) return Fail(table.status(), kExitBadUsage);
    table_.emplace(*std::move(table));
    const bool is_data = !arguments_.file.empty() && IsDataFile(context_.folder / arguments_.file);
    const bool is_page = is_data && arguments_.format == "page";
    if (arguments_.format != "table" && arguments_.format != "json" && !is_page) {
      return Fail(absl::InvalidArgumentError(
                      absl::StrCat("--format: unknown format \"", arguments_.format,
                                   "\"; known: table, json", is_data ? ", page" : "")),
                  kExitBadUsage);
    }
    if (arguments_.file.empty() == arguments_.redis_uri.empty()) {
      return Fail(absl::InvalidArgumentError("expected a scenario's file, or --redis URI"),
                  kExitBadUsage);
    }
    if (!is_data && !arguments_.selection.empty()) {
      return Fail(absl::InvalidArgumentError("--pattern and --family need an RDB file or a log"),
                  kExitBadUsage);
    }
    return arguments_.file.empty() ? InspectLive() : InspectFile();
  }

 private:
  int Fail(const absl::Status& status, int code) {
    context_.err << "redouble inspect: " << status.message() << "\n";
    return code;
  }

  absl::StatusOr<RuleTable> MakeTable() {
    const absl::StatusOr<store::KeyLayout> layout = store::ParseKeyLayout(arguments_.layout);
    if (!layout.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--layout: ", layout.status().message()));
    }
    REDOUBLE_ASSIGN_OR_RETURN(const std::vector<store::KeyBinding> bindings,
                              arguments_.bindings.Parse());
    // Rules of the user come first: the first family that a key matches is its family.
    std::vector<store::KeyRules> systems;
    for (const std::string& name : arguments_.rules) {
      REDOUBLE_ASSIGN_OR_RETURN(RulesFile file, ReadRulesFile(context_.folder / name, name));
      rules_files_.push_back(std::move(file));
      systems.push_back(rules_files_.back().rules());
    }
    for (const store::KeyRules& rules : context_.systems.KeyRules(*layout))
      systems.push_back(rules);
    return RuleTable::Create(systems, bindings);
  }

  int InspectLive() {
    const absl::StatusOr<redis::Options> options = redis::Options::Parse(arguments_.redis_uri);
    if (!options.ok()) return Fail(options.status(), kExitBadUsage);
    absl::StatusOr<std::unique_ptr<redis::SyncStore>> store = redis::SyncStore::Connect(*options);
    if (!store.ok()) return Fail(store.status(), kExitFailed);
    return Inspect(**store);
  }

  int InspectFile() {
    const std::filesystem::path path = context_.folder / arguments_.file;
    if (IsDataFile(path)) return InspectData(path);
    const absl::StatusOr<std::string> text = ReadFile(path);
    if (!text.ok()) {
      return Fail(
          absl::UnavailableError(absl::StrCat(arguments_.file, ": ", text.status().message())),
          kExitBadUsage);
    }
    absl::Time at = absl::InfiniteFuture();
    if (!arguments_.at.empty()) {
      const absl::StatusOr<absl::Time> parsed = base::ParseRfc3339(arguments_.at);
      if (!parsed.ok()) {
        return Fail(
            absl::InvalidArgumentError(absl::StrCat(
                "--at: expected a moment as 2026-05-09T14:03:59Z, got \"", arguments_.at, "\"")),
            kExitBadUsage);
      }
      at = *parsed;
    }
    return IsWorldFile(*text) ? InspectWorld(*text, at) : InspectScenario(*text, at);
  }

  // The keys of a copy of a database, as they were when it was written.
  int InspectData(const std::filesystem::path& path) {
    // At the epoch no key has expired.
    base::VirtualClock clock(absl::UnixEpoch());
    memory::EngineOptions options;
    options.compatibility = arguments_.compatibility.version().value_or(options.compatibility);
    memory::Engine engine(clock, options);
    const absl::StatusOr<memory::KeyFilter> keeps = arguments_.selection.Filter(*table_);
    if (!keeps.ok()) return Fail(keeps.status(), kExitBadUsage);
    const auto lines = LoadDataFile(path, {.keeps = *keeps}, engine, context_);
    if (!lines.ok()) return Fail(lines.status(), kExitFailed);
    for (const std::string& line : *lines) context_.err << "redouble inspect: " << line << "\n";
    const DataProfile profile =
        ProfileOf(engine, {.listed = arguments_.listed, .now = LastWriteOf(path)});
    if (arguments_.format == "json") {
      context_.out << ProfileJson(profile);
    } else if (arguments_.format == "page") {
      context_.out << ProfilePage(profile, path.filename().string());
    } else {
      context_.out << ProfileTable(profile);
    }
    return kExitPassed;
  }

  int InspectScenario(const std::string& text, absl::Time at) {
    const absl::StatusOr<Scenario> scenario =
        ParseScenario(text, arguments_.file, context_.systems.operations());
    if (!scenario.ok()) return Fail(scenario.status(), kExitBadUsage);
    if (at < scenario->start) return Fail(BeforeStart(scenario->start), kExitBadUsage);
    MemoryBackend backend;
    RunOptions options;
    options.until = at;
    const ScenarioResult result = RunScenario(*scenario, backend, options);
    if (result.failure) {
      context_.err << "redouble inspect: " << result.failure->ToString(*scenario);
    } else if (at != absl::InfiniteFuture() && !result.stopped) {
      // The scenario has ended; its keys continue to expire until `at`.
      static_cast<void>(backend.AdvanceTo(at));
    }
    const absl::StatusOr<std::unique_ptr<store::Store>> connection = backend.Connect();
    if (!connection.ok()) return Fail(connection.status(), kExitFailed);
    return Inspect(**connection);
  }

  int InspectWorld(const std::string& text, absl::Time at) {
    const absl::StatusOr<WorldFile> file =
        ParseWorldFile(text, arguments_.file, context_.systems.operations());
    if (!file.ok()) return Fail(file.status(), kExitBadUsage);
    if (!file->violation) {
      return Fail(
          absl::InvalidArgumentError(absl::StrCat(
              arguments_.file, ": a world without a schedule; redouble explore looks for one")),
          kExitBadUsage);
    }
    if (at < file->start) return Fail(BeforeStart(file->start), kExitBadUsage);
    const RecordedViolation& violation = *file->violation;
    const WorldExperiment experiment(*file,
                                     {.hardened = violation.hardened, .swarm = violation.swarm});
    RecordedDecisions decisions(violation.decisions);
    World world(WorldOptionsOf(experiment.Options(), violation.seed, decisions));
    experiment.experiment()(world);
    world.Run({.max_steps = experiment.Options().limits.max_steps, .until = at});
    if (at != absl::InfiniteFuture()) world.clock().AdvanceTo(at);
    return Inspect(*world.Connect());
  }

  absl::Status BeforeStart(absl::Time start) const {
    return absl::InvalidArgumentError(absl::StrCat("--at ", arguments_.at, ": ", arguments_.file,
                                                   " begins at ", base::FormatRfc3339(start)));
  }

  int Inspect(store::Store& store) {
    Progress progress(context_.err);
    InspectOptions options;
    options.listed_anomalies = arguments_.listed;
    options.progress = [&progress](int64_t read, int64_t total) { progress.Tell(read, total); };
    const absl::StatusOr<Inspection> found =
        base::Run(InspectKeys(store, *table_, std::move(options)));
    if (!found.ok()) return Fail(found.status(), kExitFailed);
    context_.out << (arguments_.format == "json" ? InspectionJson(*found)
                                                 : InspectionTable(*found));
    return found->has_anomalies() ? kExitFailed : kExitPassed;
  }

  const InspectArguments& arguments_;
  const ProgramContext& context_;
  std::vector<RulesFile> rules_files_;
  std::optional<RuleTable> table_;
};

}  // namespace

std::function<int()> AddInspect(CLI::App& app, const ProgramContext& context) {
  const auto arguments = std::make_shared<InspectArguments>();
  app.footer(kFooter);
  CLI::Option* file = app.add_option(
      "FILE", arguments->file,
      "A scenario, a world with its violation, an RDB file, or the folder of an append-only log");
  app.add_option("--redis", arguments->redis_uri,
                 "The database to read: redis://[user:password@]host[:port][/db][?cluster=yes] or "
                 "unix:///path")
      ->excludes(file);
  app.add_option("--at", arguments->at, "Stop the scenario at this time")->needs(file);
  arguments->bindings.AddOption(app);
  app.add_option(
      "--rules", arguments->rules,
      "A file with the key families of a system of your own; may be given several times");
  arguments->selection.AddOptions(app);
  app.add_option("--layout", arguments->layout,
                 "The layout of the keys: documented (default) or cluster");
  arguments->compatibility.AddTo(
      app,
      "The version of Redis or Valkey that wrote the RDB file or the log, redis-7.0 by default");
  app.add_option("--format", arguments->format,
                 "table (default) or json; page for an RDB file or a log");
  app.add_option("--limit", arguments->listed,
                 "The maximum number of anomalies of each kind, and of largest keys");
  return [arguments, &context] { return InspectCommand(*arguments, context).Run(); };
}

}  // namespace redouble::inline v0_1::sim
