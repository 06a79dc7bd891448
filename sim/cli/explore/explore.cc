#include "redouble/sim/cli/explore/explore.h"

#include <algorithm>
#include <fstream>
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
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/explore/parallel/explore_in_processes.h"
#include "redouble/sim/explore/schedule.h"
#include "redouble/sim/json/json.h"
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
        experiment_(world, variant) {}

  // Runs one schedule.
  absl::StatusOr<Exploration> RunOne(const Schedule& schedule) const {
    const RunOutcome outcome =
        Replay(experiment_.experiment(), experiment_.Options(), schedule.seed, schedule.decisions);
    REDOUBLE_RETURN_IF_ERROR(outcome.mistake);
    Exploration found;
    found.schedules = 1;
    for (const auto& [name, reached] : outcome.probes) found.probes[name] = reached ? 1 : 0;
    if (outcome.violation.ok()) return found;
    found.violations = 1;
    found.violation = MakeViolation(schedule.seed, schedule.decisions, outcome);
    return found;
  }

  // The trace of a violation, one line for each event.
  std::string InterleavingOf(const Violation& violation) const {
    return InterleavingTable(RecordExperiment(experiment_.experiment(), experiment_.Options(),
                                              violation.seed, violation.decisions));
  }

  absl::StatusOr<Exploration> Run() const {
    if (has_programs_) REDOUBLE_RETURN_IF_ERROR(CheckRepeats());
    REDOUBLE_ASSIGN_OR_RETURN(
        Exploration found,
        ExploreInProcesses(experiment_.experiment(), SearchOptions(), options_.jobs));
    REDOUBLE_RETURN_IF_ERROR(found.mistake);
    return found;
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

  ExploreOptions SearchOptions() const {
    ExploreOptions options = experiment_.Options();
    options.strategy =
        options_.exhaustive ? Strategy::kExhaustive : StrategyNamed(options_.strategy);
    options.stop_at_first = !options_.all;
    options.first_seed = options_.seed;
    options.schedules = schedules_;
    if (options_.seconds > 0) {
      options.is_over = [end = end_] { return base::SystemClock().Now() >= end; };
    }
    return options;
  }

  const Options& options_;
  const int64_t schedules_;
  const bool has_programs_;
  const absl::Time end_ = base::SystemClock().Now() + absl::Seconds(options_.seconds);
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
    REDOUBLE_ASSIGN_OR_RETURN(const Exploration found, Explore(world, variant));
    found_ += found.violation.has_value() ? 1 : 0;
    if (found.violation && !options_.out.empty()) {
      REDOUBLE_RETURN_IF_ERROR(Write(world, *found.violation, variant));
    }
    if (options_.catalogue.empty()) return absl::OkStatus();
    return AddRow(world, found);
  }

  absl::StatusOr<Exploration> Explore(const WorldFile& world, WorldVariant variant) {
    const WorldExplorer explorer(world, options_, variant);
    Exploration found;
    if (options_.schedule.empty()) {
      REDOUBLE_ASSIGN_OR_RETURN(found, explorer.Run());
    } else {
      REDOUBLE_ASSIGN_OR_RETURN(const Schedule schedule, ParseSchedule(options_.schedule));
      REDOUBLE_ASSIGN_OR_RETURN(found, explorer.RunOne(schedule));
    }
    context_.out << absl::StreamFormat("%s %s%s  %d schedules", found.violation ? "FOUND" : "NONE ",
                                       world.file, variant.hardened ? " (hardened)" : "",
                                       found.schedules);
    if (options_.all) context_.out << ", " << found.violations << " violations";
    if (!found.violation) context_.out << Completeness(found);
    context_.out << std::endl;
    for (const auto& [name, count] : found.probes) {
      context_.out << "  probe \"" << name << "\" reached in " << count << " schedules"
                   << std::endl;
    }
    if (found.violation) PrintViolation(world, explorer, *found.violation, variant);
    return found;
  }

  std::string Completeness(const Exploration& found) const {
    const std::string seed = found.depends_on_seed ? absl::StrCat(" for seed ", options_.seed) : "";
    if (found.complete) return absl::StrCat(", complete", seed);
    if (found.complete_bound < 0) return "";
    return absl::StrCat(", complete up to ", found.complete_bound, " preemptions and faults", seed);
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

  absl::Status AddRow(const WorldFile& world, const Exploration& found) {
    std::string hardened = "no option";
    bool is_clean = true;
    if (world.has_remedy()) {
      REDOUBLE_ASSIGN_OR_RETURN(const Exploration clean,
                                Explore(world, {.hardened = true, .swarm = false}));
      is_clean = !clean.violation.has_value();
      hardened =
          is_clean ? absl::StrCat("none in ", clean.schedules, clean.complete ? " (complete)" : "")
                   : absl::StrCat("FOUND after ", clean.schedules);
    }
    WorldSurvey survey = SurveyWorld(world, {});
    REDOUBLE_RETURN_IF_ERROR(survey.mistake);
    if (!survey.fewest && found.violation) {
      survey.fewest = static_cast<int>(Preemptions(*found.violation));
    }
    if (!survey.some_pass) {
      context_.out << "ALWAYS " << world.file << "  no schedule keeps the invariants" << std::endl;
    }
    if (!found.violation || !survey.some_pass || !is_clean) ++wrong_;
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
