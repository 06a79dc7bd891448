#include "redouble/sim/server/replication/follower.h"

#include <limits>
#include <span>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/resp/command_writer.h"

namespace redouble::inline v0_1::sim {
namespace {

using memory::EngineCore;

bool IsWord(std::string_view word, absl::string_view other) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), other);
}

void AppendWords(std::span<const std::string_view> words, std::string& out) {
  store::AppendCommand(store::Command::Named(words[0], words.subspan(1)), out);
}

bool AsksForOffset(const std::vector<std::string_view>& words) {
  return words.size() >= 2 && IsWord(words[0], "REPLCONF") && IsWord(words[1], "GETACK");
}

}  // namespace

Follower::Follower(memory::Engine& engine, ReplicationStream& stream, Replicas& replicas,
                   const Log& log, MasterSocket& socket, Defer load_later,
                   std::function<void()> on_loaded)
    : engine_(engine),
      stream_(stream),
      replicas_(replicas),
      log_(log),
      socket_(socket),
      load_later_(std::move(load_later)),
      on_loaded_(std::move(on_loaded)) {
  socket_.Listen(*this);
}

Follower::~Follower() { CloseLink(); }

std::string Follower::Parameter(std::string_view name) const {
  return memory::KeptValue(name, engine_.options());
}

void Follower::WriteLog(LogLevel level, std::string_view text) const {
  log_.Write(level, engine_.clock().Now(), text);
}

void Follower::Follow(std::string host, int port, bool at_start,
                      std::function<void(bool accepted)> on_takeover) {
  // A master has the whole of its own stream.
  if (!follows()) {
    has_stream_ = !at_start || resumed_db_.has_value();
    db_ = std::exchange(resumed_db_, std::nullopt).value_or(0);
  }
  CloseLink();
  master_ = Address{std::move(host), port};
  down_s_ = -1;
  on_takeover_ = std::move(on_takeover);
  engine_.core().SetAuthority(EngineCore::Authority::kMaster);
  Connect();
}

void Follower::Lead() {
  if (!follows()) return;
  CloseLink();
  master_.reset();
  on_takeover_ = nullptr;
  stream_.TakeOver();
  replicas_.ForgetDatabase();
  // They come back, and learn the stream's new id.
  replicas_.BreakAll();
  engine_.core().SetAuthority(EngineCore::Authority::kOwn);
  engine_.core().FinishCommand();
}

std::optional<int> Follower::db() const {
  return follows() ? std::make_optional(db_) : std::nullopt;
}

bool Follower::Owns(const memory::SessionCore& session) const {
  return runner_ != nullptr && &runner_->session() == &session;
}

std::optional<memory::MasterFigures> Follower::figures() const {
  if (!follows()) return std::nullopt;
  memory::MasterFigures figures{.host = master_->host, .port = master_->port, .link = link_};
  if (has_stream_) {
    figures.offset = stream_.offset();
    figures.read_offset = stream_.offset() + static_cast<int64_t>(unit_.size() + input_.size());
  }
  if (is_connected()) figures.silent_s = silent_s_;
  figures.down_s = down_s_;
  if (keys_ != nullptr) {
    figures.file_bytes = static_cast<int64_t>(keys_->transfer().announced_bytes());
    figures.file_read_bytes = static_cast<int64_t>(keys_->transfer().read_bytes());
  }
  return figures;
}

void Follower::Connect() {
  link_ = Link::kConnecting;
  silent_s_ = 0;
  WriteLog(LogLevel::kNotice,
           absl::StrCat("Connecting to MASTER ", master_->host, ":", master_->port));
  socket_.Open(master_->host, master_->port);
}

void Follower::CloseLink() {
  ++attempt_;
  socket_.Close();
  link_ = Link::kConnect;
  steps_.clear();
  input_.clear();
  unit_.clear();
  keys_.reset();
  was_closed_ = false;
  // A command of the master may have ended the link, and still runs.
  if (runs_ && runner_ != nullptr) former_runner_ = std::move(runner_);
  runner_.reset();
}

