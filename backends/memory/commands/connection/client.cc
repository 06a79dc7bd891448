// CLIENT, except LIST, INFO and KILL (client_list.cc) and tracking (client_tracking.cc).
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "redouble/backends/memory/commands/block_timeout.h"
#include "redouble/backends/memory/commands/connection/client_name.h"
#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {

Reply HandleClientId(CommandContext& context, Arguments) {
  return Reply::Integer(context.session().id());
}

Reply HandleClientGetName(CommandContext& context, Arguments) {
  const std::string& name = context.session().name();
  return name.empty() ? Reply::Nil() : Reply::Bulk(name);
}

Reply HandleClientSetName(CommandContext& context, Arguments arguments) {
  if (std::optional<Reply> error = RefuseClientName(context, arguments[0]))
    return *std::move(error);
  context.session().set_name(arguments[0]);
  return Reply::Ok();
}

// Clients are never evicted; the flag is shown by CLIENT LIST.
Reply HandleClientNoEvict(CommandContext& context, Arguments arguments) {
  const bool on = IsWord(arguments[0], "ON");
  if (!on && !IsWord(arguments[0], "OFF")) return SyntaxError();
  context.session().set_no_evict(on);
  return Reply::Ok();
}

Reply HandleClientNoTouch(CommandContext& context, Arguments arguments) {
  const bool on = IsWord(arguments[0], "ON");
  if (!on && !IsWord(arguments[0], "OFF")) return SyntaxError();
  context.session().set_no_touch(on);
  return Reply::Ok();
}

Reply HandleClientSetInfo(CommandContext& context, Arguments arguments) {
  const bool is_name = IsWord(arguments[0], "LIB-NAME");
  if (!is_name && !IsWord(arguments[0], "LIB-VER")) {
    return Reply::Error("ERR Unrecognized option '" + WordInError(arguments[0]) + "'");
  }
  if (!IsClientWord(UpToZero(arguments[1]))) {
    return Reply::Error("ERR " + WordInError(arguments[0]) +
                        " cannot contain spaces, newlines or special characters.");
  }
  ClientLibrary library = context.session().library();
  (is_name ? library.name : library.version) = arguments[1];
  context.session().set_library(std::move(library));
  return Reply::Ok();
}

// Valkey ignores what it does not know.
Reply HandleClientCapa(CommandContext& context, Arguments arguments) {
  for (const std::string_view capability : arguments) {
    if (IsWord(capability, "REDIRECT")) context.session().set_takes_redirects(true);
  }
  return Reply::Ok();
}

// No import mode keeps expired keys, so that no client can be a source.
Reply HandleClientImportSource(CommandContext& context, Arguments arguments) {
  const bool imports = KeptValue("import-mode", context.engine().options()) == "yes";
  const bool off = IsWord(arguments[0], "OFF");
  if (!off && !imports) return Reply::Error("ERR Server is not in import mode");
  if (!off && !IsWord(arguments[0], "ON")) return SyntaxError();
  return Reply::Ok();
}

Reply HandleClientPause(CommandContext& context, Arguments arguments) {
  using Pause = Administration::Pause;
  if (arguments.size() > 2) return WrongSubcommandUse(context);
  Pause pause = Pause::kAll;
  if (arguments.size() == 2) {
    const bool writes_only = IsWord(arguments[1], "WRITE");
    if (!writes_only && !IsWord(arguments[1], "ALL")) {
      return Reply::Error("ERR CLIENT PAUSE mode must be WRITE or ALL");
    }
    if (writes_only) pause = Pause::kWrites;
  }
  BlockTimeout timeout = ReadTimeoutMillis(context, arguments[0]);
  if (timeout.error) return *std::move(timeout.error);
  context.engine().administration().PauseClients(Administration::PauseOwner::kClient, pause,
                                                 timeout.deadline_ms.value_or(context.now_ms()));
  return Reply::Ok();
}

Reply HandleClientUnpause(CommandContext& context, Arguments) {
  context.engine().administration().EndPause(Administration::PauseOwner::kClient);
  return Reply::Ok();
}

Reply HandleClientReply(CommandContext& context, Arguments arguments) {
  using ReplyMode = SessionCore::ReplyMode;
  SessionCore& session = context.session();
  if (IsWord(arguments[0], "ON")) {
    session.set_reply_mode(ReplyMode::kOn);
  } else if (IsWord(arguments[0], "OFF")) {
    session.set_reply_mode(ReplyMode::kOff);
  } else if (IsWord(arguments[0], "SKIP")) {
    if (session.reply_mode() != ReplyMode::kOff) session.set_reply_mode(ReplyMode::kSkipNext);
  } else {
    return SyntaxError();
  }
  return Reply::Ok();
}

Reply HandleClientUnblock(CommandContext& context, Arguments arguments) {
  const bool ignores_more = context.engine().Has(Feature::kUnblockWords);
  if (arguments.size() > 2 && !ignores_more) return WrongSubcommandUse(context);
  bool with_error = false;
  if (arguments.size() == 2) {
    with_error = IsWord(arguments[1], "ERROR");
    if (!with_error && !IsWord(arguments[1], "TIMEOUT")) {
      return Reply::Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
    }
  }
  const std::optional<int64_t> id = base::ParseInt64(arguments[0]);
  if (!id) return Reply::Error(error_text::kNotAnInteger);
  const auto& sessions = context.engine().administration().sessions();
  const auto found = sessions.find(*id);
  if (found == sessions.end() || !found->second->blocked()) return Reply::Integer(0);
  SessionCore& session = *found->second;
  Reply reply = with_error ? Reply::Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")
                           : session.blocked_operation().timed_out;
  context.engine().EndWait(session, std::move(reply), Administration::WaitEnd::kUnblocked,
                           context.engine().administration().Now());
  return Reply::Integer(1);
}

