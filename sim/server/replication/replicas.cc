#include "redouble/sim/server/replication/replicas.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/client_line.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/error_text.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {
namespace {

using memory::SessionCore;
using store::Reply;

constexpr std::string_view kPing = "*1\r\n$4\r\nPING\r\n";
constexpr std::string_view kGetAck = "*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n";

bool IsWord(std::string_view word, absl::string_view other) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), other);
}

// The host of "127.0.0.1:6379". That of a Unix socket is what Redis calls it.
std::string HostOf(const std::string& address) {
  return address.ends_with(":0") ? "/unixsocket" : address.substr(0, address.rfind(':'));
}

// The name of a session's present command, or of its subcommand.
absl::string_view CommandNameOf(const SessionCore& session, store::CommandId id) {
  if (id == store::CommandId::kUnknown) return "<unknown>";
  const absl::string_view name = base::ToAbsl(store::SpecOf(id).name);
  // One with a wrong number of words does not become the last one.
  const absl::string_view last = base::ToAbsl(store::SpecOf(session.last_command()).name);
  return absl::StartsWith(last, absl::StrCat(name, "|")) ? last : name;
}

// An error in the words of Redis's log. Redis has some errors as whole lines of the protocol.
std::string LoggedError(const Reply& reply) {
  const absl::string_view text = base::ToAbsl(reply.text());
  const bool is_line = !absl::StartsWith(text, "ERR ") ||
                       reply.text() == memory::error_text::kSyntax ||
                       reply.text() == memory::error_text::kNoSuchKey;
  return is_line ? absl::StrCat("-", text) : std::string(text.substr(4));
}

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
  return memory::KeptNumber(name, engine_.options());
}

memory::Synchronizations& Replicas::counts() {
  return engine_.core().administration().statistics().synchronizations();
}

int64_t Replicas::NowSeconds() const { return engine_.clock().NowMillis() / 1000; }

void Replicas::WriteLog(std::string_view text, LogLevel level) const {
  log_.Write(level, engine_.clock().Now(), text);
}

void Replicas::Describe(const SessionCore& session, std::string_view option,
                        std::string_view value) {
  Replica& replica = replicas_[session.id()];
  if (IsWord(option, "listening-port")) {
    replica.port = static_cast<int>(base::ParseInt64(value).value_or(0));
  } else if (IsWord(option, "ip-address")) {
    replica.address = std::string(value);
  } else if (IsWord(option, "capa")) {
    replica.takes_streams = replica.takes_streams || IsWord(value, "eof");
  } else if (IsWord(option, "rdb-only")) {
    replica.takes_only_rdb = value == "1";
  } else if (IsWord(option, "rdb-filter-only")) {
    replica.wanted = {.keys = false, .libraries = !value.empty()};
  }
}

std::string Replicas::NameOf(const Replica& replica) {
  return absl::StrCat(replica.address, ":",
                      replica.port == 0 ? "<unknown-replica-port>" : std::to_string(replica.port));
}

void Replicas::Begin() {
  stream_.Begin(static_cast<size_t>(Number("repl-backlog-size")));
  if (std::exchange(takes_effects_, true)) return;
  engine_.AddEffectSink(*this, memory::EffectTargets::kReplicas);
  pinged_at_s_ = alone_since_s_ = NowSeconds();
}

Reply Replicas::Synchronize(SessionCore& session, std::string_view id, std::string_view offset) {
  Replica& replica = replicas_[session.id()];
  if (replica.follows) {
    session.SetUnanswered();
    return Reply::Nil();
  }
  if (memory::Host* host = engine_.core().administration().host();
      replica.address.empty() && host != nullptr) {
    replica.address = HostOf(host->FiguresOf(session).address);
  }
  if (replica.wanted != Wanted() && !replica.takes_streams) {
    return Reply::Error("ERR Filtered replica requires EOF capability");
  }
  WriteLog(absl::StrCat("Replica ", NameOf(replica), " asks for synchronization"));
  const bool is_psync = !id.empty();
  const std::optional<int64_t> wanted_offset = base::ParseInt64(offset);
  if (is_psync && !wanted_offset) {
    WriteLog(absl::StrCat("Replica ", NameOf(replica),
                          " asks for synchronization but with a wrong offset"),
             LogLevel::kWarning);
    return Reply::Error(memory::error_text::kNotAnInteger);
  }
  replica.follows = true;
  replica.acknowledges = is_psync;
  replica.heard_at_s = replica.comforted_at_s = replica.asked_at_s = NowSeconds();
  session.set_replica(true);
  session.SetUnanswered();
  // CONFIG SET may have changed it since the last upkeep.
  LimitStream();
  if (is_psync && Continue(session.id(), replica, id, *wanted_offset)) return Reply::Nil();
  if (is_psync && id != "?") ++counts().refused_partial;
  ++counts().full;
  // No replica knows a master's stream from before its first replica.
  if (!stream_.is_kept() && !followed_db_()) {
    stream_.StartAnew();
    WriteLog(absl::StrCat("Replication backlog created, my new replication IDs are '", stream_.id(),
                          "' and '", stream_.former_id(), "'"));
  }
  Begin();
  WaitForKeys(session.id(), replica);
  return Reply::Nil();
}

