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
#include "absl/strings/str_replace.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/system_clock.h"
#include "redouble/sim/cli/explore/catalogue.h"
#include "redouble/sim/cli/programs/program_operations.h"
#include "redouble/sim/cli/programs/program_world.h"
#include "redouble/sim/cli/support/processes.h"
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/explore/schedule.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/recording/interleaving.h"
#include "redouble/sim/recording/recording.h"
#include "redouble/sim/world_file/world_experiment.h"
#include "redouble/sim/world_file/world_file.h"
#include "redouble/sim/world_file/world_survey.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble explore world.json                        up to 20,000 schedules, until one "
    "breaks\n"
    "                                                     an invariant; that schedule is shrunk\n"
    "  redouble explore world.json --out found.json       the same, and writes it to a file for\n"
    "                                                     redouble replay\n"
    "  redouble explore world.json --schedule 1:0,0,1     only this schedule\n"
    "  redouble explore world.json --hardened             with the options that remove the hazard\n"
    "  redouble explore world.json --exhaustive           all schedules of a small world, those "
    "with\n"
    "                                                     the fewest preemptions first\n"
    "  redouble explore world.json --strategy walk        another search: docs/finding_a_race.md\n"
    "  redouble explore world.json --seconds 60           starts no schedule after a minute\n"
    "  redouble explore --program 'python3 a.py' --program 'python3 b.py' --setup 'SET n 0'\n"
    "                                                     two programs in any language, which "
    "find\n"
    "                                                     the server in REDIS_URL: is there an "
    "order\n"
    "                                                     of their commands that leaves other "
    "keys\n"
    "                                                     than one program after the other?\n"
    "  redouble explore scenarios/hazards --catalogue\n"
    "      scenarios/hazards/README.md                    checks that each hazard is found, is "
    "absent\n"
    "                                                     in some schedule and with --hardened; "
    "writes\n"
    "                                                     the tables\n"
    "\n"
    "The format of world files: scenarios/hazards/README.md.\n"
    "Exit codes: 0 no violation (--catalogue: all worlds as expected), 1 a violation, 2 bad usage, "
    "a\n"
    "missing or malformed file, or a world that is wrong: its setup, a command or an invariant\n"
    "returns an error, or a fault matches no request.";

// The number of schedules that one process runs.
constexpr int64_t kChunk = 1000;
// The number of schedules by default, and for a world that starts programs in each of them.
constexpr int64_t kSchedules = 20'000;
constexpr int64_t kProgramSchedules = 500;
// The maximum number of schedules for each step of shrinking a world file.
constexpr int64_t kShrinkingSchedules = 300;

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> programs;
  std::vector<std::string> setup;
  std::optional<int64_t> schedules;
  uint64_t seed = 1;
  int jobs = 2;
  bool hardened = false;
  bool swarm = false;
  bool exhaustive = false;
  std::string strategy = "combined";
  std::string schedule;  // The one to run; empty: search.
  int64_t seconds = 0;   // No limit if 0.
  bool all = false;
  std::string out;
  std::string catalogue;
};

// The combined results of all processes that explore one world.
struct Finding {
  int64_t schedules = 0;
  int64_t violations = 0;
  bool complete = false;    // All schedules were run.
  int complete_bound = -1;  // All schedules with up to so many preemptions were run.
  bool depends_on_seed = false;
  std::optional<Violation> first;
  std::map<std::string, int64_t> probes;  // The number of schedules that reached each probe.
  Exploration matches;                    // Only the schedules, and the matches of faults.
};

Json ToJson(const Exploration& exploration) {
  Json json{{"schedules", exploration.schedules}, {"violations", exploration.violations}};
  json["complete"] = exploration.complete;
  json["complete_bound"] = exploration.complete_bound;
  json["depends_on_seed"] = exploration.depends_on_seed;
  if (exploration.violation) {
    json["seed"] = exploration.violation->seed;
    json["decisions"] = exploration.violation->decisions;
  }
  json["probes"] = exploration.probes;
  json["fault_matches"] = exploration.fault_matches;
  if (!exploration.mistake.ok()) json["mistake"] = std::string(exploration.mistake.message());
  return json;
}

