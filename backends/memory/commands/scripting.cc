// EVAL, EVALSHA, their read-only forms, and SCRIPT.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "backends/memory/commands/argument.h"
#include "backends/memory/commands/help.h"
#include "backends/memory/engine.h"
#include "backends/memory/handlers.h"
#include "backends/memory/script_cache.h"
#include "backends/memory/session.h"
#include "core/base/digest.h"
#include "core/base/redis_number.h"

namespace redouble::memory {
namespace {

using store::CommandId;
using store::CommandSpec;

// Runs a script's commands in the session that sent it, as one step.
class SessionHost final : public ScriptHost {
 public:
  SessionHost(CommandContext& context, bool read_only, bool one_slot)
      : context_(context),
        read_only_(read_only),
        one_slot_(one_slot),
        db_index_(context.session().db_index()),
        ran_atomically_(context.session().runs_atomically()),
        ran_script_(context.session().runs_script()) {
    context.session().set_runs_atomically(true);
    context.session().set_runs_script(true);
  }
  // What a script selects ends with it.
  ~SessionHost() {
    context_.session().Select(db_index_);
    context_.session().set_runs_atomically(ran_atomically_);
    context_.session().set_runs_script(ran_script_);
  }

  Reply CallCommand(std::span<const std::string_view> words) override {
    CommandId id = store::FindCommand(words[0]);
    const Arguments arguments = words.subspan(1);
    switch (context_.engine().Resolve(id, arguments)) {
      case Engine::Resolution::kUnknownCommand:
      case Engine::Resolution::kUnknownSubcommand:
        return Reply::Error("ERR Unknown Redis command called from script");
      case Engine::Resolution::kWrongArity:
        return Reply::Error("ERR Wrong number of args calling Redis command from script");
      case Engine::Resolution::kFound:
        break;
    }
    const CommandSpec& spec = store::SpecOf(id);
    if (spec.Has(store::command_flag::kNoScript)) {
      return Reply::Error("ERR This Redis command is not allowed from script");
    }
    if (read_only_ && spec.Has(store::command_flag::kWrite)) {
      return Reply::Error("ERR Write commands are not allowed from read-only scripts.");
    }
    if (std::optional<Reply> refusal =
            context_.engine().RefuseScriptCall(context_.session(), id, arguments, one_slot_)) {
      return *refusal;
    }
    return context_.engine().Call(context_.session(), id, arguments);
  }

 private:
  CommandContext& context_;
  const bool read_only_;
  const bool one_slot_;
  const int db_index_;
  const bool ran_atomically_;
  const bool ran_script_;
};

// `sha numkeys key... argument...`, of a script that is in the cache.
Reply RunScript(CommandContext& context, std::string_view sha, Arguments arguments,
                bool read_only_command) {
  ScriptCache& scripts = context.engine().scripts();
  const ScriptFlags flags = scripts.FlagsOf(sha);
  if (read_only_command && flags.declared && !flags.no_writes) {
    return Reply::Error("ERR Can not execute a script with write flag using *_ro command.");
  }
  if (flags.no_cluster && context.engine().cluster() != nullptr) {
    return Reply::Error("ERR Can not run script on cluster, 'no-cluster' flag is set.");
  }
  const size_t key_count = static_cast<size_t>(*base::ParseInt64(arguments[0]));
  SessionHost host(context, read_only_command || flags.no_writes,
                   flags.declared && !flags.allow_cross_slot_keys);
  return scripts.interpreter().Run(sha, arguments.subspan(1, key_count),
                                   arguments.subspan(1 + key_count), host);
}

// The error of a count of keys that is none; no value when it is right.
std::optional<Reply> CheckKeyCount(Arguments arguments) {
  const std::optional<int64_t> count = base::ParseInt64(arguments[0]);
  if (!count) return Reply::Error(error_text::kNotAnInteger);
  if (*count > static_cast<int64_t>(arguments.size()) - 1) {
    return Reply::Error("ERR Number of keys can't be greater than number of args");
  }
  if (*count < 0) return Reply::Error("ERR Number of keys can't be negative");
  return std::nullopt;
}

Reply EvalGeneric(CommandContext& context, Arguments arguments, bool read_only) {
  if (std::optional<Reply> error = CheckKeyCount(arguments.subspan(1))) return *error;
  const std::string sha = base::Sha1Hex(arguments[0]);
  if (std::optional<Reply> error = context.engine().scripts().Load(sha, arguments[0])) {
    return *error;
  }
  return RunScript(context, sha, arguments.subspan(1), read_only);
}

// Redis looks at the SHA-1's length first and for the script last.
Reply EvalShaGeneric(CommandContext& context, Arguments arguments, bool read_only) {
  constexpr std::string_view kNoScript = "NOSCRIPT No matching script. Please use EVAL.";
  constexpr size_t kSha1HexSize = 40;
  const std::string sha = absl::AsciiStrToLower(base::ToAbsl(arguments[0]));
  if (sha.size() != kSha1HexSize) return Reply::Error(kNoScript);
  if (std::optional<Reply> error = CheckKeyCount(arguments.subspan(1))) return *error;
  if (!context.engine().scripts().Has(sha)) return Reply::Error(kNoScript);
  return RunScript(context, sha, arguments.subspan(1), read_only);
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
  context.engine().scripts().Flush();
  return Reply::Ok();
}

Reply HandleScriptHelp(CommandContext&, Arguments) {
  static constexpr std::string_view kHelp[] = {
      "DEBUG (YES|SYNC|NO)",
      "    Set the debug mode for subsequent scripts executed.",
      "EXISTS <sha1> [<sha1> ...]",
      "    Return information about the existence of the scripts in the script cache.",
      "FLUSH [ASYNC|SYNC]",
      "    Flush the Lua scripts cache. Very dangerous on replicas.",
      "    When called without the optional mode argument, the behavior is determined by the",
      "    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
      "    * ASYNC: Asynchronously flush the scripts cache.",
      "    * SYNC: Synchronously flush the scripts cache.",
      "KILL",
      "    Kill the currently executing Lua script.",
      "LOAD <script>",
      "    Load a script into the scripts cache without executing it.",
  };
  return HelpReply("SCRIPT", kHelp);
}

// A script runs to its end before another command is looked at, so none ever runs here.
Reply HandleScriptKill(CommandContext&, Arguments) {
  return Reply::Error("NOTBUSY No scripts in execution right now.");
}

}  // namespace redouble::memory
