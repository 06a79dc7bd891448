// Reading what a replay left in the server, and comparing it with the recorded keyspace.
//
// Types and values are compared exactly, sets as sets, scores as numbers. A TTL is compared in
// seconds, rounded as TTL rounds, and may be one off: the recorders' servers had running clocks,
// and a second may have begun (gateway's README names this tolerance). No TTL against some TTL is
// a difference. Streams are compared in full: entries, and whatever else the system's recorder
// wrote down of counters, groups and pending entries.
//
// Thread-safety: free functions; ReadServer as Store.
#ifndef REDOUBLE_TESTS_GOLDEN_KEYSPACE_CHECK_H_
#define REDOUBLE_TESTS_GOLDEN_KEYSPACE_CHECK_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/store.h"
#include "sim/scenario/keyspace.h"
#include "tests/golden/difference.h"
#include "tests/golden/golden.h"

namespace redouble::golden {

// The keyspace of the selected database, a stream's value in the form that the system's goldens
// have. Errors: as sim::DumpKeyspace. Round trips: those of DumpKeyspace and, for each stream, two
// and one for each of its groups.
base::Task<absl::StatusOr<sim::Keyspace>> ReadServer(store::Store& store, System system);

// The first difference by the rules above, keys in the order of bytes; none when they agree. Paths
// are below `path`.
std::optional<Difference> CompareKeyspaces(const RecordedKeyspace& recorded,
                                           const sim::Keyspace& got, std::string_view path);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_KEYSPACE_CHECK_H_
