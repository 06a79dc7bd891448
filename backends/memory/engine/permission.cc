#include "redouble/backends/memory/engine/permission.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/client_line.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/error_text.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/scripting/script_commands.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;

std::string_view ReasonOf(Denied denied) {
  switch (denied) {
    case Denied::kKey:
      return "key";
    case Denied::kChannel:
      return "channel";
    default:
      return "command";
  }
}

// The texts since Redis 7.2, which are the same for clients and scripts.
std::string NamedText(const AclUser& user, Denied denied, CommandId id) {
  switch (denied) {
    case Denied::kKey:
      return "No permissions to access a key";
    case Denied::kChannel:
      return "No permissions to access a channel";
    default:
      return absl::StrCat("User ", user.name(), " has no permissions to run the '",
                          base::ToAbsl(store::SpecOf(id).name), "' command");
  }
}

std::string TextOf(Denied denied, CommandId id, CheckPlace place) {
  struct Row {
    std::string_view client;
    std::string_view exec;
    std::string_view script;
  };
  static constexpr Row kCommand = {
      "run the '", "no permission to execute the command or subcommand",
      "ERR The user executing the script can't run this command or subcommand"};
  static constexpr Row kKey = {
      "access one of the keys used as arguments", "no permission to touch the specified keys",
      "ERR The user executing the script can't access at least one of the keys mentioned in the "
      "command arguments"};
  static constexpr Row kChannel = {
      "access one of the channels used as arguments",
      "no permission to access one of the channels used as arguments to the command",
      "ERR The user executing the script can't publish to the channel mentioned in the command"};
  const Row& row = denied == Denied::kKey ? kKey : denied == Denied::kChannel ? kChannel : kCommand;
  switch (place) {
    case CheckPlace::kScript:
      return std::string(row.script);
    case CheckPlace::kExec:
      return absl::StrCat(
          "NOPERM ACLs rules changed between the moment the transaction was accumulated and the "
          "EXEC call. This command is no longer allowed for the following reason: ",
          base::ToAbsl(row.exec));
    case CheckPlace::kClient:
      break;
  }
  std::string text =
      absl::StrCat("NOPERM this user has no permissions to ", base::ToAbsl(row.client));
  if (denied == Denied::kCommand) {
    absl::StrAppend(&text, base::ToAbsl(store::SpecOf(id).name), "' command");
  }
  return text;
}

void Log(EngineCore& engine, const SessionCore& session, DenialEntry entry) {
  entry.client = ClientLine(engine, session);
  entry.last_ms = engine.clock().NowMillis();
  entry.created_ms = entry.last_ms;
  engine.acl().log().Add(std::move(entry), static_cast<size_t>(engine.options().acllog_max_len));
}

std::optional<ScriptFlags> FlagsOfScript(EngineCore& engine, CommandId id, Arguments arguments) {
  if (!RunsScript(id)) return std::nullopt;
  return DeclaredFlags(id, arguments, engine.scripts(), engine.functions());
}

}  // namespace

std::optional<Reply> RefuseByAcl(EngineCore& engine, SessionCore& session, CommandId id,
                                 Arguments arguments, CheckPlace place) {
  const AclUser& user = session.user();
  if (user.unrestricted()) return std::nullopt;
  const Verdict verdict = user.Check(id, arguments);
  if (verdict.denied == Denied::kNothing) return std::nullopt;
  const bool in_multi = place == CheckPlace::kExec || session.in_transaction();
  DenialEntry entry;
  entry.reason = ReasonOf(verdict.denied);
  entry.context = place == CheckPlace::kScript ? "lua" : in_multi ? "multi" : "toplevel";
  entry.object =
      verdict.denied == Denied::kCommand ? store::SpecOf(id).name : arguments[verdict.index];
  entry.user = user.name();
  Log(engine, session, std::move(entry));
  if (place == CheckPlace::kExec || !engine.Has(Feature::kNamedDenials)) {
    return Reply::Error(TextOf(verdict.denied, id, place));
  }
  const absl::string_view prefix =
      place == CheckPlace::kScript ? "ERR ACL failure in script: " : "NOPERM ";
  return Reply::Error(absl::StrCat(prefix, NamedText(user, verdict.denied, id)));
}

