// The lenient conversions of pydantic 2: which JSON values a field of a model accepts.
//
// A model in lax mode accepts more than it writes: a date-time may be a number of seconds since the
// epoch, a boolean may be 1 or "yes".
//
//   PydanticDateTime("2026-01-01T12:00:00+02:00")   // with its offset
//   PydanticDateTime(1767261600)                    // 2026-01-01T10:00:00Z
//   PydanticBool("off")                             // false
//   PydanticInteger("2.0")                          // 2
//
// Thread-safety: pure functions.
// Source: docs/systems/relayna.md 2.4; pydantic 2.13.
#ifndef REDOUBLE_CORE_PYTHON_PYDANTIC_H_
#define REDOUBLE_CORE_PYTHON_PYDANTIC_H_

#include <cstdint>
#include <optional>

#include "redouble/core/python/value.h"

namespace redouble::inline v0_1::python {

// Returns the datetime that a field accepts, or nullopt if it refuses the value:
//   a date-time   `2026-01-01T10:00`, with seconds, a fraction after "." or "," and an offset (Z,
//                 +HH:MM, +HHMM) if there are any; T, t, _ or a space before the time. It keeps its
//                 offset; without one it is naive. Digits after the sixth are ignored.
//   a date        `2026-01-01`: its midnight, naive.
//   a number      Seconds since the epoch, in UTC; above 2e10 or below -2e10, milliseconds. A text
//                 of digits counts as a number; booleans do not. (pydantic computes the fraction of
//                 a text above 1e10 inexactly; here it is exact, and dropped from milliseconds.)
// White space around a text is refused. The year is 1 to 9999.
std::optional<DateTime> PydanticDateTime(const Value& value);

// Returns the boolean that a field accepts: true and false, 1 and 0 (1.0 and 0.0), and in any case
// the texts 1, on, t, true, y, yes, and 0, off, f, false, n, no. Returns nullopt for anything else.
std::optional<bool> PydanticBool(const Value& value);

// Returns the integer that a field accepts: an integer, a boolean as 1 or 0, a number without a
// fraction (2.0), and a text of decimal digits with a sign, single underscores between digits,
// zeros after a point, or white space around it: "+2", "1_000", "2.0". Returns nullopt for anything
// else, and for integers that have no int64_t.
std::optional<int64_t> PydanticInteger(const Value& value);

}  // namespace redouble::inline v0_1::python

#endif  // REDOUBLE_CORE_PYTHON_PYDANTIC_H_
