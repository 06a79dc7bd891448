// UTC civil time: the minute, day or month that keys contain, and RFC 3339 timestamps.
//
// The documented systems name counters after the minute, day, month or year in UTC, and write
// timestamps into values. These functions keep the texts equal everywhere. Core uses no other time
// zone, and takes the current time from a Clock.
//
//   const absl::Time now = ...;                          // 2026-05-09T14:03:02.5Z
//   base::FormatUtcMinute(now)                           // "202605091403"
//   base::FormatRfc3339(now)                             // "2026-05-09T14:03:02.5Z"
//   base::ParseRfc3339("2026-05-09T16:03:02.5+02:00")    // the same instant
//   base::StartOfNextUtcMonth(now)                       // 2026-06-01T00:00:00Z
//
// Years are those of the proleptic Gregorian calendar, from 0 to 9999 as in RFC 3339. Do not pass
// absl::InfinitePast or InfiniteFuture, which have no civil time.
//
// Thread-safety: pure functions.
// Source: docs/systems/gateway.md 1.1; docs/systems/threescale.md 2.1; RFC 3339.
#ifndef REDOUBLE_CORE_BASE_TIME_UTC_H_
#define REDOUBLE_CORE_BASE_TIME_UTC_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace redouble::inline v0_1::base {

// Return the civil unit in UTC that contains `time`, zero padded and without separators: "2026",
// "202605", "20260509", "2026050914", "202605091403", "20260509140302". Equal texts mean the same
// unit, and texts of the same length sort by time.
std::string FormatUtcYear(absl::Time time);
std::string FormatUtcMonth(absl::Time time);
std::string FormatUtcDay(absl::Time time);
std::string FormatUtcHour(absl::Time time);
std::string FormatUtcMinute(absl::Time time);
std::string FormatUtcSecond(absl::Time time);

// Return the first instant of the civil unit in UTC that contains `time`; it may be `time` itself.
absl::Time StartOfUtcMinute(absl::Time time);
absl::Time StartOfUtcHour(absl::Time time);
absl::Time StartOfUtcDay(absl::Time time);
absl::Time StartOfUtcMonth(absl::Time time);
absl::Time StartOfUtcYear(absl::Time time);

// Return the first instant of the next civil unit in UTC; it is always later than `time`.
absl::Time StartOfNextUtcMinute(absl::Time time);
absl::Time StartOfNextUtcHour(absl::Time time);
absl::Time StartOfNextUtcDay(absl::Time time);
absl::Time StartOfNextUtcMonth(absl::Time time);
absl::Time StartOfNextUtcYear(absl::Time time);

// Returns `time` as RFC 3339 in UTC with as many decimals of a second as it needs, from zero to
// nine: "2026-05-09T14:03:02Z", "2026-05-09T14:03:02.25Z". Fractions of a nanosecond are dropped.
std::string FormatRfc3339(absl::Time time);

// As above, with exactly `digits` decimals (0 to 9). Rounds down, towards the past.
std::string FormatRfc3339(absl::Time time, int digits);

// Parses RFC 3339 and returns the instant.
//
// Accepts "2026-05-09T14:03:02Z" with any number of decimals of a second (those beyond nanoseconds
// are ignored), an offset such as "+02:00" or "-00:30" instead of "Z", and lower-case "t" and "z".
// ParseRfc3339(FormatRfc3339(t)) == t for every t of whole nanoseconds.
//
// Errors: InvalidArgument, with the text, for anything else, such as a missing offset, a space
// instead of the T, fields with one digit, or a month, day, hour, minute, second or offset out of
// range (February 29 exists only in leap years). A leap second (":60") is refused too: Unix time
// has no instant for it.
absl::StatusOr<absl::Time> ParseRfc3339(std::string_view text);

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TIME_UTC_H_
