// Values of configuration parameters that have a form of their own.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_CONFIG_VALUES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_CONFIG_VALUES_H_

#include <optional>
#include <string>
#include <string_view>

#include "backends/memory/engine_options.h"

namespace redouble::memory {

// client-output-buffer-limit: "normal 0 0 0 slave 268435456 67108864 60 ...". Classes that the text
// does not name keep theirs. The setter gives the text of an error, or none and the option set.
std::string OutputLimitsText(const EngineOptions& options);
std::optional<std::string> SetOutputLimits(EngineOptions& options, std::string_view text);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_CONFIG_VALUES_H_