Strategy StrategyNamed(std::string_view name) {
  for (const StrategyName& row : AllStrategies()) {
    if (row.name == name) return row.strategy;
  }
  return Strategy::kCombined;
}

bool HasPrograms(const WorldFile& world) { return world.system == kProgramSystem; }

int64_t SchedulesOf(const Options& options, const WorldFile& world) {
  return options.schedules.value_or(HasPrograms(world) ? kProgramSchedules : kSchedules);
}

class WorldExplorer {
 public:
  WorldExplorer(const WorldFile& world, const Options& options, WorldVariant variant)
      : options_(options),
        schedules_(SchedulesOf(options, world)),
        has_programs_(HasPrograms(world)),
        variant_(variant),
        experiment_(world, variant) {}

  // Runs one schedule.
  absl::StatusOr<Finding> RunOne(const Schedule& schedule) const {
    const RunOutcome outcome =
        Replay(experiment_.experiment(), experiment_.Options(), schedule.seed, schedule.decisions);
    REDOUBLE_RETURN_IF_ERROR(outcome.mistake);
    Finding finding;
    finding.schedules = 1;
    for (const auto& [name, reached] : outcome.probes) finding.probes[name] = reached ? 1 : 0;
    if (outcome.violation.ok()) return finding;
    finding.violations = 1;
    finding.first = ViolationOf(schedule.seed, schedule.decisions, outcome);
    return finding;
  }

  // The trace of a violation, one line for each event.
  std::string InterleavingOf(const Violation& violation) const {
    return InterleavingTable(RecordExperiment(experiment_.experiment(), experiment_.Options(),
                                              violation.seed, violation.decisions));
  }

  absl::StatusOr<Finding> Run() {
    if (has_programs_) REDOUBLE_RETURN_IF_ERROR(CheckRepeats());
    Finding finding;
    const std::vector<ExploreOptions> chunks = Chunks();
    std::map<size_t, Json> results;
    const absl::Status status = RunInProcesses(
        chunks.size(), options_.jobs,
        [&](size_t chunk) {
          return ToJson(Explore(experiment_.experiment(), chunks[chunk])).dump();
        },
        [&](size_t chunk, const std::string& text) {
          const Json& result = results[chunk] = *ParseStrictJson(text);
          return IsLast(result);
        });
    REDOUBLE_RETURN_IF_ERROR(status);
    const Json* violation = Add(results, finding);
    for (const auto& [chunk, result] : results) {
      if (!result.contains("mistake")) continue;
      return absl::InvalidArgumentError(result["mistake"].get_ref<const std::string&>());
    }
    if (violation != nullptr) {
      REDOUBLE_ASSIGN_OR_RETURN(finding.first, ShrinkOne(*violation));
    } else if (!variant_.swarm && experiment_.Options().faults_must_match) {
      REDOUBLE_RETURN_IF_ERROR(CheckFaultMatches(experiment_.Options(), finding.matches));
    }
    return finding;
  }

 private:
  std::vector<std::string> TraceOfQuietSchedule() const {
    std::vector<std::string> lines;
    (void)Replay(experiment_.experiment(), experiment_.Options(), options_.seed, {},
                 [&](std::string_view line) { lines.emplace_back(line); });
    return lines;
  }

  // Programs that have threads, or that use the time or random numbers, do not repeat themselves;
  // then no schedule can be repeated.
  absl::Status CheckRepeats() const {
    std::vector<std::string> first = TraceOfQuietSchedule();
    std::vector<std::string> second = TraceOfQuietSchedule();
    if (first == second) return absl::OkStatus();
    first.emplace_back("the end");
    second.emplace_back("the end");
    const auto [one, other] = std::mismatch(first.begin(), first.end(), second.begin());
    return absl::InvalidArgumentError(
        absl::StrCat("the programs do not repeat themselves. In two runs of one schedule, event ",
                     one - first.begin() + 1, " is\n  ", *one, "\n  ", *other));
  }

