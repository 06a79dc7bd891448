// MONITOR, LASTSAVE, SAVE, BGSAVE, BGREWRITEAOF, SHUTDOWN.
#include "redouble/backends/memory/engine/administration.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr std::string_view kAlreadySaving = "ERR Background save already in progress";

// Whether keys are being written in the background, to the file or for replicas.
bool IsSaving(const Administration& administration) {
  const Replication* replication = administration.replication();
  return administration.key_file_figures().saving ||
         (replication != nullptr && replication->is_saving());
}

}  // namespace

Reply HandleMonitor(CommandContext& context, Arguments) {
  if (!context.may_block()) {
    return Reply::Error("ERR MONITOR isn't allowed for DENY BLOCKING client");
  }
  context.session().set_monitor(true);
  context.engine().administration().StartMonitor(context.session());
  return Reply::Ok();
}

Reply HandleLastSave(CommandContext& context, Arguments) {
  return Reply::Integer(context.engine().administration().key_file_figures().saved_at_s);
}

Reply HandleSave(CommandContext& context, Arguments) {
  KeyFile* file = context.engine().administration().key_file();
  if (file == nullptr) return Reply::Error(error_text::kNothingIsSaved);
  if (IsSaving(context.engine().administration())) return Reply::Error(kAlreadySaving);
  // The reason of a failure is in the log, as in Redis.
  return file->Save().ok() ? Reply::Ok() : Reply::Error("ERR");
}

Reply HandleBgRewriteAof(CommandContext& context, Arguments) {
  const Administration& administration = context.engine().administration();
  AppendLog* log = administration.append_log();
  if (log == nullptr) return Reply::Error(error_text::kNothingIsSaved);
  if (log->figures().rewriting) {
    return Reply::Error("ERR Background append only file rewriting already in progress");
  }
  if (IsSaving(administration) || !context.may_block()) {
    log->ScheduleRewrite();
    return Reply::Status("Background append only file rewriting scheduled");
  }
  if (log->Rewrite().ok()) return Reply::Status("Background append only file rewriting started");
  return Reply::Error(
      "ERR Can't execute an AOF background rewriting. Please check the server logs for more "
      "information.");
}

Reply HandleBgSave(CommandContext& context, Arguments arguments) {
  const bool may_wait = arguments.size() == 1 && IsWord(arguments[0], "SCHEDULE");
  if (!arguments.empty() && !may_wait) return SyntaxError();
  KeyFile* file = context.engine().administration().key_file();
  if (file == nullptr) return Reply::Error(error_text::kNothingIsSaved);
  if (IsSaving(context.engine().administration())) return Reply::Error(kAlreadySaving);
  const AppendLog* log = context.engine().administration().append_log();
  const bool is_rewriting = log != nullptr && log->figures().rewriting;
  const bool in_exec = !context.may_block();
  if (in_exec || (is_rewriting && may_wait)) {
    file->ScheduleSave();
    return Reply::Status("Background saving scheduled");
  }
  if (is_rewriting) {
    return Reply::Error(
        "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE "
        "in order to schedule a BGSAVE whenever possible.");
  }
  file->SaveInBackground();
  return Reply::Status("Background saving started");
}

namespace {

using Save = ShutdownOptions::Save;

// What the words of SHUTDOWN ask for, and whether they can be together.
struct ShutdownWords {
  ShutdownOptions options;
  bool aborts = false;
  bool is_valid = true;
};

ShutdownWords ReadShutdownWords(Arguments arguments) {
  ShutdownWords words;
  bool has_other = false;
  for (const std::string_view word : arguments) {
    if (IsWord(word, "ABORT")) {
      words.aborts = true;
      continue;
    }
    has_other = true;
    if (IsWord(word, "SAVE") || IsWord(word, "NOSAVE")) {
      const Save save = IsWord(word, "SAVE") ? Save::kAlways : Save::kNever;
      const bool is_other = words.options.save != Save::kWithSavePoints;
      if (is_other && words.options.save != save) words.is_valid = false;
      words.options.save = save;
    } else if (IsWord(word, "NOW")) {
      words.options.is_now = true;
    } else if (IsWord(word, "FORCE")) {
      words.options.is_forced = true;
    } else {
      words.is_valid = false;
    }
  }
  if (words.aborts && has_other) words.is_valid = false;
  return words;
}

}  // namespace

// A server that shuts down does not reply; a failed shutdown returns an error.
Reply HandleShutdown(CommandContext& context, Arguments arguments) {
  const ShutdownWords words = ReadShutdownWords(arguments);
  if (!words.is_valid) return SyntaxError();
  Shutdown* shutdown = context.engine().administration().shutdown();
  if (words.aborts) {
    if (shutdown != nullptr && shutdown->Abort()) return Reply::Ok();
    return Reply::Error("ERR No shutdown in progress.");
  }
  const BusyScript* busy = context.engine().busy_script();
  if (busy != nullptr && words.options.save != Save::kNever) {
    return Reply::Error(busy->RefusalOf(context.engine().compatibility()));
  }
  if (shutdown == nullptr) return Reply::Error(error_text::kShutdownFailed);
  switch (shutdown->Begin(context.session(), words.options)) {
    case Shutdown::Outcome::kStops:
      return Reply::Ok();
    case Shutdown::Outcome::kFails:
      return Reply::Error(error_text::kShutdownFailed);
    case Shutdown::Outcome::kWaits:
      break;
  }
  return context.Block({.keys = {},
                        .type = store::KeyType::kNone,
                        .deadline_ms = std::nullopt,
                        .retry = [](CommandContext&, std::string_view) { return std::nullopt; },
                        .timed_out = Reply::Error(error_text::kShutdownFailed)});
}

}  // namespace redouble::inline v0_1::memory
