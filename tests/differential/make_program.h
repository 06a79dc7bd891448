// Makes random programs.
//
// Every program has a character of its own, drawn first: which of the group's commands it uses at
// all, how often the clock moves, how many connections there are, whether there are transactions,
// other databases, malformed commands. Rare things meet in some programs that way, which a uniform
// mixture would hardly ever bring together (swarm testing).
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_MAKE_PROGRAM_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_MAKE_PROGRAM_H_

#include <cstdint>
#include <string_view>

#include "tests/differential/program.h"

namespace redouble::tests {

struct ProgramOptions {
  std::string_view group = "strings";  // A name of GroupNames(), or "all".
  uint64_t seed = 0;
  int max_commands = 60;
};

// Equal options give equal programs.
Program MakeProgram(const ProgramOptions& options);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_MAKE_PROGRAM_H_
