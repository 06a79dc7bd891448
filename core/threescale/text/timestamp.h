// ParseTimestamp: parses the timestamps of transactions as leniently as the documented system.
//
//   ParseTimestamp("1745430159")                   // 2025-04-23 17:42:39 UTC
//   ParseTimestamp("2025-04-23 15:00:00 PST")      // 2025-04-23 23:00:00 UTC
//   ParseTimestamp("23 Apr 2025 17:42:39 +0200")   // 2025-04-23 15:42:39 UTC
//   ParseTimestamp("yesterday")                    // nullopt: the worker uses its own time
//
// An integer literal counts seconds since 1970. It may have a sign, surrounding blanks, underscores
// between digits, and the prefixes 0x, 0o, 0b, 0d and 0 (octal), so "20250423" is a day in 1970.
// Any other text must contain a year, a month and a day in a common order, with the month as digits
// or in English. The time of day and the zone are optional and can be anywhere. A day after the end
// of its month is a day of the next month; 24:00:00 is the next day.
//
// Thread-safety: a pure function.
// Source: docs/systems/threescale.md 2.5, D19.
#ifndef REDOUBLE_CORE_THREESCALE_TEXT_TIMESTAMP_H_
#define REDOUBLE_CORE_THREESCALE_TEXT_TIMESTAMP_H_

#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace redouble::inline v0_1::threescale {

// Returns the time of `text` in whole seconds, or nullopt if it contains no time or more than 128
// characters. A year outside the range of absl::Time is the infinite past or future.
std::optional<absl::Time> ParseTimestamp(std::string_view text);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_TEXT_TIMESTAMP_H_
