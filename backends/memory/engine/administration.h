// Administration: the engine's sessions, statistics, slow log, latency samples, monitors and pause.
//
// INFO, CLIENT, SLOWLOG, LATENCY and MONITOR read and change it; the engine reports every command
// to it. Durations come from the host (server/host.h). Without a host they are 0, and everything
// here depends on the commands and the engine's clock only.
//
//   engine.core().administration().set_host(&server);
//   engine.core().administration().statistics().of(CommandId::kGet).calls;
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_ADMINISTRATION_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_ADMINISTRATION_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "redouble/backends/memory/server/host.h"
#include "redouble/backends/memory/server/latency_monitor.h"
#include "redouble/backends/memory/server/slow_log.h"
#include "redouble/backends/memory/server/statistics.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::memory {

class EngineCore;
class SessionCore;

class Administration {
 public:
  explicit Administration(EngineCore& engine);
  Administration(const Administration&) = delete;
  Administration& operator=(const Administration&) = delete;
  ~Administration();

  // The host, null if the engine runs without a server. The host must outlive the engine, or be
  // removed (null) before it is destroyed.
  void set_host(Host* host);
  Host* host() const { return host_; }
  // For a host that measures durations: the next command's duration starts now.
  void StartLap() {
    if (host_ != nullptr) lap_us_ = host_->MonotonicMicros();
  }

  Statistics& statistics() { return statistics_; }
  SlowLog& slow_log() { return slow_log_; }
  // Valkey's logs of large requests and large replies; empty in other versions.
  SlowLog& large_requests() { return large_requests_.log; }
  SlowLog& large_replies() { return large_replies_.log; }
  LatencyMonitor& latency_monitor() { return latency_monitor_; }
  // The host's file of keys; null if nothing is saved.
  KeyFile* key_file() const { return host_ == nullptr ? nullptr : host_->key_file(); }
  // The host's append-only log, replicas and shutdown; null if there are none.
  AppendLog* append_log() const { return host_ == nullptr ? nullptr : host_->append_log(); }
  Replication* replication() const {
    if (replication_ != nullptr) return replication_;
    return host_ == nullptr ? nullptr : host_->replication();
  }
  // For an engine that has replicas, or is one, without a server; null if it is not. The object
  // must outlive the engine, or be removed (null) before it is destroyed.
  void set_replication(Replication* replication) { replication_ = replication; }
  // The connections of MIGRATE; null if no target is reached.
  MigrationConnector* migration_connector() const {
    if (migration_connector_ != nullptr) return migration_connector_;
    return host_ == nullptr ? nullptr : host_->migration_connector();
  }
  // As set_replication, for an engine that can reach others without a server.
  void set_migration_connector(MigrationConnector* connector) { migration_connector_ = connector; }
  Shutdown* shutdown() const { return host_ == nullptr ? nullptr : host_->shutdown(); }
  // The figures of the file of keys. Without one, the last save is the start of the engine.
  KeyFileFigures key_file_figures() const;
  // The size of the large buffers of the host's clients.
  uint64_t client_buffer_bytes() const {
    return host_ == nullptr ? 0 : host_->client_buffer_bytes();
  }
  ReplyBufferOptions& reply_buffers() { return reply_buffers_; }
  // The engine's time in microseconds when it was constructed.
  int64_t started_us() const { return started_us_; }

  // Records `used_bytes`, and returns the largest value recorded so far.
  uint64_t NotePeakMemory(uint64_t used_bytes) {
    return peak_memory_bytes_ = std::max(peak_memory_bytes_, used_bytes);
  }

  // All connected sessions, by id.
  const std::map<int64_t, SessionCore*>& sessions() const { return sessions_; }
  void Add(SessionCore& session);
  void Remove(SessionCore& session);

  // Closes the sessions for which `ends` returns true, and returns their number. The calling
  // session `me` closes after its reply has been sent.
  int64_t DisconnectIf(SessionCore& me, absl::FunctionRef<bool(const SessionCore&)> ends);

  // Closes clients until the memory of all clients is below maxmemory-clients. A host calls it
  // between commands. As in Redis, clients are closed in the order of their size, rounded to a
  // power of two, older ones first; CLIENT NO-EVICT protects a client. O(clients whose size was
  // noted since the last call) as long as the limit is not reached.
  void EvictClients();
  // The size of the session may have changed: a host calls it for each client that it reads from or
  // writes to, and at times for every client. A new session needs no call.
  void NoteClientSize(int64_t session_id) {
    if (client_limit_bytes_ && host_ != nullptr) resized_.push_back(session_id);
  }

  // The clients that EvictClients may close, by their size: the first class has those below 2^15
  // bytes, each further one those of twice the size, and the last one has no limit.
  static constexpr int kSmallClientBits = 15;
  static constexpr int kClientSizeClasses = 19;
  struct ClientSizes {
    uint64_t bytes = 0;
    size_t clients = 0;
  };
  std::array<ClientSizes, kClientSizeClasses> client_sizes() const;

  // A command as the client sent it.
  struct Sent {
    store::CommandId id;
    std::string_view name;
    std::span<const std::string_view> arguments;
  };

  // To be called before and after each command. Begin returns the start time for Finish.
  int64_t Begin() const { return lap_us_; }
  void Finish(SessionCore& session, const Sent& sent, const store::Reply& reply, int64_t begun_us) {
    statistics_.CountCall(sent.id, reply);
    if (host_ != nullptr || logs_all_ || !monitors_.empty()) {
      FinishSlowly(session, sent, reply, begun_us);
    }
  }
  // How the wait of a blocked call ended: it was served, its timeout passed, or another client
  // called CLIENT UNBLOCK.
  enum class WaitEnd : uint8_t { kServed, kTimedOut, kUnblocked };
  // To be called when a blocked call gets its reply, while it is still blocked. Finish has counted
  // the call; FinishBlocked records its failure, duration and slow log entry. As in Redis, a
  // timeout has none of them, and CLIENT UNBLOCK counts as a failure and logs an entry without
  // words. `served_from_us` is the result of Now() before it was served.
  void FinishBlocked(const SessionCore& session, const store::Reply& reply, WaitEnd end,
                     int64_t served_from_us);
  // The host's monotonic clock; 0 without a host.
  int64_t Now() const { return host_ == nullptr ? 0 : host_->MonotonicMicros(); }
  // To be called when the engine's options have changed.
  void Configure();

