#include "redouble/backends/memory/engine/administration.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/backends/memory/engine/client_line.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/server/redaction.h"

namespace redouble::memory {
namespace {

using store::CommandId;
using store::CommandSpec;
using store::Reply;
namespace command_flag = store::command_flag;

constexpr int64_t kMicrosPerSecond = 1'000'000;

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

void Administration::Add(SessionCore& session) { sessions_.emplace(session.id(), &session); }

void Administration::Remove(SessionCore& session) {
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

void Administration::Configure() { logs_all_ = engine_.options().slowlog_log_slower_than_us == 0; }

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
  for (SessionCore* monitor : monitors_) engine_.PushLater(*monitor, Reply::Status(line));
}

void Administration::FinishSlowly(SessionCore& session, const Sent& sent, int64_t begun_us) {
  int64_t duration_us = 0;
  if (host_ != nullptr) {
    lap_us_ = host_->MonotonicMicros();
    duration_us = lap_us_ - begun_us;
    statistics_.CountDuration(sent.id, duration_us, engine_.options().latency_tracking);
  }
  LogIfSlow(session, sent, duration_us);
  SampleLatency(session, sent.id, duration_us);
  const CommandSpec& spec = store::SpecOf(sent.id);
  if (spec.Has(command_flag::kSkipMonitor) || spec.Has(command_flag::kAdmin)) return;
  ShowToMonitors(session, sent);
}

void Administration::LogIfSlow(const SessionCore& session, const Sent& sent, int64_t duration_us) {
  const EngineOptions& options = engine_.options();
  if (options.slowlog_log_slower_than_us < 0) return;
  if (duration_us < options.slowlog_log_slower_than_us) return;
  // The duration of a script includes its commands.
  if (session.runs_script()) return;
  if (store::SpecOf(sent.id).Has(command_flag::kSkipSlowLog)) return;
  SlowLog::Entry entry;
  entry.at_s = engine_.clock().NowMicros() / kMicrosPerSecond;
  entry.duration_us = duration_us;
  entry.words = SlowLog::Shorten(sent.name, Redact(sent.id, sent.arguments));
  entry.address = FiguresOf(engine_, session).address;
  entry.client_name = session.name();
  slow_log_.Add(std::move(entry), static_cast<size_t>(options.slowlog_max_len));
}

void Administration::SampleLatency(const SessionCore& session, CommandId id, int64_t duration_us) {
  const int64_t threshold_ms = engine_.options().latency_monitor_threshold_ms;
  if (threshold_ms == 0 || duration_us / 1000 < threshold_ms || session.runs_script()) return;
  const bool is_fast = store::SpecOf(id).Has(command_flag::kFast);
  latency_monitor_.Add(is_fast ? "fast-command" : "command",
                       engine_.clock().NowMicros() / kMicrosPerSecond, duration_us / 1000);
}

void Administration::PauseClients(Pause pause, int64_t until_ms) {
  pause_until_ms_ = paused() ? std::max(pause_until_ms_, until_ms) : until_ms;
  pause_ = std::max(pause_, pause);
  engine_.UpdateExpiry();
  if (pause_timer_) engine_.clock().Cancel(*std::exchange(pause_timer_, std::nullopt));
  // The clock cannot reach it: the pause lasts until CLIENT UNPAUSE.
  if (pause_until_ms_ >= std::numeric_limits<int64_t>::max() / 1000 - 1) return;
  pause_timer_ = engine_.clock().ScheduleAt((pause_until_ms_ + 1) * 1000, [this] {
    pause_timer_.reset();
    EndPause();
    engine_.DeliverPending();
  });
}

void Administration::EndPause() {
  if (pause_timer_) engine_.clock().Cancel(*std::exchange(pause_timer_, std::nullopt));
  pause_ = Pause::kNone;
  engine_.UpdateExpiry();
  for (SessionCore* session : std::exchange(postponed_, {})) {
    engine_.DeliverLater(*session, std::nullopt);
  }
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

}  // namespace redouble::memory
