// ZoneOffset: the offset of a time zone as Ruby's date parser reads it.
//
// Lenient timestamps (timestamp.h) end with a name or an offset.
//
//   ZoneOffset("PST")                     // -8 hours
//   ZoneOffset("Tokyo Standard Time")     // 9 hours
//   ZoneOffset("UTC+5.5")                 // 5 hours and 30 minutes
//   ZoneOffset("nowhere")                 // nullopt
//
// Thread-safety: a pure function.
// Source: docs/systems/threescale.md 2.5, D19.
#ifndef REDOUBLE_CORE_THREESCALE_TEXT_TIME_ZONE_H_
#define REDOUBLE_CORE_THREESCALE_TEXT_TIME_ZONE_H_

#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace redouble::inline v0_1::threescale {

// Returns local time minus UTC, or nullopt for an unknown zone. Case and repeated white space do
// not matter. A name may end with "standard time", and with "daylight time" or "dst" for one hour
// more. An offset is an optional GMT or UTC, a sign, and hours with a decimal fraction, or
// hours, minutes and seconds with colons or without.
std::optional<absl::Duration> ZoneOffset(std::string_view zone);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_TEXT_TIME_ZONE_H_
