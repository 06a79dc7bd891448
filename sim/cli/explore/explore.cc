#include "redouble/sim/cli/explore/explore.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/cli/explore/catalogue.h"
#include "redouble/sim/cli/support/processes.h"
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/world_file/world_experiment.h"
#include "redouble/sim/world_file/world_file.h"

namespace redouble::sim {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble explore world.json                        20,000 schedules, until one breaks an\n"
    "                                                     invariant; that one is shrunk\n"
    "  redouble explore world.json --out found.json       and written, for redouble replay\n"
    "  redouble explore world.json --seed 17 --schedules 1\n"
    "  redouble explore world.json --hardened             with the options that remove the hazard\n"
    "  redouble explore world.json --exhaustive           every schedule, for a small world\n"
    "  redouble explore scenarios/hazards --catalogue\n"
    "      scenarios/hazards/README.md                    finds every hazard, and none when it is\n"
    "                                                     hardened; writes the table\n"
    "\n"
    "The format of world files: scenarios/hazards/README.md.\n"
    "Exit codes: 0 nothing found (--catalogue: all as it should be), 1 something found, 2 bad\n"
    "usage, a missing or malformed file.";

// The number of schedules that one process runs.
constexpr int64_t kChunk = 1000;
// The maximum number of schedules for each step of shrinking a world file.
constexpr int64_t kShrinkingSchedules = 300;

struct Options {
  std::vector<std::string> files;
  int64_t schedules = 20'000;
  uint64_t seed = 1;
  int jobs = 2;
  bool hardened = false;
  bool swarm = false;
  bool exhaustive = false;
  bool all = false;
  std::string out;
  std::string catalogue;
};

// The combined results of all processes that explore one world.
struct Finding {
  int64_t schedules = 0;
  int64_t violations = 0;
  bool complete = false;  // All schedules were run.
  std::optional<Violation> first;
  std::map<std::string, int64_t> probes;  // The number of schedules that reached each probe.
};

Json ToJson(const Exploration& exploration) {
  Json json{{"schedules", exploration.schedules}, {"violations", exploration.violations}};
  json["complete"] = exploration.complete;
  if (exploration.violation) json["seed"] = exploration.violation->seed;
  json["probes"] = exploration.probes;
  return json;
}

class WorldExplorer {
 public:
  WorldExplorer(const WorldFile& world, const Options& options, WorldVariant variant)
      : options_(options), variant_(variant), experiment_(world, variant) {}

  absl::StatusOr<Finding> Run() {
    Finding finding;
    const int64_t chunks = (options_.schedules + kChunk - 1) / kChunk;
    // An exhaustive search depends on its own history, so it runs in one process.
    const bool is_one = options_.exhaustive;
    std::map<size_t, Json> results;
    const absl::Status status = RunInProcesses(
        is_one ? 1 : static_cast<size_t>(chunks), options_.jobs,
        [&](size_t chunk) {
          return ToJson(Explore(experiment_.experiment(), Chunk(chunk))).dump();
        },
        [&](size_t chunk, const std::string& text) {
          const Json& result = results[chunk] = *ParseStrictJson(text);
          return result.contains("seed") && !options_.all;
        });
    REDOUBLE_RETURN_IF_ERROR(status);
    const std::optional<uint64_t> seed = Add(results, finding);
    if (seed) finding.first = FindAgain(*seed);
    return finding;
  }

 private:
  // Adds the results of the chunks up to the first violation, or all of them if violations are
  // counted: how many chunks after it have run depends on the processes. Returns the seed of that
  // violation.
  std::optional<uint64_t> Add(const std::map<size_t, Json>& results, Finding& finding) const {
    std::optional<uint64_t> seed;
    for (const auto& [chunk, result] : results) {
      finding.schedules += result["schedules"].get<int64_t>();
      finding.violations += result["violations"].get<int64_t>();
      finding.complete = result["complete"].get<bool>();
      for (const auto& [name, count] : result["probes"].items()) {
        finding.probes[name] += count.get<int64_t>();
      }
      if (!result.contains("seed")) continue;
      if (!seed) seed = result["seed"].get<uint64_t>();
      if (!options_.all) break;
    }
    return seed;
  }