bool Replicas::Continue(int64_t session_id, Replica& replica, std::string_view id, int64_t offset) {
  const std::optional<std::string> rest = stream_.From(id, offset);
  if (!rest) {
    ExplainRefusal(replica, id, offset);
    return false;
  }
  ++counts().partial;
  WriteLog(absl::StrCat("Partial resynchronization request from ", NameOf(replica),
                        " accepted. Sending ", rest->size(), " bytes of backlog starting from ",
                        "offset ", offset, "."));
  BringOnline(session_id, absl::StrCat("+CONTINUE ", stream_.id(), "\r\n", *rest));
  return true;
}

void Replicas::ExplainRefusal(const Replica& replica, std::string_view id, int64_t offset) const {
  if (id == "?") {
    return WriteLog(absl::StrCat("Full resync requested by replica ", NameOf(replica)));
  }
  const bool is_former = id == stream_.former_id();
  if (id != stream_.id() && !is_former) {
    return WriteLog(absl::StrCat(
        "Partial resynchronization not accepted: Replication ID mismatch (Replica asked for '",
        base::ToAbsl(id), "', my replication IDs are '", stream_.id(), "' and '",
        stream_.former_id(), "')"));
  }
  if (id != stream_.id() && offset > stream_.former_end()) {
    return WriteLog(
        absl::StrCat("Partial resynchronization not accepted: Requested offset for second ID was ",
                     offset, ", but I can reply up to ", stream_.former_end()));
  }
  WriteLog(absl::StrCat("Unable to partial resync with replica ", NameOf(replica),
                        " for lack of backlog (Replica request was: ", offset, ")."));
  if (offset <= stream_.offset()) return;
  WriteLog(absl::StrCat("Warning: replica ", NameOf(replica),
                        " tried to PSYNC with an offset that is greater than the master "
                        "replication offset."),
           LogLevel::kWarning);
}

// The seconds of a held clock do not pass by themselves.
bool Replicas::waits_in_real_time() const {
  const memory::Host* host = engine_.core().administration().host();
  return host != nullptr && host->runs_in_real_time();
}

void Replicas::WaitForKeys(int64_t session_id, Replica& replica) {
  if (writing_ != nullptr) {
    if (writing_->way() == FullSync::Way::kStream) {
      return WriteLog("Current BGSAVE has socket target. Waiting for next BGSAVE for SYNC");
    }
    const bool joins = Join(session_id, replica);
    return WriteLog(joins ? "Waiting for end of BGSAVE for SYNC"
                          : "Can't attach the replica to the current BGSAVE. Waiting for next "
                            "BGSAVE for SYNC");
  }
  const bool delays = Parameter("repl-diskless-sync") == "yes" && replica.takes_streams &&
                      Number("repl-diskless-sync-delay") > 0 && waits_in_real_time();
  if (delays) return WriteLog("Delay next BGSAVE for diskless SYNC");
  Start();
}

// A replica of the same file needs the same part of the stream.
bool Replicas::Join(int64_t session_id, Replica& replica) {
  const auto other = std::find_if(replicas_.begin(), replicas_.end(), [&](const auto& entry) {
    return entry.second.sync == writing_ && entry.second.wanted == replica.wanted;
  });
  if (other == replicas_.end()) return false;
  replica.needs = other->second.needs;
  replica.sync = writing_;
  replica.sync->Add(session_id);
  if (replica.acknowledges) {
    sockets_.SendToReplica(
        session_id, absl::StrCat("+FULLRESYNC ", stream_.id(), " ", *replica.needs - 1, "\r\n"));
  }
  return true;
}

void Replicas::StartIfDue() {
  if (writing_ != nullptr) return;
  int64_t waiting = 0;
  int64_t longest_s = 0;
  for (const auto& [session_id, replica] : replicas_) {
    if (!replica.waits_for_start()) continue;
    ++waiting;
    longest_s = std::max(longest_s, NowSeconds() - replica.asked_at_s);
  }
  if (waiting == 0) return;
  const int64_t most = Number("repl-diskless-sync-max-replicas");
  if (Parameter("repl-diskless-sync") != "yes" || (most > 0 && waiting >= most) ||
      longest_s >= Number("repl-diskless-sync-delay") || !waits_in_real_time()) {
    Start();
  }
}

