#include "redouble/core/threescale/text/periods.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"

namespace redouble::inline v0_1::threescale {
namespace {

constexpr std::array<std::string_view, 7> kNames = {"minute", "hour", "day",     "week",
                                                    "month",  "year", "eternity"};

constexpr std::array kOfServices = {Granularity::kEternity, Granularity::kMonth, Granularity::kWeek,
                                    Granularity::kDay, Granularity::kHour};
constexpr std::array kOfApplications = {
    Granularity::kEternity, Granularity::kMonth, Granularity::kWeek,  Granularity::kDay,
    Granularity::kHour,     Granularity::kYear,  Granularity::kMinute};
constexpr std::array kOfLimits = {Granularity::kEternity, Granularity::kYear, Granularity::kMonth,
                                  Granularity::kWeek,     Granularity::kDay,  Granularity::kHour,
                                  Granularity::kMinute};

constexpr size_t kDayDigits = 8;

absl::Time StartOfUtcWeek(absl::Time time) {
  const absl::CivilDay day = absl::ToCivilDay(time, absl::UTCTimeZone());
  const absl::CivilDay monday = absl::PrevWeekday(day + 1, absl::Weekday::monday);
  return absl::FromCivil(monday, absl::UTCTimeZone());
}

std::string FormatTime(absl::Time time, const char* format) {
  return absl::FormatTime(format, time, absl::UTCTimeZone());
}

}  // namespace

std::string_view GranularityName(Granularity granularity) {
  return kNames[static_cast<size_t>(granularity)];
}

std::optional<Granularity> FindGranularity(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Granularity>(i);
  }
  return std::nullopt;
}

Period PeriodAt(Granularity granularity, absl::Time time) {
  const auto between = [granularity](absl::Time start, absl::Time end) {
    return Period{granularity, start, end};
  };
  switch (granularity) {
    case Granularity::kMinute:
      return between(base::StartOfUtcMinute(time), base::StartOfNextUtcMinute(time));
    case Granularity::kHour:
      return between(base::StartOfUtcHour(time), base::StartOfNextUtcHour(time));
    case Granularity::kDay:
      return between(base::StartOfUtcDay(time), base::StartOfNextUtcDay(time));
    case Granularity::kWeek: {
      const absl::Time monday = StartOfUtcWeek(time);
      return between(monday, monday + absl::Hours(7 * 24));
    }
    case Granularity::kMonth:
      return between(base::StartOfUtcMonth(time), base::StartOfNextUtcMonth(time));
    case Granularity::kYear:
      return between(base::StartOfUtcYear(time), base::StartOfNextUtcYear(time));
    case Granularity::kEternity:
      break;
  }
  return between(absl::UnixEpoch(),
                 absl::FromCivil(absl::CivilDay(9999, 12, 31), absl::UTCTimeZone()));
}

std::string Period::Stamp(StampFormat format) const {
  if (granularity == Granularity::kEternity) return {};
  if (granularity > Granularity::kHour) return base::FormatUtcDay(start);
  std::string stamp =
      granularity == Granularity::kHour ? base::FormatUtcHour(start) : base::FormatUtcMinute(start);
  if (format == StampFormat::kTrimmed) {
    while (stamp.size() > kDayDigits && stamp.back() == '0') stamp.pop_back();
  }
  return stamp;
}

std::string Period::KeySegment(StampFormat format) const {
  if (granularity == Granularity::kEternity) return std::string(GranularityName(granularity));
  return absl::StrCat(base::ToAbsl(GranularityName(granularity)), ":", Stamp(format));
}

std::span<const Granularity> ServiceGranularities() { return kOfServices; }
std::span<const Granularity> ApplicationGranularities() { return kOfApplications; }
std::span<const Granularity> LimitGranularities() { return kOfLimits; }

std::string FormatJsonTime(absl::Time time) { return FormatTime(time, "%E4Y-%m-%d %H:%M:%S UTC"); }
std::string FormatReportTime(absl::Time time) {
  return FormatTime(time, "%E4Y-%m-%d %H:%M:%S +0000");
}

}  // namespace redouble::inline v0_1::threescale
