// MODULE, of a server that has no modules and loads none: as a redis-server whose parameter
// enable-module-command is "no", which is its default.
#include <string_view>

#include "backends/memory/commands/argument.h"
#include "backends/memory/commands/help.h"
#include "backends/memory/error_text.h"
#include "backends/memory/handlers.h"

namespace redouble::memory {
namespace {

// The engine says so before a command is run or queued (command_flag::kProtected).
Reply NotAllowed() { return Reply::Error(error_text::kModuleNotAllowed); }

}  // namespace

Reply HandleModuleList(CommandContext&, Arguments) { return Reply::EmptyArray(); }

Reply HandleModuleLoad(CommandContext&, Arguments) { return NotAllowed(); }

Reply HandleModuleLoadEx(CommandContext&, Arguments) { return NotAllowed(); }

Reply HandleModuleUnload(CommandContext&, Arguments) { return NotAllowed(); }

Reply HandleModuleHelp(CommandContext&, Arguments) {
  static constexpr std::string_view kHelp[] = {
      "LIST",
      "    Return a list of loaded modules.",
      "LOAD <path> [<arg> ...]",
      "    Load a module library from <path>, passing to it any optional arguments.",
      "LOADEX <path> [[CONFIG NAME VALUE] [CONFIG NAME VALUE]] [ARGS ...]",
      "    Load a module library from <path>, while passing it module configurations and optional "
      "arguments.",
      "UNLOAD <name>",
      "    Unload a module.",
  };
  return HelpReply("MODULE", kHelp);
}

}  // namespace redouble::memory
