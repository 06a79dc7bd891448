// MODULE, without any modules: nothing can be loaded, even if enable-module-command allows it.
#include <string_view>

#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"

namespace redouble::inline v0_1::memory {
namespace {

Reply NotLoaded() {
  return Reply::Error("ERR Error loading the extension. Please check the server logs.");
}

}  // namespace

Reply HandleModuleList(CommandContext&, Arguments) { return Reply::EmptyArray(); }

Reply HandleModuleLoad(CommandContext&, Arguments) { return NotLoaded(); }

Reply HandleModuleLoadEx(CommandContext&, Arguments) { return NotLoaded(); }

Reply HandleModuleUnload(CommandContext&, Arguments) {
  return Reply::Error("ERR Error unloading module: no such module with that name");
}

Reply HandleModuleHelp(CommandContext& context, Arguments) {
  static constexpr HelpLine kHelp[] = {
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
  return HelpReply(context, kHelp);
}

}  // namespace redouble::inline v0_1::memory
