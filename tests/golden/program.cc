#include "redouble/tests/golden/program.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "CLI/Config.hpp"
#include "CLI/Error.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/cli/replay/live_backend.h"
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/tests/golden/domain_replay.h"
#include "redouble/tests/golden/domains.h"
#include "redouble/tests/golden/replay/golden.h"
#include "redouble/tests/golden/replay/outcome.h"
#include "redouble/tests/golden/replay/raw_replay.h"

namespace redouble::inline v0_1::golden {
namespace {

namespace fs = std::filesystem;
using sim::ProgramContext;
using sim::ScenarioFile;

constexpr char kDescription[] =
    "Replays goldens, which were recorded on a real Redis, on the embedded engine.";
constexpr char kFooter[] =
    "Modes: raw sends the recorded commands and compares replies and keyspace; domain runs the\n"
    "recorded operations through the system's own code and compares results, commands and "
    "keyspace.\n"
    "\n"
    "Examples:\n"
    "  bazel run //tests/golden:run -- --system gateway /data/goldens one.json\n"
    "  bazel run //tests/golden:run -- --system korvet --mode raw /data/korvet\n"
    "  bazel run //tests/golden:run -- --system korvet --mode raw --spawn-redis /data/korvet\n"
    "\n"
    "Exit codes: 0 all passed, 1 something failed, 2 bad usage (nothing was run).";

struct RunOptions {
  std::string system;
  std::string mode;
  std::vector<std::string> paths;
  bool spawn_redis = false;

  bool runs_raw() const { return mode != "domain"; }
  bool runs_domain() const { return mode != "raw"; }
};

// The outcomes of a file, with the name of each mode that ran.
using Outcomes = std::vector<std::pair<std::string_view, Outcome>>;

struct Totals {
  int passed = 0;
  int failed = 0;
  int skipped = 0;      // Files of which every mode was skipped.
  int raw_skipped = 0;  // Skipped raw replays, of all files.
  int domain_skipped = 0;
};

int BadUsage(const std::string& message, const ProgramContext& context) {
  context.err << "golden: " << message << "\n";
  return sim::kExitBadUsage;
}

std::string ModeToString(std::string_view mode, const Outcome& outcome) {
  const std::string note = outcome.note.empty() ? "" : absl::StrCat(" (", outcome.note, ")");
  switch (outcome.verdict) {
    case Outcome::Verdict::kPassed:
      return absl::StrCat(base::ToAbsl(mode), " PASS", note);
    case Outcome::Verdict::kFailed:
      return absl::StrCat(base::ToAbsl(mode), " FAIL", note);
    case Outcome::Verdict::kSkipped:
      break;
  }
  return absl::StrCat(base::ToAbsl(mode), ": ", outcome.note, " (SKIP)");
}

// Only a node of a cluster answers CLUSTER and refuses keys of several slots.
bool WasRecordedInCluster(const Golden& golden) {
  const auto is_of_node = [](const RecordedCommand& command) {
    if (!command.reply) return false;
    const std::string error =
        command.reply->is_object() ? command.reply->value("error", std::string()) : "";
    if (error.starts_with("CROSSSLOT")) return true;
    return absl::AsciiStrToUpper(command.words.front()) == "CLUSTER" && error.empty();
  };
  return std::any_of(golden.steps.begin(), golden.steps.end(), [&](const RecordedStep& step) {
    return std::any_of(step.commands.begin(), step.commands.end(), is_of_node);
  });
}

class Run {
 public:
  Run(System system, const RunOptions& options, sim::ScenarioBackend& backend,
      const ProgramContext& context)
      : system_(system),
        options_(options),
        backend_(backend),
        context_(context),
        domain_(DomainOf(system)) {}

  void RunFile(const ScenarioFile& file) {
    const absl::StatusOr<Golden> golden = Read(file);
    if (!golden.ok()) {
      ++totals_.failed;
      context_.out << file.name << ": FAIL\n  no golden of " << SystemName(system_) << ": "
                   << golden.status().message() << "\n";
      return;
    }
    sim::ScenarioBackend& backend = BackendFor(*golden);
    Outcomes outcomes;
    if (options_.runs_raw()) outcomes.emplace_back("raw", ReplayRaw(*golden, backend));
    if (options_.runs_domain()) {
      outcomes.emplace_back("domain", ReplayByDomain(*golden, backend));
    }
    Print(file, outcomes);
    Count(outcomes);
  }

  int Finish() {
    for (const auto& [mode, skipped] :
         {std::pair{"raw", totals_.raw_skipped}, std::pair{"domain", totals_.domain_skipped}}) {
      if (skipped > 0) context_.out << mode << " skipped for " << skipped << " files\n";
    }
    if (totals_.skipped > 0) {
      context_.out << totals_.skipped << " files neither passed nor failed\n";
    }
    context_.out << totals_.passed << " passed, " << totals_.failed << " failed\n";
    return totals_.failed == 0 && totals_.passed > 0 ? sim::kExitPassed : sim::kExitFailed;
  }

 private:
  Outcome ReplayByDomain(const Golden& golden, sim::ScenarioBackend& backend) const {
    if (domain_.substitute) return ReplayRaw(golden, backend, domain_.substitute);
    return ReplayDomain(golden, domain_, backend);
  }

