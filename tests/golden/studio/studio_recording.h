// Finds the arguments that were not recorded, in the recorded commands of Studio's goldens.
//
// Thread-safety: pure functions. For this folder only.
#ifndef REDOUBLE_TESTS_GOLDEN_STUDIO_STUDIO_RECORDING_H_
#define REDOUBLE_TESTS_GOLDEN_STUDIO_STUDIO_RECORDING_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/tests/golden/replay/golden.h"

namespace redouble::inline v0_1::golden {

using Words = std::vector<std::string>;

// Returns the part after `prefix` of the first key that begins with it; empty without one.
std::string SuffixBehind(std::span<const RecordedCommand> commands, std::string_view prefix);
std::string SuffixBehind(const RecordedStep& step, std::string_view prefix);

bool HasCommand(const RecordedStep& step, std::string_view name, std::string_view key);

// Returns the JSON that the first SET of a key with that prefix writes; an empty object without
// one.
Json JsonSetTo(std::span<const RecordedCommand> commands, std::string_view key_prefix);
Json JsonSetTo(const RecordedStep& step, std::string_view key_prefix);

// Returns the envelope from which the document of an event was made.
Json EnvelopeOf(const Json& document);
// Returns a service record with the data that the document of a task has of its service.
Json ServiceOf(const Json& task_document);
Json ServiceNamed(std::string_view service_id);
// Returns the record of a service after the commands before a step.
Json RecordBefore(const Golden& golden, size_t index, const std::string& service_id);

// Returns whether the operation needs no store.
bool IsPure(std::string_view operation);

// Adds the TTL of a task's document, as the commands show that wrote one at the step's time.
void AddTaskTtl(const RecordedStep& step, std::span<const RecordedCommand> commands,
                Json& arguments);

// Adds the configuration of the stores, as the golden's commands show, and the step's time.
void AddConfiguration(const Golden& golden, const RecordedStep& step, Json& arguments);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_STUDIO_STUDIO_RECORDING_H_
