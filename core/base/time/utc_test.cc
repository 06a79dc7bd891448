#include "redouble/core/base/time/utc.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/civil_time.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

absl::Time At(int64_t year, int month, int day, int hour = 0, int minute = 0, int second = 0) {
  return absl::FromCivil(absl::CivilSecond(year, month, day, hour, minute, second),
                         absl::UTCTimeZone());
}

constexpr absl::Duration kNanosecond = absl::Nanoseconds(1);

TEST(FormatUtc, PadsEveryField) {
  const absl::Time time = At(2026, 5, 9, 4, 3, 2);
  EXPECT_EQ(FormatUtcYear(time), "2026");
  EXPECT_EQ(FormatUtcMonth(time), "202605");
  EXPECT_EQ(FormatUtcDay(time), "20260509");
  EXPECT_EQ(FormatUtcHour(time), "2026050904");
  EXPECT_EQ(FormatUtcMinute(time), "202605090403");
  EXPECT_EQ(FormatUtcSecond(time), "20260509040302");
}

TEST(FormatUtc, ChangesExactlyAtTheEdge) {
  const absl::Time year_edge = At(2027, 1, 1);
  EXPECT_EQ(FormatUtcMinute(year_edge - kNanosecond), "202612312359");
  EXPECT_EQ(FormatUtcMinute(year_edge), "202701010000");
  EXPECT_EQ(FormatUtcYear(year_edge - kNanosecond), "2026");
  EXPECT_EQ(FormatUtcDay(At(2024, 2, 28) + absl::Hours(24)), "20240229");
  EXPECT_EQ(FormatUtcDay(At(2026, 2, 28) + absl::Hours(24)), "20260301");
  EXPECT_EQ(FormatUtcDay(At(2000, 2, 28) + absl::Hours(24)), "20000229");
  EXPECT_EQ(FormatUtcDay(At(1900, 2, 28) + absl::Hours(24)), "19000301");
}

TEST(FormatUtc, KnowsTimesBeforeTheEpochAndEarlyYears) {
  EXPECT_EQ(FormatUtcSecond(absl::UnixEpoch()), "19700101000000");
  EXPECT_EQ(FormatUtcSecond(absl::UnixEpoch() - kNanosecond), "19691231235959");
  EXPECT_EQ(FormatUtcMonth(At(7, 3, 1)), "000703");
}

TEST(StartOfUtc, IsTheFirstInstantOfTheUnit) {
  const absl::Time time = At(2024, 2, 29, 23, 59, 59) + absl::Milliseconds(999);
  EXPECT_EQ(StartOfUtcMinute(time), At(2024, 2, 29, 23, 59));
  EXPECT_EQ(StartOfUtcHour(time), At(2024, 2, 29, 23));
  EXPECT_EQ(StartOfUtcDay(time), At(2024, 2, 29));
  EXPECT_EQ(StartOfUtcMonth(time), At(2024, 2, 1));
  EXPECT_EQ(StartOfUtcYear(time), At(2024, 1, 1));
}

TEST(StartOfUtc, IsTheTimeItselfAtTheEdge) {
  const absl::Time edge = At(2024, 1, 1);
  for (const auto start :
       {StartOfUtcMinute, StartOfUtcHour, StartOfUtcDay, StartOfUtcMonth, StartOfUtcYear}) {
    EXPECT_EQ(start(edge), edge);
  }
}

TEST(StartOfNextUtc, IsTheFirstInstantAfterTheUnit) {
  const absl::Time time = At(2024, 2, 29, 23, 59, 59) + absl::Milliseconds(999);
  EXPECT_EQ(StartOfNextUtcMinute(time), At(2024, 3, 1));
  EXPECT_EQ(StartOfNextUtcHour(time), At(2024, 3, 1));
  EXPECT_EQ(StartOfNextUtcDay(time), At(2024, 3, 1));
  EXPECT_EQ(StartOfNextUtcMonth(time), At(2024, 3, 1));
  EXPECT_EQ(StartOfNextUtcYear(time), At(2025, 1, 1));
}

TEST(StartOfNextUtc, IsLaterThanTheEdgeItself) {
  const absl::Time edge = At(2026, 12, 1);
  EXPECT_EQ(StartOfNextUtcMinute(edge), At(2026, 12, 1, 0, 1));
  EXPECT_EQ(StartOfNextUtcHour(edge), At(2026, 12, 1, 1));
  EXPECT_EQ(StartOfNextUtcDay(edge), At(2026, 12, 2));
  EXPECT_EQ(StartOfNextUtcMonth(edge), At(2027, 1, 1));
}

TEST(FormatRfc3339, WritesOnlyTheDecimalsItNeeds) {
  const absl::Time time = At(2026, 5, 9, 14, 3, 2);
  EXPECT_EQ(FormatRfc3339(time), "2026-05-09T14:03:02Z");
  EXPECT_EQ(FormatRfc3339(time + absl::Milliseconds(250)), "2026-05-09T14:03:02.25Z");
  EXPECT_EQ(FormatRfc3339(time + kNanosecond), "2026-05-09T14:03:02.000000001Z");
  EXPECT_EQ(FormatRfc3339(time + kNanosecond / 2), "2026-05-09T14:03:02Z");
  EXPECT_EQ(FormatRfc3339(absl::UnixEpoch() - absl::Milliseconds(1)), "1969-12-31T23:59:59.999Z");
}

TEST(FormatRfc3339, CutsToTheDecimalsAskedFor) {
  const absl::Time time = At(2026, 12, 31, 23, 59, 59) + absl::Nanoseconds(999'999'999);
  EXPECT_EQ(FormatRfc3339(time, 0), "2026-12-31T23:59:59Z");
  EXPECT_EQ(FormatRfc3339(time, 3), "2026-12-31T23:59:59.999Z");
  EXPECT_EQ(FormatRfc3339(time, 9), "2026-12-31T23:59:59.999999999Z");
  EXPECT_EQ(FormatRfc3339(At(2026, 1, 1), 6), "2026-01-01T00:00:00.000000Z");
}

