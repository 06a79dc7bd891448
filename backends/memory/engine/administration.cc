#include "redouble/backends/memory/engine/administration.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/client_line.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/eviction/client_memory_limit.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/backends/memory/server/redaction.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/store/resp/reply_encoding.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::CommandSpec;
using store::Reply;
namespace command_flag = store::command_flag;

constexpr int64_t kMicrosPerSecond = 1'000'000;

// The class of a client's size.
size_t SizeClass(uint64_t bytes) {
  const auto excess = static_cast<int>(std::bit_width(bytes)) - Administration::kSmallClientBits;
  constexpr int kLast = Administration::kClientSizeClasses - 1;
  return static_cast<size_t>(std::clamp(excess, 0, kLast));
}

bool IsLogged(int64_t cost, int64_t threshold) { return threshold >= 0 && cost >= threshold; }

// The size of "$5\r\nbytes\r\n".
size_t BulkBytes(std::string_view word) {
  constexpr size_t kMarks = 5;
  return absl::StrCat(word.size()).size() + word.size() + kMarks;
}

// The size of the command as clients encode it.
int64_t RequestBytes(const Administration::Sent& sent) {
  constexpr size_t kMarks = 3;
  size_t bytes = absl::StrCat(sent.arguments.size() + 1).size() + kMarks + BulkBytes(sent.name);
  for (const std::string_view argument : sent.arguments) bytes += BulkBytes(argument);
  return static_cast<int64_t>(bytes);
}

int64_t ReplyBytes(const SessionCore& session, const Reply& reply) {
  // As in Valkey, what a script gets is not sent.
  if (session.runs_script() || session.reply_mode() == SessionCore::ReplyMode::kOff) return 0;
  std::string bytes;
  store::AppendReply(
      reply, session.protocol() == 3 ? store::Protocol::kResp3 : store::Protocol::kResp2, bytes);
  return static_cast<int64_t>(bytes.size());
}

}  // namespace

Administration::Administration(EngineCore& engine)
    : engine_(engine), started_us_(engine.clock().NowMicros()) {}

Administration::~Administration() {
  if (pause_timer_) engine_.clock().Cancel(*pause_timer_);
}

void Administration::set_host(Host* host) {
  host_ = host;
  StartLap();
}

void Administration::Add(SessionCore& session) {
  sessions_.emplace(session.id(), &session);
  NoteClientSize(session.id());
}

void Administration::Remove(SessionCore& session) {
  if (client_limit_bytes_) SetClientBytes(session.id(), 0);
  client_bytes_.erase(session.id());
  sessions_.erase(session.id());
  StopMonitor(session);
  std::erase(postponed_, &session);
}

int64_t Administration::DisconnectIf(SessionCore& me,
                                     absl::FunctionRef<bool(const SessionCore&)> ends) {
  std::vector<SessionCore*> ended;
  for (const auto& [id, session] : sessions_) {
    if (ends(*session)) ended.push_back(session);
  }
  for (SessionCore* session : ended) session == &me ? session->HangUp() : session->Disconnect();
  return static_cast<int64_t>(ended.size());
}

KeyFileFigures Administration::key_file_figures() const {
  if (const KeyFile* file = key_file()) return file->figures();
  return {.saved_at_s = started_us_ / kMicrosPerSecond};
}

void Administration::EvictClients() {
  if (!client_limit_bytes_) return;
  MeasureClients();
  if (client_bytes_sum_ >= *client_limit_bytes_) EvictClientsAbove(*client_limit_bytes_);
}

void Administration::MeasureClients() {
  // A client that gets many messages is noted for each of them.
  std::sort(resized_.begin(), resized_.end());
  resized_.erase(std::unique(resized_.begin(), resized_.end()), resized_.end());
  for (const int64_t id : std::exchange(resized_, {})) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end() || found->second->is_trusted()) continue;
    SetClientBytes(id, BytesOf(engine_, *found->second));
  }
}