  // The results of later chunks are of no use.
  bool IsLast(const Json& result) const {
    const bool is_complete =
        result["complete"].get<bool>() && !result["depends_on_seed"].get<bool>();
    return result.contains("mistake") || is_complete || (result.contains("seed") && !options_.all);
  }

  // Adds the results of the chunks up to the last one of use: how many chunks after it have run
  // depends on the processes. Returns the result with the first violation; null if there is none.
  const Json* Add(const std::map<size_t, Json>& results, Finding& finding) const {
    const Json* violation = nullptr;
    for (const auto& [chunk, result] : results) {
      finding.schedules += result["schedules"].get<int64_t>();
      finding.violations += result["violations"].get<int64_t>();
      finding.complete = finding.complete || result["complete"].get<bool>();
      finding.depends_on_seed = finding.depends_on_seed || result["depends_on_seed"].get<bool>();
      finding.complete_bound =
          std::max(finding.complete_bound, result["complete_bound"].get<int>());
      for (const auto& [name, count] : result["probes"].items()) {
        finding.probes[name] += count.get<int64_t>();
      }
      AddMatches(result["fault_matches"], finding.matches);
      if (violation == nullptr && result.contains("seed")) violation = &result;
      if (IsLast(result)) break;
    }
    finding.matches.schedules = finding.schedules;
    return violation;
  }

  static void AddMatches(const Json& matches, Exploration& sum) {
    sum.fault_matches.resize(std::max(sum.fault_matches.size(), matches.size()));
    for (size_t i = 0; i < matches.size(); ++i) sum.fault_matches[i] += matches[i].get<int64_t>();
  }

  // The parts of the search, each for one process. An exhaustive search depends on its own history,
  // so it is one part.
  std::vector<ExploreOptions> Chunks() const {
    Strategy strategy =
        options_.exhaustive ? Strategy::kExhaustive : StrategyNamed(options_.strategy);
    std::vector<ExploreOptions> chunks;
    int64_t first = 0;
    if (strategy == Strategy::kExhaustive || strategy == Strategy::kCombined) {
      const bool is_all = strategy == Strategy::kExhaustive;
      first = is_all ? schedules_ : (schedules_ + 1) / 2;
      chunks.push_back(Chunk(Strategy::kExhaustive, 0, first));
      strategy = Strategy::kMixed;
    }
    for (; first < schedules_; first += kChunk) {
      chunks.push_back(Chunk(strategy, first, std::min(kChunk, schedules_ - first)));
    }
    return chunks;
  }

  ExploreOptions Chunk(Strategy strategy, int64_t first, int64_t schedules) const {
    ExploreOptions options = experiment_.Options();
    options.strategy = strategy;
    options.stop_at_first = !options_.all;
    options.shrinking_runs = 0;
    options.faults_must_match = false;  // In all chunks together.
    options.first_seed = options_.seed + static_cast<uint64_t>(first);
    options.schedules = schedules;
    if (options_.seconds > 0) {
      options.is_over = [end = end_] { return base::SystemClock().Now() >= end; };
    }
    return options;
  }

