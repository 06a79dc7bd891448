// Races of Studio's goldens: who did what, found in the commands that each actor sent, and in which
// order.
//
// Thread-safety: a pure function. For this folder only.
#ifndef REDOUBLE_TESTS_GOLDEN_STUDIO_RACE_H_
#define REDOUBLE_TESTS_GOLDEN_STUDIO_RACE_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "tests/golden/domain.h"
#include "tests/golden/golden.h"

namespace redouble::golden {

// The race of a step "race". Its result has either `trace`, pairs of an actor and a request, and
// `results`; or the requests of A alone, its result, and after how many of its requests B ran from
// beginning to end. Errors: InvalidArgument for another shape, or commands of no operation known.
absl::StatusOr<Plan> StudioRace(const Golden& golden, size_t index);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_STUDIO_RACE_H_
