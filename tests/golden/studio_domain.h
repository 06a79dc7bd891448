// Studio for the domain replay: what a step of its goldens stands for.
//
// The recorder left out what it held to be known, and this finds it again in the recorded commands:
// how the stores were configured, what a seeded record said, what a service answered, what an actor
// of a race was doing. Nothing is taken from an operation's own result but the answers of services.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_STUDIO_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_STUDIO_DOMAIN_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "sim/scenario/operation.h"
#include "tests/golden/domain.h"
#include "tests/golden/golden.h"

namespace redouble::golden {

// Whether the golden is Studio's: its operations, or the keys that its commands name.
bool IsStudioGolden(const Golden& golden);

// Studio's operations, and `redis.commands` {commands}, which sends them as they are.
void AddStudioOperations(sim::OperationTable& operations);

// Of a golden that is Studio's.
absl::StatusOr<Plan> StudioPlan(const Golden& golden, size_t index);

// `commands` with runs of SADD or SREM to token sets sorted: the original takes them from a set, in
// an order of its own.
Json WithSortedTokens(Json commands);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_STUDIO_DOMAIN_H_
