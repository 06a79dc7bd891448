// Races of Studio for the domain replay: several actors with their requests in recorded turns, or
// one actor that was killed. The operation of each actor is found in its commands.
//
// Thread-safety: pure functions. For this folder only.
#ifndef REDOUBLE_TESTS_GOLDEN_STUDIO_STUDIO_RACE_H_
#define REDOUBLE_TESTS_GOLDEN_STUDIO_STUDIO_RACE_H_

#include <cstddef>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "redouble/tests/golden/replay/domain.h"
#include "redouble/tests/golden/replay/golden.h"

namespace redouble::inline v0_1::golden {

// Returns the plan of a step that is a race. Its result has one of three shapes: `trace`, pairs of
// an actor and a request, and `results`; or `trace_A`, the requests of A, its result, and after how
// many of them B ran from beginning to end; or `executed`, the requests of one actor that was then
// killed. Errors: InvalidArgument for another shape.
absl::StatusOr<Plan> StudioRace(const Golden& golden, size_t index);

// Returns the call that sends these commands, with its configuration and without an actor; nullopt
// if it is not known.
std::optional<Plan::Call> InferCall(const Golden& golden, size_t index,
                                    std::span<const RecordedCommand> commands);

// Returns the record that an update wrote, or would have written if it was refused.
Json RecordOfUpdate(const Golden& golden, size_t index, std::span<const RecordedCommand> commands);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_STUDIO_STUDIO_RACE_H_
