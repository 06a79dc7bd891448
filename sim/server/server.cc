#include "redouble/sim/server/server.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/io_context.hpp"
#include "boost/asio/posix/stream_descriptor.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/signal_set.hpp"
#include "boost/asio/steady_timer.hpp"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/error_text.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/snapshot/keys_save.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/core/base/posix/sockets.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/system_clock.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/server/append_only_file.h"
#include "redouble/sim/server/client.h"
#include "redouble/sim/server/client_rounds.h"
#include "redouble/sim/server/connection.h"
#include "redouble/sim/server/debugging/debug_sessions.h"
#include "redouble/sim/server/engine_time.h"
#include "redouble/sim/server/listening/server_listeners.h"
#include "redouble/sim/server/load_keys.h"
#include "redouble/sim/server/migration/target_sockets.h"
#include "redouble/sim/server/process/deferred_tasks.h"
#include "redouble/sim/server/process/descriptor_limit.h"
#include "redouble/sim/server/process/interrupts.h"
#include "redouble/sim/server/process/load_users.h"
#include "redouble/sim/server/process/poller.h"
#include "redouble/sim/server/process/process_figures.h"
#include "redouble/sim/server/process/text_file.h"
#include "redouble/sim/server/process/tick_clock.h"
#include "redouble/sim/server/process/traffic_rates.h"
#include "redouble/sim/server/process/working_folder.h"
#include "redouble/sim/server/protected_mode.h"
#include "redouble/sim/server/rdb_key_file.h"
#include "redouble/sim/server/replication/asio_master_socket.h"
#include "redouble/sim/server/replication/node.h"
#include "redouble/sim/server/replication/replica_sockets.h"
#include "redouble/sim/server/server_shutdown.h"
#include "redouble/sim/server/sim_commands.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using store::Reply;

constexpr size_t kReadBytes = 64 * 1024;
// How many rounds of polling run before timers do.
constexpr int kRounds = 16;

// What one pass over the ready sockets works on.
struct Pass {
  std::vector<Poller::Event> events;
  std::vector<char> read_buffer = std::vector<char>(kReadBytes);
};

