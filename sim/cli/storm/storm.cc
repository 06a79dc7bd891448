#include "redouble/sim/cli/storm/storm.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/system_clock.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/sim/cli/storm/storm_json.h"
#include "redouble/sim/cli/storm/storm_systems.h"
#include "redouble/sim/explore/parallel/processes.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/recording/html_page.h"
#include "redouble/sim/recording/interleaving.h"
#include "redouble/sim/storm/storm_run.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble storm gateway                       1,000 runs with the defaults: finds "
    "documented\n"
    "                                               hazards, and says which\n"
    "  redouble storm gateway --hardened            with all options that remove hazards: finds\n"
    "                                               nothing\n"
    "  redouble storm gateway --minutes 10 --seed 7 --jobs 8\n"
    "                                               new runs for ten minutes\n"
    "  redouble storm gateway --seed 7 --run 42     this run again: shrunk, command by command\n"
    "  redouble storm gateway --out found           and a page for each finding in this folder\n"
    "  redouble storm korvet --layout cluster       with the keys of a Redis Cluster\n"
    "  redouble storm korvet --masters 3            on a Redis Cluster whose slots move\n"
    "\n"
    "Exit codes: 0 nothing but what the system's page lists, and with --hardened nothing at all; "
    "1\n"
    "a promise broke otherwise; 2 bad usage.";

// The number of runs of one process.
constexpr int64_t kChunk = 50;
constexpr int64_t kDefaultRuns = 1000;

struct Options {
  std::string system;
  uint64_t seed = 1;
  int64_t runs = 0;  // Neither runs nor minutes: kDefaultRuns.
  int64_t minutes = 0;
  std::optional<int64_t> run;
  int jobs = 2;
  bool hardened = false;
  bool no_shrink = false;
  std::string layout;  // Empty: the documented one, or with masters that of clusters.
  int masters = 0;
  std::string out;
};

