// Parameters of CONFIG whose values have a format of their own.
//
// The table in config.cc refers to these getters and setters.
//
// Thread-safety: pure functions.
// Source: Redis 7.0 redis.conf, "client-output-buffer-limit".
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_CONFIG_VALUES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_CONFIG_VALUES_H_

#include <optional>
#include <string>
#include <string_view>

#include "redouble/backends/memory/engine_options.h"

namespace redouble::memory {

// client-output-buffer-limit: "normal 0 0 0 slave 268435456 67108864 60 ...". Classes that the text
// does not name keep their limits. The setter returns the text of an error; nullopt if it set the
// option.
std::string OutputLimitsText(const EngineOptions& options);
std::optional<std::string> SetOutputLimits(EngineOptions& options, std::string_view text);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_CONFIG_VALUES_H_
