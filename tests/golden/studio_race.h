// Studio's races for the domain replay: two and more actors whose requests were recorded in turns,
// or one that was killed; and what an actor was doing, told from its commands.
//
// Thread-safety: pure functions. For this folder only.
#ifndef REDOUBLE_TESTS_GOLDEN_STUDIO_RACE_H_
#define REDOUBLE_TESTS_GOLDEN_STUDIO_RACE_H_

#include <cstddef>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "tests/golden/domain.h"
#include "tests/golden/golden.h"

namespace redouble::golden {

// The plan of a step that is a race. Its result has `trace`, pairs of an actor and a request, and
// `results`; or the requests of A alone (`trace_A`), its result, and after how many of them B ran
// from beginning to end; or the requests of one actor that was killed then (`executed`). Errors:
// InvalidArgument for another shape.
absl::StatusOr<Plan> StudioRace(const Golden& golden, size_t index);

// The call that sends these commands, with its configuration, without an actor; none when nothing
// known begins so.
std::optional<Plan::Call> InferCall(const Golden& golden, size_t index,
                                    std::span<const RecordedCommand> commands);

// The record that an update wrote, or meant to write where it was refused.
Json RecordOfUpdate(const Golden& golden, size_t index, std::span<const RecordedCommand> commands);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_STUDIO_RACE_H_