AclUser::NewChannels NewChannelsOf(const EngineOptions& options) {
  return options.acl_pubsub_default_all ? AclUser::NewChannels::kAll : AclUser::NewChannels::kNone;
}

bool Permits(EngineCore& engine, const SessionCore& session, ProtectedAccess access) {
  if (access != ProtectedAccess::kLocal) return access == ProtectedAccess::kYes;
  Host* host = engine.administration().host();
  return host == nullptr || host->IsLocal(session);
}

std::optional<Reply> RefuseByConfiguration(EngineCore& engine, const SessionCore& session,
                                           CommandId id) {
  const ServerOptions& options = engine.options().server;
  const bool is_debug = id == CommandId::kDebug;
  if (Permits(engine, session,
              is_debug ? options.enable_debug_command : options.enable_module_command)) {
    return std::nullopt;
  }
  const absl::string_view name = is_debug ? "DEBUG" : "MODULE";
  return Reply::Error(base::ToStd(absl::StrCat(
      "ERR ", name, " command not allowed. If the enable-", absl::AsciiStrToLower(name),
      "-command option is set to \"local\", you can run it from a local connection, otherwise you "
      "need to set this option in the configuration file, and then restart the server.")));
}

bool IsWrite(EngineCore& engine, CommandId id, Arguments arguments) {
  const std::optional<ScriptFlags> flags = FlagsOfScript(engine, id, arguments);
  return flags ? !flags->no_writes : store::SpecOf(id).Has(store::command_flag::kWrite);
}

bool MayWrite(EngineCore& engine, CommandId id, Arguments arguments) {
  const std::optional<ScriptFlags> flags = FlagsOfScript(engine, id, arguments);
  return flags ? !flags->no_writes : MayWrite(id);
}

bool DeniesOom(EngineCore& engine, CommandId id, Arguments arguments) {
  const std::optional<ScriptFlags> flags = FlagsOfScript(engine, id, arguments);
  if (flags) return !flags->no_writes && !flags->allow_oom;
  return store::SpecOf(id).Has(store::command_flag::kDenyOom);
}

namespace {

// A replica needs no replicas.
bool HasEnoughReplicas(EngineCore& engine) {
  if (engine.authority() == EngineCore::Authority::kMaster) return true;
  const Replication* replication = engine.administration().replication();
  return replication != nullptr &&
         replication->good_replicas() >= engine.options().min_replicas_to_write;
}

}  // namespace

std::optional<Reply> RefuseWriting(EngineCore& engine) {
  if (engine.refuses_writes()) {
    Reply refusal = engine.RefuseWrite();
    if (refusal.text() != error_text::kNoReplicas || !HasEnoughReplicas(engine)) return refusal;
  }
  if (engine.authority() == EngineCore::Authority::kMaster &&
      KeptValue("replica-read-only", engine.options()) == "yes") {
    return Reply::Error("READONLY You can't write against a read only replica.");
  }
  return std::nullopt;
}

std::optional<Reply> RefuseStale(EngineCore& engine) {
  if (engine.authority() != EngineCore::Authority::kMaster) return std::nullopt;
  const Replication* replication = engine.administration().replication();
  if (replication == nullptr || !replication->link_is_down()) return std::nullopt;
  if (KeptValue("replica-serve-stale-data", engine.options()) == "yes") return std::nullopt;
  return Reply::Error(
      "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.");
}

bool RunsStale(EngineCore& engine, CommandId id, Arguments arguments) {
  if (!RunsScript(id)) return store::SpecOf(id).Has(store::command_flag::kStale);
  const std::optional<ScriptFlags> flags = FlagsOfScript(engine, id, arguments);
  return flags && flags->allow_stale;
}

void LogFailedLogin(EngineCore& engine, SessionCore& session, std::string_view command,
                    std::string_view user) {
  DenialEntry entry;
  entry.reason = "auth";
  entry.context = session.in_transaction() ? "multi" : "toplevel";
  entry.object = command;
  entry.user = user;
  Log(engine, session, std::move(entry));
}

}  // namespace redouble::inline v0_1::memory
