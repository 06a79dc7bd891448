#include "redouble/sim/testing/explore.h"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/system_clock.h"
#include "redouble/sim/explore/parallel/explore_in_processes.h"
#include "redouble/sim/explore/schedule.h"
#include "redouble/sim/recording/html_page.h"
#include "redouble/sim/recording/interleaving.h"
#include "redouble/sim/recording/recording.h"

namespace redouble::inline v0_1::testing {
namespace {

absl::StatusOr<sim::Schedule> ReadSchedule(const std::string& text) {
  absl::StatusOr<sim::Schedule> schedule = sim::ParseSchedule(text);
  if (schedule.ok()) return schedule;
  return absl::InvalidArgumentError(
      absl::StrCat("REDOUBLE_REPLAY is ", schedule.status().message()));
}

template <typename Number>
absl::StatusOr<Number> NumberOf(const Environment& environment, const char* name,
                                Number otherwise) {
  const std::optional<std::string> text = environment(name);
  if (!text) return otherwise;
  Number number = 0;
  if (absl::SimpleAtoi(*text, &number) && number >= 0) return number;
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is \"", *text, "\"; expected a number that is not negative"));
}

void WriteOutput(const std::string& folder, std::string_view file, const std::string& content) {
  std::ofstream(absl::StrCat(folder, "/", base::ToAbsl(file))) << content;
}

std::string FailureText(const std::string& test_name, const sim::Experiment& experiment,
                        const sim::ExploreOptions& options, const sim::Schedule& schedule,
                        const Environment& environment) {
  sim::Recording recording =
      sim::RecordExperiment(experiment, options, schedule.seed, schedule.decisions);
  const std::string replay = absl::StrCat("REDOUBLE_REPLAY=", schedule.ToString());
  std::string text = absl::StrCat("The invariant is violated: ", recording.failure, "\n",
                                  sim::InterleavingTable(recording), "Repeat this run: ", replay,
                                  " with --gtest_filter=", test_name, "\n");
  if (const auto folder = environment("TEST_UNDECLARED_OUTPUTS_DIR")) {
    recording.title = absl::StrCat(test_name, " (", replay, ")");
    WriteOutput(*folder, test_name + ".html", sim::HtmlPage(recording));
    WriteOutput(*folder, test_name + ".schedule", schedule.ToString() + "\n");
    absl::StrAppend(&text, "Page of the run: ", *folder, "/", test_name, ".html\n");
  }
  return text;
}

// What limits a search, and the number of processes that share it: in this process alone if it is
// 0.
struct Resources {
  int64_t seconds;
  int jobs;
};

absl::StatusOr<sim::Exploration> ExploreIn(int jobs, const sim::Experiment& experiment,
                                           const sim::ExploreOptions& options) {
  if (jobs == 0) return sim::Explore(experiment, options);
  return sim::ExploreInProcesses(experiment, options, jobs);
}

// The violation of the first schedules, or of further seeds until the time is over. Errors: those
// of a mistake in the experiment.
absl::StatusOr<std::optional<sim::Violation>> Search(const sim::Experiment& experiment,
                                                     sim::ExploreOptions options,
                                                     Resources resources) {
  const base::SystemClock clock;
  const absl::Time end = clock.Now() + absl::Seconds(resources.seconds);
  while (true) {
    REDOUBLE_ASSIGN_OR_RETURN(const sim::Exploration found,
                              ExploreIn(resources.jobs, experiment, options));
    REDOUBLE_RETURN_IF_ERROR(found.mistake);
    const bool is_complete = found.complete && !found.depends_on_seed;
    const bool is_over =
        is_complete || options.strategy == sim::Strategy::kExhaustive || clock.Now() >= end;
    if (found.violation || is_over) return found.violation;
    options.first_seed += static_cast<uint64_t>(found.schedules);
    // The exhaustive part would do the same again.
    if (options.strategy == sim::Strategy::kCombined) options.strategy = sim::Strategy::kMixed;
  }
}

absl::StatusOr<std::string> Explored(const std::string& test_name,
                                     const sim::Experiment& experiment, sim::ExploreOptions options,
                                     const Environment& environment) {
  if (const auto replay = environment("REDOUBLE_REPLAY")) {
    REDOUBLE_ASSIGN_OR_RETURN(const sim::Schedule schedule, ReadSchedule(*replay));
    const sim::RunOutcome outcome =
        sim::Replay(experiment, options, schedule.seed, schedule.decisions);
    if (outcome.violation.ok()) return "";
    return FailureText(test_name, experiment, options, schedule, environment);
  }
  REDOUBLE_ASSIGN_OR_RETURN(options.first_seed,
                            NumberOf(environment, "REDOUBLE_SEED", options.first_seed));
  REDOUBLE_ASSIGN_OR_RETURN(options.schedules,
                            NumberOf(environment, "REDOUBLE_SCHEDULES", options.schedules));
  Resources resources = {};
  REDOUBLE_ASSIGN_OR_RETURN(resources.seconds,
                            NumberOf<int64_t>(environment, "REDOUBLE_SECONDS", 0));
  REDOUBLE_ASSIGN_OR_RETURN(resources.jobs, NumberOf(environment, "REDOUBLE_JOBS", 0));
  REDOUBLE_ASSIGN_OR_RETURN(const std::optional<sim::Violation> violation,
                            Search(experiment, options, resources));
  if (!violation) return "";
  return FailureText(test_name, experiment, options, {violation->seed, violation->decisions},
                     environment);
}

}  // namespace

std::string ExploreCase(std::string_view test_name, const sim::Experiment& experiment,
                        sim::ExploreOptions options, const Environment& environment) {
  absl::StatusOr<std::string> failure =
      Explored(std::string(test_name), experiment, std::move(options), environment);
  return failure.ok() ? *std::move(failure) : std::string(failure.status().message());
}

void RunExploreCase(const char* file, int line, const sim::Experiment& experiment,
                    const sim::ExploreOptions& options) {
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  const auto environment = [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  const std::string failure = ExploreCase(absl::StrCat(test.test_suite_name(), ".", test.name()),
                                          experiment, options, environment);
  if (!failure.empty()) ADD_FAILURE_AT(file, line) << failure;
}

}  // namespace redouble::inline v0_1::testing