  // MONITOR: the session receives a line for each command.
  void StartMonitor(SessionCore& session);
  void StopMonitor(SessionCore& session);
  // Sends the command's line to the monitors. Finish does so for most commands; one that runs a
  // script calls it before, so that its line comes before those of the script's commands.
  void ShowToMonitors(const SessionCore& session, const Sent& sent);

  // Commands that write, or all commands, wait until the clock has passed `until_ms`. Each owner
  // has a pause of its own, and the strictest one holds. As in Redis, an owner's second pause never
  // shortens or weakens its first one.
  enum class Pause : uint8_t { kNone, kWrites, kAll };
  enum class PauseOwner : uint8_t {
    kClient,  // CLIENT PAUSE
    kShutdown,
    kFailover,
  };
  // For `until_ms`: the pause lasts until it is ended.
  static constexpr int64_t kNoPauseEnd = std::numeric_limits<int64_t>::max();
  void PauseClients(PauseOwner owner, Pause pause, int64_t until_ms);
  void EndPause(PauseOwner owner);
  Pause pause() const { return pause_; }
  bool paused() const { return pause_ != Pause::kNone; }
  // True if the command has to wait for the end of the pause.
  bool Postpones(const SessionCore& session, store::CommandId id,
                 std::span<const std::string_view> arguments) const;
  // Adds the session to those that continue when the pause ends.
  void WaitForEndOfPause(SessionCore& session) { postponed_.push_back(&session); }
  void StopWaiting(SessionCore& session) { std::erase(postponed_, &session); }

  // Adds a sample for LATENCY if it reaches latency-monitor-threshold.
  void SampleLatency(std::string_view event, int64_t duration_us);
  // Adds the duration of its own lifetime.
  class LatencySample {
   public:
    LatencySample(Administration& administration, std::string_view event)
        : administration_(administration), event_(event) {
      if (administration.samples_latency()) begun_us_ = administration.Now();
    }
    LatencySample(const LatencySample&) = delete;
    LatencySample& operator=(const LatencySample&) = delete;
    ~LatencySample() {
      if (begun_us_) administration_.SampleLatency(event_, administration_.Now() - *begun_us_);
    }

   private:
    Administration& administration_;
    const std::string_view event_;
    std::optional<int64_t> begun_us_;
  };

 private:
  bool samples_latency() const;
  void EvictClientsAbove(uint64_t limit_bytes);
  void MeasureClients();
  // Sets the measured size of a client.
  void SetClientBytes(int64_t id, uint64_t bytes);
  void FinishSlowly(SessionCore& session, const Sent& sent, const store::Reply& reply,
                    int64_t begun_us);
  bool IsSlow(store::CommandId id, int64_t duration_us) const;
  void LogSlow(const SessionCore& session, std::vector<std::string> words, int64_t duration_us);
  SlowLog::Entry EntryFor(const SessionCore& session, std::vector<std::string> words,
                          int64_t cost) const;

  // A log of requests or replies of at least so many bytes.
  struct SizeLog {
    SlowLog log;
    int64_t threshold_bytes = -1;  // Negative: nothing is logged.
    size_t longest = 0;
  };
  static void AddTo(SizeLog& log, SlowLog::Entry entry);
  void ConfigureSizeLogs();
  bool logs_sizes() const {
    return large_requests_.threshold_bytes >= 0 || large_replies_.threshold_bytes >= 0;
  }
  void LogReply(const SessionCore& session, std::vector<std::string> words,
                const store::Reply& reply);

  EngineCore& engine_;
  Host* host_ = nullptr;
  Replication* replication_ = nullptr;                 // Instead of the host's.
  MigrationConnector* migration_connector_ = nullptr;  // Instead of the host's.
  bool logs_all_ = false;                              // Commands are logged without a host, too.
  std::optional<uint64_t> client_limit_bytes_;         // maxmemory-clients
  int64_t lap_us_ = 0;
  const int64_t started_us_;
  ReplyBufferOptions reply_buffers_;
  uint64_t peak_memory_bytes_ = 0;
  Statistics statistics_;
  SlowLog slow_log_;
  SizeLog large_requests_;
  SizeLog large_replies_;
  LatencyMonitor latency_monitor_;
  std::map<int64_t, SessionCore*> sessions_;
  // With maxmemory-clients: each client's size when it was measured last, their sum, and the
  // clients to be measured again.
  absl::flat_hash_map<int64_t, uint64_t> client_bytes_;
  uint64_t client_bytes_sum_ = 0;
  std::vector<int64_t> resized_;
  std::vector<SessionCore*> monitors_;
  struct OwnedPause {
    Pause pause = Pause::kNone;
    int64_t until_ms = 0;
  };
  // Updates the pause in effect after the pause of an owner has changed.
  void UpdatePause();
  void EndDuePauses();
  int64_t FirstMillisAfterPause(int64_t until_ms) const;

  std::array<OwnedPause, 3> owned_pauses_;  // By owner.
  Pause pause_ = Pause::kNone;
  std::optional<base::VirtualClock::TimerId> pause_timer_;
  std::vector<SessionCore*> postponed_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_ADMINISTRATION_H_