class AsioServer final : public Server,
                         public memory::Host,
                         public ClientOwner,
                         private ReplicaSockets {
 public:
  AsioServer(ServeOptions options, Poller poller)
      : options_(std::move(options)),
        clock_(options_.clock == ServeOptions::Clock::kSystem ? base::SystemClock().Now()
                                                              : options_.start),
        engine_(clock_, options_.engine),
        sim_(engine_, clock_),
        poller_(std::move(poller)),
        poller_descriptor_(context_, poller_.descriptor()) {
    engine_.core().administration().set_host(this);
    key_file_.set_stream_source([this] { return replication_.StreamToSave(); });
  }
  ~AsioServer() override {
    while (!connections_.empty()) Close(*connections_.begin()->second);
    engine_.core().administration().set_host(nullptr);
    poller_descriptor_.release();
  }

  // Opens the listening sockets.
  absl::Status Start();
  absl::StatusOr<std::vector<std::string>> LoadKeys() override {
    return LoadKeysAtStart(engine_, key_file_, append_log_, replication_,
                           [this] { return ServeWhileLoading(); });
  }
  absl::Status LoadUsers(const std::vector<memory::UserDirective>& directives) override {
    return LoadUsersAtStart(engine_, directives);
  }
  std::string addresses() const override { return listeners_.names(); }
  int port() const override { return figures_.tcp_port; }
  bool Run() override;
  void Stop() override {
    asio::post(context_, [this] { StopNow(); });
  }
  memory::Engine& engine() override { return engine_; }

 private:
  // Returns false if the server stops.
  bool ServeWhileLoading();
  // Begins to look at sockets and signals.
  void BeginToServe();
  bool holds_clock() const { return options_.clock == ServeOptions::Clock::kManual; }

  void WaitForSignal();
  void LogLine(LogLevel level, std::string_view text) const {
    options_.log.Write(level, clock_.Now(), text);
  }
  // The session's connection; null if it has none.
  Connection* Find(int64_t session_id) const {
    const auto found = connections_by_id_.find(session_id);
    return found == connections_by_id_.end() ? nullptr : found->second;
  }
  // The sockets of clients and listeners.
  std::vector<int> Descriptors() const;
  void AddClient(Accepted accepted);
  void Serve(const Poller::Event& event);
  void Read(Connection& connection);
  // Writes the client's output, and closes the connection if the client is finished.
  void Flush(Connection& connection);
  bool Write(Connection& connection);
  void Close(Connection& connection);
  void FlushDirty();
  void WriteDirty();
  // For maxmemory-clients.
  void NoteSize(const Client& client) {
    engine_.core().administration().NoteClientSize(client.session().id());
  }
  memory::Traffic& traffic() { return engine_.core().administration().statistics().traffic(); }

  void WaitForSockets();
  void OnSocketsReady();
  // Runs the work for bytes of the master as that for a client's.
  void RunForMaster(const std::function<void()>& task);
  // Returns false if no socket is ready.
  bool ServeReadySockets();
  // Time stands still for a script.
  void Tick() {
    if (!holds_clock() && !interrupted_pass_) time_.Advance();
  }
  void ArmTimer() {
    if (!holds_clock()) time_.Arm();
  }
  void WaitForUpkeep();
  void Upkeep();
  void VisitClients();
  void StopNow();
  void StopWithoutReplies() {
    stopping_ = true;
    for (auto& [id, connection] : connections_) connection->client.Break();
  }

  // Host
  int64_t MonotonicMicros() override {
    return ticks_.calibrated() ? ticks_.MicrosAt(ReadTicks()) : SteadyMicros();
  }
  memory::ProcessFigures Figures() override;
  memory::ConnectionFigures FiguresOf(const memory::SessionCore& session) override;
  bool IsLocal(const memory::SessionCore& session) override;
  void OnDisconnect(const memory::SessionCore& session) override;
  uint64_t client_buffer_bytes() const override { return client_buffer_bytes_; }
  bool runs_in_real_time() const override { return !holds_clock(); }
  bool ServeOthers() override;
  bool MayAbandonScript() const;
  void Sleep(int64_t duration_us) override;
  void LogWarning(std::string_view text) override { LogLine(LogLevel::kWarning, text); }
  absl::Status Listen(const memory::ServerOptions& server) override;
  int RoomForClients(int wanted) override { return RaiseDescriptorLimit(wanted); }
  std::string Folder() override { return WorkingFolder(); }
  absl::Status EnterFolder(const std::string& path) override { return sim::EnterFolder(path); }
  std::string ConfigFile() override { return options_.config_file; }
  absl::StatusOr<std::string> ReadTextFile(const std::string& path) override {
    return sim::ReadTextFile(path);
  }
  absl::Status ReplaceTextFile(const std::string& path, std::string_view text) override;
  memory::KeyFile* key_file() override { return &key_file_; }
  memory::AppendLog* append_log() override { return &append_log_; }
  memory::Replication* replication() override { return &replication_; }
  memory::MigrationConnector* migration_connector() override { return &migration_targets_; }
  memory::DebugHost* debug_host() override { return &debugging_; }
  memory::Shutdown* shutdown() override { return &shutdown_; }
  void PauseUpkeep(bool pauses) override { upkeep_is_paused_ = pauses; }

  // ReplicaSockets
  void SendToReplica(int64_t session_id, std::string_view bytes) override;
  void LimitReplica(int64_t session_id) override;
  void BreakReplica(int64_t session_id) override;
  int64_t OffsetOf(int64_t session_id) const override;
  void WhenSent(int64_t session_id, std::function<void()> task) override;
  void Later(std::function<void()> task) override { tasks_.Later(std::move(task)); }
  void InBackground(std::function<void()> task) override { tasks_.InBackground(std::move(task)); }
  void LoadInBackground(std::function<void()> task) override {
    load_tasks_.InBackground([this, task = std::move(task)] { RunForMaster(task); });
  }

  // ClientOwner
  void OnChange(Client& client) override;
  std::optional<Reply> Intercept(Client& client, store::CommandId id,
                                 std::span<const std::string_view> words) override;
  void OnReplyToReplica(Client& client, store::CommandId id, const Reply& reply) override {
    replication_.RefuseReply(client.session(), id, reply);
  }
  void OnSignOfLife(Client& client) override { replication_.NoteSignOfLife(client.session()); }
  void OnBuffersChanged(int64_t bytes) override {
    client_buffer_bytes_ += static_cast<uint64_t>(bytes);
  }
  bool stopping() const override { return stopping_; }
  int64_t stream_offset() const override { return replication_.offset(); }

  ServeOptions options_;
  const std::string run_id_ = MakeRunId();
  base::VirtualClock clock_;
  memory::Engine engine_;
  SimCommands sim_;
  asio::io_context context_{1};
  Poller poller_;
  asio::posix::stream_descriptor poller_descriptor_;
  asio::signal_set signals_{context_};
  EngineTime time_{context_, engine_, clock_, [this] {
                     Tick();
                     FlushDirty();
                     ArmTimer();
                   }};
  asio::steady_timer upkeep_timer_{context_};
  DeferredTasks tasks_{
      context_, [this] { FlushDirty(); },
      [this] { return std::chrono::microseconds(memory::KeySaveDelayMicros(engine_.options())); }};
  DeferredTasks load_tasks_{
      context_, [] {},
      [this] { return std::chrono::microseconds(memory::KeyLoadDelayMicros(engine_.options())); }};
  RdbKeyFile key_file_{
      engine_, [this](std::function<void()> task) { InBackground(std::move(task)); }, options_.log};
  AppendOnlyFile append_log_{engine_,
                             [this](std::function<void()> task) { InBackground(std::move(task)); },
                             options_.log, [this] { StopWithoutReplies(); }};
  ServerListeners listeners_{context_, poller_};
  AsioMasterSocket master_socket_{
      context_, [this](const std::function<void()>& task) { RunForMaster(task); }};
  ReplicationNode replication_{engine_,
                               options_.log,
                               *this,
                               master_socket_,
                               [] { return MakeRunId(); },
                               [this] {
                                 key_file_.StopSaving();
                                 if (append_log_.on()) append_log_.ScheduleRewrite();
                               }};
  ServerShutdown shutdown_{
      engine_, options_.log, key_file_, append_log_, replication_, SteadyMicros, [this] {
        stopping_ = true;
        Stop();
      }};
  TargetSockets migration_targets_{SteadyMicros};
  DebugSessions debugging_{
      {.socket_of =
           [this](const memory::SessionCore& session) { return FiguresOf(session).descriptor; },
       .leave = [this](const memory::SessionCore& session) { BreakReplica(session.id()); },
       .descriptors = [this] { return Descriptors(); },
       .log = [this](std::string_view text) { LogWarning(text); }}};
  ClientRounds rounds_;
  int64_t second_us_ = 0;  // When the work of each second was done.
  std::map<int64_t, std::unique_ptr<Connection>> connections_;  // By session id, in order.
  // The same, for Find: each message to a subscriber looks for its connection.
  absl::flat_hash_map<int64_t, Connection*> connections_by_id_;
  std::deque<int64_t> dirty_;
  uint64_t client_buffer_bytes_ = 0;
  Pass pass_;
  // The pass in which a busy script runs; empty if there is none.
  std::optional<Pass> interrupted_pass_;
  std::unique_ptr<Interrupts> interrupts_;  // Since the first busy script.
  bool serves_ = false;
  bool stopping_ = false;
  bool ends_at_once_ = false;  // By a second SIGINT.
  bool upkeep_is_paused_ = false;
  const bool ticks_are_steady_ = TicksAreSteady();
  TickClock ticks_;
  memory::ProcessFigures figures_;
  TrafficRates rates_;
};

