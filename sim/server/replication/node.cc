#include "redouble/sim/server/replication/node.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {
namespace {

using memory::Administration;
using memory::SessionCore;

// Blocked clients of a master do not wait for a replica's keys.
void EndWaits(memory::EngineCore& core) {
  std::vector<SessionCore*> blocked;
  for (const auto& [id, session] : core.administration().sessions()) {
    if (session->blocked()) blocked.push_back(session);
  }
  for (SessionCore* session : blocked) {
    core.EndWait(*session,
                 store::Reply::Error("UNBLOCKED force unblock from blocking operation, instance "
                                     "state changed (master -> replica?)"),
                 Administration::WaitEnd::kUnblocked, core.administration().Now());
    session->HangUp();
  }
}

}  // namespace

ReplicationNode::ReplicationNode(memory::Engine& engine, const Log& log, ReplicaSockets& sockets,
                                 MasterSocket& master_socket, std::function<std::string()> new_id,
                                 std::function<void()> on_loaded)
    : engine_(engine),
      log_(log),
      sockets_(sockets),
      stream_(std::move(new_id)),
      replicas_(engine, stream_, log, sockets, [this] { return follower_.db(); }),
      follower_(
          engine, stream_, replicas_, log, master_socket,
          [&sockets](std::function<void()> task) { sockets.LoadInBackground(std::move(task)); },
          std::move(on_loaded)) {}

void ReplicationNode::WriteLog(LogLevel level, std::string_view text) const {
  log_.Write(level, engine_.clock().Now(), text);
}

std::optional<memory::RdbSaveOptions::Stream> ReplicationNode::StreamToSave() const {
  const bool has_stream = follower_.follows() ? follower_.has_stream() : stream_.is_kept();
  if (!has_stream) return std::nullopt;
  return memory::RdbSaveOptions::Stream{.db = follower_.db().value_or(replicas_.db()),
                                        .id = stream_.id(),
                                        .offset = stream_.offset()};
}

void ReplicationNode::Resume(const memory::RdbSaveOptions::Stream& stream, bool will_follow) {
  if (will_follow) {
    stream_.Adopt(stream.id, stream.offset);
    return follower_.Resume(stream.db);
  }
  stream_.Resume(stream.id, stream.offset);
  replicas_.Begin();
}

void ReplicationNode::FollowAtStart() {
  const std::vector<std::string> words =
      absl::StrSplit(memory::KeptValue("replicaof", engine_.options()), ' ', absl::SkipEmpty());
  const std::optional<int64_t> port = words.size() == 2 ? base::ParseInt64(words[1]) : std::nullopt;
  if (port) follower_.Follow(words[0], static_cast<int>(*port), /*at_start=*/true);
}

// CONFIG GET replicaof shows the master, and CONFIG REWRITE writes it.
void ReplicationNode::KeepParameter(std::string value) {
  memory::EngineOptions options = engine_.options();
  options.kept_parameters["replicaof"] = std::move(value);
  engine_.Configure(std::move(options));
}

void ReplicationNode::BecomeReplica(const std::string& host, int port) {
  if (!follower_.follows()) EndWaits(engine_.core());
  KeepParameter(absl::StrCat(host, " ", port));
}

void ReplicationNode::Follow(std::string_view host, int port) {
  const std::string name(host);
  BecomeReplica(name, port);
  follower_.Follow(name, port);
  WriteLog(LogLevel::kNotice, absl::StrCat("REPLICAOF ", name, ":", port, " enabled"));
}

void ReplicationNode::FollowNobody() {
  if (!follower_.follows()) return;
  KeepParameter("");
  follower_.Lead();
  WriteLog(LogLevel::kNotice, "MASTER MODE enabled");
}

void ReplicationNode::Upkeep() {
  replicas_.Upkeep();
  follower_.Upkeep();
  CheckFailover();
}

void ReplicationNode::OnDisconnect(const SessionCore& session) {
  if (!follower_.Owns(session)) return;
  // The session is being closed, and the link owns it.
  sockets_.Later([this] { follower_.Break(); });
}

std::optional<std::string> ReplicationNode::MasterAddress(const SessionCore& session) const {
  return follower_.Owns(session) ? std::make_optional(follower_.address()) : std::nullopt;
}

