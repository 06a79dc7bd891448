// ServerLinks: the connections between the servers of a world, over which MIGRATE sends keys.
//
// The target restores the keys at once, within the command of the source. In a world, a server is
// reached by its name, with the port kServerPort.
//
//   ServerLinks links([&](std::string_view host, std::string_view port) { return Find(host, port);
//   }); server.engine().core().administration().set_migration_connector(&links);
//   // MIGRATE other 6379 key 0 1000
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_SERVERS_SERVER_LINKS_H_
#define REDOUBLE_SIM_WORLD_SERVERS_SERVER_LINKS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/migration/connector.h"
#include "redouble/sim/world/servers/world_server.h"

namespace redouble::inline v0_1::sim {

// The port of every server of a world, for commands that name a server by host and port.
inline constexpr int kServerPort = 6379;

class ServerLinks final : public memory::MigrationConnector {
 public:
  // Returns the server at an address, or null if no server has it.
  using FindServer = std::function<WorldServer*(std::string_view host, std::string_view port)>;

  explicit ServerLinks(FindServer find);
  ~ServerLinks() override;

  // Errors: Unavailable if there is no such server.
  absl::StatusOr<memory::MigrationConnection*> Connect(std::string_view host, std::string_view port,
                                                       int64_t timeout_ms) override;
  void Forget(std::string_view host, std::string_view port) override;

 private:
  class Link;

  const FindServer find_;
  std::map<std::string, std::unique_ptr<Link>> links_;  // By "host:port".
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_SERVERS_SERVER_LINKS_H_