absl::Status AsioServer::Listen(const memory::ServerOptions& server) {
  const absl::Status status = listeners_.ReopenTcp(server, engine_.options().server);
  if (!status.ok()) {
    LogLine(LogLevel::kWarning, absl::StrCat("Failed to listen: ", status.message()));
  }
  figures_.tcp_port = listeners_.port();
  return status;
}

absl::Status AsioServer::Start() {
  // Signals are caught from here on, so that one that arrives before Run() is not lost.
  for (const int ignored : {SIGPIPE, SIGHUP, SIGALRM}) std::signal(ignored, SIG_IGN);
  signals_.add(SIGTERM);
  signals_.add(SIGINT);
  REDOUBLE_RETURN_IF_ERROR(listeners_.Open(engine_.options().server, options_.any_port));
  figures_.tcp_port = listeners_.port();
  memory::EngineOptions options = engine_.options();
  options.server.port = figures_.tcp_port;
  options.server.maxclients = RaiseDescriptorLimit(options.server.maxclients);
  engine_.Configure(std::move(options));
  return absl::OkStatus();
}

absl::Status AsioServer::ReplaceTextFile(const std::string& path, std::string_view text) {
  const absl::Status status = sim::ReplaceTextFile(path, text);
  LogLine(status.ok() ? LogLevel::kNotice : LogLevel::kWarning,
          status.ok() ? absl::StrCat("Wrote ", path)
                      : absl::StrCat("Cannot write ", path, ": ", status.message()));
  return status;
}

