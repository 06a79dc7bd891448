// The differences of two JSON values, with the places where they are.
//
// Why it exists: a scenario that fails has to say which part of a result or keyspace is wrong, not
// print two documents. Objects are compared by name, whatever their order; arrays element by
// element; numbers by value, so that 10 equals 10.0 as JSON says.
//
//   FindDifference({{"count", 1}}, {{"count", 2}}, "/steps/3/expect")
//   // path "/steps/3/expect/count", expected "1", got "2"
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_SIM_JSON_JSON_DIFF_H_
#define REDOUBLE_SIM_JSON_JSON_DIFF_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/sim/json/json.h"

namespace redouble::inline v0_1::sim {

// One difference, and where it is.
struct JsonDifference {
  std::string path;      // A JSON pointer.
  std::string expected;  // One line of JSON; "nothing" for a member or element that is not there.
  std::string got;
};

// Returns the first difference in the order of `expected`, then of what only `got` has; none when
// they are equal. `path` is put before each path.
std::optional<JsonDifference> FindDifference(const Json& expected, const Json& got,
                                             std::string_view path);

// Returns the first differences in that order, at most `limit`.
std::vector<JsonDifference> FindDifferences(const Json& expected, const Json& got,
                                            std::string_view path, size_t limit);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_JSON_JSON_DIFF_H_
