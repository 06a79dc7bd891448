#include "redouble/sim/server/replication/replicas.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {
namespace {

using memory::SessionCore;
using store::Reply;

constexpr std::string_view kPing = "*1\r\n$4\r\nPING\r\n";
// The file of keys is sent in parts of this size.
constexpr size_t kPartBytes = size_t{256} << 10;
constexpr std::string_view kGetAck = "*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n";

bool IsWord(std::string_view word, absl::string_view other) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), other);
}

// The host of "127.0.0.1:6379".
std::string HostOf(const std::string& address) { return address.substr(0, address.rfind(':')); }

}  // namespace

Replicas::Replicas(memory::Engine& engine, ReplicationStream& stream, const Log& log,
                   ReplicaSockets& sockets, FollowedDatabase followed_db)
    : engine_(engine),
      stream_(stream),
      log_(log),
      sockets_(sockets),
      followed_db_(std::move(followed_db)) {}

Replicas::~Replicas() {
  if (takes_effects_) engine_.RemoveEffectSink(*this);
}

std::string Replicas::Parameter(std::string_view name) const {
  return memory::KeptValue(name, engine_.options());
}

int64_t Replicas::Number(std::string_view name) const {
  return base::ParseInt64(Parameter(name)).value_or(0);
}

int64_t Replicas::NowSeconds() const { return engine_.clock().NowMillis() / 1000; }

void Replicas::WriteLog(std::string_view text) const {
  log_.Write(LogLevel::kNotice, engine_.clock().Now(), text);
}

void Replicas::Describe(const SessionCore& session, std::string_view option,
                        std::string_view value) {
  if (IsWord(option, "listening-port")) {
    replicas_[session.id()].port = static_cast<int>(base::ParseInt64(value).value_or(0));
  } else if (IsWord(option, "ip-address")) {
    replicas_[session.id()].address = std::string(value);
  }
}

void Replicas::Begin() {
  stream_.Begin(static_cast<size_t>(Number("repl-backlog-size")));
  if (std::exchange(takes_effects_, true)) return;
  engine_.AddEffectSink(*this, memory::EffectTargets::kReplicas);
  pinged_at_s_ = alone_since_s_ = NowSeconds();
}

absl::StatusOr<std::shared_ptr<Replicas::KeysFile>> Replicas::BeginFile() {
  const std::optional<int> followed_db = followed_db_();
  // A master's stream names its database again for a new replica, and the master's master does not.
  if (!followed_db) writer_.ForgetDatabase();
  REDOUBLE_ASSIGN_OR_RETURN(std::unique_ptr<TemporaryFile> file, TemporaryFile::Create());
  memory::RdbSaveOptions options = {
      .stream = memory::RdbSaveOptions::Stream{
          .db = followed_db.value_or(0), .id = stream_.id(), .offset = stream_.offset()}};
  return std::make_shared<KeysFile>(engine_, std::move(options), std::move(file));
}

Reply Replicas::Synchronize(SessionCore& session, std::string_view id, int64_t offset) {
  Replica& replica = replicas_[session.id()];
  if (replica.follows) return Reply::Ok();
  if (memory::Host* host = engine_.core().administration().host();
      replica.address.empty() && host != nullptr) {
    replica.address = HostOf(host->FiguresOf(session).address);
  }
  replica.follows = true;
  replica.heard_at_s = replica.comforted_at_s = NowSeconds();
  const int64_t session_id = session.id();
  if (const std::optional<std::string> rest = stream_.From(id, offset)) {
    ++counts_.partial_syncs;
    WriteLog(absl::StrCat("Partial resynchronization request from ", replica.address,
                          " accepted. Sending ", rest->size(), " bytes of backlog starting from ",
                          "offset ", offset, "."));
    sockets_.Later([this, session_id, rest] { BringOnline(session_id, *rest); });
    return Reply::Status(absl::StrCat("CONTINUE ", stream_.id()));
  }
  if (!id.empty() && id != "?") ++counts_.refused_partial_syncs;
  ++counts_.full_syncs;
  // No replica knows a master's stream from before its first replica.
  if (!stream_.is_kept() && !followed_db_()) stream_.StartAnew();
  Begin();
  WriteLog(absl::StrCat("Full resync requested by replica ", replica.address, ":", replica.port));
  const absl::StatusOr<std::shared_ptr<KeysFile>> file = BeginFile();
  if (!file.ok()) {
    WriteLog(absl::StrCat("Can't save the keys for a replica: ", file.status().message()));
    replica.follows = false;
    return Reply::Error("ERR BGSAVE failed, replication can't continue");
  }
  sockets_.InBackground([this, session_id, file = *file] { ContinueFile(session_id, file); });
  // SYNC has no reply.
  if (id.empty()) session.set_reply_mode(SessionCore::ReplyMode::kOff);
  return Reply::Status(absl::StrCat("FULLRESYNC ", stream_.id(), " ", stream_.offset()));
}

