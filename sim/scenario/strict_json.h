// JSON files read strictly: what a careless eye misses is refused.
//
// nlohmann's parser lets the last of two equal names win, and nests as deep as the file does. Here
// a name given twice in one object and nesting beyond kMaxJsonDepth are errors, as is everything
// that is not JSON (comments, trailing commas, bytes that are not UTF-8).
//
// Pure; safe to call from any thread.
#ifndef REDOUBLE_SIM_SCENARIO_STRICT_JSON_H_
#define REDOUBLE_SIM_SCENARIO_STRICT_JSON_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "sim/scenario/operation.h"

namespace redouble::sim {

// How deep arrays and objects may nest.
inline constexpr int kMaxJsonDepth = 64;

// Returns the value of `text`. InvalidArgument, with line and column where the text is not JSON, or
// with the name that is given twice.
absl::StatusOr<Json> ParseStrictJson(std::string_view text);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SCENARIO_STRICT_JSON_H_
