// Timestamps of transactions, read as leniently as the documented system reads them.
//
//   ParseTimestamp("1745430159")                   // 2025-04-23 17:42:39 UTC
//   ParseTimestamp("2025-04-23 15:00:00 PST")      // 2025-04-23 23:00:00 UTC
//   ParseTimestamp("23 Apr 2025 17:42:39 +0200")   // 2025-04-23 15:42:39 UTC
//   ParseTimestamp("yesterday")                    // none: the worker takes its own time
//
// A text that is an integer literal counts seconds since 1970: with a sign, blanks around it,
// underscores between digits, and the prefixes 0x, 0o, 0b, 0d and 0 (octal). So "20250423" is a day
// in 1970. Anything else must name year, month and day, in one of the orders that people use, with
// a month in digits or in English; a time of day and a zone may stand anywhere. Days that a month
// does not have run over into the next one, 24:00:00 is the next day.
//
// Thread-safety: a pure function.
// Source: reference/threescale.md 5.1, 6.
#ifndef REDOUBLE_CORE_THREESCALE_TIMESTAMP_H_
#define REDOUBLE_CORE_THREESCALE_TIMESTAMP_H_

#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace redouble::threescale {

// The moment that `text` means, in whole seconds; none when it means none, or has more than 128
// characters. A year that lies outside of absl::Time is the infinite past or future.
std::optional<absl::Time> ParseTimestamp(std::string_view text);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_TIMESTAMP_H_