  // Errors: InvalidArgument if the violation does not repeat itself.
  absl::StatusOr<Violation> ShrinkOne(const Json& result) const {
    const ExploreOptions options = experiment_.Options();
    const auto seed = result["seed"].get<uint64_t>();
    std::vector<uint32_t> decisions = result["decisions"].get<std::vector<uint32_t>>();
    const RunOutcome outcome = Replay(experiment_.experiment(), options, seed, decisions);
    if (outcome.violation.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "schedule ", Schedule{seed, decisions}.ToString(),
          " violates an invariant in one run and not in the next: the programs do not repeat "
          "themselves"));
    }
    return Shrink(experiment_.experiment(), options,
                  ViolationOf(seed, std::move(decisions), outcome));
  }

  static Violation ViolationOf(uint64_t seed, std::vector<uint32_t> decisions,
                               const RunOutcome& outcome) {
    return Violation{.seed = seed,
                     .decisions = std::move(decisions),
                     .status = outcome.violation,
                     .trace_hash = outcome.trace_hash,
                     .steps = outcome.steps};
  }

  const Options& options_;
  const int64_t schedules_;
  const bool has_programs_;
  const absl::Time end_ = base::SystemClock().Now() + absl::Seconds(options_.seconds);
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
    const absl::StatusOr<std::vector<WorldFile>> worlds = ReadWorlds();
    if (!worlds.ok()) return Fail(worlds.status());
    if (!options_.out.empty() && worlds->size() > 1) {
      return Fail(absl::InvalidArgumentError("--out takes one world at a time"));
    }
    for (const WorldFile& world : *worlds) {
      if (absl::Status status = RunOne(world); !status.ok()) {
        return Fail(absl::Status(status.code(), absl::StrCat(world.file, ": ", status.message())));
      }
    }
    return Finish(worlds->size());
  }

 private:
  absl::StatusOr<std::vector<WorldFile>> ReadWorlds() const {
    const SystemTable& systems = context_.systems.operations();
    std::vector<WorldFile> worlds;
    if (!options_.programs.empty()) {
      REDOUBLE_ASSIGN_OR_RETURN(const Json json, ProgramWorld(options_.programs, options_.setup));
      REDOUBLE_ASSIGN_OR_RETURN(worlds.emplace_back(),
                                ParseWorldFile(json.dump(), "programs", systems));
      return worlds;
    }
    REDOUBLE_ASSIGN_OR_RETURN(
        const std::vector<ScenarioFile> files,
        FindScenarioFiles(options_.files, context_, ScenarioFileKind::kWorld));
    for (const ScenarioFile& file : files) {
      REDOUBLE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file.path));
      REDOUBLE_ASSIGN_OR_RETURN(worlds.emplace_back(), ParseWorldFile(text, file.name, systems));
    }
    return worlds;
  }

  // The arguments that name the world in a shell.
  std::string ArgumentsOf(const WorldFile& world) const {
    if (options_.programs.empty()) return world.file;
    std::string arguments;
    for (const auto& [option, values] :
         {std::pair("--program", &options_.programs), std::pair("--setup", &options_.setup)}) {
      for (const std::string& value : *values) {
        absl::StrAppend(&arguments, arguments.empty() ? "" : " ", option, " '",
                        absl::StrReplaceAll(value, {{"'", "'\\''"}}), "'");
      }
    }
    return arguments;
  }

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
    WorldExplorer explorer(world, options_, variant);
    Finding finding;
    if (options_.schedule.empty()) {
      REDOUBLE_ASSIGN_OR_RETURN(finding, explorer.Run());
    } else {
      REDOUBLE_ASSIGN_OR_RETURN(const Schedule schedule, ParseSchedule(options_.schedule));
      REDOUBLE_ASSIGN_OR_RETURN(finding, explorer.RunOne(schedule));
    }
    context_.out << absl::StreamFormat("%s %s%s  %d schedules", finding.first ? "FOUND" : "NONE ",
                                       world.file, variant.hardened ? " (hardened)" : "",
                                       finding.schedules);
    if (options_.all) context_.out << ", " << finding.violations << " violations";
    if (!finding.first) context_.out << Completeness(finding);
    context_.out << std::endl;
    for (const auto& [name, count] : finding.probes) {
      context_.out << "  probe \"" << name << "\" reached in " << count << " schedules"
                   << std::endl;
    }
    if (finding.first) PrintViolation(world, explorer, *finding.first, variant);
    return finding;
  }

  std::string Completeness(const Finding& finding) const {
    const std::string seed =
        finding.depends_on_seed ? absl::StrCat(" for seed ", options_.seed) : "";
    if (finding.complete) return absl::StrCat(", complete", seed);
    if (finding.complete_bound < 0) return "";
    return absl::StrCat(", complete up to ", finding.complete_bound, " preemptions and faults",
                        seed);
  }

  void PrintViolation(const WorldFile& world, const WorldExplorer& explorer,
                      const Violation& violation, WorldVariant variant) {
    const Schedule schedule{violation.seed, violation.decisions};
    context_.out << "  " << violation.status.message() << "\n"
                 << explorer.InterleavingOf(violation)
                 << absl::StreamFormat("  %d steps, %d decisions that are not quiet, trace %s\n",
                                       violation.steps, Preemptions(violation),
                                       violation.trace_hash.substr(0, 16))
                 << "  again: redouble explore " << ArgumentsOf(world) << " --schedule "
                 << schedule.ToString() << (variant.hardened ? " --hardened" : "")
                 << (variant.swarm ? " --swarm" : "") << std::endl;
  }

  // Writes the smallest world that still has the violation, with the violation.
  absl::Status Write(const WorldFile& world, const Violation& violation, WorldVariant variant) {
    const WorldFile smaller = ShrinkWorld(world, variant, violation.cause, kShrinkingSchedules,
                                          context_.systems.operations());
    const WorldExperiment experiment(smaller, variant);
    const Exploration again = sim::Explore(
        experiment.experiment(), experiment.Options({.schedules = SchedulesOf(options_, world)}));
    const bool is_smaller = again.violation && HasSameCause(*again.violation, violation.cause);
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
      hardened =
          is_clean ? absl::StrCat("none in ", clean.schedules, clean.complete ? " (complete)" : "")
                   : absl::StrCat("FOUND after ", clean.schedules);
    }
    WorldSurvey survey = SurveyWorld(world, {});
    REDOUBLE_RETURN_IF_ERROR(survey.mistake);
    if (!survey.fewest && finding.first) {
      survey.fewest = static_cast<int>(Preemptions(*finding.first));
    }
    if (!survey.some_pass) {
      context_.out << "ALWAYS " << world.file << "  no schedule keeps the invariants" << std::endl;
    }
    if (!finding.first || !survey.some_pass || !is_clean) ++wrong_;
    catalogue_.Add({.name = world.name,
                    .file = world.file,
                    .source = world.source,
                    .survey = std::move(survey),
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
  CLI::Option* const files = app.add_option("FILES", options->files, "World files and folders");
  CLI::Option* const programs =
      app.add_option("--program", options->programs,
                     "Explore programs instead of files: one option for each program")
          ->take_all()
          ->allow_extra_args(false)
          ->excludes(files);
  app.add_option("--setup", options->setup, "With --program: a Redis command that runs before")
      ->take_all()
      ->allow_extra_args(false)
      ->needs(programs);
  app.add_option("--schedules", options->schedules,
                 "The maximum number of schedules; by default 20,000, or 500 with programs")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", options->seed,
                 "The seed of the first schedule; each further schedule has the next one");
  app.add_option("--jobs", options->jobs, "The number of processes")->check(CLI::PositiveNumber);
  app.add_flag("--hardened", options->hardened, "Turn on the options that remove the hazard");
  app.add_flag("--swarm", options->swarm,
               "Draw for each schedule the faults that may happen in it");
  app.add_flag("--exhaustive", options->exhaustive,
               "Try all schedules: the same as --strategy exhaustive");
  std::vector<std::string> strategies;
  for (const StrategyName& row : AllStrategies()) strategies.emplace_back(row.name);
  app.add_option("--strategy", options->strategy, "How schedules are chosen")
      ->check(CLI::IsMember(strategies));
  app.add_option("--schedule", options->schedule, "Run only this schedule: seed:decision,...");
  app.add_option("--seconds", options->seconds, "Start no schedule after this number of seconds")
      ->check(CLI::PositiveNumber);
  app.add_flag("--all", options->all, "Count all violations; do not stop at the first");
  app.add_option("--out", options->out, "Write the shrunk world with its violation to this file");
  app.add_option(
      "--catalogue", options->catalogue,
      "Check that each world's hazard is found, and is absent with --hardened; write the table "
      "between the marks of this Markdown file");
  return [options, &context] {
    if (options->files.empty() && options->programs.empty()) {
      context.err << "redouble explore: FILES are missing: world files or folders; or --program\n";
      return kExitBadUsage;
    }
    return ExploreCommand(*options, context).Run();
  };
}

}  // namespace redouble::inline v0_1::sim