  sim::ScenarioBackend& BackendFor(const Golden& golden) {
    return WasRecordedInCluster(golden) ? node_ : backend_;
  }

  static memory::EngineOptions NodeOptions() {
    memory::EngineOptions options;
    options.cluster = memory::ClusterOptions();
    return options;
  }

  absl::StatusOr<Golden> Read(const ScenarioFile& file) {
    REDOUBLE_ASSIGN_OR_RETURN(const std::string text, sim::ReadFile(file.path));
    REDOUBLE_ASSIGN_OR_RETURN(const Scripts scripts, ReadScripts(file.path.parent_path()));
    return ParseGolden(text, file.name, system_, scripts);
  }

  // Reads the scripts beside the goldens; empty if the file does not exist.
  static absl::StatusOr<Scripts> ReadScripts(const fs::path& folder) {
    const fs::path path = folder / kScriptsFile;
    std::error_code error;
    if (!fs::exists(path, error)) return Scripts();
    const absl::StatusOr<std::string> text = sim::ReadFile(path);
    absl::StatusOr<Scripts> scripts = text.ok() ? ParseScripts(*text) : text.status();
    if (scripts.ok()) return scripts;
    return absl::InvalidArgumentError(
        absl::StrCat(base::ToAbsl(kScriptsFile), ": ", scripts.status().message()));
  }

  void Print(const ScenarioFile& file, const Outcomes& outcomes) {
    context_.out << file.name << ":";
    std::string_view separator = " ";
    for (const auto& [mode, outcome] : outcomes) {
      context_.out << separator << ModeToString(mode, outcome);
      separator = ", ";
    }
    context_.out << "\n";
    for (const auto& [mode, outcome] : outcomes) {
      if (!outcome.difference) continue;
      context_.out << "  " << mode << ": " << outcome.difference->ToString() << "\n";
    }
  }

  void Count(const Outcomes& outcomes) {
    const auto any = [&](Outcome::Verdict verdict) {
      return std::any_of(outcomes.begin(), outcomes.end(),
                         [&](const auto& entry) { return entry.second.verdict == verdict; });
    };
    if (any(Outcome::Verdict::kFailed)) {
      ++totals_.failed;
    } else if (any(Outcome::Verdict::kPassed)) {
      ++totals_.passed;
    } else {
      ++totals_.skipped;
    }
    for (const auto& [mode, outcome] : outcomes) {
      if (outcome.verdict != Outcome::Verdict::kSkipped) continue;
      ++(mode == "raw" ? totals_.raw_skipped : totals_.domain_skipped);
    }
  }

  const System system_;
  const RunOptions& options_;
  sim::ScenarioBackend& backend_;
  sim::MemoryBackend node_{NodeOptions()};  // A node of a cluster.
  const ProgramContext& context_;
  const Domain domain_;
  Totals totals_;
};

absl::StatusOr<std::unique_ptr<sim::ScenarioBackend>> MakeBackend(const RunOptions& options) {
  if (options.spawn_redis) return sim::SpawnedBackend::Start();
  return std::make_unique<sim::MemoryBackend>();
}

// The scripts beside the orchestrator's goldens are not goldens.
bool IsScripts(const ScenarioFile& file) { return file.path.filename() == kScriptsFile; }

int RunAll(const RunOptions& options, const ProgramContext& context) {
  const std::optional<System> system = FindSystem(options.system);
  if (!system) {
    return BadUsage(absl::StrCat("--system: ", options.system, " is none of ", SystemNames()),
                    context);
  }
  absl::StatusOr<std::vector<ScenarioFile>> files = sim::FindScenarioFiles(options.paths, context);
  if (!files.ok()) return BadUsage(std::string(files.status().message()), context);
  if (*system == System::kOrchestrator) std::erase_if(*files, IsScripts);
  if (files->empty()) return BadUsage("no goldens beside the scripts", context);
  absl::StatusOr<std::unique_ptr<sim::ScenarioBackend>> backend = MakeBackend(options);
  if (!backend.ok()) {
    context.err << "golden: " << backend.status().message() << "\n";
    return sim::kExitFailed;
  }
  Run run(*system, options, **backend, context);
  for (const ScenarioFile& file : *files) run.RunFile(file);
  return run.Finish();
}

}  // namespace

int RunGoldens(std::vector<std::string> arguments, const ProgramContext& context) {
  try {
    RunOptions options;
    CLI::App app(kDescription, "golden");
    app.footer(kFooter);
    app.add_option("--system", options.system, SystemNames())->required();
    app.add_option("--mode", options.mode, "raw or domain; both unless given")
        ->check(CLI::IsMember({"raw", "domain"}));
    app.add_flag("--spawn-redis", options.spawn_redis,
                 "On a redis-server of its own instead of the embedded engine");
    app.add_option("PATH", options.paths, "Goldens, and folders of them")->required();
    try {
      // CLI11 takes the arguments in reverse order.
      std::reverse(arguments.begin(), arguments.end());
      app.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
      return app.exit(error, context.out, context.err) == 0 ? sim::kExitPassed : sim::kExitBadUsage;
    }
    return RunAll(options, context);
  } catch (const std::exception& error) {
    // Out of memory, or an error of the file system.
    context.err << "golden: " << error.what() << "\n";
    return sim::kExitFailed;
  }
}

}  // namespace redouble::inline v0_1::golden
