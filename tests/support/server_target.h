// ServerTarget: a redis-server of one's own, its clock held, as a Target.
//
// Beside the connections of the script it has one of its own, by which it makes sure that the
// server has done what it was told: see Sync.
#ifndef REDOUBLE_TESTS_SUPPORT_SERVER_TARGET_H_
#define REDOUBLE_TESTS_SUPPORT_SERVER_TARGET_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/redis/spawn/spawned_server.h"
#include "tests/support/raw_connection.h"
#include "tests/support/target.h"

namespace redouble::tests {

class ServerTarget final : public Target {
 public:
  // Starts a server; `config` are further lines of its redis.conf. Throws when it does not start.
  // With `resp3` every connection of the script begins with HELLO 3.
  explicit ServerTarget(std::vector<std::string> config = {}, bool resp3 = false);

  std::string name() const override { return "server"; }
  void Reset(absl::Time now) override;
  absl::Time now() const override { return *server_->held_time(); }
  void SetTime(absl::Time now) override;
  void Settle() override;

  std::vector<store::Reply> RunAll(int connection, std::span<const Words> commands) override;
  std::optional<store::Reply> Run(int connection, const Words& command) override;
  std::optional<store::Reply> Poll(int connection) override;

  // Returns when the server has read what was sent on any connection before, done it, and written
  // the replies, those of calls that were served or timed out by it included.
  void Sync();

 private:
  struct Connection {
    std::unique_ptr<RawConnection> wire;
    size_t unanswered = 0;
    // Carries the state of an earlier script still; RESET goes before its next command.
    bool stale = false;
    // It has subscribed, and would be counted as long as it lives.
    bool subscribed = false;
  };

  Connection& At(int connection);
  std::unique_ptr<RawConnection> Connect() const;

  const bool resp3_;
  std::unique_ptr<redis::SpawnedServer> server_;
  std::unique_ptr<RawConnection> control_;
  std::map<int, Connection> connections_;
};

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_SERVER_TARGET_H_
