// Parameters of CONFIG whose values have a format of their own.
//
// The table in config_parameters.cc refers to these getters and setters. A parameter whose value is
// a number, a word or a flag needs no functions here: a row of the table describes it. The third
// function of a parameter writes its lines for CONFIG REWRITE.
//
//   Text("save", SavePointsText, SetSavePoints, LineForm::kWords, SavePointLines),
//
// Thread-safety: pure functions.
// Source: Redis 7.0 redis.conf and config.c.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_CONFIG_VALUES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_CONFIG_VALUES_H_

#include <optional>
#include <string>
#include <string_view>

#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/server/config_file.h"

namespace redouble::inline v0_1::memory {

// The setters return the text of an error; nullopt if they set the option.

// client-output-buffer-limit: "normal 0 0 0 slave 268435456 67108864 60 ...". Classes that the text
// does not name keep their limits.
std::string OutputLimitsText(const EngineOptions& options);
std::optional<std::string> SetOutputLimits(EngineOptions& options, std::string_view text);
// A line for each class, required if its limit is not the default.
ConfigLines OutputLimitLines(const EngineOptions& options);

// save: "3600 1 300 100", pairs of seconds and changes; empty for none.
std::string SavePointsText(const EngineOptions& options);
std::optional<std::string> SetSavePoints(EngineOptions& options, std::string_view text);
// A line for each point; `save ""` for none, which keeps the defaults away.
ConfigLines SavePointLines(const EngineOptions& options);

// latency-tracking-info-percentiles: "50 99 99.9"; empty for none.
// A percentile is written with at most six decimals: "99.9".
std::string PercentileText(double percent);
std::string PercentilesText(const EngineOptions& options);
std::optional<std::string> SetPercentiles(EngineOptions& options, std::string_view text);
ConfigLines PercentileLines(const EngineOptions& options);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_CONFIG_VALUES_H_
