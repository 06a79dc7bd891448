#include "redouble/core/threescale/text/timestamp.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "redouble/core/threescale/text/periods.h"

namespace redouble::inline v0_1::threescale {
namespace {

std::string Parse(std::string_view text) {
  const std::optional<absl::Time> time = ParseTimestamp(text);
  return time ? FormatJsonTime(*time) : "none";
}

TEST(Timestamp, CountsSecondsSince1970WhenItIsAnInteger) {
  EXPECT_EQ(Parse("1745430159"), "2025-04-23 17:42:39 UTC");
  EXPECT_EQ(Parse(" +1745430159\n"), "2025-04-23 17:42:39 UTC");
  EXPECT_EQ(Parse("1_745_430_159"), "2025-04-23 17:42:39 UTC");
  EXPECT_EQ(Parse("0x6809268F"), "2025-04-23 17:42:39 UTC");
  EXPECT_EQ(Parse("-60"), "1969-12-31 23:59:00 UTC");
  EXPECT_EQ(Parse("0b111100"), "1970-01-01 00:01:00 UTC");
  EXPECT_EQ(Parse("0o74"), "1970-01-01 00:01:00 UTC");
  EXPECT_EQ(Parse("074"), "1970-01-01 00:01:00 UTC");
  EXPECT_EQ(Parse("0d60"), "1970-01-01 00:01:00 UTC");
  EXPECT_EQ(Parse("0"), "1970-01-01 00:00:00 UTC");
  EXPECT_EQ(Parse("20250423"), "1970-08-23 09:07:03 UTC");
}

TEST(Timestamp, IsNoneForAnIntegerThatIsMalformed) {
  for (const char* text : {"1__0", "_1", "1_", "0x", "0b2", "-", "+", "08", "1.5", "0xg"}) {
    EXPECT_EQ(Parse(text), "none") << text;
  }
}

TEST(Timestamp, ReadsYearMonthDay) {
  EXPECT_EQ(Parse("2025-04-23"), "2025-04-23 00:00:00 UTC");
  EXPECT_EQ(Parse("2025-4-3"), "2025-04-03 00:00:00 UTC");
  EXPECT_EQ(Parse("2025-04-23 17:42:39"), "2025-04-23 17:42:39 UTC");
  EXPECT_EQ(Parse("2025-04-23 17:42"), "2025-04-23 17:42:00 UTC");
  EXPECT_EQ(Parse("2025-04-23T17:42:39.5Z"), "2025-04-23 17:42:39 UTC");
  EXPECT_EQ(Parse("2025/04/23 17:42:39"), "2025-04-23 17:42:39 UTC");
  EXPECT_EQ(Parse("25-04-23"), "2025-04-23 00:00:00 UTC");
  EXPECT_EQ(Parse("99-04-23"), "1999-04-23 00:00:00 UTC");
}

TEST(Timestamp, ReadsDayMonthYear) {
  EXPECT_EQ(Parse("23 Apr 2025 17:42:39"), "2025-04-23 17:42:39 UTC");
  EXPECT_EQ(Parse("Wed, 23 Apr 2025 17:42:39 GMT"), "2025-04-23 17:42:39 UTC");
  EXPECT_EQ(Parse("April 23, 2025"), "2025-04-23 00:00:00 UTC");
  EXPECT_EQ(Parse("23-APR-2025"), "2025-04-23 00:00:00 UTC");
  EXPECT_EQ(Parse("23.04.2025 5:42 pm"), "2025-04-23 17:42:00 UTC");
  EXPECT_EQ(Parse("23/04/2025 12:00am"), "2025-04-23 00:00:00 UTC");
}

TEST(Timestamp, ReadsDigitsWithATimeBehindThem) {
  EXPECT_EQ(Parse("20250423T174239"), "2025-04-23 17:42:39 UTC");
  EXPECT_EQ(Parse("20250423T174239Z"), "2025-04-23 17:42:39 UTC");
  EXPECT_EQ(Parse("20250423T174239+0200"), "2025-04-23 15:42:39 UTC");
  EXPECT_EQ(Parse("20250423T17:42"), "2025-04-23 17:42:00 UTC");
}

TEST(Timestamp, TakesTheZoneOff) {
  EXPECT_EQ(Parse("2025-04-23T16:00:00Z"), "2025-04-23 16:00:00 UTC");
  EXPECT_EQ(Parse("2025-04-23 15:00:00 PST"), "2025-04-23 23:00:00 UTC");
  EXPECT_EQ(Parse("2025-04-23 15:00:00 +0200"), "2025-04-23 13:00:00 UTC");
  EXPECT_EQ(Parse("2025-04-23 15:00:00 +02:30"), "2025-04-23 12:30:00 UTC");
  EXPECT_EQ(Parse("2025-04-23 15:00:00 -2"), "2025-04-23 17:00:00 UTC");
  EXPECT_EQ(Parse("2025-04-23 15:00:00 +5.5"), "2025-04-23 09:30:00 UTC");
  EXPECT_EQ(Parse("2025-04-23 15:00:00 UTC+1"), "2025-04-23 14:00:00 UTC");
  EXPECT_EQ(Parse("2025-04-23 15:00:00 B"), "2025-04-23 13:00:00 UTC");
  EXPECT_EQ(Parse("2025-04-23 15:00:00 n"), "2025-04-23 16:00:00 UTC");
  EXPECT_EQ(Parse("2025-04-23 15:00:00 J"), "2025-04-23 15:00:00 UTC");
  EXPECT_EQ(Parse("2025-04-23 15:00:00 NOWHERE"), "2025-04-23 15:00:00 UTC");
}

TEST(Timestamp, RunsOverIntoTheNextMonthAndDay) {
  EXPECT_EQ(Parse("2025-02-30"), "2025-03-02 00:00:00 UTC");
  EXPECT_EQ(Parse("2024-02-30"), "2024-03-01 00:00:00 UTC");
  EXPECT_EQ(Parse("2025-04-31"), "2025-05-01 00:00:00 UTC");
  EXPECT_EQ(Parse("2025-12-31 24:00:00"), "2026-01-01 00:00:00 UTC");
  EXPECT_EQ(Parse("2025-12-31 23:59:60"), "2026-01-01 00:00:00 UTC");
}

TEST(Timestamp, IsNoneForAnythingElse) {
  for (const char* text : {"", " ", "yesterday", "17:42:39", "2025-04", "Apr 2025", "2025-13-01",
                           "2025-00-01", "2025-04-32", "2025-04-23 25:00:00", "2025-04-23 24:00:01",
                           "2025-04-23 10:60:00", "04/23/2025"}) {
    EXPECT_EQ(Parse(text), "none") << text;
  }
  EXPECT_EQ(Parse("2025-04-23" + std::string(120, ' ')), "none");
}

TEST(Timestamp, EndsAtTheEndsOfTime) {
  EXPECT_GT(ParseTimestamp("99999999999999999999").value(),
            absl::FromUnixSeconds(1) + absl::Hours(1e9));
  EXPECT_LT(ParseTimestamp("-99999999999999999999").value(), absl::UnixEpoch() - absl::Hours(1e9));
}

RC_GTEST_PROP(TimestampProperty, ReadsWhatIsWrittenInEitherWay, (uint32_t seconds)) {
  const absl::Time time = absl::FromUnixSeconds(seconds);
  RC_ASSERT(ParseTimestamp(FormatJsonTime(time)) == time);
  RC_ASSERT(ParseTimestamp(FormatReportTime(time)) == time);
  RC_ASSERT(ParseTimestamp(std::to_string(seconds)) == time);
}

RC_GTEST_PROP(TimestampProperty, NeverFailsOnAnyText, (const std::string& text)) {
  (void)ParseTimestamp(text);
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
