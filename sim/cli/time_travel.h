// What `redouble replay` can do with one run that it can look at from any moment: write its trace
// or its page, stop at an event, compare two moments.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_TIME_TRAVEL_H_
#define REDOUBLE_SIM_CLI_TIME_TRAVEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/subcommand.h"
#include "sim/trace/recording.h"

namespace redouble::sim {

struct TimeTravelOptions {
  std::string trace;             // Write the lines here.
  std::string html;              // Write the page here.
  std::optional<int64_t> until;  // Stop after this event.
  std::string break_at;          // Stop after the first event with this text.
  std::string changes;           // "A:B": events, or "start" for before the first.

  // One of them is given, so that one file is to be recorded.
  bool any() const {
    return !trace.empty() || !html.empty() || until.has_value() || !break_at.empty() ||
           !changes.empty();
  }
  // The run is to end at an event.
  bool stops() const { return until.has_value() || !break_at.empty(); }
  // Where, for the recording; nothing when it is not to.
  StopBehind stop_behind() const;
};

// Declares the options and returns them: what they exclude is the caller's to say.
std::vector<CLI::Option*> AddTimeTravelOptions(CLI::App& app, TimeTravelOptions& options);

// Does with the recording of `file` what the options say. Returns the exit code: kExitFailed for a
// run that failed before it was stopped, for an event that it has not, and for a file that cannot
// be written; kExitBadUsage for changes that are not of the form A:B.
int TravelInTime(const Recording& recording, std::string_view file,
                 const TimeTravelOptions& options, const ProgramContext& context);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_TIME_TRAVEL_H_