void Administration::SetClientBytes(int64_t id, uint64_t bytes) {
  uint64_t& known = client_bytes_[id];
  client_bytes_sum_ += bytes - known;
  known = bytes;
}

void Administration::EvictClientsAbove(uint64_t limit_bytes) {
  uint64_t sum_bytes = 0;
  std::vector<std::pair<SessionCore*, uint64_t>> candidates;
  for (const auto& [id, session] : sessions_) {
    if (session->is_trusted()) continue;
    const uint64_t bytes = BytesOf(engine_, *session);
    SetClientBytes(id, bytes);
    sum_bytes += bytes;
    if (!session->no_evict()) candidates.emplace_back(session, bytes);
  }
  if (sum_bytes < limit_bytes) return;
  const auto is_larger = [](const auto& a, const auto& b) {
    return SizeClass(a.second) > SizeClass(b.second);
  };
  std::stable_sort(candidates.begin(), candidates.end(), is_larger);
  for (const auto& [session, bytes] : candidates) {
    if (sum_bytes < limit_bytes) break;
    sum_bytes -= bytes;
    statistics_.CountEvictedClient();
    session->Disconnect();
  }
}

std::array<Administration::ClientSizes, Administration::kClientSizeClasses>
Administration::client_sizes() const {
  std::array<ClientSizes, kClientSizeClasses> sizes;
  for (const auto& [id, session] : sessions_) {
    if (session->is_trusted() || session->no_evict()) continue;
    const uint64_t bytes = BytesOf(engine_, *session);
    ClientSizes& row = sizes[SizeClass(bytes)];
    row.bytes += bytes;
    ++row.clients;
  }
  return sizes;
}

void Administration::Configure() {
  const EngineOptions& options = engine_.options();
  ConfigureSizeLogs();
  logs_all_ = options.slowlog_log_slower_than_us == 0 || logs_sizes();
  const bool had_limit = client_limit_bytes_.has_value();
  client_limit_bytes_ = ClientMemoryLimit(options);
  if (had_limit == client_limit_bytes_.has_value()) return;
  client_bytes_.clear();
  client_bytes_sum_ = 0;
  resized_.clear();
  for (const auto& [id, session] : sessions_) NoteClientSize(id);
}

void Administration::ConfigureSizeLogs() {
  if (!engine_.Has(Feature::kCommandLogs)) return;
  const EngineOptions& options = engine_.options();
  const auto value = [&](std::string_view name) {
    const KeptParameter* parameter = FindKeptParameter(name, options.compatibility);
    return base::ParseInt64(parameter->ValueIn(options)).value_or(-1);
  };
  large_requests_.threshold_bytes = value("commandlog-request-larger-than");
  large_requests_.longest = static_cast<size_t>(value("commandlog-large-request-max-len"));
  large_replies_.threshold_bytes = value("commandlog-reply-larger-than");
  large_replies_.longest = static_cast<size_t>(value("commandlog-large-reply-max-len"));
}

void Administration::StartMonitor(SessionCore& session) {
  StopMonitor(session);
  monitors_.push_back(&session);
}

void Administration::StopMonitor(SessionCore& session) { std::erase(monitors_, &session); }

void Administration::ShowToMonitors(const SessionCore& session, const Sent& sent) {
  if (monitors_.empty()) return;
  const int64_t now_us = engine_.clock().NowMicros();
  const std::string source = session.runs_script() ? "lua" : FiguresOf(engine_, session).address;
  std::string line = absl::StrFormat("%d.%06d [%d %s] ", now_us / kMicrosPerSecond,
                                     now_us % kMicrosPerSecond, session.db_index(), source);
  absl::StrAppend(&line, store::QuoteBytes(sent.name));
  for (const std::string_view argument : Redact(sent.id, sent.arguments)) {
    absl::StrAppend(&line, " ", store::QuoteBytes(argument));
  }
  engine_.PushToAll(monitors_, [&] { return Reply::Status(std::move(line)); });
}

