// ServerShutdown: how a server ends: by SHUTDOWN, SIGTERM or SIGINT.
//
// A server with replicas waits until they have its whole stream, for shutdown-timeout at most,
// while writes are paused. Then it saves its keys, if it has to; if it cannot, it goes on.
//
//   ServerShutdown shutdown(engine, log, key_file, append_log, replication, now_us, stop);
//   shutdown.TakeSignal(SIGTERM);
//   shutdown.Upkeep();  // Ten times a second.
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 server.c, prepareForShutdown and finishShutdown.
#ifndef REDOUBLE_SIM_SERVER_SERVER_SHUTDOWN_H_
#define REDOUBLE_SIM_SERVER_SERVER_SHUTDOWN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/server/shutdown.h"
#include "redouble/sim/server/append_only_file.h"
#include "redouble/sim/server/process/log.h"
#include "redouble/sim/server/rdb_key_file.h"
#include "redouble/sim/server/replication/node.h"

namespace redouble::inline v0_1::sim {

class ServerShutdown final : public memory::Shutdown {
 public:
  // `now_us` is a monotonic clock: a held clock of the engine does not hold the wait. `on_stop` is
  // called at most once. All others must outlive the object.
  ServerShutdown(memory::Engine& engine, const Log& log, RdbKeyFile& key_file,
                 AppendOnlyFile& append_log, ReplicationNode& replication,
                 std::function<int64_t()> now_us, std::function<void()> on_stop);

  Outcome Begin(const memory::SessionCore& session,
                const memory::ShutdownOptions& options) override;
  bool Abort() override;
  std::optional<int64_t> millis_left() const override;

  // SIGTERM or SIGINT has arrived. Upkeep handles it, as shutdown-on-sigterm or shutdown-on-sigint
  // says. Returns false if the process must end at once: a second SIGINT.
  bool TakeSignal(int signal);
  // Begins what a signal has asked for, and ends the wait for replicas.
  void Upkeep();

 private:
  struct Wait {
    int64_t deadline_us;
    std::vector<int64_t> session_ids;  // Blocked until the end of the wait.
  };

  Outcome Prepare(const memory::ShutdownOptions& options);
  // The server stops, or goes on.
  Outcome Finish();
  bool MayStop();
  bool SavesKeys() const;
  // The server goes on: blocked sessions get an error, and writes continue.
  void Cancel();
  void LogReplicas() const;
  memory::ShutdownOptions OptionsOfSignal(int signal) const;
  void WriteLog(LogLevel level, std::string_view text) const;

  memory::Engine& engine_;
  const Log& log_;
  RdbKeyFile& key_file_;
  AppendOnlyFile& append_log_;
  ReplicationNode& replication_;
  const std::function<int64_t()> now_us_;
  const std::function<void()> on_stop_;
  memory::ShutdownOptions options_;
  std::optional<int> signal_;  // The last one that has not been handled, or is being handled.
  std::optional<Wait> wait_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_SERVER_SHUTDOWN_H_
