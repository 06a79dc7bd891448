// ServerTarget: a spawned redis-server with a held clock as a Target (target.h).
//
// Besides the connections of the script it has a control connection, by which it waits until the
// server has run all commands (see Sync).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_TARGET_SERVER_TARGET_H_
#define REDOUBLE_TESTS_SUPPORT_TARGET_SERVER_TARGET_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/tests/support/target/raw_connection.h"
#include "redouble/tests/support/target/target.h"

namespace redouble::inline v0_1::tests {

class ServerTarget final : public Target {
 public:
  // Starts a server with the additional lines `config` in its redis.conf. Throws if it does not
  // start. With `resp3` each connection of the script starts with HELLO 3. `executable` is a path,
  // or a name that is searched on PATH.
  explicit ServerTarget(std::vector<std::string> config = {}, bool resp3 = false,
                        std::string executable = "redis-server");

  std::string name() const override { return "server"; }
  void Reset(absl::Time now) override;
  absl::Time now() const override { return *server_->held_time(); }
  void SetTime(absl::Time now) override;
  void Settle() override;

  std::vector<store::Reply> RunAll(int connection, std::span<const Words> commands) override;
  std::optional<store::Reply> Run(int connection, const Words& command) override;
  std::optional<store::Reply> Poll(int connection) override;

  // Returns when the server has run all commands sent before on any connection and has written
  // their replies, including the replies of blocked commands that were served or timed out.
  void Sync();

 private:
  struct Connection {
    std::unique_ptr<RawConnection> wire;
    size_t unanswered = 0;
    // Still has the state of an earlier script: RESET is sent before its next command.
    bool stale = false;
    // Has subscribed, and counts as a subscriber until it is closed.
    bool subscribed = false;
  };

  Connection& At(int connection);
  std::unique_ptr<RawConnection> Connect() const;

  const bool resp3_;
  std::unique_ptr<redis::SpawnedServer> server_;
  std::unique_ptr<RawConnection> control_;
  std::map<int, Connection> connections_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_TARGET_SERVER_TARGET_H_
