// CONFIG. The parameters are in config_parameters.cc, CONFIG REWRITE is in config_rewrite.cc.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/commands/server/config_parameters.h"
#include "redouble/backends/memory/compatibility/server_text.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/server/host.h"
#include "redouble/core/base/text/glob.h"

namespace redouble::inline v0_1::memory {
namespace {

Reply SetFailed(std::string_view name, std::string_view why) {
  return Reply::Error(
      base::ToStd(absl::StrCat("ERR CONFIG SET failed (possibly related to argument '",
                               base::ToAbsl(name), "') - ", base::ToAbsl(why))));
}

// The error for names that cannot be set; nullopt if all can.
std::optional<Reply> CheckNames(CommandContext& context, Arguments arguments) {
  EngineCore& engine = context.engine();
  const bool protects =
      !Permits(engine, context.session(), engine.options().server.enable_protected_configs);
  std::vector<std::string_view> names;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    const Found found = Find(name, engine.compatibility().version());
    if (!found.any()) {
      return Reply::Error("ERR Unknown option or number of arguments for CONFIG SET - '" +
                          WordInError(name) + "'");
    }
    if (found.immutable()) return SetFailed(name, "can't set immutable config");
    if (found.is_protected() && protects) return SetFailed(name, "can't set protected config");
    const auto same = [&](std::string_view other) { return IsWord(name, other); };
    if (std::any_of(names.begin(), names.end(), same)) {
      return SetFailed(name, "duplicate parameter");
    }
    names.push_back(name);
  }
  return std::nullopt;
}

// The error if the process cannot have that many clients.
std::optional<Reply> CheckRoom(EngineCore& engine, const EngineOptions& options) {
  const int wanted = options.server.maxclients;
  Host* host = engine.administration().host();
  if (host == nullptr || wanted <= engine.options().server.maxclients) return std::nullopt;
  const int room = host->RoomForClients(wanted);
  if (room >= wanted) return std::nullopt;
  return SetFailed("maxclients",
                   base::ToStd(absl::StrCat("The operating system is not able to handle the "
                                            "specified number of clients, try with ",
                                            room)));
}

// Enters the folder. Returns the error.
std::optional<Reply> EnterFolder(EngineCore& engine, std::string_view folder) {
  Host* host = engine.administration().host();
  if (host == nullptr) return SetFailed(kFolder, "this server has no folder");
  const absl::Status entered = host->EnterFolder(std::string(folder));
  if (entered.ok()) return std::nullopt;
  return SetFailed(kFolder, base::ToStd(entered.message()));
}

// Makes the host listen where `options` say, if that has changed. Returns the error.
std::optional<Reply> MoveListeners(EngineCore& engine, const EngineOptions& options) {
  const ServerOptions& now = engine.options().server;
  Host* host = engine.administration().host();
  const bool moves = options.server.bind != now.bind;
  if (host == nullptr || (!moves && options.server.port == now.port)) return std::nullopt;
  if (host->Listen(options.server).ok()) return std::nullopt;
  return moves ? SetFailed("bind", "Failed to bind to specified addresses.")
               : SetFailed("port", "Unable to listen on this port. Check server logs.");
}

// Begins or ends the append-only log, if `options` say so. `in_transaction`: it begins after the
// transaction. Returns the error.
std::optional<Reply> SwitchLog(EngineCore& engine, const EngineOptions& options,
                               bool in_transaction) {
  if (options.server.appendonly == engine.options().server.appendonly) return std::nullopt;
  AppendLog* log = engine.administration().append_log();
  if (log == nullptr) return SetFailed("appendonly", "this server writes no append-only file");
  if (options.server.appendonly &&
      (in_transaction || engine.administration().key_file_figures().saving)) {
    log->ScheduleStart();
    return std::nullopt;
  }
  if (log->Switch(options.server.appendonly).ok()) return std::nullopt;
  return SetFailed("appendonly", "Unable to turn on AOF. Check server logs.");
}

// Parameters that cannot be set while keys are loaded.
bool AnyWaitsForKeys(Arguments arguments) {
  for (size_t i = 0; i < arguments.size(); i += 2) {
    for (const std::string_view name : {"appendonly", "dir", "repl-diskless-load"}) {
      if (IsWord(arguments[i], name)) return true;
    }
  }
  return false;
}

// What a host does about new options. Returns the error, after which the host is as it was.
std::optional<Reply> Apply(EngineCore& engine, const EngineOptions& options,
                           std::optional<std::string_view> folder, bool in_transaction) {
  if (std::optional<Reply> error = CheckRoom(engine, options)) return error;
  const std::string before = TextOf({.is_folder = true}, engine);
  if (folder) {
    if (std::optional<Reply> error = EnterFolder(engine, *folder)) return error;
  }
  std::optional<Reply> error = MoveListeners(engine, options);
  // Listeners that have moved stay where they are if this fails.
  if (!error) error = SwitchLog(engine, options, in_transaction);
  if (!error) return std::nullopt;
  if (folder) EnterFolder(engine, before);
  return error;
}

}  // namespace