void Follower::Fail(std::string_view reason) {
  if (!reason.empty()) WriteLog(LogLevel::kWarning, reason);
  const bool was_connected = is_connected();
  const bool had_keys = keys_ != nullptr;
  if (was_connected) down_s_ = 0;
  CloseLink();
  EndTakeover(false);
  // Waiting might let the master forget what this server lacks.
  if (!follows() || !(was_connected || had_keys)) return;
  WriteLog(LogLevel::kNotice, absl::StrCat("Reconnecting to MASTER ", master_->host, ":",
                                           master_->port, had_keys ? " after failure" : ""));
  Connect();
}

void Follower::OnClosed(std::string_view reason) {
  if (!follows()) return;
  // All keys have come: they are loaded, and then the rest of the stream is asked for.
  if (is_loading()) {
    was_closed_ = true;
    return;
  }
  if (is_connected()) {
    WriteLog(LogLevel::kWarning, "Connection with master lost.");
    return Fail("");
  }
  if (keys_ != nullptr) {
    keys_->LogCut();
    return Fail("");
  }
  Fail(absl::StrCat("Error condition on socket for SYNC: ", base::ToAbsl(reason)));
}

void Follower::EverySecond() {
  if (!follows()) return;
  if (down_s_ >= 0 && !is_connected()) ++down_s_;
  if (link_ == Link::kConnect) return Connect();
  if (is_loading()) {
    // So that the master does not give up.
    socket_.Send("\n");
    return;
  }
  if (++silent_s_ > memory::KeptNumber("repl-timeout", engine_.options())) {
    if (is_connected()) return Fail("MASTER timeout: no data nor PING received...");
    return Fail(link_ == Link::kSync ? "Timeout receiving bulk data from MASTER..."
                                     : "Timeout connecting to the MASTER...");
  }
  if (is_connected()) Acknowledge();
}

void Follower::Upkeep() {
  if (is_connected() && !input_.empty() && !runs_) RunCommands();
}

void Follower::Acknowledge() {
  std::string bytes;
  const std::string offset = std::to_string(stream_.offset());
  const std::string_view words[] = {"REPLCONF", "ACK", offset};
  AppendWords(words, bytes);
  socket_.Send(bytes);
}

void Follower::Ask(Step step, const std::vector<std::string_view>& words) {
  std::string bytes;
  AppendWords(words, bytes);
  steps_.push_back(step);
  socket_.Send(bytes);
}

void Follower::OnOpen() {
  WriteLog(LogLevel::kNotice, "Non blocking connect for SYNC fired the event.");
  link_ = Link::kHandshake;
  Ask(Step::kPing, {"PING"});
}

void Follower::Introduce() {
  const std::string user = Parameter("masteruser");
  const std::string password = Parameter("masterauth");
  if (!password.empty() && !user.empty()) Ask(Step::kAuth, {"AUTH", user, password});
  if (!password.empty() && user.empty()) Ask(Step::kAuth, {"AUTH", password});
  std::string port = Parameter("replica-announce-port");
  if (port == "0") port = std::to_string(engine_.options().server.port);
  Ask(Step::kPort, {"REPLCONF", "listening-port", port});
  const std::string address = Parameter("replica-announce-ip");
  if (!address.empty()) Ask(Step::kAddress, {"REPLCONF", "ip-address", address});
  Ask(Step::kCapabilities, {"REPLCONF", "capa", "eof", "capa", "psync2"});
}

void Follower::AskForStream() {
  std::string id = "?";
  std::string offset = "-1";
  if (has_stream_) {
    id = stream_.id();
    offset = std::to_string(stream_.offset() + 1);
    WriteLog(LogLevel::kNotice,
             absl::StrCat("Trying a partial resynchronization (request ", id, ":", offset, ")."));
  } else {
    WriteLog(LogLevel::kNotice, "Partial resynchronization not possible (no cached master)");
  }
  if (on_takeover_) return Ask(Step::kPSync, {"PSYNC", id, offset, "FAILOVER"});
  Ask(Step::kPSync, {"PSYNC", id, offset});
}

void Follower::OnBytes(std::string_view bytes) {
  silent_s_ = 0;
  const int64_t attempt = attempt_;
  if (keys_ == nullptr || is_loading()) {
    input_.append(bytes);
  } else if (!AddToKeys(bytes)) {
    return;
  }
  while (attempt == attempt_ && keys_ == nullptr) {
    if (is_connected()) return RunCommands();
    if (!ReadLine()) return;
  }
}

