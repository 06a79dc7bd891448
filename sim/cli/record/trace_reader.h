// TraceReader: the lines of a trace as the commands of a recording.
//
// A program that must not turn on MONITOR writes a trace of its own live client, by a hook:
//
//   sim::Trace trace(clock, [&](std::string_view line) { file << line << "\n"; });
//   redis::ClientHooks hooks;
//   hooks.command = [&](const redis::CommandEvent& event) {
//     if (event.result != nullptr) trace.AddRequest("checkout", *event.request, *event.result);
//   };
//
// `redouble record trace.jsonl` reads such lines (sim/trace/trace.h has their form). A transaction
// is MULTI, its commands and EXEC, as MONITOR prints it. A request that got no reply may have been
// executed or not: it is left out and counted.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_RECORD_TRACE_READER_H_
#define REDOUBLE_SIM_CLI_RECORD_TRACE_READER_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/sim/cli/record/monitor_line.h"

namespace redouble::inline v0_1::sim {

class TraceReader {
 public:
  // Returns the commands of a line without its line break; none for an advance of the clock and for
  // a request without a reply. Errors: InvalidArgument for what is no event, and for a fault, which
  // only a simulated run has.
  absl::StatusOr<std::vector<MonitorLine>> Read(std::string_view line);

  // The number of requests without a reply so far.
  size_t unanswered() const { return unanswered_; }

 private:
  std::map<std::string, int> databases_;  // By client.
  size_t unanswered_ = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_RECORD_TRACE_READER_H_
