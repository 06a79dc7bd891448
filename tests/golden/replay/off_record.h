// Creates the keys that a recorder made before it began to record.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_GOLDEN_REPLAY_OFF_RECORD_H_
#define REDOUBLE_TESTS_GOLDEN_REPLAY_OFF_RECORD_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/sim/scenario/backend.h"
#include "redouble/tests/golden/replay/golden.h"

namespace redouble::inline v0_1::golden {

// Returns the keys of the first recorded keyspace that no earlier recorded command could change:
// those that are not an argument of a command that writes. A script may change each of its keys, an
// unknown command any. Empty for systems whose goldens record everything.
RecordedKeyspace KeysOffRecord(const Golden& golden);

// Returns the commands that create a key, without its TTL. Empty if the type cannot have the value,
// or if the type is a stream.
std::vector<std::vector<std::string>> CommandsThatCreate(const std::string& key,
                                                         const RecordedKey& entry);

// Creates those keys on the server and returns their number. Errors: a value that no command can
// create.
absl::StatusOr<int> SetUpOffRecord(const Golden& golden, sim::ScenarioBackend& backend);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_REPLAY_OFF_RECORD_H_
