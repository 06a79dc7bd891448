// LiveServer: the real Redis behind live tests, as the environment variable REDOUBLE_LIVE_BACKEND
// asks for it:
//
//   (unset)   a redis-server of the test's own, on its Unix socket
//   tls       the same, spoken to through TLS on the loopback
//   cluster   three masters, which all tests of one process share; each finds them empty
//
// Why it exists: the systems' tests run on each of them unchanged (tests/live:tls_typed_test and
// cluster_typed_test).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_LIVE_SERVER_H_
#define REDOUBLE_TESTS_SUPPORT_LIVE_SERVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backends/redis/options.h"
#include "backends/redis/spawn/spawned_cluster.h"
#include "backends/redis/spawn/spawned_server.h"
#include "core/store/store.h"

namespace redouble::tests {

// Whether the environment asks for a cluster. Dies when it asks for what there is not, rather than
// let tests pass on something else.
bool LiveTestsWantACluster();

// Starts a server whose wall clock is held at `start`, with TLS if the environment asks for it.
// Errors: those of redis::SpawnedServer::Start.
absl::StatusOr<std::unique_ptr<redis::SpawnedServer>> StartLiveServer(absl::Time start);

// The cluster of this process, without keys, scripts and functions, held at `start`.
// Errors: those of redis::SpawnedCluster::Start, of connecting to it and of emptying it.
absl::StatusOr<redis::SpawnedCluster*> EmptyLiveCluster(absl::Time start);

// How a client reaches them, with the patience of a test: a reply that is due comes within
// microseconds, but for a server that has stopped answering or a machine that is very busy.
redis::Options LiveOptions(const redis::SpawnedServer& server);
redis::Options LiveOptions(const redis::SpawnedCluster& cluster);

// A connection of a test's own; that to a cluster prints what is refused because of where keys are,
// a line "[cluster refused] COMMAND<tab>KEY<tab>KEY..." each.
// Errors: those of redis::BlockingStore::Connect.
absl::StatusOr<std::unique_ptr<store::Store>> ConnectToLive(const redis::SpawnedServer& server);
absl::StatusOr<std::unique_ptr<store::Store>> ConnectToLive(const redis::SpawnedCluster& cluster);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_LIVE_SERVER_H_
