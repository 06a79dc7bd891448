// CommandCopies: commands that own their names and arguments.
//
// A command has views of its arguments, which the caller of a request keeps until the request ends.
// A server of a world can execute the request later than that, and needs copies.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_COMMAND_COPIES_H_
#define REDOUBLE_SIM_WORLD_COMMAND_COPIES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/store/command.h"

namespace redouble::inline v0_1::sim {

class CommandCopies {
 public:
  explicit CommandCopies(std::span<const store::Command> commands) {
    // The copies keep views of the names.
    names_.reserve(commands.size());
    copies_.reserve(commands.size());
    for (const store::Command& command : commands) {
      store::Command& copy =
          copies_.emplace_back(store::Command::Named(names_.emplace_back(command.name())));
      for (const std::string_view argument : command.arguments()) {
        copy.AddOwned(std::string(argument));
      }
    }
  }
  CommandCopies(const CommandCopies&) = delete;
  CommandCopies& operator=(const CommandCopies&) = delete;

  std::span<const store::Command> commands() const { return copies_; }

 private:
  std::vector<std::string> names_;
  std::vector<store::Command> copies_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_COMMAND_COPIES_H_
