// The groups of commands from which programs are made.
//
// A group consists of a table of generators (generators/), of a part of the command table, or of
// both. The arguments of a command without a generator are derived from its row in the command
// table (command_generator.h). A new command therefore takes part at once, and in more varied ways
// with a generator of its own.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_GROUPS_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_GROUPS_H_

#include <string_view>
#include <vector>

#include "redouble/core/store/table/command_table.h"
#include "redouble/tests/differential/command_generator.h"

namespace redouble::inline v0_1::tests {

// The names in the order of the table: "strings", "keys", ...
std::vector<std::string_view> GroupNames();

// The generators of a group for the commands of a version; empty for an unknown name. "all" is the
// union of all groups.
std::vector<CommandGenerator> GeneratorsOf(std::string_view group,
                                           store::Version version = store::Version::kRedis70);

// Commands that are mixed with those of any group: they create keys of every type and let them
// expire.
std::vector<CommandGenerator> CompanionGenerators();

// The reason why a command is excluded from programs for a version; empty for all others.
std::string_view ExclusionReason(store::CommandId id,
                                 store::Version version = store::Version::kRedis70);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_GROUPS_H_