TEST(ParseRfc3339, AcceptsTheWholeSyntax) {
  const struct {
    std::string_view text;
    absl::Time time;
  } kRows[] = {
      {"2026-05-09T14:03:02Z", At(2026, 5, 9, 14, 3, 2)},
      {"2026-05-09t14:03:02z", At(2026, 5, 9, 14, 3, 2)},
      {"2026-05-09T14:03:02.5Z", At(2026, 5, 9, 14, 3, 2) + absl::Milliseconds(500)},
      {"2026-05-09T14:03:02.000001Z", At(2026, 5, 9, 14, 3, 2) + absl::Microseconds(1)},
      {"2026-05-09T14:03:02.1234567899Z", At(2026, 5, 9, 14, 3, 2) + absl::Nanoseconds(123456789)},
      {"2026-05-09T16:03:02+02:00", At(2026, 5, 9, 14, 3, 2)},
      {"2026-05-09T13:33:02-00:30", At(2026, 5, 9, 14, 3, 2)},
      {"2026-01-01T00:30:00+01:00", At(2025, 12, 31, 23, 30)},
      {"2025-12-31T23:30:00.5-01:00", At(2026, 1, 1, 0, 30) + absl::Milliseconds(500)},
      {"2024-02-29T00:00:00Z", At(2024, 2, 29)},
      {"2000-02-29T00:00:00Z", At(2000, 2, 29)},
      {"0000-01-01T00:00:00Z", At(0, 1, 1)},
      {"9999-12-31T23:59:59Z", At(9999, 12, 31, 23, 59, 59)},
      {"1969-12-31T23:59:59.75Z", absl::UnixEpoch() - absl::Milliseconds(250)},
  };
  for (const auto& row : kRows) {
    const absl::StatusOr<absl::Time> time = ParseRfc3339(row.text);
    ASSERT_TRUE(time.ok()) << time.status();
    EXPECT_EQ(*time, row.time) << row.text;
  }
}

TEST(ParseRfc3339, RefusesEverythingElse) {
  for (const std::string_view text : {"",
                                      "2026",
                                      "2026-05-09",
                                      "2026-05-09T14:03Z",
                                      "2026-05-09T14:03:02",
                                      "2026-05-09 14:03:02Z",
                                      "2026-5-9T14:03:02Z",
                                      "26-05-09T14:03:02Z",
                                      "2026-05-09T14:03:02.Z",
                                      "2026-05-09T14:03:02,5Z",
                                      "2026-05-09T14:03:02+02",
                                      "2026-05-09T14:03:02+0200",
                                      "2026-05-09T14:03:02+24:00",
                                      "2026-05-09T14:03:02+02:60",
                                      "2026-05-09T14:03:02Zx",
                                      " 2026-05-09T14:03:02Z",
                                      "2026-00-09T14:03:02Z",
                                      "2026-13-09T14:03:02Z",
                                      "2026-05-00T14:03:02Z",
                                      "2026-05-32T14:03:02Z",
                                      "2026-04-31T14:03:02Z",
                                      "2026-02-29T14:03:02Z",
                                      "1900-02-29T14:03:02Z",
                                      "2026-05-09T24:00:00Z",
                                      "2026-05-09T14:60:02Z",
                                      "2026-05-09T14:03:60Z",
                                      "2016-12-31T23:59:60Z",
                                      "+2026-05-09T14:03:02Z",
                                      "-026-05-09T14:03:02Z",
                                      "2026/05/09T14:03:02Z",
                                      "2026-05-09T1a:03:02Z"}) {
    const absl::StatusOr<absl::Time> time = ParseRfc3339(text);
    ASSERT_FALSE(time.ok()) << text;
    EXPECT_EQ(time.status(),
              absl::InvalidArgumentError("not an RFC 3339 time: \"" + std::string(text) + "\""));
  }
}

// Years 1 to 9998 or so, to the nanosecond.
absl::Time ArbitraryTime() {
  const auto seconds = *rc::gen::inRange<int64_t>(-62'000'000'000, 253'000'000'000);
  const auto nanos = *rc::gen::inRange<int64_t>(0, 1'000'000'000);
  return absl::FromUnixSeconds(seconds) + absl::Nanoseconds(nanos);
}

RC_GTEST_PROP(ParseRfc3339, ReadsBackWhatFormatRfc3339Writes, ()) {
  const absl::Time time = ArbitraryTime();
  RC_ASSERT(ParseRfc3339(FormatRfc3339(time)).value() == time);
  RC_ASSERT(ParseRfc3339(FormatRfc3339(time, 9)).value() == time);
}

RC_GTEST_PROP(FormatUtc, NamesTheSameUnitFromItsStartToItsEnd, ()) {
  const absl::Time time = ArbitraryTime();
  RC_ASSERT(FormatUtcMonth(StartOfUtcMonth(time)) == FormatUtcMonth(time));
  RC_ASSERT(FormatUtcMonth(StartOfNextUtcMonth(time) - kNanosecond) == FormatUtcMonth(time));
  RC_ASSERT(FormatUtcMonth(StartOfNextUtcMonth(time)) > FormatUtcMonth(time));
  RC_ASSERT(FormatUtcMinute(StartOfUtcMinute(time)) == FormatUtcMinute(time));
  RC_ASSERT(FormatUtcMinute(StartOfNextUtcMinute(time)) > FormatUtcMinute(time));
}

}  // namespace
}  // namespace redouble::inline v0_1::base
