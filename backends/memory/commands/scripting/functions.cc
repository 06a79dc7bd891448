// FUNCTION, FCALL and FCALL_RO.
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/commands/lazy_free.h"
#include "redouble/backends/memory/commands/scripting/script_run.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/scripting/function_libraries.h"
#include "redouble/core/base/text/glob.h"

namespace redouble::inline v0_1::memory {
namespace {

Reply FCallGeneric(CommandContext& context, Arguments arguments, bool read_only) {
  ShowToMonitors(context, arguments);
  FunctionLibraries& libraries = context.engine().functions();
  const FunctionLibraries::Function* function = libraries.Find(arguments[0]);
  if (function == nullptr) return Reply::Error("ERR Function not found");
  ScriptArguments passed;
  if (std::optional<Reply> error =
          ReadScriptArguments(arguments.subspan(1), "ERR Bad number of keys provided", passed)) {
    return *std::move(error);
  }
  const ScriptRun run{.name = function->name,
                      .command = context.called_name(),
                      .command_arguments = arguments,
                      .flags = function->flags,
                      .is_function = true,
                      .read_only_command = read_only};
  return RunScript(context, run, [&](ScriptHost& host, int64_t limit_ms) {
    return libraries.Run(*function, passed.keys, passed.arguments, host, limit_ms);
  });
}

Reply DescribeFunction(const FunctionLibraries::Function& function) {
  std::vector<Reply> flags;
  for (const ScriptFlagRow& row : kScriptFlags) {
    if (function.flags.*(row.member)) flags.push_back(Reply::Status(row.name));
  }
  return Reply::Map({Reply::Bulk("name"), Reply::Bulk(function.name), Reply::Bulk("description"),
                     function.description ? Reply::Bulk(*function.description) : Reply::Nil(),
                     Reply::Bulk("flags"), Reply::Set(std::move(flags))});
}

Reply DescribeLibrary(const FunctionLibraries::Library& library, bool with_code) {
  std::vector<Reply> functions;
  for (const FunctionLibraries::Function& function : library.functions) {
    functions.push_back(DescribeFunction(function));
  }
  std::vector<Reply> fields = {Reply::Bulk("library_name"), Reply::Bulk(library.name),
                               Reply::Bulk("engine"),       Reply::Bulk("LUA"),
                               Reply::Bulk("functions"),    Reply::Array(std::move(functions))};
  if (with_code) {
    fields.push_back(Reply::Bulk("library_code"));
    fields.push_back(Reply::Bulk(library.code));
  }
  return Reply::Map(std::move(fields));
}

// Redis's error for a subcommand with too many words.
Reply WrongWords(std::string_view subcommand) {
  return Reply::Error("ERR unknown subcommand or wrong number of arguments for '" +
                      std::string(subcommand) + "'. Try FUNCTION HELP.");
}

Reply DescribeRunning(CommandContext& context) {
  const BusyScript* busy = context.engine().busy_script();
  if (busy == nullptr) return Reply::Nil();
  const int64_t duration_ms = busy->running != nullptr ? busy->running->RunMillis().value_or(0)
                                                       : context.now_ms() - busy->started_ms;
  std::vector<Reply> command;
  for (const std::string& word : busy->command) command.push_back(Reply::Bulk(word));
  return Reply::Map({Reply::Bulk("name"), Reply::Bulk(busy->name), Reply::Bulk("command"),
                     Reply::Array(std::move(command)), Reply::Bulk("duration_ms"),
                     Reply::Integer(duration_ms)});
}

// A reply that is no error counts as a change.
Reply Counted(const CommandContext& context, Reply reply) {
  if (!reply.is_error()) context.CountChange();
  return reply;
}

}  // namespace

Reply HandleFCall(CommandContext& context, Arguments arguments) {
  return FCallGeneric(context, arguments, false);
}

Reply HandleFCallRo(CommandContext& context, Arguments arguments) {
  return FCallGeneric(context, arguments, true);
}

Reply HandleFunctionDelete(CommandContext& context, Arguments arguments) {
  if (!context.engine().functions().Delete(arguments[0])) {
    return Reply::Error("ERR Library not found");
  }
  context.CountChange();
  return Reply::Ok();
}

Reply HandleFunctionDump(CommandContext& context, Arguments) {
  return Reply::Bulk(context.engine().functions().Dump());
}

Reply HandleFunctionFlush(CommandContext& context, Arguments arguments) {
  if (arguments.size() > 1) return WrongWords(context.subcommand());
  if (arguments.size() == 1 && !IsWord(arguments[0], "SYNC") && !IsWord(arguments[0], "ASYNC")) {
    return Reply::Error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
  }
  EngineCore& engine = context.engine();
  if (FlushesLater(engine, arguments)) {
    CountFlushedLater(engine, engine.functions().function_count());
  }
  engine.functions().Flush();
  context.CountChange();
  return Reply::Ok();
}

Reply HandleFunctionHelp(CommandContext& context, Arguments) {
  static constexpr HelpLine kLines[] = {
      "LOAD [REPLACE] <FUNCTION CODE>",
      "    Create a new library with the given library name and code.",
      "DELETE <LIBRARY NAME>",
      "    Delete the given library.",
      "LIST [LIBRARYNAME PATTERN] [WITHCODE]",
      "    Return general information on all the libraries:",
      "    * Library name",
      "    * The engine used to run the Library",
      {"    * Library description", store::Until("7.2.0")},
      "    * Functions list",
      "    * Library code (if WITHCODE is given)",
      "    It also possible to get only function that matches a pattern using LIBRARYNAME "
      "argument.",
      "STATS",
      "    Return information about the current function running:",
      "    * Function name",
      "    * Command used to run the function",
      "    * Duration in MS that the function is running",
      "    If no function is running, return nil",
      "    In addition, returns a list of available engines.",
      "KILL",
      "    Kill the current running function.",
      "FLUSH [ASYNC|SYNC]",
      "    Delete all the libraries.",
      "    When called without the optional mode argument, the behavior is determined by the",
      "    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
      "    * ASYNC: Asynchronously flush the libraries.",
      "    * SYNC: Synchronously flush the libraries.",
      "DUMP",
      "    Return a serialized payload representing the current libraries, can be restored using "
      "FUNCTION RESTORE command",
      "RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]",
      "    Restore the libraries represented by the given payload, it is possible to give a "
      "restore "
      "policy to",
      "    control how to handle existing libraries (default APPEND):",
      "    * FLUSH: delete all existing libraries.",
      "    * APPEND: appends the restored libraries to the existing libraries. On collision, "
      "abort.",
      "    * REPLACE: appends the restored libraries to the existing libraries, On collision, "
      "replace the old",
      "      libraries with the new libraries (notice that even on this option there is a chance "
      "of "
      "failure",
      "      in case of functions name collision with another library).",
  };
  return HelpReply(context, kLines);
}

Reply HandleFunctionKill(CommandContext& context, Arguments) {
  return KillScript(context, /*is_function=*/true);
}

Reply HandleFunctionList(CommandContext& context, Arguments arguments) {
  bool with_code = false;
  std::optional<std::string_view> pattern;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!with_code && IsWord(arguments[i], "WITHCODE")) {
      with_code = true;
    } else if (!pattern && IsWord(arguments[i], "LIBRARYNAME")) {
      if (i + 1 == arguments.size()) {
        return Reply::Error("ERR library name argument was not given");
      }
      pattern = arguments[++i];
    } else {
      return Reply::Error("ERR Unknown argument " + WordInError(arguments[i]));
    }
  }
  std::vector<Reply> list;
  for (const FunctionLibraries::Library* library : context.engine().functions().List()) {
    if (pattern && !base::GlobMatch(*pattern, library->name, base::GlobCase::kInsensitive))
      continue;
    list.push_back(DescribeLibrary(*library, with_code));
  }
  return Reply::Array(std::move(list));
}