void Administration::FinishSlowly(SessionCore& session, const Sent& sent, const Reply& reply,
                                  int64_t begun_us) {
  const int64_t duration_us = host_ == nullptr ? 0 : host_->MonotonicMicros() - begun_us;
  lap_us_ = begun_us + duration_us;
  if (host_ != nullptr) {
    const bool with_histogram = engine_.options().latency_tracking && !session.blocked();
    statistics_.CountDuration(sent.id, duration_us, with_histogram);
  }
  const auto words = [&] { return SlowLog::Shorten(sent.name, Redact(sent.id, sent.arguments)); };
  if (logs_sizes() && !store::SpecOf(sent.id).Has(command_flag::kSkipSlowLog)) {
    const int64_t bytes = RequestBytes(sent);
    if (IsLogged(bytes, large_requests_.threshold_bytes)) {
      AddTo(large_requests_, EntryFor(session, words(), bytes));
    }
    if (!session.blocked()) LogReply(session, words(), reply);
  }
  // FinishBlocked logs a blocked call.
  if (session.blocked()) {
    session.KeepBlockedCall({words(), duration_us});
  } else if (IsSlow(sent.id, duration_us)) {
    LogSlow(session, words(), duration_us);
  }
  const CommandSpec& spec = store::SpecOf(sent.id);
  if (samples_latency()) {
    SampleLatency(spec.Has(command_flag::kFast) ? "fast-command" : "command", duration_us);
  }
  if (monitors_.empty()) return;
  if (spec.Has(command_flag::kSkipMonitor) || spec.Has(command_flag::kAdmin)) return;
  ShowToMonitors(session, sent);
}

void Administration::FinishBlocked(const SessionCore& session, const Reply& reply, WaitEnd end,
                                   int64_t served_from_us) {
  if (logs_sizes()) LogReply(session, session.blocked_call().words, reply);
  if (end == WaitEnd::kTimedOut) return;
  const CommandId id = session.last_command();
  if (reply.is_error() || end == WaitEnd::kUnblocked) statistics_.CountBlockedFailure(id, reply);
  // As in Redis, without the time in which it was blocked.
  const SessionCore::BlockedCall& call = session.blocked_call();
  const int64_t served_us = Now() - served_from_us;
  const int64_t duration_us = call.duration_us + served_us;
  if (host_ != nullptr) {
    statistics_.CountDuration(id, duration_us, engine_.options().latency_tracking);
  }
  if (IsSlow(id, duration_us)) {
    const bool has_words = end != WaitEnd::kUnblocked;
    LogSlow(session, has_words ? call.words : std::vector<std::string>(), duration_us);
  }
  SampleLatency("command-unblocking", served_us);
}

bool Administration::IsSlow(CommandId id, int64_t duration_us) const {
  const int64_t threshold_us = engine_.options().slowlog_log_slower_than_us;
  return IsLogged(duration_us, threshold_us) && !store::SpecOf(id).Has(command_flag::kSkipSlowLog);
}

void Administration::LogSlow(const SessionCore& session, std::vector<std::string> words,
                             int64_t duration_us) {
  slow_log_.Add(EntryFor(session, std::move(words), duration_us),
                static_cast<size_t>(engine_.options().slowlog_max_len));
}

void Administration::AddTo(SizeLog& log, SlowLog::Entry entry) {
  // As in Valkey, the length 0 keeps the entries that are there.
  if (log.longest > 0) log.log.Add(std::move(entry), log.longest);
}

void Administration::LogReply(const SessionCore& session, std::vector<std::string> words,
                              const Reply& reply) {
  if (large_replies_.threshold_bytes < 0) return;
  const int64_t bytes = ReplyBytes(session, reply);
  if (!IsLogged(bytes, large_replies_.threshold_bytes)) return;
  AddTo(large_replies_, EntryFor(session, std::move(words), bytes));
}

