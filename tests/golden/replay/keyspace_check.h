// Reads the keyspace after a replay and compares it with the recorded one.
//
// Types and values must be equal, sets as sets, scores as numbers. TTLs are compared in seconds,
// rounded as TTL rounds, with a tolerance of one: the clocks of the recorders' servers ran (the
// README of the gateway's goldens names this tolerance). A key with a TTL never equals one without.
// Streams are compared in full: entries, and whatever the recorder wrote of counters, groups and
// pending entries.
//
// Thread-safety: free functions; ReadServer as Store.
#ifndef REDOUBLE_TESTS_GOLDEN_REPLAY_KEYSPACE_CHECK_H_
#define REDOUBLE_TESTS_GOLDEN_REPLAY_KEYSPACE_CHECK_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/scenario/keyspace.h"
#include "redouble/tests/golden/replay/difference.h"
#include "redouble/tests/golden/replay/golden.h"

namespace redouble::inline v0_1::golden {

// Returns the keyspace of the selected database, with streams in the format of the system's
// goldens. Errors: as sim::DumpKeyspace. Round trips: those of DumpKeyspace, and two for each
// stream and one for each of its groups.
base::Task<absl::StatusOr<sim::Keyspace>> ReadServer(store::Store& store, System system);

// Returns the first difference by the rules above, with keys in the order of their bytes, or
// nullopt. Paths begin with `path`.
std::optional<Difference> CompareKeyspaces(const RecordedKeyspace& recorded,
                                           const sim::Keyspace& got, std::string_view path);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_REPLAY_KEYSPACE_CHECK_H_
