// UTC civil time on absl::Time: the minute, day and month that key names carry, and RFC 3339 time
// stamps.
//
// Why it exists: the documented systems name their counters after the minute, day, month or year in
// UTC, and write time stamps into their values. One set of helpers keeps the text equal everywhere;
// there is no other time zone and no wall clock in core: `Now` comes from a Clock.
//
//   const absl::Time now = ...;                          // 2026-05-09T14:03:02.5Z
//   base::FormatUtcMinute(now)                           // "202605091403"
//   base::FormatRfc3339(now)                             // "2026-05-09T14:03:02.5Z"
//   base::ParseRfc3339("2026-05-09T16:03:02.5+02:00")    // the same instant
//   base::StartOfNextUtcMonth(now)                       // 2026-06-01T00:00:00Z
//
// Years are those of the proleptic Gregorian calendar. The formats are defined for years 0 to 9999,
// which is all that RFC 3339 has; absl::InfinitePast and InfiniteFuture have no civil time and are
// not to be passed. All functions are pure and safe to call from any thread.
//
// Source: reference/gateway.md and reference/threescale.md (period keys); RFC 3339.

#ifndef REDOUBLE_CORE_BASE_UTC_H_
#define REDOUBLE_CORE_BASE_UTC_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace redouble::base {

// Return the civil unit of UTC in which `time` falls, zero padded and without separators: "2026",
// "202605", "20260509", "2026050914", "202605091403", "20260509140302". Equal texts mean the same
// unit, and the order of the texts is the order of time.
std::string FormatUtcYear(absl::Time time);
std::string FormatUtcMonth(absl::Time time);
std::string FormatUtcDay(absl::Time time);
std::string FormatUtcHour(absl::Time time);
std::string FormatUtcMinute(absl::Time time);
std::string FormatUtcSecond(absl::Time time);

// Return the first instant of the civil unit of UTC in which `time` falls; `time` itself when it is
// that instant.
absl::Time StartOfUtcMinute(absl::Time time);
absl::Time StartOfUtcHour(absl::Time time);
absl::Time StartOfUtcDay(absl::Time time);
absl::Time StartOfUtcMonth(absl::Time time);
absl::Time StartOfUtcYear(absl::Time time);

// Return the first instant of the next civil unit of UTC, which is always later than `time`.
absl::Time StartOfNextUtcMinute(absl::Time time);
absl::Time StartOfNextUtcHour(absl::Time time);
absl::Time StartOfNextUtcDay(absl::Time time);
absl::Time StartOfNextUtcMonth(absl::Time time);
absl::Time StartOfNextUtcYear(absl::Time time);

// Returns `time` as RFC 3339 in UTC with as many decimals of a second as it needs, none for a whole
// second, at most nine (nanoseconds; what is finer is cut): "2026-05-09T14:03:02Z",
// "2026-05-09T14:03:02.25Z".
std::string FormatRfc3339(absl::Time time);

// The same with exactly `digits` decimals (0 to 9); what is finer is cut towards the past, never
// rounded up.
std::string FormatRfc3339(absl::Time time, int digits);

// Returns the instant that `text` names.
//
// Accepted: "2026-05-09T14:03:02Z" with any number of decimals behind the second (those beyond
// nanoseconds are ignored), an offset "+02:00" or "-00:30" in place of "Z", and lower-case "t" and
// "z". InvalidArgument, naming the text: anything else, as a missing offset, a space in place of
// the T, one-digit fields, a month, day, hour, minute, second or offset out of range (February 29
// only in leap years). A leap second,
// ":60", is refused as well: it has no instant of its own in Unix time.
// Round trip: ParseRfc3339(FormatRfc3339(t)) == t for every t of whole nanoseconds.
absl::StatusOr<absl::Time> ParseRfc3339(std::string_view text);

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_UTC_H_
