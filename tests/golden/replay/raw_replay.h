// Raw replay: sends the recorded commands in the recorded order to an empty server, and compares
// every reply, every published message and every recorded keyspace. A command whose reply was not
// recorded may return anything except that the command is unknown.
//
// Each named connection of the golden is a connection to the server. The commands of a transaction
// were recorded, and are sent, one by one.
//
// Time. The recorders' servers had running clocks, and a recording took very little time, so the
// replay sets the clock to the first time in the golden and does not move it. Only the
// orchestrator's recorder let time pass between steps, by lowering every TTL and removing keys
// whose TTL came to zero. For its goldens the clock moves before a step by the difference of the
// two steps' at_ms, and after each step by kRecordersPace, the time that the recorder took to read
// the keyspace. (Redis keeps a key up to and including the millisecond of its deadline: without
// that pace, a key whose TTL comes to exactly zero would still exist, as would a key with PX 1 that
// the recorder found expired.)
//
// A command that blocks waits for later commands; if its recorded reply is nil, the clock moves
// until it times out.
//
// Connections receive what is published to them. The deliveries of each step must equal the
// recorded ones, in the recorded order for each connection.
//
// Unrecorded preparation. Some goldens of relayna and orchestrator begin with keys that no recorded
// command created. For these two systems, a key of the first recorded keyspace that no earlier
// recorded command could change is created first; the note of the outcome counts them.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_GOLDEN_REPLAY_RAW_REPLAY_H_
#define REDOUBLE_TESTS_GOLDEN_REPLAY_RAW_REPLAY_H_

#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/scenario/backend.h"
#include "redouble/tests/golden/replay/golden.h"
#include "redouble/tests/golden/replay/outcome.h"

namespace redouble::inline v0_1::golden {

inline constexpr absl::Duration kRecordersPace = absl::Milliseconds(2);

// Replaces a recorded command that represents an operation of the system, and returns the reply
// that the command would have had. Returns nullopt to send the command as it is.
using Substitute = std::function<std::optional<base::Task<absl::StatusOr<store::Reply>>>(
    const RecordedCommand& command, store::Store& store)>;

// Resets the backend and replays the commands of `golden`. Skips a golden that has neither commands
// nor keys or messages that commands could have produced. Also skips a golden with a message on a
// channel to which no recorded command published, because its recorder did not record all commands.
Outcome ReplayRaw(const Golden& golden, sim::ScenarioBackend& backend,
                  const Substitute& substitute = {});

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_REPLAY_RAW_REPLAY_H_
