// The groups of commands that programs are made of.
//
// A group has a table of generators (generators/), a part of the command table, or both: commands
// of its part that no table has are made up from their rows (command_generator.h). So a new
// command takes part at once, and well once it has a generator.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_GROUPS_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_GROUPS_H_

#include <string_view>
#include <vector>

#include "core/store/command_table.h"
#include "tests/differential/command_generator.h"

namespace redouble::tests {

// The names, in the order of the table: "strings", "keys", ...
std::vector<std::string_view> GroupNames();

// The generators of a group, of commands that the engine has; empty for a name that is none. "all"
// is all groups together.
std::vector<CommandGenerator> GeneratorsOf(std::string_view group);

// Commands that come beside those of any group: they make keys of every type, and let them expire.
std::vector<CommandGenerator> CompanionGenerators();

// Why a command takes part in no program; empty for all others.
std::string_view WhyLeftOut(store::CommandId id);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_GROUPS_H_
