// What the recorded commands of Studio's goldens say about the arguments that were not recorded.
//
// Thread-safety: pure functions. For this folder only.
#ifndef REDOUBLE_TESTS_GOLDEN_STUDIO_RECORDING_H_
#define REDOUBLE_TESTS_GOLDEN_STUDIO_RECORDING_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/golden/golden.h"

namespace redouble::golden {

using Words = std::vector<std::string>;

// The rest of the first key among the commands that begins with `prefix`; empty without one.
std::string SuffixBehind(std::span<const RecordedCommand> commands, std::string_view prefix);
std::string SuffixBehind(const RecordedStep& step, std::string_view prefix);

bool HasCommand(const RecordedStep& step, std::string_view name, std::string_view key);

// The JSON that the first SET of a key with that prefix writes; an empty object without one.
Json JsonSetTo(std::span<const RecordedCommand> commands, std::string_view key_prefix);
Json JsonSetTo(const RecordedStep& step, std::string_view key_prefix);

// The envelope of which an event's document was made.
Json EnvelopeOf(const Json& document);
// A service record that says what a task's document says of its service.
Json ServiceOf(const Json& task_document);
Json ServiceNamed(std::string_view service_id);
// The record of a service as the commands before a step left it.
Json RecordBefore(const Golden& golden, size_t index, const std::string& service_id);

// Whether the operation works on values only.
bool IsPure(std::string_view operation);

// Adds how long a task's document lives, as the commands show that wrote one at the step's time.
void AddTaskTtl(const RecordedStep& step, std::span<const RecordedCommand> commands,
                Json& arguments);

// Adds how the stores were configured, as the golden's commands show, and the step's time.
void AddConfiguration(const Golden& golden, const RecordedStep& step, Json& arguments);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_STUDIO_RECORDING_H_