void AsioServer::BeginToServe() {
  if (std::exchange(serves_, true)) return;
  WaitForSignal();
  listeners_.Watch();
  WaitForSockets();
  WaitForUpkeep();
}

bool AsioServer::ServeWhileLoading() {
  BeginToServe();
  const int64_t delay_us = memory::KeyLoadDelayMicros(engine_.options());
  context_.poll();
  if (delay_us > 0) context_.run_for(std::chrono::microseconds(delay_us));
  return !stopping_;
}

bool AsioServer::Run() {
  BeginToServe();
  replication_.FollowAtStart();
  ArmTimer();
  context_.run();
  return !ends_at_once_;
}

void AsioServer::WaitForSignal() {
  signals_.async_wait([this](const error_code& error, int signal) {
    if (error) return;
    interrupts_.reset();
    ends_at_once_ = !shutdown_.TakeSignal(signal);
    if (ends_at_once_) return StopNow();
    if (!upkeep_is_paused_) shutdown_.Upkeep();
    engine_.core().DeliverPending();
    FlushDirty();
    WaitForSignal();
  });
}

void AsioServer::StopNow() {
  stopping_ = true;
  listeners_.Close();
  for (auto& [id, connection] : connections_) Write(*connection);
  while (!connections_.empty()) Close(*connections_.begin()->second);
  append_log_.Close();
  if (!ends_at_once_) {
    LogLine(LogLevel::kWarning, "Redouble is now ready to exit, bye bye...");
  }
  context_.stop();
}

std::vector<int> AsioServer::Descriptors() const {
  std::vector<int> descriptors = listeners_.descriptors();
  for (const auto& [id, connection] : connections_) {
    descriptors.push_back(connection->accepted.socket);
  }
  return descriptors;
}

void AsioServer::AddClient(Accepted accepted) {
  ++traffic().connections_received;
  const memory::EngineOptions& options = engine_.options();
  const bool is_full = connections_.size() >= static_cast<size_t>(options.server.maxclients);
  const bool is_stranger =
      !accepted.is_local && options.server.protected_mode && options.requirepass.empty();
  if (is_full || is_stranger) {
    const std::string_view refusal =
        is_full ? "-ERR max number of clients reached\r\n" : kProtectedModeRefusal;
    // One attempt is enough: the client notices the closed connection in any case.
    (void)!send(accepted.socket, refusal.data(), refusal.size(), base::kNoSignal);
    close(accepted.socket);
    if (is_full) ++traffic().connections_rejected;
    return;
  }
  Tick();
  auto connection = std::make_unique<Connection>(engine_, *this, std::move(accepted));
  Connection& added = *connection;
  if (!poller_.Add(added.accepted.socket, &added)) {
    close(added.accepted.socket);
    return;
  }
  if (options_.log.writes(LogLevel::kVerbose)) {
    LogLine(LogLevel::kVerbose, "Accepted " + added.accepted.address);
  }
  connections_by_id_.emplace(added.client.session().id(), &added);
  connections_.emplace(added.client.session().id(), std::move(connection));
}