  ExploreOptions Chunk(size_t chunk) const {
    const auto first = static_cast<int64_t>(chunk) * kChunk;
    ExploreOptions options = experiment_.Options();
    options.stop_at_first = !options_.all;
    options.shrinking_runs = 0;
    options.first_seed = options_.seed + static_cast<uint64_t>(first);
    options.schedules = std::min(kChunk, options_.schedules - first);
    if (options_.exhaustive) {
      options.strategy = Strategy::kExhaustive;
      options.schedules = options_.schedules;
    }
    return options;
  }

  // Returns the first violation, shrunk.
  Violation FindAgain(uint64_t seed) const {
    ExploreOptions options = Chunk(0);
    options.shrinking_runs = ExploreOptions().shrinking_runs;
    if (!options_.exhaustive) {
      options.first_seed = seed;
      options.schedules = 1;
    }
    return *Explore(experiment_.experiment(), options).violation;
  }

  const Options& options_;
  const WorldVariant variant_;
  const WorldExperiment experiment_;
};

size_t Preemptions(const Violation& violation) {
  const std::vector<uint32_t>& decisions = violation.decisions;
  return decisions.size() - static_cast<size_t>(std::count(decisions.begin(), decisions.end(), 0u));
}

class ExploreCommand {
 public:
  ExploreCommand(const Options& options, const ProgramContext& context)
      : options_(options), context_(context), catalogue_(context.folder, options.catalogue) {}

  int Run() {
    const absl::StatusOr<std::vector<ScenarioFile>> files =
        FindScenarioFiles(options_.files, context_, ScenarioFileKind::kWorld);
    if (!files.ok()) return Fail(files.status());
    std::vector<WorldFile> worlds;
    for (const ScenarioFile& file : *files) {
      const absl::StatusOr<std::string> text = ReadFile(file.path);
      if (!text.ok()) return Fail(text.status());
      absl::StatusOr<WorldFile> world = ParseWorldFile(*text, file.name, AllSystems());
      if (!world.ok()) return Fail(world.status());
      worlds.push_back(*std::move(world));
    }
    if (!options_.out.empty() && worlds.size() > 1) {
      return Fail(absl::InvalidArgumentError("--out takes one world at a time"));
    }
    for (const WorldFile& world : worlds) {
      if (absl::Status status = RunOne(world); !status.ok()) return Fail(status);
    }
    return Finish(worlds.size());
  }

 private:
  int Fail(const absl::Status& status) {
    context_.err << "redouble explore: " << status.message() << "\n";
    return kExitBadUsage;
  }

  absl::Status RunOne(const WorldFile& world) {
    const WorldVariant variant{.hardened = options_.hardened, .swarm = options_.swarm};
    REDOUBLE_ASSIGN_OR_RETURN(const Finding finding, Explore(world, variant));
    found_ += finding.first.has_value() ? 1 : 0;
    if (finding.first && !options_.out.empty()) {
      REDOUBLE_RETURN_IF_ERROR(Write(world, *finding.first, variant));
    }
    if (options_.catalogue.empty()) return absl::OkStatus();
    return AddRow(world, finding);
  }

  absl::StatusOr<Finding> Explore(const WorldFile& world, WorldVariant variant) {
    REDOUBLE_ASSIGN_OR_RETURN(Finding finding, WorldExplorer(world, options_, variant).Run());
    context_.out << absl::StreamFormat("%s %s%s  %d schedules", finding.first ? "FOUND" : "NONE ",
                                       world.file, variant.hardened ? " (hardened)" : "",
                                       finding.schedules);
    if (options_.all) context_.out << ", " << finding.violations << " violations";
    if (options_.exhaustive && !finding.first) {
      context_.out << (finding.complete ? ", complete"
                                        : ", incomplete: --schedules allows no more");
    }
    context_.out << std::endl;
    for (const auto& [name, count] : finding.probes) {
      context_.out << "  probe \"" << name << "\" reached in " << count << " schedules"
                   << std::endl;
    }
    if (finding.first) PrintViolation(world, *finding.first, variant);
    return finding;
  }

