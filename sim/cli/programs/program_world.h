// ProgramWorld: the world file of `redouble explore --program`.
//
//   ProgramWorld({"python3 add_one.py", "python3 add_one.py"}, {"SET n 0"})
//
// Each program is an actor (sim/cli/programs/program_operations.h). Two invariants need no further
// input: each program ends with status 0, and the keys at the end are those of some run in which
// the programs run one after another. For anything else, write a world file.
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_SIM_CLI_PROGRAMS_PROGRAM_WORLD_H_
#define REDOUBLE_SIM_CLI_PROGRAMS_PROGRAM_WORLD_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/sim/json/json.h"

namespace redouble::inline v0_1::sim {

// `programs` are command lines and `setup` are Redis commands, with quotes as redis-cli reads them.
// The actors are called "program 1", "program 2", ... Errors: InvalidArgument with the line that is
// empty or has a quote that is not closed.
absl::StatusOr<Json> ProgramWorld(const std::vector<std::string>& programs,
                                  const std::vector<std::string>& setup);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_PROGRAMS_PROGRAM_WORLD_H_
