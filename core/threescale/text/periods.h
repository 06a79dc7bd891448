// Period: the granularities in which 3scale counts and limits usage, the bounds of their periods,
// and the stamps that name periods in keys.
//
// All times are UTC. A week begins on Monday 00:00; a Sunday belongs to the week of the Monday
// before it, also across months and years. Eternity is one period from 1970 to 9999. Times must be
// in the years 0 to 9999.
//
//   const Period hour = PeriodAt(Granularity::kHour, now);
//   hour.start, hour.end                       // 17:00:00 and 18:00:00; the end is exclusive
//   hour.KeySegment(StampFormat::kFixedWidth)  // "hour:2025042317"
//
// Thread-safety: values and pure functions.
// Source: docs/systems/threescale.md 2.1, D1, D9, D10.
#ifndef REDOUBLE_CORE_THREESCALE_TEXT_PERIODS_H_
#define REDOUBLE_CORE_THREESCALE_TEXT_PERIODS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace redouble::inline v0_1::threescale {

// Ascending.
enum class Granularity : uint8_t { kMinute, kHour, kDay, kWeek, kMonth, kYear, kEternity };

// Returns "minute" ... "eternity".
std::string_view GranularityName(Granularity granularity);
// Returns the granularity with that name, or nullopt for any other text.
std::optional<Granularity> FindGranularity(std::string_view name);

// The format of the stamps of hours and minutes. Longer periods are always YYYYMMDD.
enum class StampFormat : uint8_t {
  // YYYYMMDDhh and YYYYMMDDhhmm (D1).
  kFixedWidth,
  // The same without trailing zeros of the time of day, as deployed versions write them: 17:40 is
  // "20250423174", 10:00 is "202504231", midnight is "20250423".
  kTrimmed,
};

struct Period {
  Granularity granularity = Granularity::kEternity;
  absl::Time start;
  absl::Time end;  // Exclusive.

  // Returns the start as text; empty for eternity.
  std::string Stamp(StampFormat format) const;
  // Returns the last segment of a counter's key: "eternity", "week:20250421".
  std::string KeySegment(StampFormat format) const;
};

// Returns the period of `granularity` that contains `time`.
Period PeriodAt(Granularity granularity, absl::Time time);

// The granularities of the counters of a service and of an application, in the order of the writes,
// and those of limits, in the order of the reads.
std::span<const Granularity> ServiceGranularities();      // eternity, month, week, day, hour
std::span<const Granularity> ApplicationGranularities();  // those, year, minute
std::span<const Granularity> LimitGranularities();        // eternity, year, month, ..., minute

// Returns "2025-04-23 17:42:39 UTC", as in JSON values; and the same with "+0000" instead of "UTC",
// as in usage reports. Fractions of a second are dropped.
std::string FormatJsonTime(absl::Time time);
std::string FormatReportTime(absl::Time time);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_TEXT_PERIODS_H_