memory::Replication::Peer ReplicationNode::PeerOf(const SessionCore& session) const {
  if (follower_.Owns(session)) return Peer::kMaster;
  return replicas_.Has(session) ? Peer::kReplica : Peer::kClient;
}

memory::ReplicationFigures ReplicationNode::figures() const {
  memory::ReplicationFigures figures;
  figures.id = stream_.id();
  figures.offset = stream_.offset();
  figures.former_id = stream_.former_id();
  figures.former_end = stream_.former_end();
  figures.master = follower_.figures();
  figures.has_backlog = stream_.is_kept();
  if (stream_.is_kept()) {
    figures.backlog_length = stream_.kept_bytes();
    figures.backlog_offset = stream_.offset() - figures.backlog_length + 1;
  }
  if (failover_) {
    figures.failover = failover_->in_progress ? memory::FailoverState::kInProgress
                                              : memory::FailoverState::kWaitsForReplica;
  }
  replicas_.Describe(figures);
  return figures;
}

void ReplicationNode::BeginFailover(const memory::FailoverOptions& options) {
  Failover& failover = failover_.emplace(Failover{.options = options, .deadline_ms = {}});
  const int64_t now_ms = engine_.clock().NowMillis();
  if (options.timeout_ms) failover.deadline_ms = now_ms + *options.timeout_ms;
  WriteLog(LogLevel::kNotice,
           options.host.empty()
               ? std::string("FAILOVER requested to any replica.")
               : absl::StrCat("FAILOVER requested to ", options.host, ":", options.port, "."));
  engine_.core().administration().PauseClients(Administration::PauseOwner::kFailover,
                                               Administration::Pause::kWrites,
                                               Administration::kNoPauseEnd);
}

void ReplicationNode::AbortFailover() {
  if (!failover_) return;
  CancelFailover("Failover manually aborted");
}

void ReplicationNode::CancelFailover(std::string_view reason) {
  const memory::FailoverOptions& options = failover_->options;
  const std::string target = options.host.empty() ? std::string("any replica")
                                                  : absl::StrCat(options.host, ":", options.port);
  WriteLog(LogLevel::kNotice,
           absl::StrCat("FAILOVER to ", target, " aborted: ", base::ToAbsl(reason)));
  if (failover_->in_progress) FollowNobody();
  EndFailover();
}

void ReplicationNode::ChangeId() {
  WriteLog(LogLevel::kWarning, "Changing replication IDs after receiving DEBUG change-repl-id");
  stream_.StartAnew();
}

void ReplicationNode::EndFailover() {
  failover_.reset();
  engine_.core().administration().EndPause(Administration::PauseOwner::kFailover);
}

std::optional<memory::ReplicaFigures> ReplicationNode::ReadyReplica() const {
  const memory::FailoverOptions& options = failover_->options;
  for (const memory::ReplicaFigures& replica : figures().replicas) {
    const bool is_wanted =
        options.host.empty() ||
        (absl::EqualsIgnoreCase(replica.address, options.host) && replica.port == options.port);
    if (is_wanted && replica.is_online() && replica.offset == stream_.offset()) return replica;
  }
  return std::nullopt;
}

void ReplicationNode::CheckFailover() {
  if (!failover_ || failover_->in_progress) return;
  const memory::FailoverOptions options = failover_->options;
  if (failover_->deadline_ms && engine_.clock().NowMillis() >= *failover_->deadline_ms) {
    if (!options.is_forced) return CancelFailover("Replica never caught up before timeout");
    WriteLog(LogLevel::kNotice, absl::StrCat("FAILOVER to ", options.host, ":", options.port,
                                             " time out exceeded, failing over."));
    return HandOver(options.host, options.port);
  }
  const std::optional<memory::ReplicaFigures> replica = ReadyReplica();
  if (!replica) return;
  WriteLog(LogLevel::kNotice, absl::StrCat("Failover target ", replica->address, ":", replica->port,
                                           " is synced, failing over."));
  HandOver(replica->address, replica->port);
}

// The replica becomes a master when it is asked for its stream.
void ReplicationNode::HandOver(const std::string& host, int port) {
  failover_->in_progress = true;
  failover_->options.host = host;
  failover_->options.port = port;
  BecomeReplica(host, port);
  follower_.Follow(host, port, /*at_start=*/false, [this](bool accepted) {
    if (accepted) return EndFailover();
    CancelFailover("Failover target rejected psync request");
  });
}

}  // namespace redouble::inline v0_1::sim
