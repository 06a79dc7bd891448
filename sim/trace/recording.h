// Recording: a run that can be looked at from any of its moments: what happened, and what the
// server held after each of it.
//
// Why it exists: a trace says what was asked and answered, not what stood in the keys at the time.
// A run is cheap to repeat, so it is repeated once more with somebody who reads the whole keyspace
// after each step; from then on travelling in time is looking things up.
//
//   const Recording recording = RecordWorld(world);  // A world file with its violation.
//   recording.KeyspaceAfter(7);
//   // {"visits": {"type": "string", "value": "3", "ttl_ms": 70000}}
//
// Reading changes nothing that the run can see: the trace is that of a run without a recording.
// What is read is database 0.
//
// Thread-safety: values; recording takes one thread.
#ifndef REDOUBLE_SIM_TRACE_RECORDING_H_
#define REDOUBLE_SIM_TRACE_RECORDING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/explore/world_file.h"
#include "sim/scenario/operation.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/trace.h"

namespace redouble::sim {

// What the server held at a time.
struct Moment {
  size_t events;  // How many had happened.
  int64_t us;     // The virtual time, since the epoch.
  Json keyspace;  // As KeyspaceToJson.
};

struct Recording {
  std::string title;
  // Who takes part, in the order of the file; then those that only the trace names.
  std::vector<std::string> actors;
  // The lines of the trace (sim/scenario/trace.h), by index.
  std::vector<std::string> events;
  // In the order of time; the first is that before the first event. Events of one step have one
  // moment behind them; a clock that moved and woke nobody made a moment without an event.
  std::vector<Moment> moments;
  std::string trace_hash;  // Of all events.
  // What went wrong, if something did, and the last event before that was seen; none when it went
  // wrong before the first.
  std::string failure;
  std::optional<size_t> failing_event;

  // What the server held when the step of that event was over. `event` must be one of events.
  const Json& KeyspaceAfter(size_t event) const;
};

// Repeats the violation of a world file, which must have one. The run ends where `stop_behind` says
// so: nothing that would come later happens, a failure neither.
Recording RecordWorld(const WorldFile& world, StopBehind stop_behind = {});

// Runs a scenario on the engine inside this process. `stop_behind` as above.
Recording RecordScenario(const Scenario& scenario, StopBehind stop_behind = {});

// One key that two keyspaces do not hold in the same way.
struct KeyChange {
  std::string key;  // As in the keyspace's JSON.
  Json before;      // Null: there was no such key.
  Json after;       // Null: there is none any more.
};

// What is different in `after`, by key. A TTL that only ran down with the time is no difference.
std::vector<KeyChange> FindChanges(const Moment& before, const Moment& after);

// The moment at the end of that event's step.
const Moment& MomentAfter(const Recording& recording, size_t event);

// When an entry of a keyspace read at `us` expires, in milliseconds since the epoch; none when it
// does not.
std::optional<int64_t> ExpiresAtMs(const Json& entry, int64_t us);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_TRACE_RECORDING_H_
