// Reads JSON files strictly, so that mistakes in them are reported.
//
// nlohmann's parser keeps the last of two members with the same name, and accepts any depth. This
// adds two checks to it: a name that occurs twice in one object, and more than kMaxJsonDepth
// levels, are errors, as is everything that is not JSON (comments, trailing commas, bytes that are
// not UTF-8).
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_SIM_JSON_STRICT_JSON_H_
#define REDOUBLE_SIM_JSON_STRICT_JSON_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/sim/json/json.h"

namespace redouble::inline v0_1::sim {

// How deep arrays and objects may nest.
inline constexpr int kMaxJsonDepth = 64;

// Returns the value of `text`. InvalidArgument, with line and column where the text is not JSON, or
// with the name that is given twice.
absl::StatusOr<Json> ParseStrictJson(std::string_view text);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_JSON_STRICT_JSON_H_
