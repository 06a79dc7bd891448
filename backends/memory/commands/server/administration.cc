// SLOWLOG, MONITOR, LASTSAVE, SAVE, BGSAVE, BGREWRITEAOF, SHUTDOWN.
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

Reply SlowLogReply(const SlowLog::Entry& entry) {
  std::vector<Reply> words;
  for (const std::string& word : entry.words) words.push_back(Reply::Bulk(word));
  return Reply::Array({Reply::Integer(entry.id), Reply::Integer(entry.at_s),
                       Reply::Integer(entry.duration_us), Reply::Array(std::move(words)),
                       Reply::Bulk(entry.address), Reply::Bulk(entry.client_name)});
}

}  // namespace

Reply HandleSlowLogGet(CommandContext& context, Arguments arguments) {
  if (arguments.size() > 1) return WrongSubcommandUse(context, "SLOWLOG");
  int64_t count = 10;
  if (!arguments.empty()) {
    const std::optional<int64_t> asked = base::ParseInt64(arguments[0]);
    if (!asked || *asked < -1) {
      return Reply::Error("ERR count should be greater than or equal to -1");
    }
    count = *asked == -1 ? std::numeric_limits<int64_t>::max() : *asked;
  }
  std::vector<Reply> entries;
  for (const SlowLog::Entry& entry : context.engine().administration().slow_log().entries()) {
    if (static_cast<int64_t>(entries.size()) == count) break;
    entries.push_back(SlowLogReply(entry));
  }
  return Reply::Array(std::move(entries));
}

Reply HandleSlowLogLen(CommandContext& context, Arguments) {
  const SlowLog& log = context.engine().administration().slow_log();
  return Reply::Integer(static_cast<int64_t>(log.entries().size()));
}

Reply HandleSlowLogReset(CommandContext& context, Arguments) {
  context.engine().administration().slow_log().Clear();
  return Reply::Ok();
}

Reply HandleSlowLogHelp(CommandContext& context, Arguments) {
  static constexpr std::string_view kLines[] = {
      "GET [<count>]",
      "    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
      "    Entries are made of:",
      "    id, timestamp, time in microseconds, arguments array, client IP and port,",
      "    client name",
      "LEN",
      "    Return the length of the slowlog.",
      "RESET",
      "    Reset the slowlog.",
  };
  return HelpReply(context, "SLOWLOG", kLines);
}

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
  const bool known = arguments.size() == 1 && IsWord(arguments[0], "SCHEDULE");
  if (!arguments.empty() && !known) return SyntaxError();
  KeyFile* file = context.engine().administration().key_file();
  if (file == nullptr) return Reply::Error(error_text::kNothingIsSaved);
  if (file->figures().saving) return Reply::Error(kAlreadySaving);
  file->SaveInBackground();
  const bool in_exec = !context.may_block();
  return Reply::Status(in_exec ? "Background saving scheduled" : "Background saving started");
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
  if (busy != nullptr && !does_not_save) return Reply::Error(busy->refusal());
  Host* host = context.engine().administration().host();
  if (host == nullptr) return Reply::Error(kShutdownFailed);
  if (SavesAtShutdown(context, saves, does_not_save)) {
    KeyFile* file = host->key_file();
    const bool saved = file != nullptr && file->Save().ok();
    if (!saved && !forced) return Reply::Error(kShutdownFailed);
  }
  host->Shutdown();
  return Reply::Ok();
}

}  // namespace redouble::inline v0_1::memory
