// Raw replay: the recorded commands, one after another in the recorded order, on a server that
// starts empty; every reply, what was published and every recorded keyspace must come out again. A
// command whose reply was not recorded may be answered anything but that there is no such command.
//
// Each named connection of the golden is one of the server's. Commands of a transaction were
// recorded one by one, and are sent so.
//
// Time. The recorders' servers ran on a clock of their own, and a recording took next to no time;
// so time stands still at the first moment that the golden names, and TTLs are as they were set.
// The orchestrator's recorder alone let time pass between steps, by lowering every TTL and removing
// what came to zero: before a step the clock moves by what is between the two steps' at_ms, and
// behind each step by kRecordersPace more, the time the recorder itself took to look. (Redis keeps
// a key up to and including its deadline's millisecond: without that pace a key whose TTL "would
// reach 0" would still be there, as would one with PX 1 that the recorder saw gone.)
//
// A command that blocks waits for the commands behind it; if its recorded reply is nil, time passes
// until it gives up.
//
// Connections hear what is published to them, and each step's deliveries must be those recorded:
// per connection in the recorded order.
//
// Set-up off the record. Some relayna and orchestrator goldens begin with keys that no recorded
// command made. For these two systems, a key of the first recorded keyspace that no recorded
// command before it could change is created first, and the outcome's note counts them.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_GOLDEN_RAW_REPLAY_H_
#define REDOUBLE_TESTS_GOLDEN_RAW_REPLAY_H_

#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/store/store.h"
#include "sim/scenario/backend.h"
#include "tests/golden/golden.h"
#include "tests/golden/outcome.h"

namespace redouble::golden {

inline constexpr absl::Duration kRecordersPace = absl::Milliseconds(2);

// What is done in place of a recorded command, when it stands for an operation of the system: the
// reply that the command would have had. None: the command is sent as it is.
using Substitute = std::function<std::optional<base::Task<absl::StatusOr<store::Reply>>>(
    const RecordedCommand& command, store::Store& store)>;

// Replays the commands of `golden`; skipped when it records none, nor anything that they would have
// left, and when something was published to a channel to which no recorded command published: then
// the recorder worked off the record between its operations. The backend is begun anew.
Outcome ReplayRaw(const Golden& golden, sim::ScenarioBackend& backend,
                  const Substitute& substitute = {});

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_RAW_REPLAY_H_
