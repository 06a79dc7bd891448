// JSON pointers and values for error messages, and doubles that JSON numbers cannot express.
//
// An error of a scenario, a world or an operation says where in the file it is and what it found:
//
//   absl::StrCat("/steps/3", PointerPart("a/b"), ": expected a number, got ", Abbreviated(value))
//   // /steps/3/a~1b: expected a number, got {"a": 1, ...
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_SIM_JSON_POINTER_H_
#define REDOUBLE_SIM_JSON_POINTER_H_

#include <string>
#include <string_view>

#include "redouble/sim/json/json.h"

namespace redouble::sim {

// Returns `name` as one more part of a JSON pointer: "/a~1b" for "a/b".
std::string PointerPart(std::string_view name);

// Returns `value` as one line of JSON, cut to about 80 characters.
std::string Abbreviated(const Json& value);

// Returns a double as JSON: a number, or "NaN", "inf" or "-inf".
Json JsonDouble(double value);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_JSON_POINTER_H_