// An exact name is returned as the client wrote it. A pattern returns names in the order of the
// tables, each followed by its former name.
Reply HandleConfigGet(CommandContext& context, Arguments arguments) {
  EngineCore& engine = context.engine();
  const store::Version version = engine.compatibility().version();
  std::vector<Reply> pairs;
  std::vector<std::string_view> told;
  const auto tell = [&](std::string_view name, const Found& found) {
    const auto same = [&](std::string_view other) { return IsWord(name, other); };
    if (std::any_of(told.begin(), told.end(), same)) return;
    told.push_back(name);
    pairs.push_back(Reply::Bulk(name));
    pairs.push_back(Reply::Bulk(TextOf(found, engine)));
  };
  for (const std::string_view pattern : arguments) {
    if (pattern.find_first_of("[*?") == std::string_view::npos) {
      if (const Found found = Find(pattern, version); found.any()) tell(pattern, found);
      continue;
    }
    const auto tell_matching = [&](std::string_view name, const Found& found) {
      if (name.empty()) return;
      if (base::GlobMatch(pattern, name, base::GlobCase::kInsensitive)) tell(name, found);
    };
    for (const Parameter& row : Parameters()) {
      if (!row.versions.Has(version)) continue;
      for (const std::string_view name : {row.name, row.alias}) {
        tell_matching(name, {.parameter = &row});
      }
    }
    tell_matching(kFolder, {.is_folder = true});
    for (const KeptParameter& row : KeptParameters()) {
      if (row.hidden || !row.versions.Has(version)) continue;
      for (const std::string_view name : {row.name, row.former_name}) {
        tell_matching(name, {.kept = &row});
      }
    }
  }
  return Reply::Map(std::move(pairs));
}

Reply HandleConfigHelp(CommandContext& context, Arguments) {
  static constexpr HelpLine kLines[] = {
      "GET <pattern>",
      "    Return parameters matching the glob-like <pattern> and their values.",
      "SET <directive> <value>",
      "    Set the configuration <directive> to <value>.",
      "RESETSTAT",
      "    Reset statistics reported by the INFO command.",
      "REWRITE",
      "    Rewrite the configuration file.",
  };
  return HelpReply(context, kLines);
}

Reply HandleConfigResetStat(CommandContext& context, Arguments) {
  context.engine().ResetStatistics();
  return Reply::Ok();
}

// Sets all of the parameters, or none.
Reply HandleConfigSet(CommandContext& context, Arguments arguments) {
  EngineCore& engine = context.engine();
  if (arguments.size() % 2 != 0) return SyntaxError();
  if (std::optional<Reply> error = CheckNames(context, arguments)) return *std::move(error);
  if (engine.loading() && AnyWaitsForKeys(arguments)) {
    return Reply::Error(ServerText(engine.compatibility(), error_text::kLoading));
  }
  EngineOptions options = engine.options();
  std::optional<std::string_view> folder;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const Found found = Find(arguments[i], engine.compatibility().version());
    if (found.is_folder) {
      folder = arguments[i + 1];
      continue;
    }
    const ValueError error = SetValue(found, arguments[i + 1], options);
    if (error) return SetFailed(absl::AsciiStrToLower(base::ToAbsl(arguments[i])), *error);
  }
  if (std::optional<Reply> error = Apply(engine, options, folder, !context.may_block()))
    return *std::move(error);
  engine.Configure(std::move(options));
  return Reply::Ok();
}

}  // namespace redouble::inline v0_1::memory