bool Follower::ReadLine() {
  const size_t end = input_.find('\n');
  if (end == std::string::npos) return false;
  std::string line = input_.substr(0, end);
  if (line.ends_with('\r')) line.pop_back();
  input_.erase(0, end + 1);
  // An empty line says that the master is busy with the answer.
  if (!line.empty() && !steps_.empty()) TakeLine(line);
  return true;
}

void Follower::TakeLine(std::string_view line) {
  const Step step = steps_.front();
  steps_.pop_front();
  switch (step) {
    case Step::kPing:
      if (line.starts_with('-') && !line.starts_with("-NOAUTH") && !line.starts_with("-NOPERM") &&
          !line.starts_with("-ERR operation not permitted")) {
        return Fail(absl::StrCat("Error reply to PING from master: '", base::ToAbsl(line), "'"));
      }
      WriteLog(LogLevel::kNotice, "Master replied to PING, replication can continue...");
      return Introduce();
    case Step::kAuth:
      if (!line.starts_with('-')) return;
      return Fail(absl::StrCat("Unable to AUTH to MASTER: ", base::ToAbsl(line)));
    case Step::kPort:
    case Step::kAddress:
      return;  // A master that does not know them is an old one.
    case Step::kCapabilities:
      return AskForStream();
    case Step::kPSync:
      return TakeSyncReply(line);
    case Step::kFile:
      return BeginKeys(line);
  }
}

void Follower::BeginKeys(std::string_view line) {
  absl::StatusOr<std::unique_ptr<IncomingKeys>> keys =
      IncomingKeys::Announced(engine_, log_, line, sync_id_ == stream_.id());
  if (!keys.ok()) return Fail(base::ToStd(keys.status().message()));
  keys_ = *std::move(keys);
  AddToKeys(std::exchange(input_, {}));
}

bool Follower::AddToKeys(std::string_view bytes) {
  const absl::StatusOr<std::string_view> rest = keys_->Add(bytes);
  if (!rest.ok()) {
    Fail(absl::StrCat(
        "Write error or short write writing to the DB dump file needed for MASTER <-> REPLICA "
        "synchronization: ",
        rest.status().message()));
    return false;
  }
  input_.append(*rest);
  if (keys_->is_whole()) {
    keys_->BeginLoading();
    LoadLater();
  }
  return true;
}

void Follower::LoadLater() {
  load_later_([this, attempt = attempt_] {
    if (attempt == attempt_) ContinueLoading();
  });
}

void Follower::ContinueLoading() {
  const absl::StatusOr<bool> continues = keys_->Continue();
  if (!continues.ok()) {
    return Fail(absl::StrCat("Failed trying to load the MASTER synchronization DB from ",
                             base::ToAbsl(keys_->source()), ": ", continues.status().message()));
  }
  if (*continues) return LoadLater();
  FinishLoading();
}

void Follower::FinishLoading() {
  const std::string db = keys_->report().Field("repl-stream-db").value_or("0");
  keys_.reset();
  stream_.Adopt(sync_id_, sync_offset_);
  replicas_.BreakAll();
  replicas_.Begin();
  Join(static_cast<int>(base::ParseInt64(db).value_or(0)));
  WriteLog(LogLevel::kNotice, "MASTER <-> REPLICA sync: Finished with success");
  if (on_loaded_) on_loaded_();
  const int64_t attempt = attempt_;
  const bool was_closed = std::exchange(was_closed_, false);
  RunCommands();
  if (was_closed && attempt == attempt_) OnClosed("");
}

void Follower::TakeSyncReply(std::string_view line) {
  if (line.starts_with("+FULLRESYNC")) return TakeFullSync(line);
  if (line.starts_with("+CONTINUE")) return TakeContinuation(line);
  const bool is_temporary = line.starts_with("-NOMASTERLINK") || line.starts_with("-LOADING");
  Fail(absl::StrCat(is_temporary ? "Master is currently unable to PSYNC but should be in the "
                                   "future: "
                                 : "Unexpected reply to PSYNC from master: ",
                    base::ToAbsl(line)));
}