SlowLog::Entry Administration::EntryFor(const SessionCore& session, std::vector<std::string> words,
                                        int64_t cost) const {
  SlowLog::Entry entry;
  entry.at_s = engine_.clock().NowMicros() / kMicrosPerSecond;
  entry.cost = cost;
  entry.words = std::move(words);
  // A script's commands come from a client without a socket and a name.
  if (session.runs_script()) {
    entry.address = ConnectionFigures().address;
  } else {
    entry.address = FiguresOf(engine_, session).address;
    entry.client_name = session.name();
  }
  return entry;
}

bool Administration::samples_latency() const {
  return engine_.options().latency_monitor_threshold_ms > 0;
}

void Administration::SampleLatency(std::string_view event, int64_t duration_us) {
  const int64_t threshold_ms = engine_.options().latency_monitor_threshold_ms;
  if (threshold_ms == 0 || duration_us / 1000 < threshold_ms) return;
  latency_monitor_.Add(event, engine_.clock().NowMicros() / kMicrosPerSecond, duration_us / 1000);
}

void Administration::PauseClients(PauseOwner owner, Pause pause, int64_t until_ms) {
  OwnedPause& owned = owned_pauses_[static_cast<size_t>(owner)];
  const bool is_new = owned.pause == Pause::kNone;
  owned.until_ms = is_new ? until_ms : std::max(owned.until_ms, until_ms);
  owned.pause = std::max(owned.pause, pause);
  UpdatePause();
}

void Administration::EndPause(PauseOwner owner) {
  owned_pauses_[static_cast<size_t>(owner)] = {};
  UpdatePause();
}

void Administration::UpdatePause() {
  const Pause before = pause_;
  int64_t until_ms = kNoPauseEnd;
  pause_ = Pause::kNone;
  for (const OwnedPause& owned : owned_pauses_) {
    if (owned.pause == Pause::kNone) continue;
    pause_ = std::max(pause_, owned.pause);
    until_ms = std::min(until_ms, owned.until_ms);
  }
  if (pause_timer_) engine_.clock().Cancel(*std::exchange(pause_timer_, std::nullopt));
  // The clock cannot reach later times.
  if (until_ms < std::numeric_limits<int64_t>::max() / 1000 - 1) {
    pause_timer_ = engine_.clock().ScheduleAt(FirstMillisAfterPause(until_ms) * 1000, [this] {
      pause_timer_.reset();
      EndDuePauses();
      engine_.DeliverPending();
    });
  }
  engine_.UpdateExpiry();
  if (pause_ >= before) return;
  // They may have to wait again.
  for (SessionCore* session : std::exchange(postponed_, {})) {
    engine_.DeliverLater(*session, std::nullopt);
  }
}

void Administration::EndDuePauses() {
  const int64_t now_ms = engine_.clock().NowMillis();
  for (OwnedPause& owned : owned_pauses_) {
    const bool has_end = owned.until_ms < kNoPauseEnd;
    if (has_end && FirstMillisAfterPause(owned.until_ms) <= now_ms) owned = {};
  }
  UpdatePause();
}

int64_t Administration::FirstMillisAfterPause(int64_t until_ms) const {
  return until_ms + (engine_.Has(Feature::kPauseEndsAtDeadline) ? 0 : 1);
}

bool Administration::Postpones(const SessionCore& session, CommandId id,
                               std::span<const std::string_view> arguments) const {
  if (pause_ == Pause::kAll) return true;
  if (pause_ == Pause::kNone) return false;
  if (id != CommandId::kExec) return MayWrite(engine_, id, arguments);
  return std::any_of(session.queued().begin(), session.queued().end(),
                     [this](const SessionCore::QueuedCommand& queued) {
                       return MayWrite(engine_, queued.id, queued.arguments);
                     });
}

}  // namespace redouble::inline v0_1::memory