// "every key: once" -> "every_key_once", for names of files.
std::string FileNameOf(const Finding& finding) {
  std::string name = finding.Name();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class StormCommand {
 public:
  StormCommand(const Options& options, StormSystem system, store::KeyLayout layout,
               const ProgramContext& context)
      : options_(options),
        layout_(layout),
        context_(context),
        runner_(std::move(system),
                {.hardened = options.hardened, .key_layout = layout, .masters = options.masters},
                options.seed) {}

  int Run() {
    if (absl::Status status = Count(); !status.ok()) return Fail(status);
    PrintCounts();
    if (absl::Status status = PrintFindings(); !status.ok()) return Fail(status);
    return tally_.HasUnexpected(options_.hardened) ? kExitFailed : kExitPassed;
  }

 private:
  // The option that a command which repeats a run needs.
  std::string LayoutOption() const {
    if (options_.masters > 0) return absl::StrCat(" --masters ", options_.masters);
    return options_.layout.empty() ? std::string() : " --layout " + options_.layout;
  }

  std::string ServersInWords() const {
    if (options_.masters > 0) return absl::StrCat(" on ", options_.masters, " masters");
    return layout_ == store::KeyLayout::kCluster ? " in the cluster layout" : "";
  }

  int Fail(const absl::Status& status) {
    context_.err << "redouble storm: " << status.message() << "\n";
    return kExitBadUsage;
  }

  absl::Status Count() {
    if (options_.run.has_value()) {
      tally_.Add(runner_.Run(*options_.run));
      return tally_.mistake;
    }
    const int64_t without_minutes = options_.runs > 0 ? options_.runs : kDefaultRuns;
    const int64_t runs = options_.runs > 0 || options_.minutes == 0 ? without_minutes : INT32_MAX;
    std::map<size_t, Json> results;
    const absl::Status status = RunInProcesses(
        static_cast<size_t>((runs + kChunk - 1) / kChunk), options_.jobs,
        [&](size_t chunk) { return RunChunk(static_cast<int64_t>(chunk) * kChunk, runs).dump(); },
        [&](size_t chunk, const std::string& text) {
          const Json& result = results[chunk] = *ParseStrictJson(text);
          return result["is_over"].get<bool>();
        });
    REDOUBLE_RETURN_IF_ERROR(status);
    for (const auto& [chunk, result] : results) {
      for (const Json& report : result["runs"]) tally_.Add(ReportFromJson(report));
    }
    return tally_.mistake;
  }

  Json RunChunk(int64_t first, int64_t runs) const {
    Json reports = Json::array();
    bool is_over = false;
    for (int64_t run = first; run < std::min(first + kChunk, runs) && !is_over; ++run) {
      is_over = options_.minutes > 0 && base::SystemClock().Now() >= end_;
      if (!is_over) reports.push_back(ToJson(runner_.Run(run)));
    }
    return {{"runs", std::move(reports)}, {"is_over", is_over}};
  }

  void PrintCounts() const {
    const StormSystem& system = runner_.system();
    context_.out << system.name << ServersInWords() << (options_.hardened ? " (hardened)" : "")
                 << ": " << tally_.runs << " runs with seed " << options_.seed << ", "
                 << tally_.commands << " commands, hash " << tally_.hash.substr(0, 16)
                 << "\n  faults: " << absl::StrJoin(tally_.faults, ", ", absl::PairFormatter(" "))
                 << "\n";
    for (size_t i = 0; i < system.promises.size(); ++i) {
      context_.out << "  checked " << (i < tally_.checks.size() ? tally_.checks[i] : 0)
                   << " times: " << system.promises[i].text << "\n";
    }
    for (const auto& [section, times] : tally_.limits) {
      context_.out << "  explained by " << section << " (" << system.Page()
                   << "), which no option removes: " << times << " times\n";
    }
  }

  absl::Status PrintFindings() {
    size_t unexpected = 0;
    for (const auto& [finding, found] : tally_.findings) {
      const bool is_expected = finding.documented() && !options_.hardened;
      unexpected += is_expected ? 0 : 1;
      context_.out << (is_expected ? "KNOWN " : "FOUND ") << finding.Name() << ": in " << found.runs
                   << " runs";
      if (finding.documented()) {
        context_.out << "; " << runner_.system().Page() << " " << finding.section;
      }
      context_.out << "\n  run " << found.first_run << ": " << found.what << "\n";
      const bool is_asked_for = options_.run.has_value() || !options_.out.empty();
      if (!options_.no_shrink && (!is_expected || is_asked_for)) {
        REDOUBLE_RETURN_IF_ERROR(PrintShrunk(finding, found.first_run));
      }
      context_.out << "  again: redouble storm " << options_.system << " --seed " << options_.seed
                   << " --run " << found.first_run << (options_.hardened ? " --hardened" : "")
                   << LayoutOption() << std::endl;
    }
    context_.out << tally_.findings.size() << " findings, " << unexpected << " unexpected"
                 << std::endl;
    return absl::OkStatus();
  }

  absl::Status PrintShrunk(const Finding& finding, int64_t run) {
    const std::optional<ShrunkStorm> shrunk = runner_.Shrink(run, finding);
    if (!shrunk.has_value()) return absl::OkStatus();
    const Recording recording = runner_.Record(*shrunk);
    context_.out << "  shrunk to " << shrunk->plan.size() << " actors with "
                 << OperationsOf(shrunk->plan) << " operations: " << recording.failure << "\n"
                 << InterleavingTable(recording);
    if (options_.out.empty()) return absl::OkStatus();
    const std::string file = absl::StrCat(options_.system, "_", FileNameOf(finding), ".html");
    const std::filesystem::path folder = context_.folder / options_.out;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream page(folder / file, std::ios::binary);
    page << HtmlPage(recording);
    page.close();
    if (!page) return absl::UnavailableError(absl::StrCat(options_.out, ": cannot be written"));
    context_.out << "  written: " << options_.out << "/" << file << "\n";
    return absl::OkStatus();
  }

  const Options& options_;
  const store::KeyLayout layout_;
  const ProgramContext& context_;
  const StormRunner runner_;
  const absl::Time end_ = base::SystemClock().Now() + absl::Minutes(options_.minutes);
  StormTally tally_;
};

int RunStorm(const Options& options, const ProgramContext& context) {
  absl::StatusOr<store::KeyLayout> layout =
      options.masters > 0 ? store::KeyLayout::kCluster : store::KeyLayout::kDocumented;
  if (!options.layout.empty()) layout = store::ParseKeyLayout(options.layout);
  if (!layout.ok()) {
    context.err << "redouble storm: --layout: " << layout.status().message() << "\n";
    return kExitBadUsage;
  }
  if (options.masters > 0 && *layout != store::KeyLayout::kCluster) {
    context.err << "redouble storm: --masters needs --layout cluster\n";
    return kExitBadUsage;
  }
  for (StormSystem& system : AllStorms()) {
    if (system.name != options.system) continue;
    return StormCommand(options, std::move(system), *layout, context).Run();
  }
  return kExitBadUsage;  // The option's check has refused the name.
}

}  // namespace

std::function<int()> AddStorm(CLI::App& app, const ProgramContext& context) {
  const auto options = std::make_shared<Options>();
  app.footer(kFooter);
  std::vector<std::string> names;
  for (const StormSystem& system : AllStorms()) names.push_back(system.name);
  app.add_option("SYSTEM", options->system, "The system")->required()->check(CLI::IsMember(names));
  app.add_option("--seed", options->seed, "Decides all runs, with their numbers");
  app.add_option("--runs", options->runs, "How many runs at most; 1,000 without --minutes")
      ->check(CLI::PositiveNumber);
  app.add_option("--minutes", options->minutes, "Start no run after so many minutes")
      ->check(CLI::PositiveNumber);
  app.add_option("--run", options->run, "Make only this run, and shrink what it shows")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--jobs", options->jobs, "How many processes run at once")
      ->check(CLI::PositiveNumber);
  app.add_flag("--hardened", options->hardened, "With all options that remove hazards");
  app.add_flag("--no-shrink", options->no_shrink, "Do not look for a smaller run of a finding");
  app.add_option("--layout", options->layout,
                 "The layout of the keys: documented (default) or cluster");
  app.add_option(
         "--masters", options->masters,
         "Run on a Redis Cluster of so many masters, whose slots move and, if the system has the "
         "fault failover, whose replicas take over by promote; in the cluster layout")
      ->check(CLI::Range(2, 16));
  app.add_option("--out", options->out, "Write a page for each finding into this folder");
  return [options, &context] { return RunStorm(*options, context); };
}

}  // namespace redouble::inline v0_1::sim
