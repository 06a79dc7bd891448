#include "redouble/sim/server/server_shutdown.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/error_text.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {

using memory::Administration;
using memory::ShutdownOptions;
using Save = ShutdownOptions::Save;

ServerShutdown::ServerShutdown(memory::Engine& engine, const Log& log, RdbKeyFile& key_file,
                               AppendOnlyFile& append_log, ReplicationNode& replication,
                               std::function<int64_t()> now_us, std::function<void()> on_stop)
    : engine_(engine),
      log_(log),
      key_file_(key_file),
      append_log_(append_log),
      replication_(replication),
      now_us_(std::move(now_us)),
      on_stop_(std::move(on_stop)) {}

void ServerShutdown::WriteLog(LogLevel level, std::string_view text) const {
  log_.Write(level, engine_.clock().Now(), text);
}

memory::Shutdown::Outcome ServerShutdown::Begin(const memory::SessionCore& session,
                                                const ShutdownOptions& options) {
  const Outcome outcome = wait_ ? Outcome::kWaits : Prepare(options);
  if (outcome == Outcome::kWaits) wait_->session_ids.push_back(session.id());
  return outcome;
}

memory::Shutdown::Outcome ServerShutdown::Prepare(const ShutdownOptions& options) {
  options_ = options;
  // The keys that are there are not all.
  if (engine_.core().loading()) options_.save = Save::kNever;
  WriteLog(LogLevel::kWarning, "User requested shutdown...");
  const int64_t timeout_s = memory::KeptNumber("shutdown-timeout", engine_.options());
  if (options.is_now || timeout_s == 0 || replication_.replicas_have_all()) return Finish();
  wait_ = Wait{.deadline_us = now_us_() + timeout_s * 1'000'000, .session_ids = {}};
  Administration& administration = engine_.core().administration();
  if (!administration.paused()) replication_.AskForOffsets();
  administration.PauseClients(Administration::PauseOwner::kShutdown, Administration::Pause::kWrites,
                              Administration::kNoPauseEnd);
  WriteLog(LogLevel::kNotice, "Waiting for replicas before shutting down.");
  return Outcome::kWaits;
}

bool ServerShutdown::Abort() {
  if (!wait_ && !signal_) return false;
  Cancel();
  WriteLog(LogLevel::kNotice, "Shutdown manually aborted.");
  return true;
}

std::optional<int64_t> ServerShutdown::millis_left() const {
  if (!wait_) return std::nullopt;
  return (wait_->deadline_us - now_us_()) / 1000;
}

bool ServerShutdown::TakeSignal(int signal) {
  if (signal_ && signal == SIGINT) {
    WriteLog(LogLevel::kWarning, "You insist... exiting now.");
    return false;
  }
  signal_ = signal;
  WriteLog(LogLevel::kWarning, signal == SIGINT ? "Received SIGINT scheduling shutdown..."
                                                : "Received SIGTERM scheduling shutdown...");
  return true;
}

// The words of shutdown-on-sigterm and shutdown-on-sigint.
ShutdownOptions ServerShutdown::OptionsOfSignal(int signal) const {
  const std::string value = memory::KeptValue(
      signal == SIGINT ? "shutdown-on-sigint" : "shutdown-on-sigterm", engine_.options());
  ShutdownOptions options;
  for (const absl::string_view word : absl::StrSplit(value, ' ')) {
    if (word == "save") options.save = Save::kAlways;
    if (word == "nosave") options.save = Save::kNever;
    if (word == "now") options.is_now = true;
    if (word == "force") options.is_forced = true;
  }
  return options;
}

void ServerShutdown::Upkeep() {
  if (wait_) {
    if (now_us_() >= wait_->deadline_us || replication_.replicas_have_all()) Finish();
  } else if (signal_) {
    Prepare(OptionsOfSignal(*signal_));
  }
}

memory::Shutdown::Outcome ServerShutdown::Finish() {
  LogReplicas();
  if (MayStop()) {
    on_stop_();
    return Outcome::kStops;
  }
  WriteLog(LogLevel::kWarning,
           "Errors trying to shut down the server. Check the logs for more information.");
  Cancel();
  return Outcome::kFails;
}

bool ServerShutdown::SavesKeys() const {
  if (options_.save != Save::kWithSavePoints) return options_.save == Save::kAlways;
  return !engine_.options().server.save_points.empty();
}

bool ServerShutdown::MayStop() {
  if (key_file_.figures().saving) {
    WriteLog(LogLevel::kWarning, "There is a child saving an .rdb. Killing it!");
    key_file_.StopSaving();
  }
  // After a signal the server writes the rest of the log's first file before it stops.
  if (append_log_.figures().starting && !signal_) {
    WriteLog(LogLevel::kWarning, options_.is_forced ? "Writing initial AOF. Exit anyway."
                                                    : "Writing initial AOF, can't exit.");
    if (!options_.is_forced) return false;
  }
  if (!SavesKeys()) return true;
  WriteLog(LogLevel::kNotice, "Saving the final RDB snapshot before exiting.");
  if (key_file_.Save().ok()) return true;
  WriteLog(LogLevel::kWarning, options_.is_forced ? "Error trying to save the DB. Exit anyway."
                                                  : "Error trying to save the DB, can't exit.");
  return options_.is_forced;
}

void ServerShutdown::Cancel() {
  signal_.reset();
  memory::EngineCore& core = engine_.core();
  const std::optional<Wait> wait = std::exchange(wait_, std::nullopt);
  if (!wait) return;
  const auto& sessions = core.administration().sessions();
  for (const int64_t id : wait->session_ids) {
    const auto found = sessions.find(id);
    // CLIENT UNBLOCK has ended its wait, and it may be blocked by another command.
    if (found == sessions.end() || !found->second->blocked()) continue;
    if (found->second->last_command() != store::CommandId::kShutdown) continue;
    core.EndWait(*found->second, store::Reply::Error(memory::error_text::kShutdownFailed),
                 Administration::WaitEnd::kServed, core.administration().Now());
  }
  core.administration().EndPause(Administration::PauseOwner::kShutdown);
}

void ServerShutdown::LogReplicas() const {
  const memory::ReplicationFigures figures = replication_.figures();
  if (figures.replicas.empty()) return;
  size_t lagging = 0;
  for (const memory::ReplicaFigures& replica : figures.replicas) {
    if (replica.offset == figures.offset) continue;
    ++lagging;
    WriteLog(LogLevel::kWarning,
             absl::StrCat("Lagging replica ", replica.address, ":", replica.port,
                          " reported offset ", figures.offset - replica.offset,
                          " behind master, lag=", replica.is_online() ? replica.lag_s : 0,
                          ", state=", base::ToAbsl(memory::TextOf(replica.state)), "."));
  }
  WriteLog(LogLevel::kNotice,
           absl::StrCat(figures.replicas.size() - lagging, " of ", figures.replicas.size(),
                        " replicas are in sync when shutting down."));
}

}  // namespace redouble::inline v0_1::sim
