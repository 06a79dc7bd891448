#include "redouble/backends/memory/scripting/script_commands.h"

#include <string>

#include "absl/strings/ascii.h"
#include "redouble/backends/memory/scripting/shebang.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {

using store::CommandId;

bool RunsScript(CommandId id) {
  return id == CommandId::kEval || id == CommandId::kEvalRo || id == CommandId::kEvalSha ||
         id == CommandId::kEvalShaRo || id == CommandId::kFCall || id == CommandId::kFCallRo;
}

bool MayWrite(CommandId id) {
  switch (id) {
    case CommandId::kEval:
    case CommandId::kEvalSha:
    case CommandId::kFCall:
    case CommandId::kPublish:
    case CommandId::kSPublish:
    case CommandId::kPfCount:
      return true;
    default:
      return store::SpecOf(id).Has(store::command_flag::kWrite);
  }
}

std::optional<ScriptFlags> DeclaredFlags(CommandId id, std::span<const std::string_view> arguments,
                                         const ScriptCache& scripts,
                                         const FunctionLibraries& functions) {
  ScriptFlags flags;
  switch (id) {
    case CommandId::kEval:
    case CommandId::kEvalRo: {
      const Shebang shebang = ReadShebang(arguments[0], scripts.compatibility());
      if (!shebang.error) flags = shebang.flags;
      break;
    }
    case CommandId::kEvalSha:
    case CommandId::kEvalShaRo: {
      const std::string sha = absl::AsciiStrToLower(base::ToAbsl(arguments[0]));
      if (scripts.Has(sha)) flags = scripts.FlagsOf(sha);
      break;
    }
    case CommandId::kFCall:
    case CommandId::kFCallRo: {
      const FunctionLibraries::Function* function = functions.Find(arguments[0]);
      if (function != nullptr) flags = function->flags;
      break;
    }
    default:
      break;
  }
  if (!flags.declared) return std::nullopt;
  return flags;
}

}  // namespace redouble::inline v0_1::memory
