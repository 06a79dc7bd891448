// Timestamps as text: CPython's ISO parser, and the formats that the documented systems write.
//
// Timestamps come from callers and are compared, sorted and written again. A text is a timestamp if
// CPython 3.13's datetime.fromisoformat accepts it, which accepts more than RFC 3339; the systems
// treat any other text as a missing timestamp, not as an error.
//
//   ParseTimestamp(" 2026-01-01T10:00:00Z ", absl::UTCTimeZone())   // the instant
//   ParseDateTime("2026-01-01T12:00:00+02:00")                      // with its offset
//   FormatIso(now)            // "2026-01-01T12:00:00+00:00"
//   FormatIsoZ(now)           // "2026-01-01T12:00:00Z"
//   FormatIsoWithSpace(now)   // "2026-01-01 12:00:00+00:00"
//
// All formats write microseconds, as six digits, only if they are not zero; finer fractions are
// rounded down, towards the past. They write the local time of a DateTime and its offset; a naive
// one has none.
//
// Thread-safety: pure functions.
// Source: docs/systems/relayna.md 2.4; CPython 3.13.
#ifndef REDOUBLE_CORE_PYTHON_ISO_TIME_H_
#define REDOUBLE_CORE_PYTHON_ISO_TIME_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "redouble/core/python/value.h"

namespace redouble::inline v0_1::python {

// Returns the instant of a timestamp, or nullopt if `text` is not one. Surrounding white space is
// ignored; a final Z is an offset of zero; without an offset, the text is civil time in
// `naive_zone`.
//
// Accepted: calendar dates ("2026-01-01", "20260101") and ISO week dates ("2026-W01-4", "2026W01"),
// alone (midnight) or followed by any one character and a time: hours, "10:00" or "100000", with a
// fraction of a second after "." or "," at the end of the fields (digits after the sixth are
// ignored), and with an offset of less than a day ("+07", "+0700", "-07:00:30.5"), which one more
// character may precede. Refused: a lower-case z, ordinal dates, hour 24, second 60, fields without
// their zeros, numbers, the empty text, years outside 1 to 9999.
std::optional<absl::Time> ParseTimestamp(std::string_view text, absl::TimeZone naive_zone);

// Returns the datetime of the same texts with the offset as it was written; without an offset, a
// naive one. Its local time has a year from 1 to 9999.
std::optional<DateTime> ParseDateTime(std::string_view text);

// Return the datetime as isoformat() ("+00:00"), as pydantic ("Z" for an offset of zero; the
// seconds of an offset are not written), and as str() (a space instead of the T). An absl::Time is
// an instant in UTC. For years 1 to 9999.
std::string FormatIso(const DateTime& time);
std::string FormatIsoZ(const DateTime& time);
std::string FormatIsoWithSpace(const DateTime& time);

}  // namespace redouble::inline v0_1::python

#endif  // REDOUBLE_CORE_PYTHON_ISO_TIME_H_
