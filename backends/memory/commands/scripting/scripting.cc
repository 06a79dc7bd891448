// EVAL, EVALSHA, their read-only forms, and SCRIPT.
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/commands/lazy_free.h"
#include "redouble/backends/memory/commands/scripting/script_run.h"
#include "redouble/backends/memory/compatibility/server_text.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/scripting/debugger/debugger.h"
#include "redouble/backends/memory/scripting/script_cache.h"
#include "redouble/core/base/hash/digest.h"

namespace redouble::inline v0_1::memory {
namespace {

// `sha numkeys key... argument...`, for a script in the cache.
Reply RunCached(CommandContext& context, const std::string& sha, const ScriptArguments& passed,
                ScriptRun run) {
  ScriptCache& scripts = context.engine().scripts();
  run.name = sha;
  run.flags = scripts.FlagsOf(sha);
  return RunScript(context, run, [&](ScriptHost& host, int64_t limit_ms) {
    return scripts.interpreter().Run(sha, passed.keys, passed.arguments, host, limit_ms);
  });
}

ScriptRun RunOf(const CommandContext& context, Arguments arguments, bool read_only) {
  return {.name = {},
          .command = context.called_name(),
          .command_arguments = arguments,
          .flags = {},
          .is_function = false,
          .read_only_command = read_only};
}

using DebugMode = SessionCore::DebugMode;

// `debugger` may be null.
Reply RunText(CommandContext& context, Arguments arguments, bool read_only,
              ScriptDebugger* debugger) {
  ScriptArguments passed;
  if (std::optional<Reply> error =
          ReadScriptArguments(arguments.subspan(1), error_text::kNotAnInteger, passed)) {
    return *std::move(error);
  }
  const std::string sha = context.engine().scripts().ShaOf(arguments[0]);
  if (std::optional<Reply> error = context.engine().scripts().Load(sha, arguments[0])) {
    return *std::move(error);
  }
  ScriptRun run = RunOf(context, arguments, read_only);
  run.debugger = debugger;
  return RunCached(context, sha, passed, run);
}

// Null if scripts cannot be debugged.
DebugHost* DebugHostOf(const CommandContext& context) {
  Host* const host = context.engine().administration().host();
  return host == nullptr ? nullptr : host->debug_host();
}

// The connection is closed after the session, as its end.
Reply EvalDebugged(CommandContext& context, Arguments arguments, bool read_only) {
  SessionCore& session = context.session();
  const bool apart = session.debug_mode() == DebugMode::kApart;
  session.set_debug_mode(DebugMode::kNo);
  DebugHost* const host = DebugHostOf(context);
  // An engine without a host cannot fork.
  const absl::StatusOr<DebugChannel*> channel =
      host == nullptr ? absl::UnavailableError("Cannot allocate memory")
                      : host->Begin(session, apart);
  if (!channel.ok()) {
    return Reply::Error(absl::StrCat("ERR Fork() failed: can't run EVAL in debugging mode: ",
                                     channel.status().message()));
  }
  // The connection is closed.
  if (*channel == nullptr) return Reply::Nil();
  Debugger debugger(arguments[0], **channel, context.engine().options().busy_reply_threshold_ms);
  Reply reply = RunText(context, arguments, read_only, &debugger);
  debugger.End();
  host->End(session);
  session.HangUp();
  return reply;
}

Reply EvalGeneric(CommandContext& context, Arguments arguments, bool read_only) {
  ShowToMonitors(context, arguments);
  if (context.session().debug_mode() != DebugMode::kNo) {
    return EvalDebugged(context, arguments, read_only);
  }
  return RunText(context, arguments, read_only, nullptr);
}

// Redis checks the length of the SHA-1 first, and looks the script up last.
Reply EvalShaGeneric(CommandContext& context, Arguments arguments, bool read_only) {
  ShowToMonitors(context, arguments);
  constexpr std::string_view kNoScript = "NOSCRIPT No matching script. Please use EVAL.";
  constexpr size_t kSha1HexSize = 40;
  const std::string sha = absl::AsciiStrToLower(base::ToAbsl(arguments[0]));
  const Compatibility& compatibility = context.engine().compatibility();
  if (sha.size() != kSha1HexSize) return Reply::Error(ServerText(compatibility, kNoScript));
  if (context.session().debug_mode() != DebugMode::kNo) {
    return Reply::Error("ERR Please use EVAL instead of EVALSHA for debugging");
  }
  ScriptArguments passed;
  if (std::optional<Reply> error =
          ReadScriptArguments(arguments.subspan(1), error_text::kNotAnInteger, passed)) {
    return *std::move(error);
  }
  if (!context.engine().scripts().Has(sha)) {
    return Reply::Error(ServerText(compatibility, kNoScript));
  }
  return RunCached(context, sha, passed, RunOf(context, arguments, read_only));
}

}  // namespace

Reply HandleEval(CommandContext& context, Arguments arguments) {
  return EvalGeneric(context, arguments, false);
}

Reply HandleEvalRo(CommandContext& context, Arguments arguments) {
  return EvalGeneric(context, arguments, true);
}

Reply HandleEvalSha(CommandContext& context, Arguments arguments) {
  return EvalShaGeneric(context, arguments, false);
}

Reply HandleEvalShaRo(CommandContext& context, Arguments arguments) {
  return EvalShaGeneric(context, arguments, true);
}

Reply HandleScriptLoad(CommandContext& context, Arguments arguments) {
  const std::string sha = base::Sha1Hex(arguments[0]);
  if (std::optional<Reply> error = context.engine().scripts().Load(sha, arguments[0])) {
    return *error;
  }
  return Reply::Bulk(sha);
}

Reply HandleScriptExists(CommandContext& context, Arguments arguments) {
  std::vector<Reply> answers;
  for (const std::string_view sha : arguments) {
    const std::string lower = absl::AsciiStrToLower(base::ToAbsl(sha));
    answers.push_back(Reply::Integer(context.engine().scripts().Has(lower) ? 1 : 0));
  }
  return Reply::Array(std::move(answers));
}

Reply HandleScriptFlush(CommandContext& context, Arguments arguments) {
  const bool right =
      arguments.empty() ||
      (arguments.size() == 1 && (IsWord(arguments[0], "SYNC") || IsWord(arguments[0], "ASYNC")));
  if (!right) return Reply::Error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
  EngineCore& engine = context.engine();
  if (FlushesLater(engine, arguments)) CountFlushedLater(engine, engine.scripts().size());
  engine.scripts().Flush();
  return Reply::Ok();
}

Reply HandleScriptHelp(CommandContext& context, Arguments) {
  static constexpr HelpLine kHelp[] = {
      "DEBUG (YES|SYNC|NO)",
      "    Set the debug mode for subsequent scripts executed.",
      "EXISTS <sha1> [<sha1> ...]",
      "    Return information about the existence of the scripts in the script cache.",
      "FLUSH [ASYNC|SYNC]",
      "    Flush the Lua scripts cache. Very dangerous on replicas.",
      {"    When called without the optional mode argument, the behavior is determined by the",
       store::Until("valkey 8.0.0")},
      {"    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
       store::Until("valkey 8.0.0")},
      {"    When called without the optional mode argument, the behavior is determined",
       store::Since("valkey 8.0.0")},
      {"     by the lazyfree-lazy-user-flush configuration directive. Valid modes are:",
       store::Since("valkey 8.0.0")},
      "    * ASYNC: Asynchronously flush the scripts cache.",
      "    * SYNC: Synchronously flush the scripts cache.",
      "KILL",
      "    Kill the currently executing Lua script.",
      "LOAD <script>",
      "    Load a script into the scripts cache without executing it.",
      {"SHOW <sha1>", store::Since("valkey 8.0.0")},
      {"    Show a script from the scripts cache.", store::Since("valkey 8.0.0")},
  };
  return HelpReply(context, kHelp);
}

Reply HandleScriptKill(CommandContext& context, Arguments) {
  return KillScript(context, /*is_function=*/false);
}

// SYNC is refused by an engine that has no server to hold, as for a client that cannot be debugged;
// after YES it is the next script that fails, as if fork had failed.
Reply HandleScriptDebug(CommandContext& context, Arguments arguments) {
  SessionCore& session = context.session();
  Host* const host = context.engine().administration().host();
  const bool has_pending_replies =
      session.runs_atomically() || (host != nullptr && host->FiguresOf(session).output_bytes > 0);
  const bool sync = IsWord(arguments[0], "SYNC");
  if (has_pending_replies || (sync && DebugHostOf(context) == nullptr)) {
    return Reply::Error("ERR SCRIPT DEBUG must be called outside a pipeline");
  }
  if (IsWord(arguments[0], "NO")) {
    session.set_debug_mode(DebugMode::kNo);
  } else if (sync) {
    session.set_debug_mode(DebugMode::kSync);
  } else if (!IsWord(arguments[0], "YES")) {
    return Reply::Error("ERR Use SCRIPT DEBUG YES/SYNC/NO");
  } else if (session.debug_mode() == DebugMode::kNo) {
    // In Redis YES does not end SYNC.
    session.set_debug_mode(DebugMode::kApart);
  }
  return Reply::Ok();
}

Reply HandleScriptShow(CommandContext& context, Arguments arguments) {
  const ScriptCache& scripts = context.engine().scripts();
  const std::string sha = absl::AsciiStrToLower(base::ToAbsl(arguments[0]));
  if (!scripts.Has(sha)) return Reply::Error("NOSCRIPT No matching script.");
  return Reply::Bulk(scripts.TextOf(sha));
}

}  // namespace redouble::inline v0_1::memory
