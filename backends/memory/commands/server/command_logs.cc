// SLOWLOG, and COMMANDLOG of Valkey 8.1, of which it is a part.
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/engine/administration.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

Reply EntryReply(const SlowLog::Entry& entry) {
  std::vector<Reply> words;
  for (const std::string& word : entry.words) words.push_back(Reply::Bulk(word));
  return Reply::Array({Reply::Integer(entry.id), Reply::Integer(entry.at_s),
                       Reply::Integer(entry.cost), Reply::Array(std::move(words)),
                       Reply::Bulk(entry.address), Reply::Bulk(entry.client_name)});
}

// The newest entries, as many as `count` says. -1 means all.
Reply EntriesReply(const SlowLog& log, std::string_view count) {
  const std::optional<int64_t> asked = base::ParseInt64(count);
  if (!asked || *asked < -1) {
    return Reply::Error("ERR count should be greater than or equal to -1");
  }
  const int64_t most = *asked == -1 ? std::numeric_limits<int64_t>::max() : *asked;
  std::vector<Reply> entries;
  for (const SlowLog::Entry& entry : log.entries()) {
    if (static_cast<int64_t>(entries.size()) == most) break;
    entries.push_back(EntryReply(entry));
  }
  return Reply::Array(std::move(entries));
}

Reply LengthReply(const SlowLog& log) {
  return Reply::Integer(static_cast<int64_t>(log.entries().size()));
}

// The log that the word names; null if it names none.
SlowLog* FindLog(CommandContext& context, std::string_view type) {
  Administration& administration = context.engine().administration();
  if (IsWord(type, "slow")) return &administration.slow_log();
  if (IsWord(type, "large-request")) return &administration.large_requests();
  if (IsWord(type, "large-reply")) return &administration.large_replies();
  return nullptr;
}

Reply UnknownLog() {
  return Reply::Error("ERR type should be one of the following: slow, large-request, large-reply");
}

}  // namespace

Reply HandleSlowLogGet(CommandContext& context, Arguments arguments) {
  if (arguments.size() > 1) return WrongSubcommandUse(context);
  return EntriesReply(context.engine().administration().slow_log(),
                      arguments.empty() ? "10" : arguments[0]);
}

Reply HandleSlowLogLen(CommandContext& context, Arguments) {
  return LengthReply(context.engine().administration().slow_log());
}

Reply HandleSlowLogReset(CommandContext& context, Arguments) {
  context.engine().administration().slow_log().Clear();
  return Reply::Ok();
}

Reply HandleSlowLogHelp(CommandContext& context, Arguments) {
  static constexpr HelpLine kLines[] = {
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
  return HelpReply(context, kLines);
}

Reply HandleCommandLogGet(CommandContext& context, Arguments arguments) {
  const SlowLog* log = FindLog(context, arguments[1]);
  // The count is checked first.
  const SlowLog none;
  Reply entries = EntriesReply(log == nullptr ? none : *log, arguments[0]);
  return log == nullptr && !entries.is_error() ? UnknownLog() : entries;
}

Reply HandleCommandLogLen(CommandContext& context, Arguments arguments) {
  const SlowLog* log = FindLog(context, arguments[0]);
  return log == nullptr ? UnknownLog() : LengthReply(*log);
}

Reply HandleCommandLogReset(CommandContext& context, Arguments arguments) {
  SlowLog* log = FindLog(context, arguments[0]);
  if (log == nullptr) return UnknownLog();
  log->Clear();
  return Reply::Ok();
}

Reply HandleCommandLogHelp(CommandContext& context, Arguments) {
  static constexpr HelpLine kLines[] = {
      "GET <count> <type>",
      "    Return top <count> entries of the specified <type> from the commandlog (-1 mean all).",
      "    Entries are made of:",
      "    id, timestamp,",
      "        time in microseconds for type of slow,",
      "        or size in bytes for type of large-request,",
      "        or size in bytes for type of large-reply",
      "    arguments array, client IP and port,",
      "    client name",
      "LEN <type>",
      "    Return the length of the specified type of commandlog.",
      "RESET <type>",
      "    Reset the specified type of commandlog.",
  };
  return HelpReply(context, kLines);
}

}  // namespace redouble::inline v0_1::memory
