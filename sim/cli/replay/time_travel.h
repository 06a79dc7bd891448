// The options of `redouble replay` for one recorded run: write its trace or its HTML page, stop at
// an event, compare two moments.
//
// `redouble replay` declares them beside its own options. If one is given, the run is recorded
// (sim/recording/recording.h), and TravelInTime applies the options to the recording.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_REPLAY_TIME_TRAVEL_H_
#define REDOUBLE_SIM_CLI_REPLAY_TIME_TRAVEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/sim/cli/support/subcommand.h"
#include "redouble/sim/recording/recording.h"

namespace redouble::inline v0_1::sim {

struct TimeTravelOptions {
  std::string trace;             // The file for the trace.
  std::string html;              // The file for the HTML page.
  std::optional<int64_t> until;  // Stop after this event.
  std::string break_at;          // Stop after the first event that contains this text.
  std::string changes;  // "A:B": numbers of events, or "start" for the moment before the first.

  // Returns whether any option is given, so that one file must be recorded.
  bool any() const {
    return !trace.empty() || !html.empty() || until.has_value() || !break_at.empty() ||
           !changes.empty();
  }
  // Returns whether the run stops at an event.
  bool stops() const { return until.has_value() || !break_at.empty(); }
  // Returns the event for the recording; empty if the run does not stop.
  StopAfter stop_after() const;
};

// Declares the options and returns them, so that the caller can declare which other options they
// exclude.
std::vector<CLI::Option*> AddTimeTravelOptions(CLI::App& app, TimeTravelOptions& options);

// Applies the options to the recording of `file`. Returns the exit code: kExitFailed if the run
// failed before it stopped, if the event does not exist, or if a file cannot be written;
// kExitBadUsage if `changes` is not of the form A:B.
int TravelInTime(const Recording& recording, std::string_view file,
                 const TimeTravelOptions& options, const ProgramContext& context);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_REPLAY_TIME_TRAVEL_H_
