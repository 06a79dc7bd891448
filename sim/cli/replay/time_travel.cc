#include "redouble/sim/cli/replay/time_travel.h"

#include <fstream>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/recording/html_page.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kStart[] = "start";

absl::Status WriteTo(const ProgramContext& context, const std::string& name,
                     const std::string& text) {
  std::ofstream file(context.folder / name, std::ios::binary);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(name, ": cannot be written"));
}

absl::Status NoSuchEvent(std::string_view option, const std::string& event,
                         const Recording& recording) {
  return absl::OutOfRangeError(absl::StrCat(base::ToAbsl(option), " ", event, ": the run has ",
                                            recording.events.size(), " events, counted from 0"));
}

// Returns an error if the run did not reach the event at which it should stop.
absl::Status CheckStop(const Recording& recording, const TimeTravelOptions& options) {
  const bool is_broken_at = !options.break_at.empty() && !recording.events.empty() &&
                            absl::StrContains(recording.events.back(), options.break_at);
  if (is_broken_at) return absl::OkStatus();
  if (options.until.has_value()) {
    if (static_cast<size_t>(*options.until) < recording.events.size()) return absl::OkStatus();
    return NoSuchEvent("--until", absl::StrCat(*options.until), recording);
  }
  return absl::NotFoundError(
      absl::StrCat("--break-at ", options.break_at, ": no event has this text"));
}

absl::StatusOr<const Moment*> FindMoment(const std::string& text, const Recording& recording) {
  if (text == kStart) return &recording.moments.front();
  size_t event = 0;
  if (!absl::SimpleAtoi(text, &event)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--changes: expected A:B, each the number of an event or \"start\", got \"", text, "\""));
  }
  if (event >= recording.events.size()) return NoSuchEvent("--changes", text, recording);
  return &MomentAfter(recording, event);
}

absl::Status PrintChanges(const Recording& recording, const std::string& changes,
                          const ProgramContext& context) {
  const std::vector<std::string> ends = absl::StrSplit(changes, ':');
  if (ends.size() != 2) return FindMoment("", recording).status();
  REDOUBLE_ASSIGN_OR_RETURN(const Moment* const before, FindMoment(ends[0], recording));
  REDOUBLE_ASSIGN_OR_RETURN(const Moment* const after, FindMoment(ends[1], recording));
  const std::vector<KeyChange> found = FindChanges(*before, *after);
  context.out << "keys changed from " << ends[0] << " to " << ends[1] << ": " << found.size()
              << "\n";
  for (const KeyChange& change : found) {
    context.out << Json(change.key).dump() << "\n";
    if (!change.before.is_null()) context.out << "  - " << change.before.dump() << "\n";
    if (!change.after.is_null()) context.out << "  + " << change.after.dump() << "\n";
  }
  return absl::OkStatus();
}

absl::Status WriteFiles(const Recording& recording, const TimeTravelOptions& options,
                        const ProgramContext& context) {
  if (!options.trace.empty()) {
    std::string lines;
    for (const std::string& line : recording.events) absl::StrAppend(&lines, line, "\n");
    REDOUBLE_RETURN_IF_ERROR(WriteTo(context, options.trace, lines));
  }
  if (options.html.empty()) return absl::OkStatus();
  return WriteTo(context, options.html, HtmlPage(recording));
}

absl::Status Travel(const Recording& recording, const TimeTravelOptions& options,
                    const ProgramContext& context) {
  if (options.stops()) {
    REDOUBLE_RETURN_IF_ERROR(CheckStop(recording, options));
    context.out << recording.events.back() << "\n"
                << recording.moments.back().keyspace.dump(2) << "\n";
  }
  if (!options.changes.empty()) {
    REDOUBLE_RETURN_IF_ERROR(PrintChanges(recording, options.changes, context));
  }
  return WriteFiles(recording, options, context);
}

}  // namespace

StopAfter TimeTravelOptions::stop_after() const {
  if (!stops()) return {};
  return [until = until, break_at = break_at, event = int64_t{0}](std::string_view line) mutable {
    const bool is_last = event++ == until;
    return is_last || (!break_at.empty() && absl::StrContains(base::ToAbsl(line), break_at));
  };
}

std::vector<CLI::Option*> AddTimeTravelOptions(CLI::App& app, TimeTravelOptions& options) {
  return {
      app.add_option("--trace", options.trace, "Write the events of one file's run here"),
      app.add_option("--html", options.html, "Write the page of one file's run here"),
      app.add_option("--until", options.until,
                     "Stop one file's run after this event, counted from 0, and print the keys")
          ->check(CLI::NonNegativeNumber),
      app.add_option("--break-at", options.break_at,
                     "Stop after the first event whose line has this text, and print the keys"),
      app.add_option("--changes", options.changes,
                     "Print the keys that differ after two events, as A:B; \"start\": before all"),
  };
}

int TravelInTime(const Recording& recording, std::string_view file,
                 const TimeTravelOptions& options, const ProgramContext& context) {
  const absl::Status status = Travel(recording, options, context);
  if (!status.ok()) {
    context.err << "redouble replay: " << file << ": " << status.message() << "\n";
    return absl::IsInvalidArgument(status) ? kExitBadUsage : kExitFailed;
  }
  const bool failed = !recording.failure.empty();
  context.out << (failed ? "FAIL " : "PASS ") << file << "  " << recording.events.size()
              << " events\n";
  if (!failed) return kExitPassed;
  context.out << "  " << recording.failure << "\n";
  return kExitFailed;
}

}  // namespace redouble::inline v0_1::sim