Reply HandleFunctionLoad(CommandContext& context, Arguments arguments) {
  FunctionLibraries::LoadOptions options;
  for (const std::string_view option : arguments.first(arguments.size() - 1)) {
    if (!IsWord(option, "REPLACE")) {
      return Reply::Error("ERR Unknown option given: " + WordInError(option));
    }
    options.replace = true;
  }
  return Counted(context, context.engine().functions().Load(arguments.back(), options));
}

Reply HandleFunctionRestore(CommandContext& context, Arguments arguments) {
  using Policy = FunctionLibraries::RestorePolicy;
  if (arguments.size() > 2) return WrongWords(context.subcommand());
  Policy policy = Policy::kAppend;
  if (arguments.size() == 2) {
    if (IsWord(arguments[1], "FLUSH")) {
      policy = Policy::kFlush;
    } else if (IsWord(arguments[1], "REPLACE")) {
      policy = Policy::kReplace;
    } else if (!IsWord(arguments[1], "APPEND")) {
      return Reply::Error(
          "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.");
    }
  }
  return Counted(context, context.engine().functions().Restore(arguments[0], policy));
}

Reply HandleFunctionStats(CommandContext& context, Arguments) {
  const BusyScript* busy = context.engine().busy_script();
  if (busy != nullptr && !busy->is_function)
    return Reply::Error(busy->RefusalOf(context.engine().compatibility()));
  const FunctionLibraries& libraries = context.engine().functions();
  Reply counts = Reply::Map({Reply::Bulk("libraries_count"),
                             Reply::Integer(static_cast<int64_t>(libraries.library_count())),
                             Reply::Bulk("functions_count"),
                             Reply::Integer(static_cast<int64_t>(libraries.function_count()))});
  return Reply::Map({Reply::Bulk("running_script"), DescribeRunning(context),
                     Reply::Bulk("engines"), Reply::Map({Reply::Bulk("LUA"), std::move(counts)})});
}

}  // namespace redouble::inline v0_1::memory