void Replicas::ContinueFile(int64_t session_id, const std::shared_ptr<KeysFile>& file) {
  const auto found = replicas_.find(session_id);
  if (found == replicas_.end()) return;
  Replica& replica = found->second;
  // It waits, and need not say anything.
  replica.heard_at_s = NowSeconds();
  const absl::StatusOr<bool> continues = file->keys->Continue(*file->file);
  if (!continues.ok()) {
    WriteLog(absl::StrCat("Can't save the keys for a replica: ", continues.status().message()));
    return sockets_.BreakReplica(session_id);
  }
  if (!*continues) {
    sockets_.SendToReplica(session_id, absl::StrCat("$", file->file->bytes(), "\r\n"));
    return SendFile(session_id, file->file);
  }
  // So that it does not give up. Source: Redis 7.0 replication.c, replicationCron.
  if (std::exchange(replica.comforted_at_s, NowSeconds()) != NowSeconds()) {
    sockets_.SendToReplica(session_id, "\n");
  }
  sockets_.InBackground([this, session_id, file] { ContinueFile(session_id, file); });
}

void Replicas::SendFile(int64_t session_id, const std::shared_ptr<TemporaryFile>& file) {
  const auto replica = replicas_.find(session_id);
  if (replica == replicas_.end()) return;
  // It has taken the part before.
  replica->second.heard_at_s = NowSeconds();
  std::string part(kPartBytes, '\0');
  const absl::StatusOr<size_t> count = file->Read(part);
  // Without the rest of the file the replica cannot continue.
  if (!count.ok()) return sockets_.BreakReplica(session_id);
  if (*count == 0) return BringOnline(session_id, "");
  sockets_.SendToReplica(session_id, {part.data(), *count});
  sockets_.WhenSent(session_id, [this, session_id, file] { SendFile(session_id, file); });
}

void Replicas::BringOnline(int64_t session_id, const std::string& bytes) {
  const auto found = replicas_.find(session_id);
  if (found == replicas_.end()) return;
  const auto& sessions = engine_.core().administration().sessions();
  const auto session = sessions.find(session_id);
  if (session == sessions.end()) return;
  // A replica gets no replies, but the stream.
  session->second->set_reply_mode(SessionCore::ReplyMode::kOff);
  Replica& replica = found->second;
  replica.is_online = true;
  replica.heard_at_s = NowSeconds();
  sockets_.SendToReplica(session_id, bytes);
  sockets_.SendToReplica(session_id, std::exchange(replica.held, {}));
  WriteLog(absl::StrCat("Synchronization with replica ", replica.address, ":", replica.port,
                        " succeeded"));
}

void Replicas::OnEffects(std::span<const memory::Effect> effects, bool is_atomic) {
  if (followed_db_()) return;
  std::string bytes;
  writer_.Append(effects, is_atomic, bytes);
  Feed(bytes);
}

void Replicas::Feed(std::string_view bytes) {
  stream_.Append(bytes);
  for (auto& [session_id, replica] : replicas_) {
    if (replica.is_online) {
      sockets_.SendToReplica(session_id, bytes);
    } else if (replica.follows) {
      replica.held.append(bytes);
    }
  }
}

void Replicas::Acknowledge(const SessionCore& session, int64_t offset) {
  const auto found = replicas_.find(session.id());
  if (found == replicas_.end() || !found->second.follows) return;
  Replica& replica = found->second;
  if (replica.offset == 0) sockets_.LimitReplica(session.id());
  replica.offset = std::max(replica.offset, offset);
  replica.heard_at_s = NowSeconds();
  ServeWaiters();
}

int64_t Replicas::Acknowledged(int64_t offset) const {
  return std::count_if(replicas_.begin(), replicas_.end(), [&](const auto& entry) {
    return entry.second.is_online && entry.second.offset >= offset;
  });
}

