// Makes a failing program as short and plain as it can be while it still fails.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_SHRINK_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_SHRINK_H_

#include "absl/functional/function_ref.h"
#include "tests/differential/program.h"

namespace redouble::tests {

// Tries what RapidCheck's shrinkers offer (fewer steps, fewer words, shorter words, smaller clock
// steps), keeps what still fails, until nothing helps or `attempts` programs were tried.
Program Shrink(Program failing, absl::FunctionRef<bool(const Program&)> fails, int attempts = 3000);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_SHRINK_H_
