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
constexpr std::string_view kShutdownFailed = "ERR Errors trying to SHUTDOWN. Check logs.";

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
  if (file->figures().saving) return Reply::Error(kAlreadySaving);
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
  if (administration.key_file_figures().saving || !context.may_block()) {
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
  if (file->figures().saving) return Reply::Error(kAlreadySaving);
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

// Whether the server saves before it shuts down.
bool SavesAtShutdown(CommandContext& context, bool saves, bool does_not_save) {
  if (saves || does_not_save) return saves;
  return !context.engine().options().server.save_points.empty();
}

// A server that shuts down does not reply; a failed shutdown returns an error.
Reply HandleShutdown(CommandContext& context, Arguments arguments) {
  bool saves = false;
  bool does_not_save = false;
  bool forced = false;
  bool aborts = false;
  bool other = false;
  for (const std::string_view word : arguments) {
    if (IsWord(word, "ABORT")) {
      aborts = true;
      continue;
    }
    other = true;
    if (IsWord(word, "SAVE")) {
      saves = true;
    } else if (IsWord(word, "FORCE")) {
      forced = true;
    } else if (IsWord(word, "NOSAVE")) {
      does_not_save = true;
    } else if (!IsWord(word, "NOW")) {
      return SyntaxError();
    }
  }
  if ((aborts && other) || (saves && does_not_save)) return SyntaxError();
  if (aborts) return Reply::Error("ERR No shutdown in progress.");
  const BusyScript* busy = context.engine().busy_script();
  if (busy != nullptr && !does_not_save)
    return Reply::Error(busy->RefusalOf(context.engine().compatibility()));
  Host* host = context.engine().administration().host();
  if (host == nullptr) return Reply::Error(kShutdownFailed);
  if (const AppendLog* log = host->append_log();
      log != nullptr && log->figures().starting && !forced) {
    return Reply::Error(kShutdownFailed);
  }
  KeyFile* file = host->key_file();
  if (file != nullptr) file->StopSaving();
  if (SavesAtShutdown(context, saves, does_not_save)) {
    const bool saved = file != nullptr && file->Save().ok();
    if (!saved && !forced) return Reply::Error(kShutdownFailed);
  }
  host->Shutdown();
  return Reply::Ok();
}

}  // namespace redouble::inline v0_1::memory
