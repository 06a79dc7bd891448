// TargetSockets: the TCP connections of MIGRATE to other servers.
//
// As in Redis, the server waits for the target: connecting, each 64 KiB of writing and each wait
// for a reply may take as long as the command's timeout, in real time, whatever the engine's clock
// is. A connection is kept for the next MIGRATE to the same host and port.
//
//   TargetSockets sockets([] { return SteadyMicros(); });
//   absl::StatusOr<memory::MigrationConnection*> connection =
//       sockets.Connect("localhost", "6379", /*timeout_ms=*/1000);
//   sockets.CloseUnused();  // Once a second.
//
// Thread-safety: one thread, which it blocks.
// Source: Redis 7.0 MIGRATE.
#ifndef REDOUBLE_SIM_SERVER_MIGRATION_TARGET_SOCKETS_H_
#define REDOUBLE_SIM_SERVER_MIGRATION_TARGET_SOCKETS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/migration/connector.h"

namespace redouble::inline v0_1::sim {

class TargetSockets final : public memory::MigrationConnector {
 public:
  // A connection that no MIGRATE has used for longer is closed.
  static constexpr int64_t kUnusedMicros = 10'000'000;
  // Another one closes the one that has been unused for the longest time.
  static constexpr size_t kMost = 64;

  // `now_us` is a monotonic clock.
  explicit TargetSockets(std::function<int64_t()> now_us);
  ~TargetSockets() override;

  // The host is a name or an address of either family. Each of a name's addresses is tried.
  absl::StatusOr<memory::MigrationConnection*> Connect(std::string_view host, std::string_view port,
                                                       int64_t timeout_ms) override;
  void Forget(std::string_view host, std::string_view port) override;

  void CloseUnused();
  // The open connections.
  size_t size() const { return sockets_.size(); }

 private:
  class Socket;

  const std::function<int64_t()> now_us_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Socket>> sockets_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_MIGRATION_TARGET_SOCKETS_H_