void AsioServer::WaitForSockets() {
  poller_descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                                [this](const error_code& error) {
                                  if (error) return;
                                  OnSocketsReady();
                                  if (!stopping_) return WaitForSockets();
                                  StopNow();
                                });
}

// Serves the sockets that are ready and the clients that those commands affected, then polls again,
// because a pass through the event loop costs as much as a request. Tasks for later do not wait for
// the next commands. New connections are accepted after existing clients have been served.
void AsioServer::OnSocketsReady() {
  for (int round = 0; round < kRounds && !stopping_ && ServeReadySockets(); ++round) {
    FlushDirty();
    if (tasks_.pending() || load_tasks_.pending()) break;
  }
  ArmTimer();
}

void AsioServer::RunForMaster(const std::function<void()>& task) {
  Tick();
  task();
  append_log_.BeforeReplies();
  engine_.core().DeliverPending();
  FlushDirty();
  ArmTimer();
}

bool AsioServer::ServeReadySockets() {
  poller_.Ready(pass_.events);
  if (pass_.events.empty()) return false;
  Tick();
  engine_.core().administration().StartLap();
  bool has_new_clients = false;
  // By index: a script that becomes busy exchanges the pass meanwhile, and restores it.
  for (size_t i = 0; i < pass_.events.size(); ++i) {
    const Poller::Event event = pass_.events[i];
    if (event.owner == nullptr) {
      has_new_clients = true;
    } else {
      Serve(event);
    }
  }
  if (has_new_clients) {
    listeners_.Accept([this](Accepted accepted) { AddClient(std::move(accepted)); });
  }
  return true;
}

// Called between two instructions of a script. Clients with a command under way, of which the
// script is one, are left alone. Source: Redis 7.0 networking.c, processEventsWhileBlocked.
bool AsioServer::ServeOthers() {
  if (interrupts_ == nullptr) interrupts_ = std::make_unique<Interrupts>();
  if (interrupts_->arrived() && MayAbandonScript()) return false;
  interrupted_pass_ = std::exchange(pass_, Pass());
  ServeReadySockets();
  engine_.core().DeliverPending();
  WriteDirty();
  pass_ = *std::exchange(interrupted_pass_, std::nullopt);
  // The script may run in a timer, after which no other code looks at stopping_.
  if (stopping_) asio::post(context_, [this] { StopNow(); });
  return !stopping_;
}

// A signal does not end a script whose writes are to be saved: they would be saved in part.
bool AsioServer::MayAbandonScript() const {
  return engine_.options().server.save_points.empty() ||
         !engine_.core().busy_script()->called_write_command;
}

// Connections are closed at the end of a round, so that every event's owner still exists.
void AsioServer::Serve(const Poller::Event& event) {
  Connection& connection = *static_cast<Connection*>(event.owner);
  if (connection.client.runs()) return;
  NoteSize(connection.client);
  if (event.readable && !connection.client.closing()) Read(connection);
  if (event.readable && connection.client.closing()) OnChange(connection.client);
  // With a log, the replies of all clients are sent after the commands were written at once.
  if (append_log_.on() || !Write(connection)) OnChange(connection.client);
}

void AsioServer::Read(Connection& connection) {
  constexpr size_t kLongRestBytes = 16 * 1024;
  Client& client = connection.client;
  std::span<char> room = client.RoomForInput();
  const bool is_rest = room.size() >= kLongRestBytes;
  if (!is_rest) room = pass_.read_buffer;
  const ssize_t size = recv(connection.accepted.socket, room.data(), room.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return client.Break();
  ++traffic().reads;
  traffic().input_bytes += size;
  const auto bytes = room.first(static_cast<size_t>(size));
  if (is_rest) return client.ReceiveInRoom(bytes.size());
  client.Receive(std::string_view(bytes.data(), bytes.size()));
}

// Returns false if the connection must be closed.
bool AsioServer::Write(Connection& connection) {
  debugging_.ExitIfEnded(connection.client);
  append_log_.BeforeReplies();
  Client& client = connection.client;
  while (!client.broken()) {
    const std::string_view bytes = client.unsent();
    if (bytes.empty()) break;
    const ssize_t size =
        send(connection.accepted.socket, bytes.data(), bytes.size(), base::kNoSignal);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size < 0) {
      client.Break();
      break;
    }
    ++traffic().writes;
    traffic().output_bytes += size;
    client.Sent(static_cast<size_t>(size));
  }
  if (client.output_bytes() > 0) client.CheckOutput();
  if (client.broken()) return false;
  const bool waits = client.output_bytes() > 0;
  if (!waits && connection.when_sent) Later(std::exchange(connection.when_sent, nullptr));
  if (waits != connection.waits_to_write) {
    connection.waits_to_write = waits;
    poller_.WatchWriting(connection.accepted.socket, &connection, waits);
  }
  return waits || !client.closing();
}