  void PrintViolation(const WorldFile& world, const Violation& violation, WorldVariant variant) {
    context_.out << "  " << violation.status.message() << "\n"
                 << absl::StreamFormat("  %d steps, %d decisions that are not quiet, trace %s\n",
                                       violation.steps, Preemptions(violation),
                                       violation.trace_hash.substr(0, 16))
                 << "  again: redouble explore " << world.file << " --seed " << violation.seed
                 << " --schedules 1" << (variant.hardened ? " --hardened" : "")
                 << (variant.swarm ? " --swarm" : "")
                 << (options_.exhaustive ? " --exhaustive" : "") << std::endl;
  }

  // Writes the smallest world that still has the violation, with the violation.
  absl::Status Write(const WorldFile& world, const Violation& violation, WorldVariant variant) {
    const std::string invariant(BrokenInvariant(violation.status));
    const WorldFile smaller =
        ShrinkWorld(world, variant, invariant, kShrinkingSchedules, AllSystems());
    const WorldExperiment experiment(smaller, variant);
    const Exploration again = sim::Explore(experiment.experiment(),
                                           experiment.Options({.schedules = options_.schedules}));
    const bool is_smaller =
        again.violation && BrokenInvariant(again.violation->status) == invariant;
    const std::string text = is_smaller ? WithViolation(smaller, Record(*again.violation, variant))
                                        : WithViolation(world, Record(violation, variant));
    std::ofstream file(context_.folder / options_.out, std::ios::binary);
    file << text;
    file.close();
    if (!file) return absl::UnavailableError(absl::StrCat(options_.out, ": cannot be written"));
    context_.out << "  written: redouble replay " << options_.out << std::endl;
    return absl::OkStatus();
  }

  absl::Status AddRow(const WorldFile& world, const Finding& finding) {
    std::string hardened = "no option";
    bool is_clean = true;
    if (world.has_remedy()) {
      REDOUBLE_ASSIGN_OR_RETURN(const Finding clean,
                                Explore(world, {.hardened = true, .swarm = false}));
      is_clean = !clean.first.has_value();
      hardened = is_clean ? absl::StrCat("none in ", clean.schedules)
                          : absl::StrCat("FOUND after ", clean.schedules);
    }
    if (!finding.first || !is_clean) ++wrong_;
    catalogue_.Add({.name = world.name,
                    .file = world.file,
                    .source = world.source,
                    .schedules = finding.first ? absl::StrCat(finding.schedules) : "not found",
                    .shortest = finding.first
                                    ? absl::StrCat(finding.first->steps, " steps, ",
                                                   Preemptions(*finding.first), " decisions")
                                    : "",
                    .hardened = hardened});
    return absl::OkStatus();
  }

  int Finish(size_t worlds) {
    context_.out << worlds << " worlds, " << found_ << " with a violation" << std::endl;
    if (options_.catalogue.empty()) return found_ == 0 ? kExitPassed : kExitFailed;
    if (absl::Status status = catalogue_.Write(); !status.ok()) return Fail(status);
    return wrong_ == 0 ? kExitPassed : kExitFailed;
  }

  const Options& options_;
  const ProgramContext& context_;
  size_t found_ = 0;
  size_t wrong_ = 0;
  Catalogue catalogue_;
};

}  // namespace

std::function<int()> AddExplore(CLI::App& app, const ProgramContext& context) {
  const auto options = std::make_shared<Options>();
  app.footer(kFooter);
  app.add_option("FILES", options->files, "World files and folders")->required();
  app.add_option("--schedules", options->schedules, "How many schedules at most")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", options->seed, "The first seed; each schedule has the next");
  app.add_option("--jobs", options->jobs, "How many processes run at once")
      ->check(CLI::PositiveNumber);
  app.add_flag("--hardened", options->hardened, "With the options that remove the hazard");
  app.add_flag("--swarm", options->swarm, "Each schedule draws which faults it may suffer");
  app.add_flag("--exhaustive", options->exhaustive, "Every schedule, rather than seeds");
  app.add_flag("--all", options->all, "Count all violations rather than stop at the first");
  app.add_option("--out", options->out, "Write the shrunk world with its violation here");
  app.add_option("--catalogue", options->catalogue,
                 "The worlds are hazards: each must be found, and not when it is hardened; put the "
                 "table between the marks of this Markdown file");
  return [options, &context] { return ExploreCommand(*options, context).Run(); };
}

}  // namespace redouble::sim
