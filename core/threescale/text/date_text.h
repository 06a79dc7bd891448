// ParseDateText: finds a date, a time of day and a zone in a text, as Ruby's date parser does.
//
// The second half of ParseTimestamp (timestamp.h), for texts that are not integers. For this folder
// only.
//
//   ParseDateText("Wed, 23rd Apr '25 5pm EST")   // 2025-04-23 22:00:00 UTC
//   ParseDateText("20250423174239Z")             // 2025-04-23 17:42:39 UTC
//   ParseDateText("2025-04-23 17h42m")           // 2025-04-23 17:42:00 UTC
//   ParseDateText("23 Apr")                      // nullopt: no year
//
// Thread-safety: a pure function.
// Source: docs/systems/threescale.md 2.5, D19.
#ifndef REDOUBLE_CORE_THREESCALE_TEXT_DATE_TEXT_H_
#define REDOUBLE_CORE_THREESCALE_TEXT_DATE_TEXT_H_

#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace redouble::inline v0_1::threescale {

// Returns the time in whole seconds, or nullopt if the text does not have a year, a month and a
// day, if one of its numbers is out of range, or if it has more than 128 characters.
std::optional<absl::Time> ParseDateText(std::string_view text);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_TEXT_DATE_TEXT_H_