void AsioServer::OnChange(Client& client) {
  NoteSize(client);
  debugging_.ExitIfEnded(client);
  if (client.is_listed()) return;
  client.set_listed(true);
  dirty_.push_back(client.session().id());
}

// A command of one client may produce output for others, or unblock them.
void AsioServer::FlushDirty() {
  WriteDirty();
  engine_.core().administration().EvictClients();
  WriteDirty();
}

void AsioServer::WriteDirty() {
  std::vector<Connection*> running;
  while (!dirty_.empty()) {
    Connection* const found = Find(dirty_.front());
    dirty_.pop_front();
    if (found == nullptr) continue;
    Connection& connection = *found;
    connection.client.set_listed(false);
    if (connection.client.can_continue()) connection.client.Continue();
    if (Write(connection)) continue;
    if (connection.client.runs()) {
      running.push_back(&connection);
    } else {
      Close(connection);
    }
  }
  for (Connection* connection : running) OnChange(connection->client);
}

void AsioServer::Close(Connection& connection) {
  if (options_.log.writes(LogLevel::kVerbose)) {
    LogLine(LogLevel::kVerbose,
            absl::StrCat("Client closed connection id=", connection.client.session().id(),
                         " addr=", connection.accepted.address));
  }
  poller_.Remove(connection.accepted.socket);
  close(connection.accepted.socket);
  if (interrupted_pass_) {
    // An event without an owner only looks for new clients.
    for (Poller::Event& event : interrupted_pass_->events) {
      if (event.owner == &connection) event.owner = nullptr;
    }
  }
  replication_.Forget(connection.client.session());
  const int64_t id = connection.client.session().id();
  connections_by_id_.erase(id);
  connections_.erase(id);
}

void AsioServer::SendToReplica(int64_t session_id, std::string_view bytes) {
  Connection* connection = Find(session_id);
  if (connection == nullptr) return;
  connection->client.Send(bytes);
  OnChange(connection->client);
}

void AsioServer::LimitReplica(int64_t session_id) {
  if (Connection* connection = Find(session_id)) {
    connection->client.set_limit_class(memory::ClientClass::kReplica);
  }
}

void AsioServer::BreakReplica(int64_t session_id) {
  Connection* connection = Find(session_id);
  if (connection == nullptr) return;
  connection->client.Break();
  OnChange(connection->client);
}

void AsioServer::WhenSent(int64_t session_id, std::function<void()> task) {
  if (Connection* connection = Find(session_id)) {
    connection->when_sent = std::move(task);
    OnChange(connection->client);
  }
}

int64_t AsioServer::OffsetOf(int64_t session_id) const {
  const Connection* connection = Find(session_id);
  return connection == nullptr ? 0 : connection->client.stream_offset();
}

void AsioServer::WaitForUpkeep() {
  upkeep_timer_.expires_after(absl::ToChronoMicroseconds(options_.upkeep_period));
  upkeep_timer_.async_wait([this](const error_code& error) {
    if (error) return;
    if (!upkeep_is_paused_) Upkeep();
    if (options_.after_upkeep) options_.after_upkeep();
    WaitForUpkeep();
  });
}

