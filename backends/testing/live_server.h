// LiveServer: the real Redis of live tests, chosen by the environment variable
// REDOUBLE_LIVE_BACKEND:
//
//   (unset)   a redis-server for each test, on a Unix socket
//   tls       a redis-server for each test, with TLS on the loopback interface
//   cluster   three masters, which all tests of a process share and which each test empties
//
// What happens to the cluster meanwhile, REDOUBLE_LIVE_WHILE chooses (cluster_unrest.h).
//
// The tests of the systems run unchanged on each of them: see //tests/live:tls_typed_test and
// //tests/live:cluster_typed_test.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_TESTING_LIVE_SERVER_H_
#define REDOUBLE_BACKENDS_TESTING_LIVE_SERVER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/options.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::tests {

// Returns whether the tests run on a cluster. Aborts the program if the variable has an unknown
// value, so that tests do not pass on the wrong server.
bool LiveTestsWantACluster();

// Starts a server whose wall clock is held at `start`, with TLS if the variable is "tls".
// Errors: those of redis::SpawnedServer::Start.
absl::StatusOr<std::unique_ptr<redis::SpawnedServer>> StartLiveServer(absl::Time start);

// Whether the cluster of a test may lose a master, if the environment asks for it.
enum class Masters : uint8_t { kMayDie, kStay };

// Returns the cluster of this process, without keys, scripts and functions, and with its clocks
// held at `start`. It is a new one if the one before has lost a master. Errors: those of
// redis::SpawnedCluster::Start, of connecting and of emptying it.
absl::StatusOr<redis::SpawnedCluster*> EmptyLiveCluster(absl::Time start,
                                                        Masters masters = Masters::kMayDie);

// Moves the clocks of the cluster and waits until its nodes have done what was due. No slot moves
// meanwhile: a key would get another deadline where the clock differs.
// Errors: those of redis::SpawnedCluster.
absl::Status AdvanceLiveCluster(redis::SpawnedCluster& cluster, absl::Time time);

// Return the options of a client, with timeouts for tests: they only expire if the server has
// stopped answering or the machine is very busy.
redis::Options LiveOptions(const redis::SpawnedServer& server);
redis::Options LiveOptions(const redis::SpawnedCluster& cluster);

// Return a new connection. A connection to a cluster prints a line for each command that is refused
// because its keys have different slots: "[cluster refused] COMMAND<tab>KEY<tab>KEY...", and
// "[cluster unknown] COMMAND" for one whose outcome is unknown.
// Errors: those of redis::SyncStore::Connect.
absl::StatusOr<std::unique_ptr<store::Store>> ConnectToLive(const redis::SpawnedServer& server);
absl::StatusOr<std::unique_ptr<store::Store>> ConnectToLive(const redis::SpawnedCluster& cluster);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_BACKENDS_TESTING_LIVE_SERVER_H_
