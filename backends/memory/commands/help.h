// The reply of a container's HELP subcommand.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_HELP_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_HELP_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/store/reply.h"

namespace redouble::memory {

// The lines of the subcommands between the two that every container has.
inline store::Reply HelpReply(std::string_view container, std::span<const std::string_view> lines) {
  std::vector<store::Reply> help;
  help.push_back(store::Reply::Status(std::string(container) +
                                      " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
  for (const std::string_view line : lines) help.push_back(store::Reply::Status(line));
  help.push_back(store::Reply::Status("HELP"));
  help.push_back(store::Reply::Status("    Prints this help."));
  return store::Reply::Array(std::move(help));
}

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_HELP_H_
