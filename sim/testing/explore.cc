#include "redouble/sim/testing/explore.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/system_clock.h"
#include "redouble/sim/json/json.h"
#include "redouble/sim/recording/html_page.h"
#include "redouble/sim/recording/recording.h"

namespace redouble::testing {
namespace {

// What REDOUBLE_REPLAY names.
struct Schedule {
  uint64_t seed = 0;
  std::vector<uint32_t> decisions;
};

std::string ToText(const Schedule& schedule) {
  return absl::StrCat(schedule.seed, ":", absl::StrJoin(schedule.decisions, ","));
}

absl::StatusOr<Schedule> ParseSchedule(const std::string& text) {
  Schedule schedule;
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  bool is_valid = absl::SimpleAtoi(parts.first, &schedule.seed);
  for (absl::string_view word : absl::StrSplit(parts.second, ',', absl::SkipEmpty())) {
    is_valid = absl::SimpleAtoi(word, &schedule.decisions.emplace_back()) && is_valid;
  }
  if (is_valid) return schedule;
  return absl::InvalidArgumentError(absl::StrCat(
      "REDOUBLE_REPLAY is \"", text, "\"; expected a seed and decisions, such as \"7:0,0,1\""));
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

// One line for each event of the run.
std::string Interleaving(const sim::Recording& recording) {
  size_t width = 0;
  for (const std::string& actor : recording.actors) width = std::max(width, actor.size());
  std::string text;
  for (const std::string& line : recording.events) {
    const sim::Json event = sim::Json::parse(line);
    const auto field = [&](const char* name) {
      const auto found = event.find(name);
      if (found == event.end()) return std::string();
      return found->is_string() ? found->get<std::string>() : found->dump();
    };
    const std::string actor = field("client");
    absl::StrAppend(&text, "  ", actor, std::string(width - std::min(width, actor.size()), ' '),
                    "  ");
    if (event.contains("fault")) {
      absl::StrAppend(&text, "fault: ", field("fault"), "\n");
    } else {
      absl::StrAppend(&text, field("command"), field("transaction"), field("pipeline"), " -> ",
                      field("reply"), "\n");
    }
  }
  return text;
}

void WriteOutput(const std::string& folder, std::string_view file, const std::string& content) {
  std::ofstream(absl::StrCat(folder, "/", base::ToAbsl(file))) << content;
}

std::string FailureText(const std::string& test_name, const sim::Experiment& experiment,
                        const sim::ExploreOptions& options, const Schedule& schedule,
                        const Environment& environment) {
  sim::Recording recording =
      sim::RecordExperiment(experiment, options, schedule.seed, schedule.decisions);
  const std::string replay = absl::StrCat("REDOUBLE_REPLAY=", ToText(schedule));
  std::string text =
      absl::StrCat("The invariant is violated: ", recording.failure, "\n", Interleaving(recording),
                   "Repeat this run: ", replay, " with --gtest_filter=", test_name, "\n");
  if (const auto folder = environment("TEST_UNDECLARED_OUTPUTS_DIR")) {
    recording.title = absl::StrCat(test_name, " (", replay, ")");
    WriteOutput(*folder, test_name + ".html", sim::HtmlPage(recording));
    WriteOutput(*folder, test_name + ".schedule", ToText(schedule) + "\n");
    absl::StrAppend(&text, "Page of the run: ", *folder, "/", test_name, ".html\n");
  }
  return text;
}

// The violation of the first schedules, or of further seeds until the time is over.
std::optional<sim::Violation> Search(const sim::Experiment& experiment, sim::ExploreOptions options,
                                     int64_t seconds) {
  const base::SystemClock clock;
  const absl::Time end = clock.Now() + absl::Seconds(seconds);
  while (true) {
    const sim::Exploration found = sim::Explore(experiment, options);
    const bool is_over = options.strategy == sim::Strategy::kExhaustive || clock.Now() >= end;
    if (found.violation || is_over) return found.violation;
    options.first_seed += static_cast<uint64_t>(found.schedules);
  }
}

absl::StatusOr<std::string> Explored(const std::string& test_name,
                                     const sim::Experiment& experiment, sim::ExploreOptions options,
                                     const Environment& environment) {
  if (const auto replay = environment("REDOUBLE_REPLAY")) {
    REDOUBLE_ASSIGN_OR_RETURN(const Schedule schedule, ParseSchedule(*replay));
    const sim::RunOutcome outcome =
        sim::Replay(experiment, options, schedule.seed, schedule.decisions);
    if (outcome.violation.ok()) return "";
    return FailureText(test_name, experiment, options, schedule, environment);
  }
  REDOUBLE_ASSIGN_OR_RETURN(options.first_seed,
                            NumberOf(environment, "REDOUBLE_SEED", options.first_seed));
  REDOUBLE_ASSIGN_OR_RETURN(options.schedules,
                            NumberOf(environment, "REDOUBLE_SCHEDULES", options.schedules));
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t seconds,
                            NumberOf<int64_t>(environment, "REDOUBLE_SECONDS", 0));
  const std::optional<sim::Violation> violation = Search(experiment, options, seconds);
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

}  // namespace redouble::testing
