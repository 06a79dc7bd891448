// The reply of the HELP subcommand of a container command.
//
// Use it in the HELP handler of a container, with the lines of Redis's own help text. The help
// texts stay in the file of the container; this header has only what is the same for all of them.
// A line that not all versions have names those that do.
//
//   constexpr HelpLine kHelp[] = {"GENPASS [<bits>]", "    Generate a secure password."};
//   Reply HandleAclHelp(CommandContext& context, Arguments) {
//     return HelpReply(context, kHelp);
//   }
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_HELP_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_HELP_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/compatibility/server_text.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::memory {

struct HelpLine {
  constexpr HelpLine(const char* words, store::VersionSet those_with = store::Since("1.0.0"))
      : text(words), versions(those_with) {}

  std::string_view text;
  store::VersionSet versions;
};

// `lines` describe the subcommands; the first and last lines are the same for every container.
inline store::Reply HelpReply(const CommandContext& context, std::span<const HelpLine> lines) {
  const Compatibility& compatibility = context.engine().compatibility();
  std::vector<store::Reply> help;
  help.push_back(store::Reply::Status(absl::AsciiStrToUpper(base::ToAbsl(context.called_name())) +
                                      " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
  for (const HelpLine& line : lines) {
    if (!line.versions.Has(compatibility.version())) continue;
    help.push_back(store::Reply::Status(ServerText(compatibility, line.text)));
  }
  help.push_back(store::Reply::Status("HELP"));
  const bool infinitive = compatibility.Has(Feature::kHelpInfinitive);
  help.push_back(
      store::Reply::Status(infinitive ? "    Print this help." : "    Prints this help."));
  return store::Reply::Array(std::move(help));
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_HELP_H_