void Replicas::Start() {
  std::vector<int64_t> session_ids;
  bool all_take_streams = true;
  std::optional<Wanted> wanted;
  for (const auto& [session_id, replica] : replicas_) {
    if (!replica.waits_for_start()) continue;
    if (!wanted) wanted = replica.wanted;
    if (replica.wanted != *wanted) continue;
    session_ids.push_back(session_id);
    all_take_streams = all_take_streams && replica.takes_streams;
  }
  const bool streams =
      (Parameter("repl-diskless-sync") == "yes" || *wanted != Wanted()) && all_take_streams;
  const std::optional<int> followed_db = followed_db_();
  // A master's stream names its database again for a new replica, and the master's master does not.
  if (!followed_db) writer_.ForgetDatabase();
  WriteLog(absl::StrCat("Starting BGSAVE for SYNC with target: ",
                        streams ? "replicas sockets" : "disk"));
  const memory::ServerOptions& server = engine_.options().server;
  FullSync::Options options{
      .way = streams ? FullSync::Way::kStream : FullSync::Way::kFile,
      .mark = stream_.NewName(),
      .rdb = {.compresses = server.rdbcompression,
              .has_checksum = server.rdbchecksum,
              .stream = memory::RdbSaveOptions::Stream{.db = followed_db.value_or(0),
                                                       .id = stream_.id(),
                                                       .offset = stream_.offset()},
              .has_libraries = wanted->libraries}};
  if (!wanted->keys) options.rdb.keeps = [](std::string_view) { return false; };
  FullSync::Listener& listener = *this;
  const auto sync = std::make_shared<FullSync>(engine_, std::move(options), sockets_, listener);
  if (const absl::Status status = sync->Open(); !status.ok()) {
    WriteLog(absl::StrCat("BGSAVE for replication failed: ", status.message()), LogLevel::kWarning);
    for (const int64_t session_id : session_ids) {
      sockets_.SendToReplica(session_id, "-ERR BGSAVE failed, replication can't continue\r\n");
      sockets_.WhenSent(session_id, [this, session_id] { sockets_.BreakReplica(session_id); });
    }
    return;
  }
  writing_ = sync;
  engine_.core().administration().statistics().CountBackgroundJob();
  for (const int64_t session_id : session_ids) Announce(session_id, replicas_[session_id], sync);
  WriteLog(absl::StrCat(
      streams ? "Background RDB transfer started by pid " : "Background saving started by pid ",
      getpid()));
  sync->Start();
}

void Replicas::Announce(int64_t session_id, Replica& replica,
                        const std::shared_ptr<FullSync>& sync) {
  replica.sync = sync;
  replica.needs = stream_.offset() + 1;
  HoldStream();
  replica.heard_at_s = NowSeconds();
  // SYNC has no reply.
  if (replica.acknowledges) {
    sockets_.SendToReplica(
        session_id, absl::StrCat("+FULLRESYNC ", stream_.id(), " ", stream_.offset(), "\r\n"));
  }
  sync->Add(session_id);
}

void Replicas::OnWritten(FullSync& sync) {
  const bool is_stream = sync.way() == FullSync::Way::kStream;
  if (is_stream) {
    WriteLog(absl::StrCat("Diskless rdb transfer, done reading from pipe, ",
                          sync.session_ids().size(), " replicas still up."),
             LogLevel::kWarning);
  } else {
    for (const int64_t session_id : sync.session_ids()) {
      replicas_[session_id].state = State::kTakesFile;
    }
  }
  writing_.reset();
  WriteLog(is_stream ? "Background RDB transfer terminated with success"
                     : "Background saving terminated with success");
}

void Replicas::OnFailed(FullSync& sync, const absl::Status& status) {
  WriteLog(absl::StrCat("Background saving error: ", status.message()), LogLevel::kWarning);
  if (writing_.get() == &sync) StopWriting();
}

void Replicas::StopWriting() {
  const std::shared_ptr<FullSync> sync = std::exchange(writing_, nullptr);
  const std::set<int64_t> session_ids = sync->session_ids();
  sync->Stop();
  for (const int64_t session_id : session_ids) {
    WriteLog("SYNC failed. BGSAVE child returned an error", LogLevel::kWarning);
    sockets_.BreakReplica(session_id);
  }
}

