// MakeProgram: random programs (swarm testing).
//
// Each program first draws its own configuration: which of the group's commands it uses, how often
// the clock moves, how many connections there are, and whether there are transactions, other
// databases or malformed commands. In this way rare features are combined in some programs; a
// uniform mixture would hardly ever combine them.
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_MAKE_PROGRAM_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_MAKE_PROGRAM_H_

#include <cstdint>
#include <string_view>

#include "redouble/core/store/table/version.h"
#include "redouble/tests/differential/program.h"

namespace redouble::inline v0_1::tests {

struct ProgramOptions {
  std::string_view group = "strings";  // A name of GroupNames(), or "all".
  uint64_t seed = 0;
  int max_commands = 60;
  store::Version version = store::Version::kRedis70;  // Whose commands it has.
};

// Equal options yield equal programs.
Program MakeProgram(const ProgramOptions& options);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_MAKE_PROGRAM_H_
