// Date-times as text: CPython's ISO parser and the forms in which the systems write them.
//
// Why it exists: time stamps come from anywhere and are compared, sorted and written again. What
// counts as one is what CPython 3.13's datetime.fromisoformat takes, which is more than RFC 3339
// and in places odd; a time stamp that it refuses is "no time stamp", which is no error.
//
//   ParseTimestamp(" 2026-01-01T10:00:00Z ", absl::UTCTimeZone())   // the instant
//   FormatIso(now)            // "2026-01-01T12:00:00+00:00"
//   FormatIsoZ(now)           // "2026-01-01T12:00:00Z"
//   FormatIsoWithSpace(now)   // "2026-01-01 12:00:00+00:00"
//
// All forms have microseconds, six digits, only when they are not zero; what is finer is cut
// towards the past. Thread-safety: pure functions.
// Source: reference/relayna.md 0.2, golden timestamp_parse_table; CPython 3.13.
#ifndef REDOUBLE_CORE_PYTHON_ISO_TIME_H_
#define REDOUBLE_CORE_PYTHON_ISO_TIME_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace redouble::python {

// The instant that `text` names; none when it names none. White space around it is ignored, a Z at
// its end is an offset of zero; a text without offset is civil time in `naive_zone`.
//
// Accepted: calendar dates ("2026-01-01", "20260101"), ISO week dates ("2026-W01-4", "2026W01"),
// alone (midnight) or with a time behind any one character: hours, "10:00", "100000", with a
// fraction of a second behind "." or "," wherever the fields end (cut after six digits), with an
// offset of less than a day ("+07", "+0700", "-07:00:30.5"), before which one more character may
// stand.
// Refused: a lower-case z, ordinal dates, hour 24, second 60, fields without their zeros, numbers,
// the empty text, years outside 1 to 9999.
std::optional<absl::Time> ParseTimestamp(std::string_view text, absl::TimeZone naive_zone);

// With "+00:00", "Z", or a space in place of the T (str() of a date-time). Years 1 to 9999.
std::string FormatIso(absl::Time time);
std::string FormatIsoZ(absl::Time time);
std::string FormatIsoWithSpace(absl::Time time);

}  // namespace redouble::python

#endif  // REDOUBLE_CORE_PYTHON_ISO_TIME_H_