namespace {

constexpr store::VersionSet kOfValkey = store::Since("valkey 8.0.0");
constexpr store::VersionSet kOfValkey81 = store::Since("valkey 8.1.0");
constexpr store::VersionSet kWithMaxAge = store::Since("7.4.0") | kOfValkey;

constexpr HelpLine kHelp[] = {
    "CACHING (YES|NO)",
    "    Enable/disable tracking of the keys for next command in OPTIN/OPTOUT modes.",
    {"CAPA <option> [options...]", kOfValkey},
    {"    The client claims its some capability options. Options are:", kOfValkey},
    {"    * REDIRECT", kOfValkey},
    {"      The client can handle redirection during primary and replica failover in standalone "
     "mode.",
     kOfValkey},
    "GETREDIR",
    "    Return the client ID we are redirecting to when tracking is enabled.",
    "GETNAME",
    "    Return the name of the current connection.",
    "ID",
    "    Return the ID of the current connection.",
    "INFO",
    "    Return information about the current client connection.",
    "KILL <ip:port>",
    "    Kill connection made from <ip:port>.",
    "KILL <option> <value> [<option> <value> [...]]",
    "    Kill connections. Options are:",
    "    * ADDR (<ip:port>|<unixsocket>:0)",
    "      Kill connections made from the specified address",
    "    * LADDR (<ip:port>|<unixsocket>:0)",
    "      Kill connections made to specified local address",
    {"    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)", store::Until("valkey 8.0.0")},
    {"    * TYPE (NORMAL|PRIMARY|REPLICA|PUBSUB)", kOfValkey},
    "      Kill connections by type.",
    "    * USER <username>",
    "      Kill connections authenticated by <username>.",
    "    * SKIPME (YES|NO)",
    "      Skip killing current connection (default: yes).",
    {"    * ID <client-id>", kWithMaxAge - kOfValkey81},
    {"      Kill connections by client id.", kWithMaxAge - kOfValkey81},
    {"    * ID <client-id> [<client-id>...]", kOfValkey81},
    {"      Kill connections by client ids.", kOfValkey81},
    {"    * MAXAGE <maxage>", kWithMaxAge},
    {"      Kill connections older than the specified age.", kWithMaxAge},
    "LIST [options ...]",
    "    Return information about client connections. Options:",
    {"    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)", store::Until("valkey 8.0.0")},
    {"    * TYPE (NORMAL|PRIMARY|REPLICA|PUBSUB)", kOfValkey},
    "      Return clients of specified type.",
    {"    * USER <username>", kOfValkey81},
    {"      Return clients authenticated by <username>.", kOfValkey81},
    {"    * ADDR <ip:port>", kOfValkey81},
    {"      Return clients connected from the specified address.", kOfValkey81},
    {"    * LADDR <ip:port>", kOfValkey81},
    {"      Return clients connected to the specified local address.", kOfValkey81},
    {"    * ID <client-id> [<client-id>...]", kOfValkey81},
    {"      Return clients with the specified IDs.", kOfValkey81},
    {"    * SKIPME (YES|NO)", kOfValkey81},
    {"      Exclude the current client from the list (default: no).", kOfValkey81},
    {"    * MAXAGE <maxage>", kOfValkey81},
    {"      List connections older than the specified age.", kOfValkey81},
    "UNPAUSE",
    "    Stop the current client pause, resuming traffic.",
    "PAUSE <timeout> [WRITE|ALL]",
    "    Suspend all, or just write, clients for <timeout> milliseconds.",
    "REPLY (ON|OFF|SKIP)",
    "    Control the replies sent to the current connection.",
    "SETNAME <name>",
    "    Assign the name <name> to the current connection.",
    {"SETINFO <option> <value>", store::Since("7.2.0")},
    {"    Set client meta attr. Options are:", store::Since("7.2.0")},
    {"    * LIB-NAME: the client lib name.", store::Since("7.2.0")},
    {"    * LIB-VER: the client lib version.", store::Since("7.2.0")},
    "UNBLOCK <clientid> [TIMEOUT|ERROR]",
    "    Unblock the specified blocked client.",
    "TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> [...]]",
    "         [OPTIN] [OPTOUT] [NOLOOP]",
    "    Control server assisted client side caching.",
    "TRACKINGINFO",
    "    Report tracking status for the current connection.",
    "NO-EVICT (ON|OFF)",
    "    Protect current client connection from eviction.",
    {"NO-TOUCH (ON|OFF)", store::Since("7.2.0")},
    {"    Will not touch LRU/LFU stats when this mode is on.", store::Since("7.2.0")},
    {"IMPORT-SOURCE (ON|OFF)", kOfValkey81},
    {"    Mark this connection as an import source if import-mode is enabled.", kOfValkey81},
    {"    Sync tools can set their connections into 'import-source' state to visit", kOfValkey81},
    {"    expired keys.", kOfValkey81},
};

}  // namespace

Reply HandleClientHelp(CommandContext& context, Arguments) { return HelpReply(context, kHelp); }

}  // namespace redouble::inline v0_1::memory
