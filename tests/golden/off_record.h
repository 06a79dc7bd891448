// Set-up off the record: the keys that a recorder made before it began to record.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_GOLDEN_OFF_RECORD_H_
#define REDOUBLE_TESTS_GOLDEN_OFF_RECORD_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/scenario/backend.h"
#include "tests/golden/golden.h"

namespace redouble::golden {

// The keys of the first recorded keyspace that no recorded command up to there could change: those
// that are no argument of a command that writes. A script may change each key that it is given, and
// an unknown command anything. Empty for the systems whose goldens record everything.
RecordedKeyspace KeysOffRecord(const Golden& golden);

// The commands that create a key but for its TTL. Empty when the value is not one that the type can
// have, or the type is a stream.
std::vector<std::vector<std::string>> CommandsThatCreate(const std::string& key,
                                                         const RecordedKey& entry);

// Creates those keys on the server; gives how many. Errors: a value that no command can create.
absl::StatusOr<int> SetUpOffRecord(const Golden& golden, sim::ScenarioBackend& backend);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_OFF_RECORD_H_
