// Periods: the granularities in which 3scale counts and limits usage, where a period of each begins
// and ends, and the stamp that names it in a key.
//
// Everything is UTC. A week begins on Monday 00:00; a Sunday belongs to the week of the Monday
// before it, also across months and years. Eternity has one period, from 1970 to 9999.
//
//   const Period hour = PeriodAt(Granularity::kHour, now);
//   hour.start, hour.end                       // 17:00:00 and 18:00:00, the end is not in it
//   hour.KeySegment(StampFormat::kFixedWidth)  // "hour:2025042317"
//
// Times are those of the years 0 to 9999. Pure functions; safe to call from any thread.
// Source: seed 004 Stats; reference/threescale.md 1.2 and 8, D1.
#ifndef REDOUBLE_CORE_THREESCALE_PERIODS_H_
#define REDOUBLE_CORE_THREESCALE_PERIODS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace redouble::threescale {

// Ascending.
enum class Granularity : uint8_t { kMinute, kHour, kDay, kWeek, kMonth, kYear, kEternity };

// "minute" ... "eternity".
std::string_view GranularityName(Granularity granularity);
// The granularity of that name; none for any other, "second" among them, which counters and limits
// never use.
std::optional<Granularity> FindGranularity(std::string_view name);

// How hours and minutes are written in keys; longer periods are always YYYYMMDD.
enum class StampFormat : uint8_t {
  // YYYYMMDDhh and YYYYMMDDhhmm, as the seed says.
  kFixedWidth,
  // The same without the zeros at the end of the time of day, as deployed versions write them:
  // 17:40 is "20250423174", 10:00 is "202504231", midnight is "20250423".
  kTrimmed,
};

struct Period {
  Granularity granularity = Granularity::kEternity;
  absl::Time start;
  absl::Time end;  // Not in it.

  // The start as text; empty for eternity.
  std::string Stamp(StampFormat format) const;
  // The last segment of a counter's key: "eternity", "week:20250421".
  std::string KeySegment(StampFormat format) const;
};

// The period of `granularity` in which `time` falls.
Period PeriodAt(Granularity granularity, absl::Time time);

// The granularities that are counted for a service, and for an application, in the order in which
// they are written; and those that can be limited, in the order in which they are read.
std::span<const Granularity> ServiceGranularities();      // eternity, month, week, day, hour
std::span<const Granularity> ApplicationGranularities();  // those, year, minute
std::span<const Granularity> LimitGranularities();        // eternity, year, month, ..., minute

// "2025-04-23 17:42:39 UTC", as JSON values have times; and with "+0000" in place of "UTC", as
// usage reports have them. Fractions of a second are cut.
std::string FormatJsonTime(absl::Time time);
std::string FormatReportTime(absl::Time time);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_PERIODS_H_