void AsioServer::Upkeep() {
  Tick();
  const int64_t now_us = SteadyMicros();
  if (ticks_are_steady_) ticks_.Calibrate(now_us, ReadTicks());
  rates_.Update(now_us, engine_.core().administration().statistics(), figures_);
  VisitClients();
  debugging_.Reap();
  key_file_.SaveIfDue(
      /*may_save=*/!append_log_.figures().rewriting && !replication_.is_saving());
  replication_.Upkeep();
  if (now_us - second_us_ >= 1'000'000) {
    second_us_ = now_us;
    replication_.EverySecond();
    migration_targets_.CloseUnused();
  }
  engine_.core().DeliverPending();
  append_log_.Upkeep(/*may_rewrite=*/!key_file_.figures().saving && !replication_.is_saving());
  shutdown_.Upkeep();
  engine_.core().DeliverPending();
  FlushDirty();
  ArmTimer();
}

// Closes clients that have been idle for too long or do not read what they are sent.
void AsioServer::VisitClients() {
  const int64_t timeout_us = int64_t{engine_.options().server.timeout_s} * 1'000'000;
  rounds_.VisitNext<Connection>(connections_, options_.upkeep_period, [&](Connection& connection) {
    connection.client.CheckIdle(timeout_us);
    NoteSize(connection.client);
    if (connection.client.broken()) OnChange(connection.client);
  });
}

memory::ProcessFigures AsioServer::Figures() {
  memory::ProcessFigures figures = figures_;
  FillProcessFigures(figures);
  figures.run_id = run_id_;
  figures.config_file = options_.config_file;
  figures.monotonic_clock = ticks_.calibrated() ? "X86 TSC" : "POSIX clock_gettime";
  figures.multiplexing_api = Poller::kName;
  figures.migration_sockets = static_cast<int64_t>(migration_targets_.size());
  for (const auto& [id, connection] : connections_) {
    figures.largest_input_bytes = std::max(figures.largest_input_bytes,
                                           static_cast<int64_t>(connection->client.input_bytes()));
    figures.largest_output_bytes = std::max(
        figures.largest_output_bytes, static_cast<int64_t>(connection->client.output_bytes()));
  }
  return figures;
}

bool AsioServer::IsLocal(const memory::SessionCore& session) {
  const Connection* connection = Find(session.id());
  return connection == nullptr || connection->accepted.is_local;
}

memory::ConnectionFigures AsioServer::FiguresOf(const memory::SessionCore& session) {
  if (Connection* connection = Find(session.id())) return connection->Figures();
  memory::ConnectionFigures figures;
  figures.address = replication_.MasterAddress(session).value_or(figures.address);
  return figures;
}

void AsioServer::OnDisconnect(const memory::SessionCore& session) {
  replication_.OnDisconnect(session);
  Connection* connection = Find(session.id());
  if (connection == nullptr) return;
  if (!session.hangs_up()) connection->client.Break();
  OnChange(connection->client);
}

void AsioServer::Sleep(int64_t duration_us) {
  const timespec duration = {duration_us / 1'000'000, (duration_us % 1'000'000) * 1'000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
}

std::optional<Reply> AsioServer::Intercept(Client& client, store::CommandId id,
                                           std::span<const std::string_view> words) {
  if (id == store::CommandId::kUnknown && absl::EqualsIgnoreCase(base::ToAbsl(words[0]), "SIM")) {
    if (!client.session().authenticated()) return Reply::Error(memory::error_text::kNoAuth);
    if (!client.session().user().MaySimulate()) {
      return Reply::Error("NOPERM this user has no permissions to run the 'sim' command");
    }
    return holds_clock() ? sim_.Run(words.subspan(1)) : ReplyWithoutManualClock(words.subspan(1));
  }
  if (!holds_clock()) return std::nullopt;
  if (sim_.faults().empty()) return std::nullopt;
  const std::optional<FaultRule> rule = sim_.faults().Next(words[0]);
  return rule ? client.Suffer(*rule) : std::nullopt;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Open(ServeOptions options) {
  REDOUBLE_ASSIGN_OR_RETURN(Poller poller, Poller::Create());
  auto server = std::make_unique<AsioServer>(std::move(options), std::move(poller));
  REDOUBLE_RETURN_IF_ERROR(server->Start());
  return server;
}

}  // namespace redouble::inline v0_1::sim
