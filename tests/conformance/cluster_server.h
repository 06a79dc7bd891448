// ClusterServer: a real redis-server that is the only node of a cluster and serves all slots, as a
// Target; and the engine's options that say the same.
#ifndef REDOUBLE_TESTS_CONFORMANCE_CLUSTER_SERVER_H_
#define REDOUBLE_TESTS_CONFORMANCE_CLUSTER_SERVER_H_

#include <memory>

#include "backends/memory/engine.h"
#include "backends/redis/spawn/loopback_port.h"
#include "backends/redis/spawn/private_folder.h"
#include "tests/support/server_target.h"

namespace redouble::tests {

// The engine as the node that ClusterServer is: same id, same address.
memory::EngineOptions ClusterEngineOptions();

class ClusterServer {
 public:
  // Starts the server and waits until it serves. Throws when it does not.
  ClusterServer();

  Target& target() { return *target_; }

 private:
  std::unique_ptr<redis::LoopbackPort> bus_port_;
  std::unique_ptr<redis::PrivateFolder> folder_;
  std::unique_ptr<ServerTarget> target_;
};

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_CONFORMANCE_CLUSTER_SERVER_H_
