// ClusterServer: a real redis-server that is the only node of a cluster and serves all slots, as a
// Target; and the equivalent options of the engine.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_CONFORMANCE_CLUSTER_SERVER_H_
#define REDOUBLE_TESTS_CONFORMANCE_CLUSTER_SERVER_H_

#include <memory>
#include <string>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/redis/spawn/loopback_port.h"
#include "redouble/backends/redis/spawn/private_folder.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {

// Options that make the engine the same node as ClusterServer: same id, same address.
memory::EngineOptions ClusterEngineOptions();

class ClusterServer {
 public:
  // Starts the server and waits until it serves. Throws on failure. `executable` as for
  // ServerTarget.
  explicit ClusterServer(std::string executable = "redis-server");

  Target& target() { return *target_; }

 private:
  std::unique_ptr<redis::LoopbackPort> bus_port_;
  std::unique_ptr<redis::PrivateFolder> folder_;
  std::unique_ptr<ServerTarget> target_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_CONFORMANCE_CLUSTER_SERVER_H_