void Replicas::Wait(SessionCore& session, int64_t replicas, int64_t offset) {
  std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.session_id == session.id(); });
  waiters_.push_back({.session_id = session.id(), .replicas = replicas, .offset = offset});
  AskForOffsets();
}

void Replicas::AskForOffsets() {
  if (stream_.is_kept() && !followed_db_()) Feed(kGetAck);
}

void Replicas::ServeWaiters() {
  memory::EngineCore& core = engine_.core();
  const auto is_done = [&](const Waiter& waiter) {
    const auto& sessions = core.administration().sessions();
    const auto found = sessions.find(waiter.session_id);
    // It has timed out, and may be blocked by another command.
    if (found == sessions.end() || !found->second->blocked()) return true;
    SessionCore& session = *found->second;
    if (!session.blocked_operation().keys.empty()) return true;
    const int64_t acknowledged = Acknowledged(waiter.offset);
    if (acknowledged < waiter.replicas) {
      session.SetTimedOutReply(Reply::Integer(acknowledged));
      return false;
    }
    core.EndWait(session, Reply::Integer(acknowledged), memory::Administration::WaitEnd::kServed,
                 core.administration().Now());
    return true;
  };
  std::erase_if(waiters_, is_done);
}

void Replicas::Forget(const SessionCore& session) {
  const auto found = replicas_.find(session.id());
  if (found == replicas_.end()) return;
  if (found->second.follows) {
    WriteLog(absl::StrCat("Connection with replica ", found->second.address, ":",
                          found->second.port, " lost."));
  }
  replicas_.erase(found);
}

void Replicas::BreakAll() {
  for (const auto& [session_id, replica] : replicas_) {
    if (replica.follows) sockets_.BreakReplica(session_id);
  }
}

bool Replicas::Has(const SessionCore& session) const {
  const auto found = replicas_.find(session.id());
  return found != replicas_.end() && found->second.follows;
}

int64_t Replicas::good_replicas() const {
  const int64_t max_lag_s = engine_.options().min_replicas_max_lag_s;
  return std::count_if(replicas_.begin(), replicas_.end(), [&](const auto& entry) {
    const Replica& replica = entry.second;
    return replica.is_online && NowSeconds() - replica.heard_at_s <= max_lag_s;
  });
}

void Replicas::Upkeep() {
  if (!stream_.is_kept()) return;
  stream_.set_limit(static_cast<size_t>(Number("repl-backlog-size")));
  BreakSilent();
  const bool has_replica = std::any_of(replicas_.begin(), replicas_.end(),
                                       [](const auto& entry) { return entry.second.follows; });
  if (has_replica) alone_since_s_ = NowSeconds();
  if (followed_db_()) return;  // Its master sends PING, and the stream is needed to come back.
  EndIdleStream();
  if (!has_replica || NowSeconds() - pinged_at_s_ < Number("repl-ping-replica-period")) return;
  pinged_at_s_ = NowSeconds();
  Feed(kPing);
}

void Replicas::BreakSilent() {
  const int64_t timeout_s = Number("repl-timeout");
  for (const auto& [session_id, replica] : replicas_) {
    if (!replica.follows || NowSeconds() - replica.heard_at_s <= timeout_s) continue;
    WriteLog(replica.is_online ? "Disconnecting timedout replica (streaming sync)"
                               : "Disconnecting timedout replica (full sync)");
    sockets_.BreakReplica(session_id);
  }
}

void Replicas::EndIdleStream() {
  const int64_t limit_s = Number("repl-backlog-ttl");
  if (limit_s == 0 || NowSeconds() - alone_since_s_ <= limit_s) return;
  stream_.End();
  stream_.StartAnew();
  engine_.RemoveEffectSink(*this);
  takes_effects_ = false;
  WriteLog(absl::StrCat("Replication backlog freed after ", limit_s,
                        " seconds without connected replicas."));
}

void Replicas::Describe(memory::ReplicationFigures& figures) const {
  figures.full_syncs = counts_.full_syncs;
  figures.partial_syncs = counts_.partial_syncs;
  figures.refused_partial_syncs = counts_.refused_partial_syncs;
  for (const auto& [session_id, replica] : replicas_) {
    if (!replica.follows) continue;
    figures.replicas.push_back({.address = replica.address,
                                .port = replica.port,
                                .is_online = replica.is_online,
                                .offset = replica.offset,
                                .lag_s = NowSeconds() - replica.heard_at_s});
  }
}

}  // namespace redouble::inline v0_1::sim
