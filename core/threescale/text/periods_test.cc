#include "redouble/core/threescale/text/periods.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "redouble/core/base/time/utc.h"

namespace redouble::inline v0_1::threescale {
namespace {

absl::Time At(std::string_view text) { return base::ParseRfc3339(text).value(); }

std::string Fixed(Granularity granularity, std::string_view time) {
  return PeriodAt(granularity, At(time)).Stamp(StampFormat::kFixedWidth);
}

std::string Trimmed(Granularity granularity, std::string_view time) {
  return PeriodAt(granularity, At(time)).Stamp(StampFormat::kTrimmed);
}

// Each granularity has one name.
std::vector<Granularity> AllGranularities() {
  const auto all = LimitGranularities();
  return {all.begin(), all.end()};
}

TEST(Periods, HaveTheStampsOfTheSeed) {
  const std::string_view time = "2025-04-23T17:42:39Z";
  EXPECT_EQ(Fixed(Granularity::kMinute, time), "202504231742");
  EXPECT_EQ(Fixed(Granularity::kHour, time), "2025042317");
  EXPECT_EQ(Fixed(Granularity::kDay, time), "20250423");
  EXPECT_EQ(Fixed(Granularity::kWeek, time), "20250421");
  EXPECT_EQ(Fixed(Granularity::kMonth, time), "20250401");
  EXPECT_EQ(Fixed(Granularity::kYear, time), "20250101");
  EXPECT_EQ(Fixed(Granularity::kEternity, time), "");
}

TEST(Periods, EndTheKeyOfACounter) {
  const absl::Time time = At("2025-04-23T10:00:39Z");
  EXPECT_EQ(PeriodAt(Granularity::kEternity, time).KeySegment(StampFormat::kTrimmed), "eternity");
  EXPECT_EQ(PeriodAt(Granularity::kWeek, time).KeySegment(StampFormat::kTrimmed), "week:20250421");
  EXPECT_EQ(PeriodAt(Granularity::kHour, time).KeySegment(StampFormat::kTrimmed), "hour:202504231");
  EXPECT_EQ(PeriodAt(Granularity::kHour, time).KeySegment(StampFormat::kFixedWidth),
            "hour:2025042310");
}

TEST(Periods, LoseTheZerosAtTheEndOfTheTimeOfDayWhenTrimmed) {
  EXPECT_EQ(Trimmed(Granularity::kMinute, "2025-04-23T17:42:00Z"), "202504231742");
  EXPECT_EQ(Trimmed(Granularity::kMinute, "2025-04-23T17:40:00Z"), "20250423174");
  EXPECT_EQ(Trimmed(Granularity::kMinute, "2025-04-23T17:00:00Z"), "2025042317");
  EXPECT_EQ(Trimmed(Granularity::kMinute, "2025-04-23T10:00:00Z"), "202504231");
  EXPECT_EQ(Trimmed(Granularity::kMinute, "2025-04-23T00:10:00Z"), "20250423001");
  EXPECT_EQ(Trimmed(Granularity::kMinute, "2025-04-23T00:00:00Z"), "20250423");
  EXPECT_EQ(Trimmed(Granularity::kHour, "2025-04-23T17:59:59Z"), "2025042317");
  EXPECT_EQ(Trimmed(Granularity::kHour, "2025-04-23T20:00:00Z"), "202504232");
  EXPECT_EQ(Trimmed(Granularity::kHour, "2025-04-23T00:00:00Z"), "20250423");
  EXPECT_EQ(Trimmed(Granularity::kHour, "2025-04-23T01:00:00Z"), "2025042301");
}

TEST(Periods, NeverLoseTheZerosOfADate) {
  EXPECT_EQ(Trimmed(Granularity::kDay, "2025-04-20T10:00:00Z"), "20250420");
  EXPECT_EQ(Trimmed(Granularity::kHour, "2025-04-20T00:00:00Z"), "20250420");
  EXPECT_EQ(Trimmed(Granularity::kWeek, "2024-12-30T00:00:00Z"), "20241230");
}

TEST(Periods, AreTheTrimmedStampsOfTheOriginalsOwnTests) {
  const std::string_view time = "2009-10-30T10:20:40Z";
  EXPECT_EQ(Trimmed(Granularity::kMinute, time), "20091030102");
  EXPECT_EQ(Trimmed(Granularity::kHour, time), "200910301");
  EXPECT_EQ(Trimmed(Granularity::kDay, time), "20091030");
  EXPECT_EQ(Trimmed(Granularity::kWeek, time), "20091026");
  EXPECT_EQ(Trimmed(Granularity::kMonth, time), "20091001");
  EXPECT_EQ(Trimmed(Granularity::kYear, time), "20090101");
}

struct Boundary {
  std::string_view time, week, month, year;
};

TEST(Periods, KeepTheBoundariesOfWeekMonthAndYearApart) {
  const Boundary boundaries[] = {
      {"2024-12-30T00:00:00Z", "20241230", "20241201", "20240101"},
      // The year ends in the middle of a week.
      {"2024-12-31T23:59:59Z", "20241230", "20241201", "20240101"},
      {"2025-01-01T00:00:00Z", "20241230", "20250101", "20250101"},
      {"2025-01-05T23:59:59Z", "20241230", "20250101", "20250101"},  // Sunday,
      {"2025-01-06T00:00:00Z", "20250106", "20250101", "20250101"},  // and Monday.
      {"2025-03-02T12:00:00Z", "20250224", "20250301", "20250101"},
      {"2024-02-29T12:00:00Z", "20240226", "20240201", "20240101"},  // A leap day.
      {"2023-12-31T12:00:00Z", "20231225", "20231201", "20230101"},
  };
  for (const Boundary& boundary : boundaries) {
    EXPECT_EQ(Fixed(Granularity::kWeek, boundary.time), boundary.week) << boundary.time;
    EXPECT_EQ(Fixed(Granularity::kMonth, boundary.time), boundary.month) << boundary.time;
    EXPECT_EQ(Fixed(Granularity::kYear, boundary.time), boundary.year) << boundary.time;
  }
}

TEST(Periods, EndWhereTheNextBegins) {
  const auto end = [](Granularity granularity, std::string_view time) {
    return FormatReportTime(PeriodAt(granularity, At(time)).end);
  };
  EXPECT_EQ(end(Granularity::kMinute, "2024-12-31T23:59:59Z"), "2025-01-01 00:00:00 +0000");
  EXPECT_EQ(end(Granularity::kHour, "2024-02-28T23:30:00Z"), "2024-02-29 00:00:00 +0000");
  EXPECT_EQ(end(Granularity::kDay, "2024-02-29T23:30:00Z"), "2024-03-01 00:00:00 +0000");
  EXPECT_EQ(end(Granularity::kWeek, "2025-01-05T23:59:59Z"), "2025-01-06 00:00:00 +0000");
  EXPECT_EQ(end(Granularity::kMonth, "2023-02-01T00:00:00Z"), "2023-03-01 00:00:00 +0000");
  EXPECT_EQ(end(Granularity::kMonth, "2024-12-15T00:00:00Z"), "2025-01-01 00:00:00 +0000");
  EXPECT_EQ(end(Granularity::kYear, "2024-02-29T00:00:00Z"), "2025-01-01 00:00:00 +0000");
  EXPECT_EQ(end(Granularity::kEternity, "2024-02-29T00:00:00Z"), "9999-12-31 00:00:00 +0000");
}

TEST(Periods, HaveNames) {
  for (const Granularity granularity : AllGranularities()) {
    EXPECT_EQ(FindGranularity(GranularityName(granularity)), granularity);
  }
  EXPECT_EQ(GranularityName(Granularity::kEternity), "eternity");
  EXPECT_EQ(FindGranularity("second"), std::nullopt);
  EXPECT_EQ(FindGranularity("Day"), std::nullopt);
  EXPECT_EQ(FindGranularity(""), std::nullopt);
}

TEST(Periods, AreCountedInTheOrderOfTheOriginal) {
  const auto names = [](std::span<const Granularity> granularities) {
    std::string text;
    for (const Granularity granularity : granularities) {
      text += std::string(GranularityName(granularity)) + " ";
    }
    return text;
  };
  EXPECT_EQ(names(ServiceGranularities()), "eternity month week day hour ");
  EXPECT_EQ(names(ApplicationGranularities()), "eternity month week day hour year minute ");
  EXPECT_EQ(names(LimitGranularities()), "eternity year month week day hour minute ");
}

TEST(Periods, WriteTimesForJsonAndForReports) {
  const absl::Time time = At("2025-04-23T07:02:39.987Z");
  EXPECT_EQ(FormatJsonTime(time), "2025-04-23 07:02:39 UTC");
  EXPECT_EQ(FormatReportTime(time), "2025-04-23 07:02:39 +0000");
}

RC_GTEST_PROP(Periods, ContainTheirMomentAndNothingOfTheirNeighbours, ()) {
  const absl::Time time = absl::FromUnixSeconds(*rc::gen::inRange<int64_t>(0, 253370764800));
  for (const Granularity granularity : AllGranularities()) {
    const Period period = PeriodAt(granularity, time);
    RC_ASSERT(period.start <= time);
    RC_ASSERT(time < period.end);
    RC_ASSERT(PeriodAt(granularity, period.start).start == period.start);
    RC_ASSERT(PeriodAt(granularity, period.end - absl::Microseconds(1)).start == period.start);
    if (granularity == Granularity::kEternity) continue;
    RC_ASSERT(PeriodAt(granularity, period.end).start == period.end);
  }
}

// Padding with zeros on the right restores the fixed width.
RC_GTEST_PROP(Periods, AreTrimmedWithoutLoss, ()) {
  const absl::Time time = absl::FromUnixSeconds(*rc::gen::inRange<int64_t>(0, 253370764800));
  for (const Granularity granularity : {Granularity::kHour, Granularity::kMinute}) {
    const Period period = PeriodAt(granularity, time);
    std::string stamp = period.Stamp(StampFormat::kTrimmed);
    const std::string fixed = period.Stamp(StampFormat::kFixedWidth);
    stamp.resize(fixed.size(), '0');
    RC_ASSERT(stamp == fixed);
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
