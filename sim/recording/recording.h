// Recording: a run with the contents of the keyspace after each of its steps.
//
// Use it for time travel: a trace shows commands and replies, but not the keys at the time. A run
// is cheap to repeat, so it is repeated once with a listener that reads the whole keyspace after
// each step. Inspecting a moment is then a lookup.
//
//   const Recording recording = RecordWorld(world);  // A world file with its violation.
//   recording.KeyspaceAfter(7);
//   // {"visits": {"type": "string", "value": "3", "ttl_ms": 70000}}
//
// Reading the keyspace does not affect the run: its trace equals that of a run that is not
// recorded. Only database 0 is read.
//
// Thread-safety: values; recording uses one thread.
#ifndef REDOUBLE_SIM_RECORDING_RECORDING_H_
#define REDOUBLE_SIM_RECORDING_RECORDING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/sim/explore/explore.h"
#include "redouble/sim/operations/operation.h"
#include "redouble/sim/scenario/scenario.h"
#include "redouble/sim/trace/trace.h"
#include "redouble/sim/world_file/world_file.h"

namespace redouble::inline v0_1::sim {

// The keyspace at one point of a run.
struct Moment {
  size_t events;  // The number of events so far.
  int64_t us;     // Virtual time in microseconds since the Unix epoch.
  Json keyspace;  // As returned by KeyspaceToJson.
};

struct Recording {
  std::string title;
  std::string file;  // That of the world or scenario, as it was passed to its parser.
  // The actors or clients in the order of the file, then those that appear only in the trace.
  std::vector<std::string> actors;
  // The lines of the trace (sim/trace/trace.h), by index.
  std::vector<std::string> events;
  // In the order of time; the first moment is before the first event. All events of a step share
  // the moment after the step. A clock advance after which no actor ran is a moment without an
  // event.
  std::vector<Moment> moments;
  std::string trace_hash;  // The hash of all events.
  // The failure, or empty; and the last event before it was detected, or nullopt if the run failed
  // before the first event.
  std::string failure;
  std::optional<size_t> failing_event;

  // Returns the keyspace after the step of that event. `event` must be an index of `events`.
  const Json& KeyspaceAfter(size_t event) const;
};

// Repeats the violation of an experiment (sim/explore/explore.h). The run ends after the event for
// which `stop_after` returns true; a later failure is not reported.
Recording RecordExperiment(const Experiment& experiment, ExploreOptions options, uint64_t seed,
                           const std::vector<uint32_t>& decisions, StopAfter stop_after = {});

// Repeats the violation of a world file, which must have one.
Recording RecordWorld(const WorldFile& world, StopAfter stop_after = {});

// Runs a scenario on the memory engine.
Recording RecordScenario(const Scenario& scenario, StopAfter stop_after = {});

// A key whose entries in two keyspaces differ.
struct KeyChange {
  std::string key;  // As encoded in the keyspace's JSON.
  Json before;      // Null if the key did not exist.
  Json after;       // Null if the key no longer exists.
};

// Returns the differences of `after`, in the order of keys. A TTL that decreased only because time
// passed is not a difference.
std::vector<KeyChange> FindChanges(const Moment& before, const Moment& after);

// Returns the moment at the end of that event's step.
const Moment& MomentAfter(const Recording& recording, size_t event);

// Returns when an entry of a keyspace that was read at `us` expires, in milliseconds since the
// epoch; nullopt if it does not expire.
std::optional<int64_t> ExpiresAtMs(const Json& entry, int64_t us);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_RECORDING_RECORDING_H_