void Replicas::NoteFlush() {
  if (writing_ != nullptr) StopWriting();
}

void Replicas::NoteSignOfLife(const SessionCore& session) { OnRead(session.id()); }

void Replicas::OnRead(int64_t session_id) {
  const auto found = replicas_.find(session_id);
  if (found != replicas_.end()) found->second.heard_at_s = NowSeconds();
}

void Replicas::OnSent(int64_t session_id) {
  const auto found = replicas_.find(session_id);
  if (found == replicas_.end() || found->second.sync == nullptr) return;
  Replica& replica = found->second;
  const std::shared_ptr<FullSync> sync = std::exchange(replica.sync, nullptr);
  if (replica.takes_only_rdb) {
    WriteLog(absl::StrCat("RDB transfer completed, rdb only replica (", NameOf(replica),
                          ") should be disconnected asap"));
    replica.state = State::kTakesFile;
    return sockets_.BreakReplica(session_id);
  }
  if (sync->way() == FullSync::Way::kFile) return BringOnline(session_id, "");
  // It does not expect further bytes behind the mark before it has found that.
  replica.state = State::kOnline;
  replica.awaits_ack = true;
  replica.heard_at_s = NowSeconds();
  WriteLog(absl::StrCat("Streamed RDB transfer with replica ", NameOf(replica),
                        " succeeded (socket). Waiting for REPLCONF ACK from slave to enable "
                        "streaming"));
  WriteLog(absl::StrCat("Synchronization with replica ", NameOf(replica), " succeeded"));
}

void Replicas::BringOnline(int64_t session_id, const std::string& bytes) {
  const auto found = replicas_.find(session_id);
  if (found == replicas_.end()) return;
  Replica& replica = found->second;
  replica.state = State::kOnline;
  replica.heard_at_s = NowSeconds();
  sockets_.SendToReplica(session_id, bytes);
  StartStream(session_id, replica);
  WriteLog(absl::StrCat("Synchronization with replica ", NameOf(replica), " succeeded"));
}

void Replicas::StartStream(int64_t session_id, Replica& replica) {
  replica.awaits_ack = false;
  const std::optional<int64_t> needs = std::exchange(replica.needs, std::nullopt);
  if (needs) sockets_.SendToReplica(session_id, stream_.From(stream_.id(), *needs).value_or(""));
  HoldStream();
}

void Replicas::HoldStream() {
  std::optional<int64_t> first;
  for (const auto& [session_id, replica] : replicas_) {
    if (replica.needs) first = std::min(first.value_or(*replica.needs), *replica.needs);
  }
  stream_.Hold(first);
}

void Replicas::LimitWaiting() {
  const auto limit_class = static_cast<size_t>(memory::ClientClass::kReplica);
  const auto limit_bytes = static_cast<int64_t>(
      engine_.options().server.client_output_buffer_limits[limit_class].hard_bytes);
  if (limit_bytes == 0) return;
  for (const auto& [session_id, replica] : replicas_) {
    if (!replica.needs || stream_.offset() - *replica.needs < limit_bytes) continue;
    if (stream_.offset() - *replica.needs < Number("repl-backlog-size")) continue;
    WriteLog(absl::StrCat("Replica ", NameOf(replica),
                          " closed for overcoming of output buffer limits."),
             LogLevel::kWarning);
    sockets_.BreakReplica(session_id);
  }
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
    if (replica.gets_stream()) sockets_.SendToReplica(session_id, bytes);
  }
}

void Replicas::Acknowledge(const SessionCore& session, int64_t offset) {
  const auto found = replicas_.find(session.id());
  if (found == replicas_.end() || !found->second.follows) return;
  Replica& replica = found->second;
  if (replica.offset == 0) sockets_.LimitReplica(session.id());
  replica.offset = std::max(replica.offset, offset);
  replica.heard_at_s = NowSeconds();
  // It has found the mark before the task that notices that everything has been sent.
  const std::shared_ptr<FullSync> sync = replica.sync;
  const bool is_stream = sync != nullptr && sync->way() == FullSync::Way::kStream;
  if (is_stream && !sync->is_writing()) OnSent(session.id());
  if (replica.awaits_ack) StartStream(session.id(), replica);
  waits_.Serve(engine_.core(), [this](int64_t wanted) { return Acknowledged(wanted); });
}

int64_t Replicas::Acknowledged(int64_t offset) const {
  return std::count_if(replicas_.begin(), replicas_.end(), [&](const auto& entry) {
    return entry.second.state == State::kOnline && entry.second.offset >= offset;
  });
}

