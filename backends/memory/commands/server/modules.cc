// MODULE, without any modules: as a redis-server with enable-module-command "no", the default.
#include <string_view>

#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/error_text.h"
#include "redouble/backends/memory/engine/handlers.h"

namespace redouble::memory {
namespace {

// The engine refuses these before they run or are queued (command_flag::kProtected).
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
