// Studio for the domain replay: the operations that the steps of its goldens represent.
//
// The recorder left out what it considered known; this code finds it in the recorded commands: the
// configuration of the stores, the content of a record, the answers of a service, the operation of
// an actor in a race. Only the answers of services are taken from the recorded result of the
// operation itself.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_STUDIO_STUDIO_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_STUDIO_STUDIO_DOMAIN_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "redouble/sim/operations/operation.h"
#include "redouble/tests/golden/replay/domain.h"
#include "redouble/tests/golden/replay/golden.h"

namespace redouble::inline v0_1::golden {

// Returns whether the golden is Studio's, by its operations or by the keys of its commands.
bool IsStudioGolden(const Golden& golden);

// Adds Studio's operations, and `redis.commands` {commands}, which sends commands unchanged.
void AddStudioOperations(sim::OperationTable& operations);

// Returns the plan of a step of a golden of Studio.
absl::StatusOr<Plan> StudioPlan(const Golden& golden, size_t index);

// Returns `commands` with each sequence of SADD or SREM to token sets sorted: the original iterates
// over a set, in no defined order.
Json WithSortedTokens(Json commands);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_STUDIO_STUDIO_DOMAIN_H_
