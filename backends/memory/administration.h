// Administration: what an operator sees and steers of an engine: who is connected, what was run and
// how long it took, who watches every command, and whether clients are paused.
//
// INFO, CLIENT, SLOWLOG, MONITOR and their like read and change it; the engine tells it of every
// command. Without a host (host.h) all of it is a function of the commands and the engine's clock.
//
//   engine.administration().set_host(&server);
//   engine.administration().statistics().of(CommandId::kGet).calls;
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_ADMINISTRATION_H_
#define REDOUBLE_BACKENDS_MEMORY_ADMINISTRATION_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "backends/memory/host.h"
#include "backends/memory/latency_monitor.h"
#include "backends/memory/slow_log.h"
#include "backends/memory/statistics.h"
#include "core/base/virtual_clock.h"

namespace redouble::memory {

class Engine;

class Administration {
 public:
  explicit Administration(Engine& engine);
  Administration(const Administration&) = delete;
  Administration& operator=(const Administration&) = delete;
  ~Administration();

  // Null: the engine runs inside a program that is no server. The host outlives the engine, or is
  // taken away first.
  void set_host(Host* host);
  Host* host() const { return host_; }
  // For a host that measures: what follows is not charged for the time that has passed.
  void StartLap() {
    if (host_ != nullptr) lap_us_ = host_->MonotonicMicros();
  }

  Statistics& statistics() { return statistics_; }
  SlowLog& slow_log() { return slow_log_; }
  LatencyMonitor& latency_monitor() { return latency_monitor_; }
  // When the engine was made.
  int64_t started_us() const { return started_us_; }

  // The most memory that was in use whenever somebody looked: `used_bytes` or more.
  uint64_t NotePeakMemory(uint64_t used_bytes) {
    return peak_memory_bytes_ = std::max(peak_memory_bytes_, used_bytes);
  }

  // Everybody who is connected, by id.
  const std::map<int64_t, Session*>& sessions() const { return sessions_; }
  void Add(Session& session);
  void Remove(Session& session);

  // Ends the connections for which `ends` is true; `me`, who asks for it, hears the reply first.
  // Gives how many.
  int64_t DisconnectIf(Session& me, absl::FunctionRef<bool(const Session&)> ends);

  // One command, as it was sent.
  struct Sent {
    store::CommandId id;
    std::string_view name;
    std::span<const std::string_view> arguments;
  };

  // To be called around each call of a command: when it began, and with what came of it.
  int64_t Begin() const { return lap_us_; }
  void Finish(Session& session, const Sent& sent, const store::Reply& reply, int64_t begun_us) {
    statistics_.CountCall(sent.id, reply);
    if (host_ != nullptr || logs_all_ || !monitors_.empty()) FinishSlowly(session, sent, begun_us);
  }
  // Options have changed.
  void Configure();

  // The session gets a line for each command from now on, or no more.
  void StartMonitor(Session& session);
  void StopMonitor(Session& session);

  // Clients wait with commands that write, or with all, until the clock has passed that moment; a
  // pause that is on already never gets shorter or milder.
  enum class Pause : uint8_t { kNone, kWrites, kAll };
  void PauseClients(Pause pause, int64_t until_ms);
  void EndPause();
  Pause pause() const { return pause_; }
  bool paused() const { return pause_ != Pause::kNone; }
  // True when the command has to wait.
  bool Postpones(const Session& session, store::CommandId id) const;
  // The session waits with its request for the end of the pause.
  void WaitForEndOfPause(Session& session) { postponed_.push_back(&session); }
  void StopWaiting(Session& session) { std::erase(postponed_, &session); }

 private:
  void FinishSlowly(Session& session, const Sent& sent, int64_t begun_us);
  void FeedMonitors(const Session& session, const Sent& sent);
  void SampleLatency(const Session& session, store::CommandId id, int64_t duration_us);
  void LogIfSlow(const Session& session, const Sent& sent, int64_t duration_us);

  Engine& engine_;
  Host* host_ = nullptr;
  bool logs_all_ = false;
  int64_t lap_us_ = 0;
  const int64_t started_us_;
  uint64_t peak_memory_bytes_ = 0;
  Statistics statistics_;
  SlowLog slow_log_;
  LatencyMonitor latency_monitor_;
  std::map<int64_t, Session*> sessions_;
  std::vector<Session*> monitors_;
  Pause pause_ = Pause::kNone;
  int64_t pause_until_ms_ = 0;
  std::optional<base::VirtualClock::TimerId> pause_timer_;
  std::vector<Session*> postponed_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ADMINISTRATION_H_