void Replicas::Wait(const SessionCore& session, int64_t replicas, int64_t offset) {
  waits_.Add(session, replicas, offset);
  AskForOffsets();
}

void Replicas::AskForOffsets() {
  if (stream_.is_kept() && !followed_db_()) Feed(kGetAck);
}

void Replicas::Forget(const SessionCore& session) {
  const auto found = replicas_.find(session.id());
  if (found == replicas_.end()) return;
  const Replica replica = std::move(found->second);
  replicas_.erase(found);
  if (!replica.follows) return;
  HoldStream();
  WriteLog(absl::StrCat("Connection with replica ", NameOf(replica), " lost."));
  if (replica.sync == nullptr) return;
  replica.sync->Remove(session.id());
  if (replica.sync != writing_ || !writing_->session_ids().empty()) return;
  if (writing_->way() == FullSync::Way::kStream) {
    WriteLog("Diskless rdb transfer, last replica dropped, killing fork child.",
             LogLevel::kWarning);
  }
  writing_.reset();
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

bool Replicas::have_all() const {
  return std::all_of(replicas_.begin(), replicas_.end(), [&](const auto& entry) {
    return !entry.second.follows || entry.second.offset == stream_.offset();
  });
}

void Replicas::RefuseReply(const SessionCore& session, store::CommandId id, const Reply& reply) {
  const absl::string_view name = CommandNameOf(session, id);
  WriteLog(absl::StrCat("Replica generated a reply to command '", name,
                        "', disconnecting it: ", memory::ClientLine(engine_.core(), session)),
           LogLevel::kWarning);
  if (reply.is_error()) {
    WriteLog(absl::StrCat("== CRITICAL == This master is sending an error to its replica: '",
                          LoggedError(reply), "' after processing the command '", name, "'"),
             LogLevel::kWarning);
  }
  sockets_.BreakReplica(session.id());
}

int64_t Replicas::good_replicas() const {
  const int64_t max_lag_s = engine_.options().min_replicas_max_lag_s;
  return std::count_if(replicas_.begin(), replicas_.end(), [&](const auto& entry) {
    const Replica& replica = entry.second;
    return replica.state == State::kOnline && NowSeconds() - replica.heard_at_s <= max_lag_s;
  });
}

void Replicas::Upkeep() {
  if (!stream_.is_kept()) return;
  LimitStream();
  BreakSilent();
  LimitWaiting();
  Comfort();
  StartIfDue();
  const bool has_replica = std::any_of(replicas_.begin(), replicas_.end(),
                                       [](const auto& entry) { return entry.second.follows; });
  if (has_replica) alone_since_s_ = NowSeconds();
  if (followed_db_()) return;  // Its master sends PING, and the stream is needed to come back.
  EndIdleStream();
  if (!has_replica || NowSeconds() - pinged_at_s_ < Number("repl-ping-replica-period")) return;
  pinged_at_s_ = NowSeconds();
  Feed(kPing);
}

// A replica that waits for its keys need not say anything, and must not give up.
void Replicas::Comfort() {
  for (auto& [session_id, replica] : replicas_) {
    if (!replica.follows || replica.state != State::kWaitsForFile) continue;
    const bool is_stream = replica.sync && replica.sync->way() == FullSync::Way::kStream;
    if (!is_stream || !replica.sync->waits_for(session_id)) replica.heard_at_s = NowSeconds();
    if (is_stream || std::exchange(replica.comforted_at_s, NowSeconds()) == NowSeconds()) continue;
    sockets_.SendToReplica(session_id, "\n");
  }
}

void Replicas::BreakSilent() {
  const int64_t timeout_s = Number("repl-timeout");
  for (const auto& [session_id, replica] : replicas_) {
    const bool is_online = replica.state == State::kOnline;
    if (!replica.follows || (is_online && !replica.acknowledges)) continue;
    if (NowSeconds() - replica.heard_at_s <= timeout_s) continue;
    WriteLog(absl::StrCat("Disconnecting timedout replica (", is_online ? "streaming" : "full",
                          " sync): ", NameOf(replica)),
             LogLevel::kWarning);
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
  figures.is_saving = writing_ != nullptr;
  if (writing_ != nullptr) figures.progress = writing_->progress();
  for (const auto& [session_id, replica] : replicas_) {
    if (!replica.follows) continue;
    figures.replicas.push_back({.address = replica.address,
                                .port = replica.port,
                                .state = replica.state,
                                .offset = replica.offset,
                                .lag_s = NowSeconds() - replica.heard_at_s});
  }
}

}  // namespace redouble::inline v0_1::sim