// "+FULLRESYNC <id> <offset>"
void Follower::TakeFullSync(std::string_view line) {
  const std::vector<std::string> words = absl::StrSplit(base::ToAbsl(line), ' ');
  const std::optional<int64_t> offset =
      words.size() == 3 ? base::ParseInt64(words[2]) : std::nullopt;
  if (!offset) {
    return Fail(absl::StrCat("Master replied with wrong +FULLRESYNC syntax: ", base::ToAbsl(line)));
  }
  sync_id_ = words[1];
  sync_offset_ = *offset;
  link_ = Link::kSync;
  steps_.push_back(Step::kFile);
  WriteLog(LogLevel::kNotice,
           absl::StrCat("Full resync from master: ", sync_id_, ":", sync_offset_));
  EndTakeover(true);
}

// "+CONTINUE" or "+CONTINUE <id>": the master may have another id since it has taken over.
void Follower::TakeContinuation(std::string_view line) {
  const std::vector<std::string> words = absl::StrSplit(base::ToAbsl(line), ' ');
  if (words.size() > 1 && words[1] != stream_.id()) {
    stream_.Rename(words[1]);
    replicas_.BreakAll();
    WriteLog(LogLevel::kWarning, absl::StrCat("Master replication ID changed to ", words[1]));
  }
  WriteLog(LogLevel::kNotice, "Successful partial resynchronization with master.");
  replicas_.Begin();
  Join(db_);
  EndTakeover(true);
}

void Follower::EndTakeover(bool accepted) {
  if (auto on_takeover = std::exchange(on_takeover_, nullptr)) on_takeover(accepted);
}

void Follower::Join(int db) {
  has_stream_ = true;
  db_ = db;
  down_s_ = -1;
  link_ = Link::kConnected;
  parser_ = store::RequestParser();
  runner_ = std::make_unique<memory::EffectRunner>(engine_, EngineCore::Authority::kMaster);
  runner_->session().Select(db);
  // The master sends the stream after a file with an end mark only when it hears of the replica.
  Acknowledge();
}

void Follower::RunCommands() {
  store::RequestParser::Limits limits;
  limits.longest_bulk_bytes = std::numeric_limits<int64_t>::max();
  // A command may end the link, and with it what is left of the input.
  std::string input = std::exchange(input_, {});
  const int64_t attempt = attempt_;
  size_t used = 0;
  runs_ = true;
  while (attempt == attempt_ && !runner_->session().disconnected()) {
    const std::string_view rest = std::string_view(input).substr(used);
    const store::RequestParser::Progress progress = parser_.Parse(rest, limits);
    if (progress == store::RequestParser::Progress::kIncomplete) break;
    if (progress == store::RequestParser::Progress::kError) {
      runs_ = false;
      has_stream_ = false;
      return Fail(absl::StrCat("Protocol error from the master: ", parser_.error()));
    }
    const std::vector<std::string_view>& words = parser_.words();
    if (!words.empty() && !AsksForOffset(words) && runner_->Postpones(words)) break;
    const size_t size = parser_.consumed();
    unit_.append(rest.substr(0, size));
    used += size;
    RunCommand(words, attempt);
  }
  runs_ = false;
  former_runner_.reset();
  if (attempt != attempt_) return;
  // A long command comes in many parts, for none of which the others are copied.
  input.erase(0, used);
  input_ = std::move(input);
}

void Follower::RunCommand(const std::vector<std::string_view>& words, int64_t attempt) {
  if (AsksForOffset(words)) {
    Acknowledge();
  } else if (!words.empty()) {
    const store::Reply reply = runner_->Run(words);
    if (attempt != attempt_) return;
    if (reply.is_error()) {
      WriteLog(LogLevel::kWarning,
               absl::StrCat("== CRITICAL == This replica is sending an error to its master: '",
                            reply.text(), "' after processing the command '",
                            base::ToAbsl(words[0]), "'"));
    }
  }
  if (runner_->in_transaction()) return;
  db_ = runner_->session().db_index();
  replicas_.Feed(std::exchange(unit_, {}));
}

}  // namespace redouble::inline v0_1::sim
