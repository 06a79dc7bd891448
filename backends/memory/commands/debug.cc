// DEBUG, what test suites use of it.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "backends/memory/commands/argument.h"
#include "backends/memory/commands/help.h"
#include "backends/memory/engine.h"
#include "backends/memory/handlers.h"
#include "backends/memory/values/dump.h"

namespace redouble::memory {
namespace {

// What a payload of DUMP has beside the value: its type in front, version and checksum behind.
constexpr size_t kDumpFrameBytes = 1 + 2 + 8;
constexpr uint32_t kLruClockMax = (1u << 24) - 1;

Reply Help() {
  static constexpr std::string_view kLines[] = {
      "OBJECT <key>",
      "    Show low level info about `key` and associated value.",
      "RELOAD [option ...]",
      "    Save the RDB on disk and reload it back to memory. Valid <option> values:",
      "    * NOSAVE, NOFLUSH and MERGE need a file, which there is none of here.",
      "SET-ACTIVE-EXPIRE <0|1>",
      "    Setting it to 0 disables expiring keys in background when they are not",
      "    accessed (otherwise the Redis behavior). Setting it to 1 reenables back the",
      "    default.",
      "SLEEP <seconds>",
      "    Stop the server for <seconds>. Decimals allowed.",
  };
  return HelpReply("DEBUG", kLines);
}

Reply Sleep(CommandContext& context, std::string_view text) {
  double seconds = 0;
  // As strtod: what is no number is no time at all.
  if (!absl::SimpleAtod(base::ToAbsl(text), &seconds) || !std::isfinite(seconds)) seconds = 0;
  Host* host = context.engine().administration().host();
  if (host != nullptr && seconds > 0) host->Sleep(static_cast<int64_t>(seconds * 1e6));
  return Reply::Ok();
}

// No address is told, because it would be another one in every process.
Reply Object(CommandContext& context, std::string_view key) {
  const Database::Entry* entry = context.db().Find(key);
  if (entry == nullptr) return Reply::Error(error_text::kNoSuchKey);
  const Value& value = entry->value;
  return Reply::Status(base::ToStd(absl::StrCat(
      "Value at:0x0 refcount:1 encoding:", base::ToAbsl(value.encoding()), " serializedlength:",
      DumpValue(value).size() - kDumpFrameBytes, " lru:", entry->usage.used_s & kLruClockMax,
      " lru_seconds_idle:", entry->usage.IdleSeconds(context.now_s()))));
}

// Dumps and restores every key: what a file would do to it, without the file.
Reply Reload(CommandContext& context, Arguments options) {
  if (!options.empty()) {
    return Reply::Error("ERR Error trying to load the RDB dump, check server logs.");
  }
  Engine& engine = context.engine();
  for (int index = 0; index < engine.database_count(); ++index) {
    Database& db = engine.database(index);
    for (size_t i = 0; i < db.size(); ++i) {
      std::optional<Value> copy = LoadDump(DumpValue(db.at(i).value), engine.encoding_limits());
      if (!copy) return Reply::Error("ERR Error trying to load the RDB dump, check server logs.");
      db.at(i).value = *std::move(copy);
    }
  }
  return Reply::Ok();
}

}  // namespace

Reply HandleDebug(CommandContext& context, Arguments arguments) {
  const std::string_view subcommand = arguments[0];
  const auto is = [&](std::string_view word, size_t argument_count) {
    return IsWord(subcommand, word) && arguments.size() == argument_count + 1;
  };
  if (is("HELP", 0)) return Help();
  if (is("SLEEP", 1)) return Sleep(context, arguments[1]);
  if (is("OBJECT", 1)) return Object(context, arguments[1]);
  if (IsWord(subcommand, "RELOAD")) return Reload(context, arguments.subspan(1));
  if (is("SET-ACTIVE-EXPIRE", 1)) {
    int number = 0;
    if (!absl::SimpleAtoi(base::ToAbsl(arguments[1]), &number)) number = 0;
    context.engine().set_active_expire(number != 0);
    return Reply::Ok();
  }
  context.set_subcommand(subcommand);
  return WrongSubcommandUse(context, "DEBUG");
}

}  // namespace redouble::memory
