// Shrink: makes a failing program as short and simple as possible while it still fails.
//
//   const Program shortest = Shrink(std::move(program), [&](const Program& candidate) {
//     return Differs(candidate);
//   });
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_SHRINK_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_SHRINK_H_

#include "absl/functional/function_ref.h"
#include "redouble/tests/differential/program.h"

namespace redouble::inline v0_1::tests {

// Tries the candidates of RapidCheck's shrinkers (fewer steps, fewer words, shorter words, smaller
// clock steps) and keeps those that fail, until no candidate fails or `attempts` programs were
// tried.
Program Shrink(Program failing, absl::FunctionRef<bool(const Program&)> fails, int attempts = 3000);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_SHRINK_H_
